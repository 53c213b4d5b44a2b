"""Evaluate the trained trees: plain text in, a probability out; no training library at run time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from math import exp

Tree = tuple[tuple[int, float, int, int], ...]


@dataclass(frozen=True, slots=True)
class Trees:
    """A sum of small trees.

    Attributes:
        trees: of each tree its nodes: feature, threshold, and the nodes below; a leaf has feature -1 and its
            value as threshold.
    """

    features: tuple[str, ...]
    base: float
    trees: tuple[Tree, ...]

    def probability(self, row: Sequence[float]) -> float:
        """Return the probability that a claim with these features is right."""
        total = self.base
        for tree in self.trees:
            feature, threshold, left, right = tree[0]
            while feature >= 0:
                feature, threshold, left, right = tree[left if row[feature] <= threshold else right]
            total += threshold
        return 1.0 / (1.0 + exp(-max(-40.0, min(40.0, total))))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What has to hold for a verdict, chosen on the sets a model was trained with.

    Attributes:
        accept: the least probability of every value claim of an accepted answer; `accept_state` of states.
        accuse: below it a value claim is wrong; `accuse_state` of states.
    """

    accept: float
    accept_state: float
    accuse: float
    accuse_state: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The learned choice: a model of values, one of states, and the thresholds."""

    values: Trees
    states: Trees
    thresholds: Thresholds


@lru_cache(maxsize=1)
def load_choice() -> Choice:
    """Return the weights that are shipped."""
    return read_choice((resources.files(__package__) / "weights.json").read_text(encoding="utf-8"))


def read_choice(text: str) -> Choice:
    """Return the weights that a text holds."""
    stored = json.loads(text)
    return Choice(
        _parse_trees(stored["values"]), _parse_trees(stored["states"]), Thresholds(**stored["thresholds"])
    )


def _parse_trees(stored: dict[str, object]) -> Trees:
    features, base, trees = stored["features"], stored["base"], stored["trees"]
    assert isinstance(features, list)
    assert isinstance(base, float)
    assert isinstance(trees, list)
    return Trees(
        tuple(features),
        base,
        tuple(tuple((int(f), float(t), int(a), int(b)) for f, t, a, b in tree) for tree in trees),
    )
