"""Hold state claims against the records they are about.

In: a state claim and the base. Out: a `StateBinding`: where the state is known, and where a rival is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from spanproof.evaluators.layers.groundedness.claims.frames import SOFT, AnswerFrames, Frame
from spanproof.evaluators.layers.groundedness.claims.states import State, StateClaim, States
from spanproof.evaluators.layers.groundedness.solve.bind import Binder
from spanproof.evaluators.layers.groundedness.solve.match import Match, compare
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.values import Kind
from spanproof.reading.words import STOP, base_form, split_name, split_words

_NAMED = 0.6
# Of a denial so many words count, of a source so many denials, with so many characters about each.
_DENIED = 4
_MOST = 300
_AROUND = 80
_DENIAL = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|should)(?:\s+not\b(?!\s+only)|n['’]t\b)"
    r"|\bcannot\b",
    re.IGNORECASE,
)
_DENIAL_OF_SOURCE = re.compile(
    r"\b(?:not|no|none|never|cannot|unable|failed|without|only|missing|empty)\b|n['’]t\b", re.IGNORECASE
)
_DONE = ("was", "were", "has", "have", "had", "did")
_BEHIND = 40
_FIELDS = 60
_CERTAINLY_NAMED, _HARDLY_NAMED = 0.95, 0.5
_FLAGS = frozenset(("true", "false", "yes", "no"))
_WHEN = re.compile(r"(?:_|\s)?(?:at|on|date|time|ts)\Z", re.IGNORECASE)
_PARTED = re.compile(r"[,;\n]|\.\s")
_NONE_OF = re.compile(r"\b(?:none|no|neither|not)(?:\s+of)?(?:\s+(?:them|these|those|the|which))?(?:\s+(?:is|are|was|were))?\s+\Z", re.I)  # fmt: skip  # noqa: E501
_COUNTED = re.compile(r"\d\s+\Z")
_AMOUNTS = (Kind.MONEY, Kind.NUMBER)
_OF_STATES = (Kind.TEXT, Kind.BOOL, Kind.DATE)


@dataclass(frozen=True, slots=True)
class StateBinding:
    """What a state claim was held against.

    Attributes:
        equal, other: the nearest fact that says the state, or a rival, with how near its record is named.
        named: how much of the field's name is said, of each.
        beside: 1 where the value behind the state is that of a field it names (`prices.economy`) or of a record
            that has it, -1 where the record has a field it names and the value is a rival's; else 0.
        elsewhere: how many facts of outputs say the state; `given` of other sources.
    """  # noqa: E501

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
    beside: int = 0

    @property
    def is_denied_by_flag(self) -> bool:
        """Return whether a flag that the state names says otherwise: `"online": false` of "is online"."""
        if self.other is None or self.other.value.kind in (Kind.TEXT, Kind.DATE):
            return False
        if self.equal is None:
            return max(self.other_scope, self.other_name) >= _NAMED
        # Of two records' flags the one that is named counts.
        return self.other_scope >= _CERTAINLY_NAMED and self.equal_scope <= _HARDLY_NAMED

    @property
    def is_stated(self) -> bool:
        """Return whether the word is used as a state: it always is one, or its field is named beside it."""
        return self.claim.usually or max(self.equal_name, self.other_name) >= _NAMED


class StateBinder:
    """Binds state claims; keeps which facts say which state."""

    def __init__(self, binder: Binder, states: States, read: AnswerFrames) -> None:
        self.binder = binder
        self.read = read
        self.states = states
        self.by_state: dict[State, list[Fact]] = {}
        # Fields that are false, by the state that names them: `"online": false`.
        self.denying: dict[State, list[Fact]] = {}
        self._flags = _find_flag_fields(binder.base)
        for fact in binder.base.facts:
            for state in self._find_states(fact):
                self.by_state.setdefault(state, []).append(fact)

    def _find_states(self, fact: Fact) -> set[State]:
        found = set()
        if fact.value.kind is Kind.DATE and fact.path and fact.role is Role.CELL:
            # `closed_at: 2026-11-04` says that it is closed.
            named = self.states.usual.get(_parse_state(_WHEN.sub("", fact.path[-1])))
            return {named} if named is not None else set()
        flag = fact.value.kind is Kind.BOOL or fact.path in self._flags
        if flag and fact.path and fact.role is Role.CELL:
            return self._find_flag_states(fact)
        if fact.value.kind is Kind.TEXT:
            state = self.states.of(fact.value.text)
            if state is not None:
                found.add(state)
        # A key that is a state says it of its value: prices.economy.
        if len(fact.path) >= 2 and fact.role is Role.CELL:
            key = _parse_state(fact.path[-1])
            if key in self.states.usual:
                found.add(self.states.usual[key])
        return found

    def _find_flag_states(self, fact: Fact) -> set[State]:
        """Return the state that a flag is named by where it is true, its only rival where it is false."""
        named = self.states.usual.get(_parse_state(fact.path[-1]))
        if named is None or (fact.value.kind is Kind.BOOL and fact.value.text not in _FLAGS):
            return set()
        if fact.value.number:
            return {named}
        self.denying.setdefault(named, []).append(fact)
        opposite = self.states.opposite(named)
        return {opposite} if opposite is not None else set()

    def bind(self, claim: StateClaim) -> StateBinding:
        """Return a claim's binding."""
        scopes = self.binder.scopes(claim.frame)
        equal, equal_scope, equal_name = self._select_best(self.by_state.get(claim.usual, []), claim, scopes)
        rivals = [fact for rival in claim.rivals for fact in self.by_state.get(rival, ())]
        rivals = [one for one in rivals if one.value.kind in _OF_STATES and one.role is Role.CELL]
        rivals += self.denying.get(claim.usual, ())
        rivals = [each for each in rivals if each.source < self.binder.outputs]
        other, other_scope, other_name = self._select_best(rivals, claim, scopes)
        known = self.by_state.get(claim.usual, [])
        if claim.denied:
            # What is said not to hold is refuted where it is known, and borne out by what excludes it.
            equal, equal_scope, equal_name, other, other_scope, other_name = (
                other, other_scope, other_name, equal, equal_scope, equal_name,
            )  # fmt: skip
        in_outputs = sum(fact.source < self.binder.outputs for fact in known)
        return StateBinding(
            claim, equal, equal_scope, equal_name, other, other_scope, other_name, in_outputs,
            len(known) - in_outputs, bool(scopes), self._classify_neighbour(claim, scopes),
        )  # fmt: skip

    def _classify_neighbour(self, claim: StateClaim, scopes: dict[int, float]) -> int:
        """Return whether the value behind a state is one of its field or record (1) or of a rival's (-1)."""
        end = claim.frame.mention.end
        answer = self.read.answer
        following = next(
            (
                frame
                for frame in self.read.frames
                if 0 <= frame.mention.start - end <= _BEHIND and frame.mention.value.kind in _AMOUNTS
            ),
            None,
        )
        # "2 high, 7 moderate": the number before a state is its own, not the one behind the comma.
        if (
            following is None
            or _PARTED.search(answer[end : following.mention.start])
            or _COUNTED.search(answer[: claim.frame.mention.start][-8:])
            or _NONE_OF.search(answer[: claim.frame.mention.start][-24:])
        ):
            return 0
        own = self._find_records((claim.usual,), following)
        rivals = self._find_records(claim.rivals, following)
        near = max((self.binder.scope(record, scopes) for record in own), default=-1.0)
        # A rival's value refutes only where the record has one of the state itself, and that is another.
        fields = {fact.record for fact in self.by_state.get(claim.usual, ()) if fact.value.kind in _AMOUNTS}
        other = max((self.binder.scope(each, scopes) for each in rivals & fields - own), default=-1.0)
        return (near > other) - (other > near)

    def _find_records(self, states: Iterable[State], frame: Frame) -> set[int]:
        """Return the records in which a field named by a state has a frame's value, or that have both."""
        found = set()
        for state in states:
            for fact in self.by_state.get(state, ())[:_MOST]:
                facts = [fact] if fact.value.kind in _AMOUNTS else self.binder.base.by_record[fact.record]
                if fact.value.kind not in _AMOUNTS and fact.value.kind is not Kind.TEXT:
                    continue
                if any(
                    each.value.kind in _AMOUNTS and compare(frame, each).value >= Match.MINOR.value
                    for each in facts[:_FIELDS]
                ):
                    found.add(fact.record)
        return found

    def _select_best(
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


def _find_flag_fields(base: FactBase) -> frozenset[tuple[str, ...]]:
    """Return the fields of several records whose numbers are all 0 or 1."""
    numbers: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for fact in base.by_kind[Kind.NUMBER]:
        if fact.path and fact.role is Role.CELL:
            numbers[fact.path].append(fact.value.number)
    return frozenset(path for path, found in numbers.items() if len(found) > 1 and set(found) <= {0.0, 1.0})


def _parse_state(name: str) -> State:
    """Return the state that a field's name is, without the `is` of `is_active`."""
    return tuple(
        base_form(word) for word in split_name(name.replace("_", " ").removeprefix("is ").removeprefix("is_"))
    )


def find_denials(read: AnswerFrames, base: FactBase, outputs: int) -> list[tuple[int, int]]:
    """Return where an answer denies something that no source denies: nothing else says whether it is so.

    What a field that is false or nothing is named by, is denied by it. What has not been done only an output
    can say: a policy that it may not be done says nothing of it.
    """
    found: list[tuple[int, int]] = []
    known: dict[bool, list[frozenset[str]]] = {}
    for match in _DENIAL.finditer(read.answer):
        low, high = read.sentence_at(read.line_at(match.start()), match.start())
        if SOFT.search(read.answer[low:high]):
            continue
        after = [word for word, _, _ in split_words(read.answer[match.end() : high])]
        denied = [base_form(word) for word in after if base_form(word) not in STOP][:_DENIED]
        done = match.group().lower().startswith(_DONE)
        if done not in known:
            known[done] = _collect_denials(base, outputs if done else len(base.texts))
        if denied and not any(
            len(words.intersection(denied)) >= min(2, len(denied)) for words in known[done]
        ):
            found.append(match.span())
    return found


def _collect_denials(base: FactBase, sources: int) -> list[frozenset[str]]:
    """Return the words about each denial of the sources, and the names of fields that are false or nothing."""  # noqa: E501
    known = []
    for text in base.texts[:sources]:
        for match in islice(_DENIAL_OF_SOURCE.finditer(text), _MOST):
            around = text[max(0, match.start() - _AROUND) : match.end() + _AROUND]
            known.append(frozenset(base_form(word) for word, _, _ in split_words(around)))
    known += [
        fact.words
        for fact in base.by_kind[Kind.BOOL][:_MOST]
        if not fact.value.number and fact.source < sources
    ]
    return known
