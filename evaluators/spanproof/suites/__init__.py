"""Runs frozen into hermetic cases, and cases evaluated again offline."""

from spanproof.suites.case import Case, Expectation, Origin
from spanproof.suites.errors import SuiteError
from spanproof.suites.files import load_case, load_suite
from spanproof.suites.promote import case_of, promote
from spanproof.suites.run import CaseReport, CaseStatus, Difference, SuiteReport, run_suite

__all__ = [
    "Case",
    "CaseReport",
    "CaseStatus",
    "Difference",
    "Expectation",
    "Origin",
    "SuiteError",
    "SuiteReport",
    "case_of",
    "load_case",
    "load_suite",
    "promote",
    "run_suite",
]
