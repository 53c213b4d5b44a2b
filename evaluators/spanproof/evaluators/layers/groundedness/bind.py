"""Bind the values of a passage to the field of the row that the passage names.

In: a reading and the world. Out: claims. A value agrees where its row is the one that the clause, the item
or the heading names, or the only one there is, and where its field is the one that the words beside the
value pick out, or the only one of its kind in the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import ne

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.reader import Named, Reading, Stated
from spanproof.evaluators.layers.groundedness.world import FieldName, World
from spanproof.reading.agreement import are_comparable, are_of_one_shape, find_printed_number, is_agreeing
from spanproof.reading.fact_names import list_without_headers
from spanproof.reading.field_units import get_minor_unit
from spanproof.reading.lexicon import is_of, load_texts
from spanproof.reading.records import Fact, Role
from spanproof.reading.statements import is_of_cases, is_polar, is_question_of_subject
from spanproof.reading.units import list_units
from spanproof.reading.values import NUMERIC, Kind, is_year
from spanproof.reading.words import STOP, get_base_form, list_base_forms, list_groups_of, split_name

_ATTACHING = frozenset(("of", "for", "in", "at", "from", "by", "with", "to", "on", "via", "(", "per"))
_ATTACHED_REACH = 5
_PARTING = frozenset((",", ";", "and", "or", "but", "while"))
# Words behind these go with the value that one is compared with: "14 left against a reorder point of 40".
_OPPOSING = frozenset(("against", "vs", "versus", "compared", "than", "instead", "→"))
_DOLLARS = frozenset(("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"))
# What a field loses for words of its name that are not said: `price` is meant by "price", not
# `old_price`.
_UNSAID = 0.25
_SCORING = frozenset(("to", "-", "–", ":"))
# A change is from the earlier value to the later one.
_EARLIER, _LATER = load_texts("earlier"), load_texts("later")
_ENDS = {"from": (_LATER, _EARLIER), "to": (_EARLIER, _LATER)}
# A word of no more letters names no row by itself: the "d" of "969 d".
_LONGEST_INITIAL = 2
_KINDS = {
    Kind.NUMBER: ClaimKind.NUMBER,
    Kind.MONEY: ClaimKind.CURRENCY,
    Kind.PERCENT: ClaimKind.PERCENT,
    Kind.QUANTITY: ClaimKind.QUANTITY,
    Kind.DATE: ClaimKind.DATE,
    Kind.TIME: ClaimKind.TIME,
    Kind.ID: ClaimKind.IDENTIFIER,
}
_CAUSES = {
    GroundednessRule.OVERTAKEN: Cause.OVERTAKEN,
    GroundednessRule.UNKNOWN_IDENTIFIER: Cause.UNKNOWN_IDENTIFIER,
}


@dataclass(frozen=True, slots=True)
class _Leading:
    """The fields that some words name best; `is_beside` where the words are of the value's sentence."""

    names: frozenset[FieldName]
    facts: tuple[Fact, ...]
    is_beside: bool
    is_half_named: bool


