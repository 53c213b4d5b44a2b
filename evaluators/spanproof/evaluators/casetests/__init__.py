"""Tests of a case: what the code of a run must do, beyond what it did, and what became of them."""

from spanproof.evaluators.casetests.model import (
    Artifact,
    Budget,
    CaseTests,
    Pair,
    Property,
    TestsError,
)
from spanproof.evaluators.casetests.reading import load_tests, read_tests
from spanproof.evaluators.casetests.running import build_unrun_report, run_tests

__all__ = [
    "Artifact",
    "Budget",
    "CaseTests",
    "Pair",
    "Property",
    "TestsError",
    "build_unrun_report",
    "load_tests",
    "read_tests",
    "run_tests",
]
