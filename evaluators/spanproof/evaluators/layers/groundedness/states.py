"""Bind states and flags of a passage to the field of the row that it names.

In: a reading and the world. Out: claims. A state agrees where the row's field has it; it is contradicted
where the one field of states in that row has a state that excludes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.bind import (
    build_agreeing_claim,
    build_contradiction,
    build_evidence,
    is_certain_name,
    merge_rows,
)
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimKind
from spanproof.evaluators.layers.groundedness.reader import Named, Reading
from spanproof.evaluators.layers.groundedness.world import World
from spanproof.reading.lexicon import is_of, load_states, load_words
from spanproof.reading.records import Fact
from spanproof.reading.statements import is_supposing, is_tied_to
from spanproof.reading.values import Kind
from spanproof.reading.words import base_form, base_words, split_name

_HELPERS = frozenset(("is", "has", "can", "was", "are", "flag", "enabled", "required", "allowed"))
_MOST_WORDS = 3
# An amount counts what is in a state where it is at most so many words before it: "14 critical".
_COUNT_REACH = 2
_LINKING = frozenset(("be", "remain", "stay", "mark", "show", "list"))
_FINITE = frozenset(("VBZ", "VBP", "NNS"))
_ASIDE = frozenset(("relcl", "acl", "advcl"))


class StateBinder:
    """Finds the states that an answer states; one for an answer."""

    def __init__(self, world: World, synonyms: Mapping[str, Sequence[str]] | None) -> None:
        self.world = world
        self.usual = dict(load_states().usual)
        for name, words in (synonyms or {}).items():
            self.usual.update({word.lower(): name.lower() for word in (name, *words)})
        self.by_state: dict[str, list[Fact]] = {}
        self.fields: set[tuple[str, ...]] = set()
        for fact in world.base.by_kind[Kind.TEXT]:
            if not world.is_output(fact) or not fact.path:
                continue
            written = self._read_state(fact)
            names = base_words(fact.field)
            if written in self.usual or not names.isdisjoint(load_words("statefield")):
                self.by_state.setdefault(self.usual.get(written, written), []).append(fact)
                self.fields.add(world.get_field(fact))
        self.flags: dict[tuple[str, ...], list[Fact]] = {}
        for fact in world.base.by_kind[Kind.BOOL]:
            if fact.path and world.is_output(fact) and fact.value.text in ("true", "false", "yes", "no"):
                # Of the printed `is_prime(97)` the name.
                name = fact.field.partition("(")[0]
                words = tuple(base_form(word) for word in split_name(name) if word not in _HELPERS)
                self.flags.setdefault(words, []).append(fact)

    def bind(self, reading: Reading) -> Iterator[Claim]:
        """Yield the claims that states and flags of a passage make; they cover their words."""
        at = 0
        words = reading.words
        while at < len(words):
            found = self._bind_flag(reading, at) or self._bind_state(reading, at)
            if found is None:
                at += 1
                continue
            claim, length = found
            if claim is not None:
                yield claim
            at += length

    def find_said(self, reading: Reading, start: int) -> tuple[tuple[int, ...], list[Fact]] | None:
        """Return the first state that is said from a word on, with the facts that have it."""
        words = reading.words
        for at in range(start, len(words)):
            for length in range(min(_MOST_WORDS, len(words) - at), 0, -1):
                written = " ".join(word.text.lower() for word in words[at : at + length]).replace("-", " ")
                facts = self.by_state.get(self.usual.get(written, written))
                if facts:
                    return tuple(range(at, at + length)), facts
        return None

    def _bind_state(self, reading: Reading, at: int) -> tuple[Claim | None, int] | None:
        words = reading.words
        for length in range(min(_MOST_WORDS, len(words) - at), 0, -1):
            written = " ".join(word.text.lower() for word in words[at : at + length]).replace("-", " ")
            usual = self.usual.get(written, written if written in self.by_state else None)
            if usual is None and length == 1 and words[at].part in ("VERB", "ADJ"):
                usual = next((s for s in self.by_state if base_form(s) == words[at].form), None)
            if usual is None:
                continue
            if self.by_state:
                return self._evaluate_state(reading, at, length, usual), length
        return None

    def _evaluate_state(self, reading: Reading, at: int, length: int, usual: str) -> Claim | None:
        start, end = reading.words[at].start, reading.words[at + length - 1].end
        rows = self._list_subject_rows(reading, start, at, length)
        own = self._list_states(rows)
        negations = self._list_negations(reading, at)
        is_negated = bool(negations)
        if not own or is_supposing(reading.words_between(reading.get_clause(start)[0], start)):
            return None
        having = [fact for fact in own if self._get_usual_name(fact) == usual]
        states = load_states()
        excluding = [fact for fact in own if states.are_exclusive(usual, self._get_usual_name(fact))]
        agreeing, contrary = (excluding, having) if is_negated else (having, excluding)
        # Of several rows each has to have the state; one that has it denies that none does.
        is_of_all = len(rows) == 1 or len(own) == len(having)
        is_agreeing = not having if is_negated else is_of_all
        if agreeing and is_agreeing:
            reading.cover(*range(at, at + length), *negations)
            reading.bound.append(agreeing[-1])
            return build_agreeing_claim(reading, (start, end), ClaimKind.STATE, agreeing[-1], self.world)
        is_lone = len(own) == len(rows) == 1 and not self._is_elsewhere(usual, rows)
        if contrary and is_lone and self._is_surely_of(own[0], rows, reading, at, length):
            cause = Cause.DENIED_STATE if is_negated else Cause.OTHER_STATE
            evidence, rule = build_evidence(own[0], self.world), GroundednessRule.KNOWN_STATE
            return build_contradiction(reading, (start, end), ClaimKind.STATE, cause, evidence, rule)
        return None

    def _is_surely_of(self, fact: Fact, rows: frozenset[int], reading: Reading, at: int, length: int) -> bool:
        """Return whether a sentence says a state of a fact's row and field, and of the output's time."""
        start = reading.words[at].start
        if not self._is_own_subject(reading, start, rows) or not self._is_predicate(reading, at, length):
            return False
        if self._is_counted(reading, at) or self._may_be_earlier(reading, at, fact):
            return False
        return self._is_state_field(fact, reading, start)

    def _is_state_field(self, fact: Fact, reading: Reading, start: int) -> bool:
        """Return whether the name of a field says that it is a state, or the clause names the field."""
        words = base_words(fact.field) - _HELPERS
        low, high = reading.get_clause(start)
        near = {word.form for word in reading.words_between(low, high)}
        return not words.isdisjoint(load_words("statefield")) or (bool(words) and words <= near)

    def _may_be_earlier(self, reading: Reading, at: int, fact: Fact) -> bool:
        """Return whether a state may be of another time than the output's: "was pending", "is now closed"."""
        clause = reading.words_between(*reading.get_clause(reading.words[at].start))
        is_event = reading.words[at].tag == "VBN"
        is_past = any(is_of(word, "past") and not (is_event and word.lemma == "be") for word in clause)
        return is_past or self.world.may_have_changed(fact)

    def _is_elsewhere(self, usual: str, rows: frozenset[int]) -> bool:
        """Return whether another output has the state of the same thing: at an earlier or a later time."""
        sources = {self.world.base.records[row].source for row in rows}
        return any(
            fact.source not in sources and len(self.world.list_siblings(self.world.get_row(fact.record))) == 1
            for fact in self.by_state.get(usual, ())
        )

    def _is_counted(self, reading: Reading, at: int) -> bool:
        """Return whether a word names a quantity that the sentence states: "37 tickets were open"."""
        named = {index for name in reading.names for index in name.words}
        amounts = [
            stated
            for stated in reading.stated
            if named.isdisjoint(stated.words)
            and stated.mention.value.kind in (Kind.NUMBER, Kind.QUANTITY)
            and stated.start < reading.words[at].start
        ]
        is_field = reading.words[at].form in self.world.field_words
        is_beside = any(
            at - stated.words[-1] <= _COUNT_REACH or stated.mention.value.kind is Kind.QUANTITY
            for stated in amounts
        )
        return bool(amounts) and (is_field or is_beside)

    def _is_own_subject(self, reading: Reading, start: int, rows: frozenset[int]) -> bool:
        """Return whether the clause itself names the row of a state, or there is no other."""
        low, high = reading.get_clause(start)
        lead = reading.passage.lead
        named = [name for name in reading.names if low <= name.start < high]
        named = named or [name for name in reading.names if lead is not None and name.end <= lead[1]]
        is_named = bool(named) and all(rows <= name.rows for name in named)
        is_named = is_named and any(is_certain_name(name, reading) for name in named)
        return is_named or (
            all(len(self.world.list_siblings(row)) == 1 for row in rows) and not reading.names
        )

    def _is_predicate(self, reading: Reading, at: int, length: int) -> bool:
        """Return whether the sentence says the state of its subject: "is confirmed", "**A**: confirmed"."""
        word = reading.words[at + length - 1]
        head = reading.words[word.head] if word.head < len(reading.words) else word
        if word.relation in _ASIDE or head.relation in _ASIDE:
            return False
        first = reading.words[at]
        if first.relation == "prep" and reading.words[first.head].lemma == "be":
            return True
        is_said = word.relation in ("acomp", "attr", "oprd") and head.lemma in _LINKING
        is_passive = word.tag == "VBN" and any(
            other.head == at and other.relation == "auxpass" for other in reading.words
        )
        lead = reading.passage.lead
        follows_lead = lead is not None and reading.text[lead[1] : word.start].strip(" :–—-|\"'✅❌") == ""
        return is_said or is_passive or follows_lead

    def _get_usual_name(self, fact: Fact) -> str:
        written = self._read_state(fact)
        return self.usual.get(written, written)

    def _read_state(self, fact: Fact) -> str:
        low, high = fact.cell
        written = self.world.base.texts[fact.source][low:high]
        return written.strip().lower().replace("_", " ").replace("-", " ")

    def _list_states(self, rows: frozenset[int]) -> list[Fact]:
        """Return the facts of states of some rows, of each field the last."""
        world = self.world
        found: dict[tuple[int, tuple[str, ...]], Fact] = {}
        for row in rows:
            for fact in world.list_facts(row):
                if (
                    fact.value.kind is Kind.TEXT
                    and world.get_field(fact) in self.fields
                    and world.is_output(fact)
                ):
                    found[row, world.get_field(fact)] = fact
        return list(found.values())

    def _list_subject_rows(self, reading: Reading, start: int, at: int, length: int) -> frozenset[int]:
        """Return the rows that a state is of: those of the names before it, or the lone row with a state."""
        low, high = reading.get_clause(start)
        own = set(range(at, at + length))
        names = [name for name in reading.names if not own & set(name.words)]
        stated = [name for name in names if low <= name.start and name.end <= start]
        if stated:
            return self._with_states(merge_rows(stated[::-1]))
        after = [name for name in names if start <= name.start and name.end <= high]
        if after:
            return self._with_states(merge_rows(after))
        before: list[Named] = [name for name in names if name.end <= low] or list(reading.scope)
        if before:
            return self._with_states(merge_rows(before[::-1]))
        rows = {self.world.get_row(fact.record) for facts in self.by_state.values() for fact in facts}
        return frozenset(rows) if len(rows) == 1 else frozenset()

    def _with_states(self, rows: frozenset[int]) -> frozenset[int]:
        """Return those of some rows that have a state."""
        return frozenset(row for row in rows if self._list_states(frozenset((row,))))

    def _list_negations(self, reading: Reading, at: int) -> list[int]:
        """Return the negations about a word: of its own, of its head's, or right before it."""
        words = reading.words
        word = words[at]
        low, high = reading.get_clause(word.start)
        heads = {at, word.head}
        # "A is running, B is not" denies B's.
        verbs = (other.start for other in words[at + 1 :] if other.part in ("VERB", "AUX"))
        later = min(high, next(verbs, high))
        negations = [
            index
            for index, other in enumerate(words)
            if low <= other.start < later and is_of(other, "negation")
        ]
        return [index for index in negations if words[index].head in heads or at - 3 <= index < at]

    def _bind_flag(self, reading: Reading, at: int) -> tuple[Claim | None, int] | None:
        for name, facts in self.flags.items():
            length = len(name)
            if name and tuple(word.form for word in reading.words[at : at + length]) == name:
                claim = self._evaluate_flag(reading, at, length, facts)
                return (claim, length) if claim is not None else None
        return None

    def _evaluate_flag(self, reading: Reading, at: int, length: int, facts: Sequence[Fact]) -> Claim | None:
        words = reading.words
        start, end = words[at].start, words[at + length - 1].end
        rows = self._list_flag_rows(reading, start, at, length, facts)
        own = [fact for fact in facts if self.world.get_row(fact.record) in rows]
        clause = reading.words_between(reading.get_clause(start)[0], start)
        if len({fact.value.number for fact in own}) != 1 or is_supposing(clause):
            return None
        fact = own[-1]
        negations = self._list_negations(reading, at)
        switches = _list_switches(reading, start, range(at, at + length))
        is_off = any(words[index].text.lower() in load_words("off") for index in switches)
        # "Insurance: No" denies once: its "no" is the value of the flag.
        denials = [index for index in negations if index not in switches]
        is_set = bool(denials) == is_off
        if bool(fact.value.number) == is_set:
            reading.cover(*range(at, at + length), *negations, *switches)
            reading.bound.append(fact)
            return build_agreeing_claim(reading, (start, end), ClaimKind.FLAG, fact, self.world)
        if len(own) != 1 or len(switches) > 1 or not self._is_own_subject(reading, start, rows):
            return None
        is_stated = self._is_said_of_flag(reading, at, length, switches, fact)
        if not is_stated or self._may_be_earlier(reading, at, fact):
            return None
        evidence, span, rule = build_evidence(fact, self.world), (start, end), GroundednessRule.FLAG
        return build_contradiction(reading, span, ClaimKind.FLAG, Cause.OTHER_STATE, evidence, rule)

    def _is_said_of_flag(
        self, reading: Reading, at: int, length: int, switches: Sequence[int], fact: Fact
    ) -> bool:
        """Return whether a sentence says that a flag is on or off: "is in stock", "archiving is disabled".

        Of `accountEnabled` the words "the account" alone say nothing.
        """
        words = reading.words
        last = at + length - 1
        if words[at].tag in _FINITE or words[at].relation in _ASIDE:
            return False
        is_tied = any(is_tied_to(words, last, index) for index in switches)
        is_of_switch = not {"enabled", "required", "allowed", "can"}.isdisjoint(split_name(fact.field))
        is_adjective = words[last].part in ("ADJ", "VERB") and self._is_predicate(reading, at, length)
        return is_tied or (is_adjective and not is_of_switch)

    def _list_flag_rows(
        self, reading: Reading, start: int, at: int, length: int, facts: Sequence[Fact]
    ) -> frozenset[int]:
        rows = frozenset(self.world.get_row(fact.record) for fact in facts)
        if len(rows) == 1:
            return rows
        own = set(range(at, at + length))
        names = [name for name in (*reading.scope, *reading.names) if not own & set(name.words)]
        before = [name for name in names if name in reading.scope or name.end <= start]
        return merge_rows((before or names)[::-1]) & rows if names else frozenset()


def _list_switches(reading: Reading, start: int, own: range) -> list[int]:
    """Return the words for on and off in a clause, but those of the flag's own name."""
    low, high = reading.get_clause(start)
    names = load_words("on") | load_words("off")
    inside = [at for at, word in enumerate(reading.words) if low <= word.start < high and at not in own]
    return [at for at in inside if reading.words[at].text.lower() in names]