class ValueBinder:
    """Binds stated values; one for an answer."""

    def __init__(self, world: World, task_words: frozenset[str], task: str = "") -> None:
        self.world = world
        self.task_words = task_words
        self.is_task_polar = is_polar(task)
        self.is_task_of_subject = is_question_of_subject(task)
        self.is_task_of_cases = is_of_cases(task)
        # All values of the answer.
        self.stated: tuple[Stated, ...] = ()

    def list_words(self, reading: Reading) -> frozenset[str]:
        """Return the words of the task and of a passage."""
        return self.task_words | {word.form for word in reading.words if word.form not in STOP}

    def list_matches(self, stated: Stated) -> list[Fact]:
        """Return the facts whose value is the stated one, in the currency that their record names."""
        found = [fact for fact in self._list_equal(stated) if self._is_of_currency(stated, fact)]
        # The last output comes last, whatever the kinds of its values.
        return sorted(found, key=lambda fact: (fact.source, fact.start))

    def list_losses(self, stated: Stated, reading: Reading) -> list[Fact]:
        """Return the negative facts whose amount a clause states as a loss: "short by 26", "lost €145"."""
        value = stated.mention.value
        low, high = reading.get_clause(stated.start)
        is_loss = value.kind in NUMERIC and any(
            is_of(word, "loss") for word in reading.list_words_between(low, high)
        )
        if not is_loss or value.number <= 0:
            return []
        mention = replace(stated.mention, value=replace(value, number=-value.number))
        return self.list_matches(replace(stated, mention=mention))

    def _is_of_currency(self, stated: Stated, fact: Fact) -> bool:
        value = stated.mention.value
        if value.kind is not Kind.MONEY or fact.value.unit or fact.value.kind is Kind.ID:
            return True
        for record in self.world.base.iter_chain(fact.record):
            for other in self.world.base.by_record[record]:
                if "currency" in other.field.lower() and other.value.kind is Kind.TEXT:
                    low, high = other.cell
                    code = self.world.base.texts[other.source][low:high].strip().upper()
                    return code == value.unit or ("$" in stated.text and code in _DOLLARS)
        return True

    def _list_equal(self, stated: Stated) -> list[Fact]:
        value = stated.mention.value
        hedge, text, index = stated.hedge, stated.text, self.world.values
        if value.kind is Kind.ID:
            found = [fact for _, fact in self.world.base.by_text.get(f"#{value.text}", ())]
            return found + index.list_agreeing(value, hedge, text, (Kind.NUMBER,))
        kinds = (*NUMERIC, Kind.ID, Kind.DATE) if value.kind in NUMERIC else (value.kind, Kind.NUMBER)
        if self._names_unit(stated):
            # The unit is apart from its numbers: in a header, a title or the question.
            bare = index.list_agreeing(value.without_unit(), hedge, text, (Kind.NUMBER,))
            plain = list_without_headers(bare)
            if plain:
                return plain + index.list_agreeing(value, hedge, text, (Kind.QUANTITY,))
        return list_without_headers(index.list_agreeing(value, hedge, text, kinds))

    def _names_unit(self, stated: Stated) -> bool:
        """Return whether the task or the outputs name the unit that an amount is stated in.

        As it is written; `kilometres` for `km`, and a part of a currency, where the outputs hold one number
        alone: of several, which one has the unit is not certain.
        """
        kind = stated.mention.value.kind
        if kind not in (Kind.QUANTITY, Kind.MONEY):
            return False
        written = stated.text.split()[-1].strip("0123456789.,-")
        unit = get_base_form(written)
        is_written = unit in self.task_words or self.world.has_word(unit)
        if kind is Kind.QUANTITY and is_written:
            return True
        if sum(map(self.world.is_output, self.world.base.by_kind[Kind.NUMBER])) != 1:
            return False
        named = list_units(frozenset({unit, written.lower()}))
        return is_written or not named.isdisjoint(list_units(self.task_words))

    def iter_bound_values(self, reading: Reading) -> Iterator[tuple[Stated, Fact | None, list[Fact]]]:
        """Yield each stated value with the fact that it is bound to, and all facts of its value."""
        for stated in reading.stated:
            matches = self.list_matches(stated) or self.list_losses(stated, reading)
            yield stated, self._find_named_fact(stated, matches, reading), matches

    def _find_named_fact(self, stated: Stated, matches: Sequence[Fact], reading: Reading) -> Fact | None:
        """Return the fact of the named row and field; of several, that of the last output."""
        world = self.world
        options = [fact for fact in matches if world.is_output(fact) and not world.is_one_of_several(fact)]
        value = stated.mention.value
        if value.kind is Kind.ID and options:
            return options[-1]
        options = [fact for fact in options if not self._is_of_other_name(fact, stated, reading)]
        options = [fact for fact in options if not self._is_of_other_cell(fact, stated, reading)]
        keyed = [fact for fact in options if self._is_keyed(fact, stated, reading)]
        if keyed:
            return keyed[-1]
        subjects = self.list_subjects(stated, reading)
        in_row = [fact for fact in options if self._is_of_subject(fact, subjects, reading, stated)]
        named = [fact for fact in in_row if self.is_named_field(fact, stated, reading)]
        if named:
            return named[-1]
        only = self._find_only(stated, options, in_row, subjects, reading)
        return only or self._find_requested(stated, options, reading)

    def _find_requested(self, stated: Stated, options: Sequence[Fact], reading: Reading) -> Fact | None:
        """Return the bare amount that was printed last, where a sentence of the task's words states it."""
        printed = [fact for fact in self.world.numeric if fact.source == self.world.last_output]
        amounts = [other for other in reading.stated if other.mention.value.kind is not Kind.ID]
        text = self.world.base.texts[self.world.last_output] if printed else ""
        is_bare = len(text.split()) == len(printed) and not any(fact.path for fact in printed)
        requested = find_printed_number(stated.mention.value, printed)
        if requested not in options or len(amounts) != 1 or not is_bare:
            return None
        return requested if self._is_in_words_of_task(reading) else None

    def _is_in_words_of_task(self, reading: Reading) -> bool:
        """Return whether a passage has only words of the task, beside its values and what carries them."""
        in_values = {at for stated in reading.stated for at in stated.words}
        words = [
            word for at, word in enumerate(reading.words) if at not in in_values and word.form not in STOP
        ]
        others = [word for word in words if word.text[:1].isalpha() and not is_of(word, "carrier")]
        return all(not self.task_words.isdisjoint((word.form, get_base_form(word.lemma))) for word in others)

    def _is_keyed(self, fact: Fact, stated: Stated, reading: Reading) -> bool:
        """Return whether a value follows the whole name of its field and a colon: "ECHO: 0.36"."""
        at = stated.words[0] - 1
        name = fact.field.lower()
        colon = at >= 0 and reading.words[at].text in (":", "=")
        is_name = colon and at >= 1 and reading.words[at - 1].text.lower() == name
        return bool(name) and is_name and not reading.passage.cells

    def _find_only(
        self,
        stated: Stated,
        options: Sequence[Fact],
        in_row: Sequence[Fact],
        subjects: Sequence[frozenset[int]],
        reading: Reading,
    ) -> Fact | None:
        """Return the one fact of the outputs that a precise value can be of, where nothing names another."""
        if not options or not stated.is_precise or len({self._get_key(fact) for fact in options}) != 1:
            return None
        fact = options[-1]
        if fact not in in_row and self._is_of_other_row(fact, subjects):
            return None
        near = next(self.iter_context(stated, reading))
        groups = list_groups_of(near)
        own = self.get_score(fact, near, groups)
        rivals = [other for other in self.world.base.facts if other.source == fact.source]
        is_other_named = any(
            self.get_score(other, near, groups) > own for other in rivals if _may_be_of(stated, other)
        )
        return None if is_other_named else fact

    def _is_of_other_row(self, fact: Fact, subjects: Sequence[frozenset[int]]) -> bool:
        """Return whether a passage names other rows of a fact's source, or of another table's rows none."""
        sources = {self.world.base.records[row].source for rows in subjects for row in rows}
        siblings = self.world.list_siblings(self.world.get_row(fact.record))
        return fact.source in sources or (bool(subjects) and len(siblings) > 1)

    def _is_of_other_name(self, fact: Fact, stated: Stated, reading: Reading) -> bool:
        """Return whether a passage names another field: "check-in" of `check_out`, "from 9" of `after: 9`."""
        before = reading.words[stated.words[0] - 1].text.lower() if stated.words[0] else ""
        other_end, own_end = _ENDS.get(before, (frozenset(), frozenset()))
        own = split_name(fact.field)
        if not other_end.isdisjoint(own) and own_end.isdisjoint(own):
            return True
        text = f" {' '.join(part for word in reading.words for part in split_name(word.text))} "
        alike = [name for name in self._names if len(name) == len(own) > 1 and sum(map(ne, name, own)) == 1]
        return f" {' '.join(own)} " not in text and any(f" {' '.join(name)} " in text for name in alike)

    def _is_of_other_cell(self, fact: Fact, stated: Stated, reading: Reading) -> bool:
        """Return whether the name right before a value has another number in its cell: 2 of "Lions 2"."""
        neighbours = [name for name in reading.names if name.words[-1] == stated.words[0] - 1]
        cells = {(fact.source, *fact.cell) for name in neighbours for fact in name.facts}
        has_number = any((other.source, *other.cell) in cells for other in self.world.numeric)
        return has_number and (fact.source, *fact.cell) not in cells

    @cached_property
    def _names(self) -> frozenset[tuple[str, ...]]:
        """Return the names of all fields, in words."""
        return frozenset(split_name(fact.field) for fact in self.world.base.facts if fact.field)

    def _get_key(self, fact: Fact) -> tuple[object, ...]:
        """Return what two facts of one quantity share: the field's name and the value."""
        value = fact.value
        return fact.path[-1:], value.number, value.date, value.time

    def list_subjects(self, stated: Stated, reading: Reading) -> list[frozenset[int]]:
        """Return the sets of rows that a value may be of: those of the names nearest to it."""
        low, high = reading.get_clause(stated.start)
        names = [name for name in reading.names if not set(name.words) & set(stated.words)]
        left = [name for name in names if low <= name.start and name.end <= stated.start]
        right = [name for name in names if stated.end <= name.start and name.end <= high]
        found = []
        if right and self._is_attached(stated, right[0], reading):
            found.append(list_common_rows(right))
        if left:
            found.append(list_common_rows(left[::-1]))
        elif right and not found:
            found.append(list_common_rows(right))
        if found:
            return found
        farther = _list_farther_names(names, reading, low)
        return [list_common_rows(farther)] if farther else []

    def _is_attached(self, stated: Stated, name: Named, reading: Reading) -> bool:
        between = reading.list_words_between(stated.end, name.start)
        has_other = any(stated.end <= other.start < name.start for other in reading.stated)
        texts = {word.text.lower() for word in between}
        is_tied = "," not in texts and not texts.isdisjoint(_ATTACHING)
        return is_tied and not has_other and len(between) <= _ATTACHED_REACH

    def _is_of_subject(
        self, fact: Fact, subjects: Sequence[frozenset[int]], reading: Reading, stated: Stated
    ) -> bool:
        world = self.world
        row = world.get_row(fact.record)
        if subjects:
            if any(world.is_in(fact, rows) for rows in subjects if rows):
                return True
            # What the sentence names is no row of this source: "the refund" of a lone object.
            named = frozenset[int]().union(*subjects)
            if any(world.base.records[row].source == fact.source for row in named):
                return False
        is_lone = len(world.list_siblings(row)) == 1 or all(
            fact.value == other.value for other in self._list_column(fact)
        )
        return is_lone and (not subjects or self._is_about(fact, stated, reading))

    def _is_about(self, fact: Fact, stated: Stated, reading: Reading) -> bool:
        """Return whether the words beside a value name its field."""
        near = next(self.iter_context(stated, reading))
        return not near.isdisjoint(self.world.list_words(fact) - STOP)

    def is_of_columns(self, facts: Sequence[Fact]) -> bool:
        """Return whether one of some facts is of a field that several rows have."""
        return any(len(self._list_column(fact)) > 1 for fact in facts)

    def _list_column(self, fact: Fact) -> list[Fact]:
        name = self.world.get_field(fact)
        return [
            other
            for row in self.world.list_siblings(self.world.get_row(fact.record))
            for other in self.world.list_facts(row)
            if self.world.get_field(other) == name
        ]

    def is_named_field(self, fact: Fact, stated: Stated, reading: Reading) -> bool:
        """Return whether the words beside a value pick a fact's field out of those of its row."""
        if fact.role is Role.KEY or self._names_year(fact, stated):
            return True
        rivals = self._group_rivals(fact, stated)
        if len(rivals) == 1:
            return True
        own = self._get_column(fact)
        same = {name for name, facts in rivals.items() if any(other.value == fact.value for other in facts)}
        is_only_value = same == {own}
        is_single = {self.world.get_row(fact.record)} in self.list_subjects(stated, reading)
        for leading in self._iter_leading(rivals, same, stated, reading):
            # Of fields that are named equally well, the value decides which one is meant.
            if leading.names & same == {own}:
                return True
            # Half a name of another field says less than the value itself.
            if leading.is_half_named and is_only_value and is_single:
                continue
            if leading.is_beside or any(are_of_one_shape(fact, other) for other in leading.facts):
                return False
        # Nothing names a field: the value decides. Words that name another are left unread.
        return is_only_value and not _is_in_score(stated, reading)

    def _iter_leading(
        self,
        rivals: dict[FieldName, list[Fact]],
        same: AbstractSet[FieldName],
        stated: Stated,
        reading: Reading,
    ) -> Iterator[_Leading]:
        """Yield the fields that the words around a value name best, by the nearest words first.

        `same` are those of the value itself.
        """
        for number, (is_beside, words) in enumerate(self._iter_ranked_context(stated, reading)):
            if number == 1:
                # Words further away may name the field of another value of the clause.
                taken = self._list_taken(rivals, stated, reading) - same
                rivals = {name: facts for name, facts in rivals.items() if name not in taken}
            names, best = self._get_leading(rivals, words)
            if names:
                facts = tuple(fact for name in names for fact in rivals[name])
                yield _Leading(frozenset(names), facts, is_beside, is_half_named=number > 0 and best < 1)

    def _names_year(self, fact: Fact, stated: Stated) -> bool:
        is_of_year = fact.value.kind is Kind.DATE or "year" in self.world.list_words(fact)
        return is_of_year and is_year(stated.mention.value)

    def is_value_alone(self, reading: Reading) -> bool:
        """Return whether a value is bound to one of several fields that no word of passage or task names."""
        words = self.list_words(reading) | reading.scope_words
        groups = list_groups_of(words)
        bound = [(stated, reading.by_stated.get(stated.start)) for stated in reading.stated]
        short = [(stated, fact) for stated, fact in bound if fact is not None and not stated.is_precise]
        unnamed = [
            (stated, fact) for stated, fact in short if fact.path and not self.get_score(fact, words, groups)
        ]
        return any(len(self._group_rivals(fact, stated)) > 1 for stated, fact in unnamed)

    def _get_column(self, fact: Fact) -> FieldName:
        """Return the name of a fact's field; of one without a name its place."""
        return self.world.get_field(fact) or (str(fact.start),)

    def _group_rivals(self, fact: Fact, stated: Stated) -> dict[FieldName, list[Fact]]:
        """Return the facts of a row, by field, that a value could be of; the fact's own field is one."""
        rivals: dict[FieldName, list[Fact]] = {}
        for other in self.world.list_facts(self.world.get_row(fact.record)):
            is_value = other.role is not Role.KEY and other.value.kind is not Kind.TEXT
            if is_value and are_comparable(stated.mention.value, other):
                rivals.setdefault(self._get_column(other), []).append(other)
        rivals.setdefault(self._get_column(fact), [fact])
        return rivals

    def _get_leading(
        self, rivals: dict[FieldName, list[Fact]], words: frozenset[str]
    ) -> tuple[set[FieldName], float]:
        """Return the fields that some words name best, and how well; none where they name none."""
        groups = list_groups_of(words)
        scores = {
            name: max(self.get_score(fact, words, groups) for fact in facts) for name, facts in rivals.items()
        }
        best = max(scores.values())
        return ({name for name, score in scores.items() if score == best} if best > 0 else set()), best

    def _list_taken(
        self, rivals: dict[FieldName, list[Fact]], stated: Stated, reading: Reading
    ) -> set[FieldName]:
        """Return the fields whose value the same clause states beside this one."""
        low, high = reading.get_clause(stated.start)
        others = [other for other in reading.stated if other is not stated and low <= other.start < high]
        return {
            name
            for name, facts in rivals.items()
            if any(
                is_agreeing(other.mention.value, other.hedge, fact, other.text)
                for other in others
                for fact in facts
            )
        }

    def get_score(self, fact: Fact, words: frozenset[str], groups: frozenset[str]) -> float:
        """Return how many of some words, or of their synonyms, name the field of a fact."""
        own = self.world.list_words(fact)
        exact = len(own & words) or float(not list_units(own).isdisjoint(list_units(words)))
        alike = exact + 0.5 * len(list_groups_of(own - words) & groups)
        return alike - _UNSAID * len(own - words) / len(own) if alike else 0.0

    def _iter_ranked_context(self, stated: Stated, reading: Reading) -> Iterator[tuple[bool, frozenset[str]]]:
        """Yield the words that may name a field, and whether they stand in the sentence of the value."""
        for words in self.iter_context(stated, reading):
            yield True, words
        yield False, reading.scope_words
        yield False, self.task_words

    def iter_context(self, stated: Stated, reading: Reading) -> Iterator[frozenset[str]]:
        """Yield the words of the sentence that may name a value's field, the nearest first."""
        passage = reading.passage
        for header, low, high in passage.cells:
            if low <= stated.start < high and header:
                yield list_base_forms(header)
        start, end = _get_bounds(stated, reading)
        names = {at for name in reading.names if name.is_whole for at in name.words}
        near = [
            word.form
            for at, word in enumerate(reading.words)
            if start <= word.start < end and at not in names and not is_of(word, "about")
        ]
        yield frozenset(near)
        if passage.lead is not None:
            yield frozenset(word.form for word in reading.list_words_between(*passage.lead))
        low, high = reading.get_clause(stated.start)
        yield frozenset(
            word.form for at, word in enumerate(reading.words) if low <= word.start < high and at not in names
        )


