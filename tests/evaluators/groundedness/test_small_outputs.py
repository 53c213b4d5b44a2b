"""Answers of one sentence over one small output: which right ones are accused, and which wrong ones pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.evaluators.layers.groundedness import Verdict, ground

GOLDEN = Path(__file__).parents[2] / "golden/one_sentence"
ROWS = load_golden(GOLDEN / "small_outputs.yaml")
OPENED = load_golden(GOLDEN / "opened.yaml")


@pytest.mark.parametrize("row", ROWS["right"], ids=lambda row: row["answer"])
def test_no_right_answer_is_accused(row):
    assert ground([row["output"]], row["answer"], row["task"]).verdict is not Verdict.CONTRADICTED


@pytest.mark.parametrize("row", ROWS["wrong"], ids=lambda row: row["answer"])
def test_no_wrong_answer_passes(row):
    assert ground([row["output"]], row["answer"], row["task"]).verdict is not Verdict.GROUNDED


def test_as_many_right_answers_pass_as_the_docs_say():
    verdicts = [ground([row["output"]], row["answer"], row["task"]).verdict for row in ROWS["right"]]
    assert verdicts.count(Verdict.GROUNDED) >= 12


@pytest.mark.parametrize("row", OPENED, ids=lambda row: row["right"])
def test_no_answer_of_the_opened_set_gets_the_wrong_verdict(row):
    assert ground([row["output"]], row["right"], row["task"]).verdict is not Verdict.CONTRADICTED
    assert ground([row["output"]], row["wrong"], row["task"]).verdict is not Verdict.GROUNDED
