"""The taxonomy of failures, and the rating of a run in four dimensions.

In: `taxonomy.yaml`, and the scores of a run. Out: categories and kinds; for each dimension a number from 1
(worst) to 5 (best) with the scores it rests on. A dimension of which no score is known has no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from spanproof.evaluators.scores import get_score_id
from spanproof.failures.packaged import load_packaged
from spanproof.trace import Label, Score, Scored

LOWEST, HIGHEST = 1.0, 5.0
CAP = 2.0
"""The best number of a dimension of which a decisive score failed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of failure; `given` says what finds it where the built-in layers do not."""

    id: str
    name: str
    text: str
    category: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: the scores it rests on by id, with their weights, and those whose failure caps it."""

    id: str
    name: str
    scores: Mapping[str, float]
    decisive: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rating:
    """A run in one dimension.

    Attributes:
        value: from 1 to 5; None where none of its scores is known.
        rests_on: its scores: id and value from 0 to 1.
        capped_by: ids of failed decisive scores.
    """

    dimension: Dimension
    value: float | None
    rests_on: tuple[tuple[str, float], ...] = ()
    capped_by: tuple[str, ...] = ()


def list_ratings(scores: Iterable[Score]) -> tuple[Rating, ...]:
    """Return the rating of a run in each dimension, from its scores.

    Of a score that each snippet has, the lowest counts.
    """
    values: dict[str, float] = {}
    failed: set[str] = set()
    for score in scores:
        if isinstance(score.outcome, Scored):
            name = get_score_id(score.layer, score.name)
            values[name] = min(score.outcome.value, values.get(name, 1.0))
            if score.outcome.label is Label.FAIL:
                failed.add(name)
    return tuple(_compute_rating(dimension, values, failed) for dimension in load_dimensions())


def _compute_rating(dimension: Dimension, values: Mapping[str, float], failed: set[str]) -> Rating:
    capped = tuple(sorted(failed & dimension.decisive))
    weights = {name: weight for name, weight in dimension.scores.items() if name in values}
    if not weights and not capped:
        return Rating(dimension, None)
    rests_on = tuple((name, values[name]) for name in dict.fromkeys((*weights, *capped)))
    if weights:
        mean = sum(values[name] * weight for name, weight in weights.items()) / sum(weights.values())
    else:
        mean = 0.0
    value = LOWEST + (HIGHEST - LOWEST) * mean
    return Rating(dimension, round(min(value, CAP) if capped else value, 1), rests_on, capped)


@cache
def load_kinds() -> Mapping[str, Kind]:
    """Return the kinds of failures by id, in the order of the file."""
    return {
        kind["id"]: Kind(category=category["name"], **kind)
        for category in _load_document()["categories"]
        for kind in category["kinds"]
    }


@cache
def load_dimensions() -> tuple[Dimension, ...]:
    """Return the dimensions of a rating."""
    return tuple(
        Dimension(row["id"], row["name"], row["scores"], frozenset(row["decisive"]))
        for row in _load_document()["dimensions"]
    )


@cache
def _load_document() -> Any:
    return load_packaged("taxonomy.yaml")
