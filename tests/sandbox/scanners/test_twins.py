"""Pairs of snippets that differ in little but the boundary: the crossing is denied, its twin is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_FILES = sorted(Path(__file__).parent.glob("twins*.yaml"))
_PIPELINE = Pipeline()


@pytest.mark.parametrize(
    ("language", "pair"),
    [
        pytest.param(language, pair, id=f"{path.stem} {language} {number}")
        for path in _FILES
        for language, pairs in load_golden(path).items()
        for number, pair in enumerate(pairs, 1)
    ],
)
def test_a_crossing_is_denied_and_its_harmless_twin_allowed(language: str, pair: dict[str, str]) -> None:
    crossing, harmless = (_PIPELINE.scan(language, pair[kind]) for kind in ("crossing", "harmless"))

    assert crossing.verdict is Verdict.DENY, crossing.findings
    assert harmless.verdict is Verdict.ALLOW, harmless.findings