def _get_bounds(stated: Stated, reading: Reading) -> tuple[int, int]:
    """Return the characters of a clause whose words go with a value, and with no other one."""
    low, high = reading.get_clause(stated.start)
    others = [other for other in reading.stated if not is_year(other.mention.value)]
    before = max((other.end for other in others if other.end <= stated.start), default=low)
    before = max(before, reading.text.rfind("(", 0, stated.start) + 1)
    after = min((other.start for other in others if other.start >= stated.end), default=high)
    # Words behind a comma or an "and" go with the next value.
    for word in reading.list_words_between(before, after):
        lowered = word.text.lower()
        if lowered in _PARTING:
            before = max(before, word.end) if word.end <= stated.start else before
        if lowered in _PARTING or lowered in _OPPOSING:
            after = min(after, word.start) if word.start >= stated.end else after
    return max(low, before), min(high, after)


def _list_farther_names(names: Sequence[Named], reading: Reading, low: int) -> Sequence[Named]:
    """Return the names that a clause without names is about, nearest first: in the lead, before it, above."""
    lead = reading.passage.lead
    leading = [name for name in names if lead is not None and name.end <= lead[1]]
    before = [name for name in names if name.end <= low]
    return leading or before[::-1] or reading.scope[::-1]


def _may_be_of(stated: Stated, fact: Fact) -> bool:
    """Return whether a value could be of the quantity of a fact that is no text."""
    is_value = fact.role is not Role.HEADER and fact.value.kind is not Kind.TEXT
    return is_value and are_comparable(stated.mention.value, fact)


