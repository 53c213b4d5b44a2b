"""Suites: cases promoted from runs, imported or written by hand, and frozen runs evaluated again offline."""

from spanproof.suites.behaviour import behaviour_of
from spanproof.suites.calls import recorded_calls
from spanproof.suites.case import Case, Expectation, Origin
from spanproof.suites.datasets import Expect, Form, Reading, read_dataset
from spanproof.suites.diff import SuiteDiff, diff_suites, version_of
from spanproof.suites.errors import SuiteError
from spanproof.suites.export import format_csv, format_jsonl
from spanproof.suites.files import (
    load_case,
    load_suite,
    read_suite_policy,
    read_suite_preset,
    remove_case,
    write_case,
)
from spanproof.suites.mining import Mined, mine
from spanproof.suites.promote import Change, Promoting, Promotion, case_of, promote, promote_runs
from spanproof.suites.records import read_record, write_record
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
    "behaviour_of",
    "case_of",
    "diff_suites",
    "format_csv",
    "format_jsonl",
    "load_case",
    "load_suite",
    "mine",
    "promote",
    "promote_runs",
    "read_dataset",
    "read_record",
    "read_suite_policy",
    "read_suite_preset",
    "recorded_calls",
    "remove_case",
    "run_suite",
    "version_of",
    "write_case",
    "write_record",
]
