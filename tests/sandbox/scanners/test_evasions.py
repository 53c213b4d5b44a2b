from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_FILES = sorted(Path(__file__).parent.glob("evasions*.yaml"))
_TABLES = [load_golden(path) for path in _FILES]
_PIPELINE = Pipeline()


def _denied() -> list[object]:
    return [
        pytest.param(language, entry["code"], entry["rule"], id=f"{language}: {name}")
        for table in _TABLES
        for language in table
        if language != "review"
        for name, entry in table[language].items()
    ]


def _reviewed() -> list[object]:
    return [
        pytest.param(entry["language"], entry["code"], entry["rule"], id=name)
        for table in _TABLES
        for name, entry in table.get("review", {}).items()
    ]


@pytest.mark.parametrize(("language", "code", "rule"), _denied())
def test_a_crossing_is_denied_however_it_is_spelled(language: str, code: str, rule: str) -> None:
    scan = _PIPELINE.scan(language, code)

    assert scan.verdict is Verdict.DENY, scan.findings
    assert any(rule in finding.rule for finding in scan.findings), scan.findings


@pytest.mark.parametrize(("language", "code", "rule"), _reviewed())
def test_what_cannot_be_resolved_is_left_to_the_sandbox(language: str, code: str, rule: str) -> None:
    scan = _PIPELINE.scan(language, code)

    assert scan.verdict is Verdict.REVIEW, scan.findings
    assert any(rule in finding.rule for finding in scan.findings), scan.findings
