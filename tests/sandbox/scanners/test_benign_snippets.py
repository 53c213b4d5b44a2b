from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_FILES = sorted(Path(__file__).parent.glob("benign*.yaml"))
_TABLES = [load_golden(path) for path in _FILES]
_PIPELINE = Pipeline()


@pytest.mark.parametrize(
    ("language", "code"),
    [
        pytest.param(language, code, id=f"{language}: {name}")
        for table in _TABLES
        for language, entries in table.items()
        for name, code in entries.items()
    ],
)
def test_ordinary_analysis_is_allowed(language: str, code: str) -> None:
    scan = _PIPELINE.scan(language, code)

    assert scan.verdict is Verdict.ALLOW, scan.findings
