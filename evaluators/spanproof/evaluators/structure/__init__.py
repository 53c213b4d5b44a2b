"""Structural metrics, as advice: how the code of a run is built, and how it differs from the run before.

For tasks without tests. Code is read, never run.
"""

from spanproof.evaluators.structure.earlier import read_code
from spanproof.evaluators.structure.evaluator import Structure
from spanproof.evaluators.structure.left import CodeFile, Files, code_left, task_key

__all__ = ["CodeFile", "Files", "Structure", "code_left", "read_code", "task_key"]
