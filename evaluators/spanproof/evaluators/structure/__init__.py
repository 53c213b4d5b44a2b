"""Structural metrics: how the code that a run leaves is built, and what it changed of the run before; advice.

For tasks without tests. Code is read, never run.
"""

from spanproof.evaluators.structure.earlier import read_code
from spanproof.evaluators.structure.evaluator import Structure
from spanproof.evaluators.structure.left import CodeFile, Files, code_left, task_key

__all__ = ["CodeFile", "Files", "Structure", "code_left", "read_code", "task_key"]
