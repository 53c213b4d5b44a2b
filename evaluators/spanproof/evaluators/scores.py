"""The registry of scores: every score that Spanproof gives itself, and what its number means.

Everything that lists or validates scores reads this table: the layers, the gate, alerts, the configuration,
the command line and the tests of docs/layers.md. Scores of the user's own evaluators are not in it.

A verdict and a sub-score have a value from 0 (worst) to 1 (best). A metric also has a raw value in a unit
(`trajectory.steps` is 7 steps); its value from 0 to 1 is registered apart, as `<metric>_score`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from math import inf
from types import MappingProxyType
from typing import ClassVar, Final

from spanproof.evaluators.run_state import PERSON_VERDICT
from spanproof.trace import Judgement, Label, Layer, Outcome, Score, Scored, State, get_state


class ScoreKind(StrEnum):
    """What a score's number is."""

    VERDICT = "verdict"
    """The layer's own value, which every judged run has."""
    SUB_SCORE = "sub-score"
    METRIC = "metric"
    """An amount in a unit."""


class Unit(StrEnum):
    """What an amount is counted in; `NONE` for a value from 0 to 1."""

    NONE = ""
    STEPS = "steps"
    ERRORS = "errors"
    BLOCKS = "blocks"
    TOKENS = "tokens"
    USD = "USD"
    SECONDS = "s"
    LINES = "lines"
    PATHS = "paths"


UNIT_FACTORS: Final[Mapping[Unit, Mapping[str, float]]] = MappingProxyType(
    {
        Unit.NONE: {"%": 0.01},
        Unit.STEPS: {"steps": 1.0, "step": 1.0},
        Unit.ERRORS: {"errors": 1.0, "error": 1.0},
        Unit.BLOCKS: {"blocks": 1.0, "block": 1.0},
        Unit.TOKENS: {"tokens": 1.0, "token": 1.0, "k": 1_000.0, "M": 1_000_000.0},
        Unit.USD: {"USD": 1.0, "usd": 1.0, "$": 1.0},
        Unit.LINES: {"lines": 1.0, "line": 1.0},
        Unit.PATHS: {"paths": 1.0, "path": 1.0},
        Unit.SECONDS: {"s": 1.0, "ms": 0.001, "min": 60.0, "h": 3600.0},
    }
)
"""How a threshold may be written, and how much of the unit that is: `500ms` is 0.5 s."""

NORMALISED_SUFFIX: Final = "_score"

STRUCTURE_EVALUATOR: Final = "spanproof.structure"
"""The name of the evaluator of structural metrics, by which a reader finds its scores without loading it."""


@dataclass(frozen=True, slots=True)
class ScoreSpec:
    """One score.

    Attributes:
        name: the layer's name for the layer's own value.
        unit: of the number that is compared; `NONE` except for metrics.
        high: the largest number there can be; the smallest is 0.
        part_of, weight: the composite score whose weighted mean it enters, and how much of it.
        advisory: it fails nothing: there is no `fail` among its labels.
        given: what has to be configured or at hand for a run to have it; empty where every run can have it.
        stored: whether it is a row of the store, where alerts see it.
        normalises: the metric whose value from 0 to 1 it is; it has no row of its own.
    """

    layer: Layer
    name: str
    kind: ScoreKind = ScoreKind.SUB_SCORE
    unit: Unit = Unit.NONE
    high: float = 1.0
    part_of: str = ""
    weight: float = 0.0
    advisory: bool = False
    given: str = ""
    stored: bool = True
    normalises: str = ""

    low: ClassVar[float] = 0.0

    @property
    def id(self) -> str:
        """The name users write: `layer.score` for the layer's own value, else `layer.name`."""
        return score_id(self.layer, self.name)

    @property
    def row_name(self) -> str:
        """The name of the stored score that holds it."""
        return self.normalises or self.name

    @property
    def is_raw(self) -> bool:
        """Whether its number is a raw amount in `unit`, else it is a value from 0 to 1."""
        return self.kind is ScoreKind.METRIC

    @property
    def anchor(self) -> str:
        """The section of the documentation that explains it."""
        return ANCHORS[self.layer]


def score_id(layer: Layer, name: str) -> str:
    """Return the name users write for a score: `layer.score` for a layer's own value, else `layer.name`."""
    return f"{layer.value}.{'score' if name == layer.value else name}"


ANCHORS: Final[Mapping[Layer, str]] = MappingProxyType(
    {
        Layer.CORRECTNESS: "docs/layers.md#correctness-is-the-code-valid-and-are-its-results-reproduced",
        Layer.BOUNDARY: "docs/layers.md#boundary-did-it-stay-within-its-policy",
        Layer.EXECUTION: "docs/layers.md#execution-how-did-each-step-end",
        Layer.GROUNDEDNESS: "docs/layers.md#groundedness-do-the-outputs-support-the-answer",
        Layer.TRAJECTORY: "docs/layers.md#trajectory-how-did-the-run-go",
    }
)

