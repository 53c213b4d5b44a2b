"""What judges: the contract of an evaluator, and the five built-in layers as evaluators.

An evaluator takes the evidence about one run and what cheaper evaluators said of it; it gives judgements. It
reads; it never stores or sends anything. The engine asks evaluators in the order of their cost. A judgement
about the same thing (layer, name, span, snippet) takes the place of the cheaper one: so a judge settles what
the rules left open.

Your own, by class: subclass `Evaluator` and name the class in an entry point of the group
`spanproof.evaluators`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from importlib.metadata import entry_points

from spanproof.evaluators.layers import boundary, correctness, execution, groundedness, trajectory
from spanproof.evaluators.model import RunEvidence
from spanproof.trace import Judgement, Layer

GROUP = "spanproof.evaluators"


class Cost(IntEnum):
    """What asking takes, the cheapest first."""

    RULES = 0
    SANDBOX = 1
    MODEL = 2


class Evaluator(ABC):
    """Judges runs. Thread-safe.

    Attributes:
        name, version: who judges, as scores tell it; a new version writes beside the old.
        layer: what its judgements belong to.
        cost: what asking it takes.
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


class LayerRules(Evaluator):
    """A built-in layer: rules over the evidence, without a model."""

    cost = Cost.RULES
    version = "1"

    def __init__(self, layer: Layer, rules: Callable[[RunEvidence], list[Judgement]]) -> None:
        self.name = f"spanproof.{layer}"
        self.layer = layer
        self._rules = rules

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """What the layer's rules say."""
        return self._rules(evidence)


LAYER_RULES: tuple[Evaluator, ...] = (
    LayerRules(Layer.CORRECTNESS, correctness.judge),
    LayerRules(Layer.BOUNDARY, boundary.judge),
    LayerRules(Layer.EXECUTION, execution.judge),
    LayerRules(Layer.GROUNDEDNESS, groundedness.judge),
    LayerRules(Layer.TRAJECTORY, trajectory.judge),
)
"""In the order in which layers are judged and shown."""


def by_cost(evaluators: Iterable[Evaluator]) -> tuple[Evaluator, ...]:
    """The order in which evaluators are asked; those of one cost stay in theirs."""
    return tuple(sorted(evaluators, key=lambda evaluator: evaluator.cost))


def installed() -> tuple[Evaluator, ...]:
    """Evaluators that installed distributions bring, one of each class.

    Raises:
        TypeError: an entry point names something else; the message says which.
    """
    return tuple(_made(point.name, point.value, point.load()) for point in entry_points(group=GROUP))


def _made(name: str, place: str, kind: object) -> Evaluator:
    if not (isinstance(kind, type) and issubclass(kind, Evaluator)):
        raise TypeError(
            f"evaluator {name!r}: {place} is no subclass of spanproof.evaluators.evaluator.Evaluator"
        )
    return kind()
