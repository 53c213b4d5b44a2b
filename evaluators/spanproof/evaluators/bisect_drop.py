"""Why a rate fell: where in time it did, and which of image, packages, model and prompt changed there.

Takes runs that passed or failed, each with what it ran on; gives the drop, and for each dimension what became
of it. The image comes first: it brings its packages along. A dimension is a cause only where runs that are
alike in all others that changed still differ. Those that changed in the same runs cannot be separated, and
are reported as such. Runs nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from typing import Final

from spanproof.evaluators.intervals import Interval, compute_difference_interval, compute_wilson_interval
from spanproof.trace import Run, Trace

# Runs that a side of a drop has at least.
_FEWEST: Final = 5

_SHUFFLES: Final = 199
_LIKELY: Final = 0.05
# Attributes of OpenTelemetry's resource that name an image, the most exact first.
_IMAGE_KEYS: Final = ("oci.manifest.digest", "container.image.id", "container.image.name")


class Dimension(StrEnum):
    """What may have changed, in the order in which it is suspected."""

    IMAGE = "image"
    PACKAGES = "packages"
    MODEL = "model"
    PROMPT = "prompt"


class Finding(StrEnum):
    """What became of a dimension at the drop."""

    CAUSE = "cause"
    """It changed, and runs that are alike in all else pass less often with the new value."""
    TOGETHER = "changed_together"
    """It changed, in the same runs as another: the two cannot be separated."""
    NO_EFFECT = "no_effect_shown"
    """It changed, and runs that are alike in all else show no certain difference."""
    UNCHANGED = "unchanged"
    UNKNOWN = "not_recorded"


@dataclass(frozen=True, slots=True)
class Observation:
    """One run: when it started, whether it passed, and what it ran on; empty where that is not recorded."""

    trace_id: str
    time_ns: int
    passed: bool
    values: Mapping[Dimension, str]
    packages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rate:
    """Runs that passed, of a total."""

    passed: int
    total: int

    @property
    def share(self) -> float:
        """The share that passed; there is at least one run."""
        return self.passed / self.total

    @property
    def interval(self) -> Interval | None:
        """Its 95 % Wilson interval."""
        return compute_wilson_interval(self.passed, self.total)


@dataclass(frozen=True, slots=True)
class Drop:
    """Where a rate fell most.

    Attributes:
        time_ns: of the first run after it.
        difference: the interval of the rate after less the rate before.
        p_value: how often runs in random order show as large a drop somewhere.
    """

    time_ns: int
    before: Rate
    after: Rate
    difference: Interval
    p_value: float

    @property
    def is_certain(self) -> bool:
        """Whether it is more than chance."""
        return self.p_value <= _LIKELY


@dataclass(frozen=True, slots=True)
class Contrast:
    """Runs with the old and the new value of one dimension that are alike in the others that changed."""

    old: Rate
    new: Rate
    difference: Interval
    alike_in: Mapping[Dimension, str]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one dimension.

    Attributes:
        before, after: its commonest value on each side of the drop.
        rates: of each of its values, in the order in which they first appear.
        contrast: None where no two runs differ in this dimension alone.
        together_with: those that changed in the same runs.
    """

    dimension: Dimension
    finding: Finding
    before: str
    after: str
    rates: Mapping[str, Rate]
    contrast: Contrast | None = None
    together_with: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True)
class Bisection:
    """A drop and what is known of its cause; None where runs are too few or the rate never falls."""

    runs: int
    drop: Drop | None
    changes: tuple[Change, ...] = ()

    @property
    def suspect(self) -> Change | None:
        """The dimension to look at first: the first cause, else the first of those that changed together."""
        for wanted in (Finding.CAUSE, Finding.TOGETHER):
            found = next((change for change in self.changes if change.finding is wanted), None)
            if found is not None:
                return found
        return None


def build_observation(trace: Trace, run: Run, *, passed: bool) -> Observation:
    """Return a run as the bisection sees it."""
    environment = trace.environment(run.span_id)
    values = {
        Dimension.IMAGE: _get_image(trace, run),
        Dimension.MODEL: run.cohort.model,
        Dimension.PROMPT: run.cohort.prompt_version,
    }
    packages = dict(environment.packages) if environment else {}
    return Observation(run.trace_id, run.start_ns, passed, values, packages)


def _get_image(trace: Trace, run: Run) -> str:
    """Return the image that ran the code of a run, else the one that its process ran in."""
    executors = [snippet.executor for snippet in run.snippets if snippet.executed]
    found = next(
        (
            executor.image_digest or executor.image_name
            for executor in executors
            if executor.image_name or executor.image_digest
        ),
        None,
    )
    environment = trace.environment(run.span_id)
    if found is None and environment is not None:
        found = environment.image_digest or environment.image_name
    span = trace.by_id.get(run.span_id)
    if found is None and span is not None:
        found = next((str(span.resource[key]) for key in _IMAGE_KEYS if span.resource.get(key)), None)
    return found or ""


def compute_bisection(observations: Iterable[Observation]) -> Bisection:
    """Find the drop and what changed at it."""
    ordered = _with_packages(
        sorted(observations, key=lambda observation: (observation.time_ns, observation.trace_id))
    )
    split = _find_drop(ordered)
    if split is None:
        return Bisection(len(ordered), None)
    drop = _build_drop(ordered, split)
    changes = [_build_change(ordered, split, dimension) for dimension in Dimension]
    changed = {
        change.dimension: change
        for change in changes
        if change.before != change.after and change.before and change.after
    }
    judged = [
        _evaluate_change(ordered, change, changed) if change.dimension in changed else change
        for change in changes
    ]
    return Bisection(len(ordered), drop, tuple(judged))