def is_certain_name(name: Named, reading: Reading) -> bool:
    """Return whether a name is surely that of its row: a whole cell, or a word that is written as a name.

    Of "May Day holiday", "that day" is none.
    """
    words = [reading.words[at] for at in name.words]
    has_digits = any(character.isdigit() for word in words for character in word.text)
    is_written_as_name = all(word.part == "PROPN" and len(word.text) > _LONGEST_INITIAL for word in words)
    return name.is_whole or has_digits or is_written_as_name


def list_common_rows(names: Sequence[Named]) -> frozenset[int]:
    """Return the rows that the nearest name has, narrowed by the names beside it of the same row."""
    rows = names[0].rows
    for name in names[1:]:
        both = rows & name.rows
        if not both:
            break
        rows = both
    return rows


def build_evidence(fact: Fact, world: World, derivation: str = "") -> ClaimEvidence:
    """Return a fact as what a claim was bound to."""
    text = world.base.texts[fact.source]
    shown = " ".join(text[slice(*fact.cell)].split())[:200]
    label = f"{fact.field}: {shown}" if fact.field else shown
    output = fact.source if world.is_output(fact) else None
    value, kind = text[fact.start : fact.end], world.sources[fact.source].kind.value
    unit = get_minor_unit(fact.value)
    return ClaimEvidence(output, label, derivation, (), fact.start, fact.end, value, fact.record, kind, unit)


