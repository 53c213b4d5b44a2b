"""What judges: the contract of an evaluator, and the five built-in layers as evaluators.

An evaluator takes the evidence about one run and what cheaper evaluators said of it; it gives judgements. It
reads; it never stores or sends anything. The engine calls evaluators in the order of their cost. A judgement
about the same thing (layer, name, span, snippet) takes the place of the cheaper one: so a judge settles what
the rules left open.

Your own, by class: subclass `Evaluator` and name the class in an entry point of the group
`spanproof.evaluators`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Flag, IntEnum, auto
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from spanproof.evaluators.layers import boundary, correctness, execution, groundedness, trajectory
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.recorded import is_silent
from spanproof.evaluators.scores import check_registered
from spanproof.trace import Judgement, Layer, Run

GROUP = "spanproof.evaluators"


class EvaluatorError(ValueError):
    """An evaluator of the user's cannot be used; the message names it and what is wrong."""


class Cost(IntEnum):
    """What a judgement takes, the cheapest first."""

    RULES = 0
    SANDBOX = 1
    MODEL = 2


class Needs(Flag):
    """What has to be run in the sandbox before a run can be judged."""

    NOTHING = 0
    REPLAY = auto()
    APIS = auto()
    """The names its code takes from modules, looked up in the sandbox's runtime."""


class Evaluator(ABC):
    """Judges runs. Thread-safe.

    Attributes:
        name, version: who judges, as scores name it; a new version writes beside the old.
        layer: what its judgements belong to.
        cost: what its judgement takes.
    """

    name: str
    version: str
    layer: Layer
    cost: Cost

    @abstractmethod
    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Judge one run; nothing where there is nothing to judge.

        Args:
            evidence: all that is known about the run.
            so_far: what cheaper evaluators said of it.

        Raises:
            Exception: becomes the `Errored` outcome of this evaluator, and of no other.
        """

    def needs(self, run: Run) -> Needs:
        """Return what it may look at, of this run: where no evaluator needs a replay, there is none."""
        return Needs.REPLAY | Needs.APIS


_FIELDS: Final[Mapping[str, type]] = {"name": str, "version": str, "layer": Layer, "cost": Cost}


def get_replay_need(run: Run) -> Needs:
    """Return the replay, where the record leaves open how code that ran ended."""
    return Needs.REPLAY if is_silent(run) else Needs.NOTHING


class LayerRules(Evaluator):
    """A built-in layer: rules over the evidence, without a model."""

    cost = Cost.RULES
    version = "1"

    def __init__(
        self,
        layer: Layer,
        rules: Callable[[RunEvidence], list[Judgement]],
        needs: Callable[[Run], Needs] = get_replay_need,
    ) -> None:
        self.name = f"spanproof.{layer}"
        self.layer = layer
        self._rules = rules
        self._needs = needs

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Return the judgements of the layer's rules.

        Raises:
            UnregisteredScore: a rule gave a score that the registry does not have.
        """
        judgements = self._rules(evidence)
        check_registered(judgements)
        return judgements

    def needs(self, run: Run) -> Needs:
        """See `Evaluator.needs`."""
        return self._needs(run)


LAYER_RULES: tuple[Evaluator, ...] = (
    LayerRules(Layer.CORRECTNESS, correctness.evaluate_correctness, lambda _run: Needs.REPLAY | Needs.APIS),
    LayerRules(Layer.BOUNDARY, boundary.evaluate_boundary, lambda _run: Needs.REPLAY),
    LayerRules(Layer.EXECUTION, execution.evaluate_execution, lambda _run: Needs.REPLAY),
    LayerRules(Layer.GROUNDEDNESS, groundedness.evaluate_groundedness),
    LayerRules(Layer.TRAJECTORY, trajectory.evaluate_trajectory),
)
"""In the order in which layers are judged and shown."""


def list_by_cost(evaluators: Iterable[Evaluator]) -> tuple[Evaluator, ...]:
    """Return evaluators in the order in which they are called; those of one cost stay in theirs."""
    return tuple(sorted(evaluators, key=lambda evaluator: evaluator.cost))


def load_installed() -> tuple[Evaluator, ...]:
    """Return the evaluators that installed distributions bring, one of each class.

    Raises:
        EvaluatorError: one cannot be had; the message names it, its distribution and the remedy.
    """
    return tuple(map(_load_evaluator, entry_points(group=GROUP)))


def _load_evaluator(point: EntryPoint) -> Evaluator:
    if point.dist:
        where = f"{point.value}, which the installed package {point.dist.name!r} brings"
    else:
        where = point.value
    try:
        kind = point.load()
        made: object = kind() if isinstance(kind, type) and issubclass(kind, Evaluator) else None
    except Exception as failure:
        raise EvaluatorError(
            f"evaluator {point.name!r}: {where}, cannot be made: {type(failure).__name__}: {failure};"
            " its class is called without arguments"
        ) from failure
    if not isinstance(made, Evaluator):
        raise EvaluatorError(
            f"evaluator {point.name!r}: {where}, is no subclass of spanproof.evaluators.evaluator.Evaluator"
        )
    for field, kind in _FIELDS.items():
        if not isinstance(getattr(made, field, None), kind):
            raise EvaluatorError(
                f"evaluator {point.name!r}: {where}, has no {field!r} of type {kind.__name__}"
            )
    return made
