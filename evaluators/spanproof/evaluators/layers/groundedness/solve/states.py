"""Hold state claims against the records they are about.

In: a state claim and the base. Out: a `StateBinding`: where the state is known, and where a rival is.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.claims.states import State, StateClaim, States
from spanproof.evaluators.layers.groundedness.facts.base import Fact, Role
from spanproof.evaluators.layers.groundedness.solve.bind import Binder
from spanproof.evaluators.layers.groundedness.values.model import Kind
from spanproof.evaluators.layers.groundedness.values.words import base_form, split_name

_NAMED = 0.6


@dataclass(frozen=True, slots=True)
class StateBinding:
    """What a state claim was held against.

    Attributes:
        equal, other: the nearest fact that says the state, or a rival, with how near its record is named.
        named: how much of the field's name is said, of each.
        elsewhere: how many facts of outputs say the state; `given` of other sources.
    """

    claim: StateClaim
    equal: Fact | None
    equal_scope: float
    equal_name: float
    other: Fact | None
    other_scope: float
    other_name: float
    elsewhere: int
    given: int
    scoped: bool

    @property
    def is_stated(self) -> bool:
        """Return whether the word is used as a state: it always is one, or its field is named beside it."""
        return self.claim.usually or max(self.equal_name, self.other_name) >= _NAMED


class StateBinder:
    """Binds state claims; keeps which facts say which state."""

    def __init__(self, binder: Binder, states: States) -> None:
        self.binder = binder
        self.states = states
        self.by_state: dict[State, list[Fact]] = {}
        for fact in binder.base.facts:
            for state in self._states_of(fact):
                self.by_state.setdefault(state, []).append(fact)

    def _states_of(self, fact: Fact) -> set[State]:
        found = set()
        if fact.value.kind is Kind.TEXT:
            state = self.states.of(fact.value.text)
            if state is not None:
                found.add(state)
        # A key that is a state says it of its value: prices.economy.
        if len(fact.path) >= 2 and fact.role is Role.CELL:
            key = tuple(base_form(word) for word in split_name(fact.path[-1].replace("_", " ")))
            if key in self.states.usual:
                found.add(self.states.usual[key])
        return found

    def bind(self, claim: StateClaim) -> StateBinding:
        """Return a claim's binding."""
        scopes = self.binder.scopes(claim.frame)
        equal, equal_scope, equal_name = self._best(self.by_state.get(claim.usual, []), claim, scopes)
        rivals = [
            fact
            for rival in claim.rivals
            for fact in self.by_state.get(rival, [])
            if fact.value.kind is Kind.TEXT and fact.source < self.binder.outputs and fact.role is Role.CELL
        ]
        other, other_scope, other_name = self._best(rivals, claim, scopes)
        known = self.by_state.get(claim.usual, [])
        if claim.denied:
            # What is said not to hold is refuted where it is known, and borne out by what excludes it.
            equal, equal_scope, equal_name, other, other_scope, other_name = (
                other, other_scope, other_name, equal, equal_scope, equal_name,
            )  # fmt: skip
        in_outputs = sum(fact.source < self.binder.outputs for fact in known)
        return StateBinding(
            claim, equal, equal_scope, equal_name, other, other_scope, other_name, in_outputs,
            len(known) - in_outputs, bool(scopes),
        )  # fmt: skip

    def _best(
        self, facts: list[Fact], claim: StateClaim, scopes: dict[int, float]
    ) -> tuple[Fact | None, float, float]:
        best: tuple[Fact | None, float, float] = (None, 0.0, 0.0)
        rank = -1.0
        for fact in facts[:300]:
            scope = self.binder.scope(fact.record, scopes)
            name = self.binder.naming(fact.words, claim.frame)[0]
            if scope + 0.5 * name > rank:
                rank, best = scope + 0.5 * name, (fact, scope, name)
        return best