def build_claim(
    reading: Reading,
    start: int,
    end: int,
    kind: ClaimKind,
    verdict: Verdict,
    cause: Cause,
    evidence: ClaimEvidence | None = None,
    rule: GroundednessRule | None = None,
) -> Claim:
    """Return a claim about `text[start:end]` of a passage, in the places of the answer."""
    low, high = reading.passage.get_place(start, end)
    return Claim(reading.text[start:end], low, high, kind, verdict, cause, evidence=evidence, rule=rule)


def _is_in_score(stated: Stated, reading: Reading) -> bool:
    """Return whether a value is one of two that go against each other: "won 3 to 1", not "from 3 to 1"."""
    words = [word.text.lower() for word in reading.words]
    for first, second in pairwise(reading.stated):
        start, end = first.words[0], first.words[-1]
        is_score = second.words[0] == end + 2 and words[end + 1] in _SCORING
        if stated in (first, second) and is_score and words[start - 1 : start] != ["from"]:
            return True
    return False


def build_open_claim(
    stated: Stated, reading: Reading, nearest: Fact | None, world: World, cause: Cause = Cause.OPEN
) -> Claim:
    """Return the claim of a value that is not settled, with the fact that comes nearest as its evidence."""
    evidence = build_evidence(nearest, world) if nearest is not None else None
    kind = get_claim_kind(stated)
    return build_claim(reading, stated.start, stated.end, kind, Verdict.UNCERTAIN, cause, evidence)


