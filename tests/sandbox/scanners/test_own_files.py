"""Files that a program writes itself: what it wrote is judged where it is run, loaded or read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_SNIPPETS = load_golden(Path(__file__).parent / "own_files.yaml")
_PIPELINE = Pipeline()


@pytest.mark.parametrize("snippet", _SNIPPETS["allowed"].values(), ids=_SNIPPETS["allowed"])
def test_what_a_program_wrote_itself_may_be_loaded_and_run(snippet: dict[str, str]) -> None:
    scan = _PIPELINE.scan(snippet["language"], snippet["code"])

    assert scan.verdict is Verdict.ALLOW, scan.findings


@pytest.mark.parametrize("snippet", _SNIPPETS["stopped"].values(), ids=_SNIPPETS["stopped"])
def test_what_a_program_wrote_itself_is_judged_by_what_it_holds(snippet: dict[str, str]) -> None:
    assert _PIPELINE.scan(snippet["language"], snippet["code"]).verdict is not Verdict.ALLOW