_OF_SUITES: Final = "only `spanproof suite run` gives it, to cases with tests"


def _make_verdict(layer: Layer) -> ScoreSpec:
    return ScoreSpec(layer, layer.value, ScoreKind.VERDICT)


def _make_metric(layer: Layer, name: str, unit: Unit, given: str = "") -> tuple[ScoreSpec, ScoreSpec]:
    """Return a metric and its value from 0 to 1, which falls as the amount grows."""
    return (
        ScoreSpec(layer, name, ScoreKind.METRIC, unit, inf, advisory=True, given=given),
        ScoreSpec(layer, f"{name}{NORMALISED_SUFFIX}", advisory=True, given=given, normalises=name),
    )


def _declare_correctness() -> Iterator[ScoreSpec]:
    layer = Layer.CORRECTNESS
    yield _make_verdict(layer)
    for name in ("compiles", "imports_exist", "attributes_exist"):
        yield ScoreSpec(layer, name)
    yield ScoreSpec(layer, "lint", advisory=True, given="evaluation.lint switches it on")
    yield ScoreSpec(layer, "replay_agrees")
    for name in ("tests_pass", "inputs_unchanged", "within_budget"):
        yield ScoreSpec(layer, name, given=_OF_SUITES)
    structure = "evaluation.structure switches it on"
    yield from _make_metric(layer, "complexity", Unit.PATHS, structure)
    yield from _make_metric(layer, "code_lines", Unit.LINES, structure)
    yield ScoreSpec(layer, "duplication", advisory=True, given=structure)
    yield ScoreSpec(layer, "dead_code", advisory=True, given=structure)
    before = f"{structure}, for runs whose run before is known"
    yield ScoreSpec(layer, "growth", advisory=True, given=before)
    yield ScoreSpec(layer, "public_api", advisory=True, given=before)
    judged = "judge.beside_share sets the share of runs that a judge scores as well"
    yield ScoreSpec(layer, "judge_correctness", advisory=True, given=judged)


def _declare_boundary() -> Iterator[ScoreSpec]:
    layer = Layer.BOUNDARY
    yield _make_verdict(layer)
    yield ScoreSpec(layer, "scan")
    yield ScoreSpec(layer, "attempts")
    yield ScoreSpec(layer, "security", advisory=True)
    yield from _make_metric(layer, "blocks", Unit.BLOCKS, "only runs with a guardrail on the trace have it")
    yield ScoreSpec(layer, "no_code", given="evaluation.without_code names the cohorts that have it")


def _declare_execution() -> Iterator[ScoreSpec]:
    layer = Layer.EXECUTION
    yield _make_verdict(layer)
    yield ScoreSpec(layer, "outcome")
    yield ScoreSpec(layer, "reproduced")
    repeated = "only runs that were replayed twice have it; evaluation.repeat_share sets their share"
    yield ScoreSpec(layer, "stable", advisory=True, given=repeated)
    drifted = "only runs whose code ended differently on another executor have it"
    yield ScoreSpec(layer, "drift", advisory=True, given=drifted)
    yield from _make_metric(layer, "wall_s", Unit.SECONDS)


def _declare_groundedness() -> Iterator[ScoreSpec]:
    layer = Layer.GROUNDEDNESS
    yield _make_verdict(layer)
    yield ScoreSpec(layer, "facts")
    yield ScoreSpec(layer, "read", advisory=True)
    yield ScoreSpec(layer, "answer_grounded")
    yield ScoreSpec(layer, "context_adherence", advisory=True)
    yield ScoreSpec(layer, "chunk_attribution", advisory=True)
    yield ScoreSpec(layer, "drift")


def _declare_trajectory() -> Iterator[ScoreSpec]:
    layer = Layer.TRAJECTORY
    yield _make_verdict(layer)
    for name, weight in (
        ("answered", 0.25),
        ("recovery", 0.15),
        ("loops", 0.15),
        ("action_safety", 0.15),
    ):
        yield ScoreSpec(layer, name, part_of="trajectory", weight=weight)
    for name, weight in (
        ("step_efficiency", 0.10),
        ("goal_progress", 0.08),
        ("tool_calling", 0.08),
        ("reasoning_quality", 0.04),
    ):
        yield ScoreSpec(layer, name, part_of="trajectory", weight=weight, advisory=True)
    for name in ("tool_selection", "tool_arguments", "tool_result_use", "tool_recovery"):
        yield ScoreSpec(layer, name, part_of="tool_calling", weight=0.25, advisory=True)
    yield ScoreSpec(layer, "first_mistake", advisory=True)
    yield from _make_metric(layer, "steps", Unit.STEPS)
    yield from _make_metric(layer, "consecutive_errors", Unit.ERRORS)
    yield from _make_metric(layer, "tokens", Unit.TOKENS, "only runs whose tokens are on the trace have it")
    yield from _make_metric(layer, "cost_usd", Unit.USD, "only runs whose tokens are on the trace have it")
    yield from _make_metric(layer, "judge_usd", Unit.USD, "only runs that a judge was paid for have it")
    rated = "only a store has it, of runs that a user rated"
    yield ScoreSpec(layer, "feedback", given=rated, stored=False)


