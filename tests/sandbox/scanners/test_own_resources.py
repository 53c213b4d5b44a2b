"""What a program does to itself is no crossing: its own servers, processes, variables and directories."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.python.names import KNOWLEDGE, normalise_name

CASES = load_golden(Path(__file__).with_name("own_resources.yaml"))
OWN = [(language, code) for language, codes in CASES["own"].items() for code in codes]
OF_OTHERS = [
    (language, case["rule"], case["code"]) for language, cases in CASES["others"].items() for case in cases
]
CODING = Pipeline(load_policy("coding"))
"""The preset whose `hosts` names the loopback."""


@pytest.mark.parametrize(("language", "code"), OWN)
def test_what_is_the_programs_own_is_allowed(language: str, code: str) -> None:
    scan = CODING.scan(language, code)
    assert scan.verdict is Verdict.ALLOW, scan.findings


@pytest.mark.parametrize(("language", "rule", "code"), OF_OTHERS)
def test_what_is_of_others_is_not(language: str, rule: str, code: str) -> None:
    scan = CODING.scan(language, code)
    assert scan.verdict is not Verdict.ALLOW
    assert any(finding.rule.endswith(rule) for finding in scan.findings), scan.findings


def test_the_loopback_is_of_others_where_the_policy_does_not_name_it() -> None:
    scan = Pipeline(load_policy("data-analysis")).scan("python", OWN[0][1])
    assert [finding.rule for finding in scan.findings] == ["python.network.listen"]


def test_no_spelling_of_a_name_leads_to_itself() -> None:
    for name in KNOWLEDGE["names"]:
        assert normalise_name(f"{name}().read")
