"""The pairs that were written blind: what has been reached on them is kept."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

from spanproof.evaluators.layers.groundedness import Verdict

BENCH = Path(__file__).parents[2] / "bench" / "groundedness_blind.py"


def loaded():
    spec = importlib.util.spec_from_file_location("groundedness_blind", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def verdicts():
    bench = loaded()
    found = {True: Counter(), False: Counter()}
    for name in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"):
        for pair in bench.pairs(name):
            found[pair.kind == "faithful"][pair.judged().verdict] += 1
    return found


def test_faithful_answers_are_accepted_and_hardly_ever_accused(verdicts):
    faithful = verdicts[True]
    assert faithful.total() == 611
    assert faithful[Verdict.GROUNDED] / faithful.total() >= 0.85
    assert faithful[Verdict.CONTRADICTED] / faithful.total() <= 0.01


def test_corrupted_answers_are_rejected_or_left_open_and_seldom_accepted(verdicts):
    corrupted = verdicts[False]
    assert corrupted.total() == 726
    assert corrupted[Verdict.CONTRADICTED] / corrupted.total() >= 0.73
    assert corrupted[Verdict.GROUNDED] / corrupted.total() <= 0.07