SCORES: Final[tuple[ScoreSpec, ...]] = (
    *_declare_correctness(),
    *_declare_boundary(),
    *_declare_execution(),
    *_declare_groundedness(),
    *_declare_trajectory(),
)
"""Every score, in the order in which layers are judged and shown."""

_BY_NAME: Final[Mapping[tuple[Layer, str], ScoreSpec]] = MappingProxyType(
    {(spec.layer, spec.name): spec for spec in SCORES}
)

BUILT_IN: Final = frozenset((*(spec.name for spec in SCORES), PERSON_VERDICT))
"""The names that an evaluator of the user's cannot take."""


ALIASES: Final[Mapping[str, Layer]] = MappingProxyType(
    {
        "code_correctness": Layer.CORRECTNESS,
        "sandbox_boundary": Layer.BOUNDARY,
        "execution_success": Layer.EXECUTION,
        "trajectory_score": Layer.TRAJECTORY,
    }
)
"""Other names of layers' own values."""


class UnregisteredScore(ValueError):  # noqa: N818 - names the score
    """A layer gave a score that the registry does not have, or not as the registry has it."""


def find(layer: Layer, name: str) -> ScoreSpec | None:
    """Return the registered score of this name, None where there is none."""
    return _BY_NAME.get((layer, name))


def find_state(layer: Layer, name: str, outcome: Outcome) -> State | None:
    """Return the state of a score; None of advice and of metrics, which have no verdict.

    A layer's own value without a label is open. Any other score without one is advice, unless it has a cause.
    """
    spec = find(layer, name)
    if spec is not None and spec.advisory:
        return None
    state = get_state(outcome)
    without_cause = isinstance(outcome, Scored) and outcome.cause is None
    if state is State.OPEN and without_cause and name != layer.value:
        return None
    return state


def is_open(judged: Judgement | Score) -> bool:
    """Whether a verdict is open."""
    return find_state(judged.layer, judged.name, judged.outcome) is State.OPEN


def list_layer_scores(layer: Layer) -> tuple[ScoreSpec, ...]:
    """Return the registered scores of one layer, its own value first."""
    return tuple(spec for spec in SCORES if spec.layer is layer)


def find_weights(layer: Layer, composite: str) -> dict[str, float]:
    """Return the weight of each part of a composite score; they add up to 1."""
    return {spec.name: spec.weight for spec in list_layer_scores(layer) if spec.part_of == composite}


def find_nearest(layer: Layer, name: str, also: Iterable[tuple[Layer, str]] = ()) -> str | None:
    """Return the id of the score that a wrong name most likely means, None where none is near.

    A metric whose unit was left out comes first (`cost` for `cost_usd`), then a similar name of the same
    layer, then the same name in another layer.

    Args:
        layer: that was written.
        name: that was written.
        also: layers and names of further scores there are, such as the user's own.
    """
    for spec in SCORES:
        if spec.is_raw and (spec.layer, spec.name.rpartition("_")[0]) == (layer, name):
            return spec.id
    candidates = {*_BY_NAME, *also} - {(layer, name)}
    of_layer = sorted({other for known_layer, other in candidates if known_layer is layer} | {"score"})
    if near := get_close_matches(name, of_layer, n=1, cutoff=0.75):
        return score_id(layer, layer.value if near[0] == "score" else near[0])
    elsewhere = sorted(known_layer for known_layer, other in candidates if other == name)
    return f"{elsewhere[0].value}.{name}" if elsewhere else None


def check_registered(judgements: Collection[Judgement]) -> None:
    """See that each judgement is of a registered score and has the unit and the labels that it declares.

    Raises:
        UnregisteredScore: one is not; the message names it and where to register it.
    """
    for judgement in judgements:
        spec = find(judgement.layer, judgement.name)
        written = score_id(judgement.layer, judgement.name)
        if spec is None or spec.normalises:
            raise UnregisteredScore(
                f"{judgement.evaluator} gave {written}: register it in {__name__} and document it"
            )
        if not isinstance(judgement.outcome, Scored):
            continue
        if judgement.outcome.unit != spec.unit or (judgement.outcome.raw is None) is spec.is_raw:
            raise UnregisteredScore(
                f"{judgement.evaluator} gave {written} with the raw value {judgement.outcome.raw!r}"
                f" {judgement.outcome.unit}; registered is {spec.unit.value or 'none'}"
            )
        if spec.advisory and judgement.outcome.label is Label.FAIL:
            raise UnregisteredScore(f"{judgement.evaluator} fails {written}, which is registered as advisory")