def _with_packages(observations: Sequence[Observation]) -> list[Observation]:
    """Give each run the value of its packages: the versions of those that differ between runs.

    Processes import lazily, so that a package which one run has and another has not is no change.
    """
    versions: dict[str, set[str]] = {}
    for observation in observations:
        for name, version in observation.packages.items():
            versions.setdefault(name, set()).add(version)
    varying = {name for name, found in versions.items() if len(found) > 1}
    return [
        Observation(
            observation.trace_id,
            observation.time_ns,
            observation.passed,
            {**observation.values, Dimension.PACKAGES: _describe_packages(observation.packages, varying)},
            observation.packages,
        )
        for observation in observations
    ]


def _describe_packages(packages: Mapping[str, str], varying: set[str]) -> str:
    if not packages:
        return ""
    found = [f"{name} {packages[name]}" for name in sorted(varying & packages.keys())]
    return ", ".join(found) or "the same in all runs"


def _find_drop(ordered: Sequence[Observation]) -> int | None:
    """Return the number of runs before the likeliest drop; None where the rate never falls."""
    return _compute_likeliest_split([observation.passed for observation in ordered])[0]


def _compute_likeliest_split(passed: Sequence[bool]) -> tuple[int | None, float]:
    """Return the split with the largest likelihood ratio of a fall, and the logarithm of that ratio."""
    total, all_passed = len(passed), sum(passed)
    best: tuple[int | None, float] = None, 0.0
    before = 0
    whole = _compute_log_likelihood(all_passed, total)
    for split in range(1, total):
        before += passed[split - 1]
        if split < _FEWEST or total - split < _FEWEST:
            continue
        after = all_passed - before
        if before / split <= after / (total - split):
            continue
        ratio = _compute_log_likelihood(before, split) + _compute_log_likelihood(after, total - split) - whole
        if ratio > best[1]:
            best = split, ratio
    return best


def _compute_log_likelihood(passed: int, total: int) -> float:
    failed = total - passed
    return sum(count * log(count / total) for count in (passed, failed) if count)


def _build_drop(ordered: Sequence[Observation], split: int) -> Drop:
    before, after = _compute_rate(ordered[:split]), _compute_rate(ordered[split:])
    return Drop(
        ordered[split].time_ns, before, after, _compute_difference(before, after), _compute_p_value(ordered)
    )


def _compute_p_value(ordered: Sequence[Observation]) -> float:
    """Return the share of random orders with as likely a drop; the orders are the same in every call."""
    passed = [observation.passed for observation in ordered]
    seen = _compute_likeliest_split(passed)[1]
    draw = random.Random(0)  # noqa: S311 - resampling is no secret
    as_likely = 0
    for _ in range(_SHUFFLES):
        draw.shuffle(passed)
        as_likely += _compute_likeliest_split(passed)[1] >= seen
    return (1 + as_likely) / (1 + _SHUFFLES)


def _compute_rate(observations: Sequence[Observation]) -> Rate:
    return Rate(sum(observation.passed for observation in observations), len(observations))


def _compute_difference(before: Rate, after: Rate) -> Interval:
    found = compute_difference_interval((before.passed, before.total), (after.passed, after.total))
    assert found is not None, "both sides have runs"
    return found


def _build_change(ordered: Sequence[Observation], split: int, dimension: Dimension) -> Change:
    rates: dict[str, Rate] = {}
    for value in dict.fromkeys(observation.values[dimension] for observation in ordered):
        if value:
            rates[value] = _compute_rate(
                [observation for observation in ordered if observation.values[dimension] == value]
            )
    sides = []
    for side in (ordered[:split], ordered[split:]):
        counted = Counter(
            observation.values[dimension] for observation in side if observation.values[dimension]
        )
        sides.append(counted.most_common(1)[0][0] if counted else "")
    finding = Finding.UNCHANGED if all(sides) else Finding.UNKNOWN
    return Change(dimension, finding, sides[0], sides[1], rates)


def _evaluate_change(
    ordered: Sequence[Observation], change: Change, changed: Mapping[Dimension, Change]
) -> Change:
    """Decide whether a dimension that changed makes the difference, by runs that are alike in the others."""
    others = [other for other in changed.values() if other.dimension is not change.dimension]
    contrast = _find_contrast(ordered, change, others)
    if contrast is None:
        together = tuple(other.dimension for other in others)
        return _with_finding(change, Finding.TOGETHER, None, together)
    if contrast.difference.high < 0:
        finding = Finding.CAUSE
    else:
        finding = Finding.NO_EFFECT
    return _with_finding(change, finding, contrast, ())


def _with_finding(
    change: Change, finding: Finding, contrast: Contrast | None, together: tuple[Dimension, ...]
) -> Change:
    return Change(change.dimension, finding, change.before, change.after, change.rates, contrast, together)


def _find_contrast(
    ordered: Sequence[Observation], change: Change, others: Sequence[Change]
) -> Contrast | None:
    """Return old against new value where most runs are alike in the others; None where none are."""
    groups: dict[tuple[str, ...], tuple[list[Observation], list[Observation]]] = {}
    for observation in ordered:
        value = observation.values[change.dimension]
        if value in (change.before, change.after):
            key = tuple(observation.values[other.dimension] for other in others)
            groups.setdefault(key, ([], []))[value == change.after].append(observation)
    both = {key: sides for key, sides in groups.items() if all(sides)}
    if not both:
        return None
    key = max(both, key=lambda group: min(map(len, both[group])))
    old, new = map(_compute_rate, both[key])
    alike = {other.dimension: value for other, value in zip(others, key, strict=True)}
    return Contrast(old, new, _compute_difference(old, new), alike)
