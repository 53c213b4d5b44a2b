"""The pairs that were written blind: what has been reached on them is kept."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Held:
    """What holds of some of the sets together: shares of their faithful and of their corrupted answers."""

    sets: tuple[str, ...]
    faithful: int
    grounded: float
    corrupted: int
    contradicted: float
    accepted: float


EARLIER = Held(("first", "second", "third", "fourth"), 275, 0.93, 344, 0.57, 0.035)
LATER = Held(("fifth", "sixth", "seventh", "eighth"), 336, 0.82, 382, 0.46, 0.055)
NINTH = Held(("ninth",), 80, 0.79, 100, 0.71, 0.0)
TENTH = Held(("tenth",), 80, 0.71, 96, 0.52, 0.17)
ELEVENTH = Held(("eleventh",), 50, 0.92, 48, 0.60, 0.03)
TWELFTH = Held(("twelfth",), 97, 0.98, 169, 0.69, 0.015)
THIRTEENTH = Held(("thirteenth",), 28, 0.96, 40, 0.62, 0.03)

HELD = {
    "earlier": EARLIER,
    "later": LATER,
    "ninth": NINTH,
    "tenth": TENTH,
    "eleventh": ELEVENTH,
    "twelfth": TWELFTH,
    "thirteenth": THIRTEENTH,
}


@pytest.fixture(scope="module", params=HELD.values(), ids=HELD.keys())
def judged(request):
    bench = loaded()
    found = {True: Counter(), False: Counter()}
    for name in request.param.sets:
        for pair in bench.pairs(name):
            found[pair.kind == "faithful"][pair.judged().verdict] += 1
    return request.param, found


def test_faithful_answers_are_accepted_and_never_accused(judged):
    held, found = judged
    faithful = found[True]
    assert faithful.total() == held.faithful
    assert faithful[Verdict.GROUNDED] / faithful.total() >= held.grounded
    assert faithful[Verdict.CONTRADICTED] == 0


def test_corrupted_answers_are_rejected_or_left_open_and_seldom_accepted(judged):
    held, found = judged
    corrupted = found[False]
    assert corrupted.total() == held.corrupted
    assert corrupted[Verdict.CONTRADICTED] / corrupted.total() >= held.contradicted
    assert corrupted[Verdict.GROUNDED] / corrupted.total() <= held.accepted
