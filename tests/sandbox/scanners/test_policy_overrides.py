"""What a policy says otherwise for some agents, tools and cohorts; which languages and topics it allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_POLICY = parse_policy(
    {
        "hosts": ["data.example"],
        "overrides": [
            {"when": {"agent": "billing-*"}, "hosts": ["billing.example"]},
            {"when": {"tool": ["run_sql", "query_*"], "project": "acme"}, "sql_verbs": ["select", "insert"]},
            {"when": {"agent": "billing-eu"}, "hosts": ["eu.billing.example"], "environment": ["LANG"]},
        ],
    },
    "test",
)


@pytest.mark.parametrize(
    ("subject", "hosts"),
    [
        ({}, ("data.example",)),
        ({"agent": "research"}, ("data.example",)),
        ({"agent": "billing-us"}, ("billing.example",)),
        ({"agent": "billing-eu"}, ("eu.billing.example",)),
        ({"agent": "Billing-eu"}, ("data.example",)),
    ],
)
def test_the_later_of_the_overrides_that_match_counts(
    subject: dict[str, str], hosts: tuple[str, ...]
) -> None:
    assert _POLICY.with_subject(subject).hosts == hosts


def test_every_part_of_an_override_must_match() -> None:
    def verbs(**subject: str) -> frozenset[str]:
        return _POLICY.with_subject(subject).sql_verbs

    assert verbs(tool="query_sales", project="acme") == {"select", "insert"}
    assert (
        verbs(tool="query_sales", project="other")
        == verbs(tool="other", project="acme")
        == Policy().sql_verbs
    )
    assert verbs(project="acme") == Policy().sql_verbs


def test_a_pipeline_judges_each_subject_by_its_policy() -> None:
    pipeline = Pipeline(_POLICY)
    code = "import requests\nrequests.get('https://billing.example/x')"

    assert pipeline.scan("python", code).verdict is Verdict.DENY
    billing = pipeline.with_subject({"agent": "billing-us"})
    assert billing.scan("python", code).verdict is Verdict.ALLOW
    assert pipeline.with_subject({"agent": "billing-fr"}) is billing
    assert pipeline.with_subject({"agent": "research"}) is pipeline


def test_fingerprints_are_the_same_for_every_subject() -> None:
    pipeline = Pipeline(_POLICY)
    code = "token = '" + "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q'"
    marks = {
        one.fingerprint
        for each in (pipeline, pipeline.with_subject({"agent": "billing-us"}))
        for one in each.scan("python", code).findings
        if one.rule == "secret.github-token"
    }

    assert len(marks) == 1


@pytest.mark.parametrize(
    ("language", "verdict"),
    [("python", Verdict.ALLOW), ("py", Verdict.ALLOW), ("json", Verdict.ALLOW), ("text", Verdict.ALLOW),
     ("bash", Verdict.DENY), ("sql", Verdict.DENY), ("cobol", Verdict.DENY), ("", Verdict.DENY)],
)  # fmt: skip
def test_a_language_the_policy_does_not_name_is_denied(language: str, verdict: Verdict) -> None:
    scan = Pipeline(parse_policy({"languages": ["Python3"]}, "test")).scan(language, "1")

    assert scan.verdict is verdict
    assert [one.rule for one in scan.findings] == (["language.denied"] if verdict is Verdict.DENY else [])


_TOPICS = {
    "topics": [
        {"id": "pay", "words": ["salary", "notice period"], "verdict": "deny", "message": "speaks of pay"},
        {"id": "doses", "patterns": [r"\bdose of \d{1,5} ?mg\b"]},
    ]
}


@pytest.mark.parametrize(
    ("language", "text", "rules"),
    [
        ("text", "What is her Salary?", ["topic.pay"]),
        ("markdown", "The notice\tperiod ends in May.", ["topic.pay"]),
        ("text", "a dose of 20 mg", ["topic.doses"]),
        ("text", "salaryman, take notice of the period", []),
        ("python", "salary = 3", []),
    ],
)
def test_a_topic_is_found_in_prose_alone(language: str, text: str, rules: list[str]) -> None:
    scan = Pipeline(parse_policy(_TOPICS, "test")).scan(language, text)

    assert [one.rule for one in scan.findings] == rules
    assert (
        scan.verdict
        is {"topic.pay": Verdict.DENY, "topic.doses": Verdict.REVIEW, "": Verdict.ALLOW}[
            rules[0] if rules else ""
        ]
    )


def test_a_scanner_of_an_override_that_cannot_be_loaded_is_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("1 / 0", encoding="utf-8")
    document = {"overrides": [{"when": {"agent": "a"}, "scanner_files": ["mine.py"]}]}

    with pytest.raises(PolicyError, match="division by zero"):
        Pipeline(parse_policy(document, "test", tmp_path))
