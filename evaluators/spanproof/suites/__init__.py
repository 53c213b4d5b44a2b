"""Suites: cases promoted from runs, imported or written by hand, and frozen runs evaluated again offline."""

from spanproof.suites.behaviour import compute_behaviour_digest
from spanproof.suites.calls import list_recorded_calls
from spanproof.suites.case import Case, Expectation, Origin
from spanproof.suites.datasets import Expect, Form, Reading, iter_dataset
from spanproof.suites.diff import SuiteDiff, compare_suites, compute_version
from spanproof.suites.errors import SuiteError
from spanproof.suites.export import format_csv, format_jsonl
from spanproof.suites.files import (
    find_suite_policy,
    find_suite_preset,
    load_case,
    load_suite,
    remove_case,
    write_case,
)
from spanproof.suites.mining import Mined, iter_mined
from spanproof.suites.promote import Change, Promoting, Promotion, build_case, iter_promotions, promote_run
from spanproof.suites.records import encode_record, read_record
from spanproof.suites.run import CaseReport, CaseStatus, Difference, SuiteReport, run_suite
from spanproof.suites.suite import Suite

__all__ = [
    "Case",
    "CaseReport",
    "CaseStatus",
    "Change",
    "Difference",
    "Expect",
    "Expectation",
    "Form",
    "Mined",
    "Origin",
    "Promoting",
    "Promotion",
    "Reading",
    "Suite",
    "SuiteDiff",
    "SuiteError",
    "SuiteReport",
    "build_case",
    "compare_suites",
    "compute_behaviour_digest",
    "compute_version",
    "encode_record",
    "find_suite_policy",
    "find_suite_preset",
    "format_csv",
    "format_jsonl",
    "iter_dataset",
    "iter_mined",
    "iter_promotions",
    "list_recorded_calls",
    "load_case",
    "load_suite",
    "promote_run",
    "read_record",
    "remove_case",
    "run_suite",
    "write_case",
]
