"""The weaknesses of Python programs, one function a family; each gives a rule and a message.

In: the program's names and one node. Out: pairs of rule and message. Nothing here reports or executes.
"""

from __future__ import annotations

from spanproof.sandbox.scanners.weak_python.code import judge_code
from spanproof.sandbox.scanners.weak_python.credentials import (
    judge_assignment,
    judge_comparison,
    judge_credentials,
    judge_definition,
)
from spanproof.sandbox.scanners.weak_python.cryptography import judge_cryptography
from spanproof.sandbox.scanners.weak_python.data import judge_data
from spanproof.sandbox.scanners.weak_python.web import judge_web

CALLS = (judge_code, judge_cryptography, judge_data, judge_web, judge_credentials)
"""What judges a call."""

__all__ = ["CALLS", "judge_assignment", "judge_comparison", "judge_definition"]
