"""Seven hundred pairs made from templates, held to the shares the layer aims at."""

from __future__ import annotations

import importlib.util
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from spanproof.evaluators.layers.groundedness import ground

BENCH = Path(__file__).parents[2] / "bench"


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def verdicts():
    found = defaultdict(Counter)
    for pair in loaded("groundedness_pairs").pairs(20261121):
        found[pair["kind"]][ground([pair["out"]], pair["ans"]).verdict.value] += 1
    return found


def share(verdicts, kinds, verdict):
    return sum(verdicts[kind][verdict] for kind in kinds) / sum(verdicts[kind].total() for kind in kinds)


def test_there_are_enough_pairs_of_enough_kinds(verdicts):
    assert sum(counted.total() for counted in verdicts.values()) >= 600
    assert len(verdicts) == 13


def test_faithful_answers_are_accepted(verdicts):
    assert share(verdicts, ["faithful"], "grounded") >= 0.97


def test_corrupted_numbers_are_rejected(verdicts):
    assert share(verdicts, loaded("groundedness").NUMERIC, "contradicted") >= 0.83
    assert share(verdicts, loaded("groundedness").NUMERIC, "grounded") <= 0.02


def test_swaps_units_and_directions_are_rejected(verdicts):
    assert share(verdicts, loaded("groundedness").BOUND, "contradicted") >= 0.66
    assert share(verdicts, loaded("groundedness").BOUND, "grounded") <= 0.10
