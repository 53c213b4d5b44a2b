"""Tests of a case: what the code of a run must do, and the results of the tests."""

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
from spanproof.evaluators.casetests.work import FIND_MODULES, build_patched_files, build_work_tests

__all__ = [
    "FIND_MODULES",
    "Artifact",
    "Budget",
    "CaseTests",
    "Pair",
    "Property",
    "TestsError",
    "build_patched_files",
    "build_unrun_report",
    "build_work_tests",
    "load_tests",
    "read_tests",
    "run_tests",
]