def get_claim_kind(stated: Stated) -> ClaimKind:
    """Return the kind of the claim that a stated value makes."""
    return _KINDS.get(stated.mention.value.kind, ClaimKind.NUMBER)


def build_agreeing_claim(
    reading: Reading, span: tuple[int, int], kind: ClaimKind, fact: Fact, world: World, program: str = ""
) -> Claim:
    """Return the claim about a stretch of a passage that a fact bears out, by a program if one is named."""
    cause = Cause.STATED if world.is_output(fact) else Cause.GIVEN
    if program:
        cause = Cause.DERIVED
    return build_claim(reading, *span, kind, Verdict.GROUNDED, cause, build_evidence(fact, world, program))


def build_contradicting_claim(
    stated: Stated, reading: Reading, binder: ValueBinder, fact: Fact, rule: GroundednessRule
) -> Claim:
    """Return the claim of a stated value that a fact contradicts."""
    evidence = build_evidence(fact, binder.world)
    span, cause = (stated.start, stated.end), _CAUSES.get(rule, Cause.OTHER_VALUE)
    return build_contradiction(reading, span, get_claim_kind(stated), cause, evidence, rule)


def build_contradiction(
    reading: Reading,
    span: tuple[int, int],
    kind: ClaimKind,
    cause: Cause,
    evidence: ClaimEvidence | None,
    rule: GroundednessRule,
) -> Claim:
    """Return the claim about a stretch of a passage that a rule contradicts."""
    return build_claim(reading, *span, kind, Verdict.CONTRADICTED, cause, evidence, rule)
