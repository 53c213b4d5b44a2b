"""Structural metrics, as advice: how the code of a run is built, and how it differs from the run before.

For tasks without tests. Code is read, never run.
"""

from spanproof.evaluators.structure.earlier import read_code
from spanproof.evaluators.structure.evaluator import Structure
from spanproof.evaluators.structure.left import CodeFile, Files, build_task_key, read_code_left

__all__ = ["CodeFile", "Files", "Structure", "build_task_key", "read_code", "read_code_left"]
