"""SARIF: every log is valid, links to documentation that is there, and shows no secret."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, FormatChecker

from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.rules import RULES, get_anchor
from spanproof.sandbox.scanners.sarif import build_sarif_log

_ROOT = Path(__file__).parents[3]
_GOLDEN = _ROOT / "tests" / "golden" / "scanners"
_FORMATS = FormatChecker()
_REST = r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-F]{2})*"
_FORMATS.checks("uri")(lambda value: re.fullmatch(rf"[A-Za-z][A-Za-z0-9+.\-]*:{_REST}", value) is not None)
_FORMATS.checks("uri-reference")(lambda value: re.fullmatch(_REST, value) is not None)
_SCHEMA = json.loads((_GOLDEN / "sarif-2.1.0-as-written.schema.json").read_text(encoding="utf-8"))
_VALIDATOR = Draft7Validator(_SCHEMA, format_checker=_FORMATS)
_LANGUAGES = {".py": "python", ".sh": "bash", ".sql": "sql", ".js": "javascript", ".ts": "typescript"}
_SECRET = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"


def _assert_valid(log: object) -> None:
    assert [error.message for error in _VALIDATOR.iter_errors(json.loads(json.dumps(log)))] == []


def test_the_log_of_all_golden_files_is_valid() -> None:
    pipeline = Pipeline()
    scans = [
        (f"some dir/{path.name}", pipeline.scan(_LANGUAGES[path.suffix], path.read_text(encoding="utf-8")))
        for path in sorted(_GOLDEN.iterdir())
        if path.suffix in _LANGUAGES
    ]
    log = build_sarif_log(scans)

    _assert_valid(log)
    run = log["runs"][0]
    assert len(run["results"]) == sum(len(scan.findings) for _, scan in scans)
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])


def test_a_log_without_findings_is_valid() -> None:
    _assert_valid(build_sarif_log([("a.py", Pipeline().scan("python", "print(1)"))]))
    _assert_valid(build_sarif_log([]))


@settings(max_examples=40, deadline=None)
@given(name=st.text(st.characters(), min_size=1, max_size=20), text=st.text(max_size=60))
def test_any_name_and_any_text_give_a_valid_log(name: str, text: str) -> None:
    scan = Pipeline().scan("python", f"open('/etc/' + {text!r})\n{text}")

    _assert_valid(build_sarif_log([(name, scan)]))


def test_a_users_rule_and_a_secret_are_described() -> None:
    rule = {"id": "intra", "pattern": "intra", "message": "internal", "remedy": "Do not."}
    scan = Pipeline(parse_policy({"rules": [rule]}, "test")).scan("python", f"x = 'intra'\nt = '{_SECRET}'")
    log = build_sarif_log([("a.py", scan)])

    _assert_valid(log)
    assert "Do not." in json.dumps(log)
    assert '"secret/v1"' in json.dumps(log)
    assert _SECRET not in json.dumps(log)


@pytest.mark.parametrize("address", ["https://docs.example/spanproof", "https://docs.example/spanproof/"])
def test_a_rule_links_to_where_the_documentation_is(address: str) -> None:
    log = build_sarif_log([("a.py", Pipeline().scan("python", "open('/etc/x')"))], address)

    _assert_valid(log)
    (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://docs.example/spanproof/docs/scanners.md#file.read-outside"


def test_every_anchor_is_in_the_documentation() -> None:
    prefixes = ["python.", "secret.github-token", "user.mine", "topic.pay", "bandit.blacklist"]
    for anchor in {get_anchor(rule) for rule in [*RULES, *prefixes[1:], "python.file.read-outside"]}:
        file, _, mark = anchor.partition("#")
        assert re.search(rf'id="{re.escape(mark)}"', (_ROOT / file).read_text(encoding="utf-8")), anchor
