"""Verify what a passage says of several rows: superlatives, comparisons, directions, counts, quantifiers.

In: a reading and the world. Out: claims; each covers the words that it verifies. What cannot be verified is
left unread, and the sentence with it open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness import bind
from spanproof.evaluators.layers.groundedness.bind import ValueBinder
from spanproof.evaluators.layers.groundedness.derive import iter_pairs
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence, ClaimKind
from spanproof.evaluators.layers.groundedness.reader import Reading, Stated
from spanproof.evaluators.layers.groundedness.states import StateBinder
from spanproof.evaluators.layers.groundedness.world import FieldName, World
from spanproof.reading.agreement import rank_amount
from spanproof.reading.lexicon import Degree, is_of, load_degrees, load_texts
from spanproof.reading.operations import are_alike, is_full_column, is_total_row
from spanproof.reading.records import Fact
from spanproof.reading.sentences import Word
from spanproof.reading.statements import find_rank
from spanproof.reading.values import NUMERIC, Kind
from spanproof.reading.words import base_form, expand

_RESTRICTING: Final = load_texts("restricting")
_DATE_WORDS: Final = frozenset(base_form(word) for word in ("date", "day", "time", "year"))
_MAX_COUNT: Final = 400
_COUNT_REACH: Final = 5
_COUNT_ENDS: Final = frozenset((*",.;:()", "and", "with", "but"))
_DEFINITE: Final = frozenset(("the", "these", "those", "all", "both", "top", "your", "our", "its"))
# A table with fewer rows has the size of something else too often.
_FEWEST_OF_TABLE: Final = 3
_THAN: Final = re.compile(r"\bthan\b|\bversus\b|\bvs\b")


@dataclass(frozen=True, slots=True)
class Column:
    """One field of all rows of a table; `is_certain` where no other column could be meant."""

    facts: tuple[Fact, ...]
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """What a number counts: some cells of the rows, and the words of the answer that say which ones."""

    facts: tuple[Fact, ...]
    words: tuple[int, ...]
    program: str


def verify_relations(reading: Reading, binder: ValueBinder) -> Iterator[Claim]:
    """Yield the claims of a passage about several rows."""
    yield from _verify_superlatives(reading, binder)
    yield from _verify_comparatives(reading, binder)
    yield from _verify_directions(reading, binder)


def _verify_superlatives(reading: Reading, binder: ValueBinder) -> Iterator[Claim]:
    degrees = load_degrees("superlative")
    for at, word in enumerate(reading.words):
        degree = degrees.get(word.text.lower())
        length = 1
        following = reading.words[at + 1] if at + 1 < len(reading.words) else None
        if following is not None and f"{word.text} {following.text}".lower() in degrees:
            degree, length = degrees[f"{word.text} {following.text}".lower()], 2
        if degree is None or at in reading.covered:
            continue
        claim = _evaluate_superlative(reading, binder, at, length, degree)
        if claim is not None:
            yield claim


def _evaluate_superlative(
    reading: Reading, binder: ValueBinder, at: int, length: int, degree: Degree
) -> Claim | None:
    world = binder.world
    start, end = reading.words[at].start, reading.words[at + length - 1].end
    rank, ordinal = find_rank(reading.words, at)
    row = _find_row(reading, world, start)
    column = _find_column(reading, binder, row, start, degree) if row is not None else None
    if column is None:
        return None
    ranked = sorted(column.facts, key=lambda fact: rank_amount(fact) * -degree.sign)
    own = next((fact for fact in column.facts if world.get_row(fact.record) == row), None)
    if own is None or len(ranked) < 2 or rank > len(ranked):
        return None
    amount = rank_amount(ranked[rank - 1])
    holds = abs(rank_amount(own) - amount) < 1e-12
    best = next(fact for fact in column.facts if rank_amount(fact) == amount)
    kind = ClaimKind.RANK if rank > 1 else ClaimKind.SUPERLATIVE
    if holds:
        reading.cover(*range(at, at + length), *ordinal)
        reading.bound.append(own)
        program = _describe_best(best, column, degree, world)
        return bind.build_agreeing_claim(reading, (start, end), kind, own, world, program)
    is_whole = column.is_certain and not world.base.cut
    if not is_whole or rank > 1 or reading.is_negated(start):
        return None
    if _is_of_some_rows(reading, at, length, column, world):
        return None
    evidence = bind.build_evidence(best, world, _describe_best(best, column, degree, world))
    rule = GroundednessRule.SUPERLATIVE
    return bind.build_contradiction(reading, (start, end), kind, Cause.OTHER_RESULT, evidence, rule)


def _is_of_some_rows(reading: Reading, at: int, length: int, column: Column, world: World) -> bool:
    """Return whether a superlative may be of some rows only, or of another column."""
    if any(word.text.lower() in _RESTRICTING for word in reading.words if word.text.lower() != "of"):
        return True
    superlatives = sum(word.text.lower() in load_degrees("superlative") for word in reading.words)
    names_several = any(len(name.rows) > 1 for name in (*reading.names, *reading.scope))
    if superlatives > 1 or names_several or _is_modified(reading, at + length, column, world):
        return True
    low, high = reading.get_clause(reading.words[at].start)
    has_other_amount = any(
        low <= stated.start < high
        and stated.mention.value.kind in NUMERIC
        and reading.by_stated.get(stated.start) not in column.facts
        for stated in reading.stated
    )
    return has_other_amount or _has_more_words(reading, at, length, column, world)


def _has_more_words(reading: Reading, at: int, length: int, column: Column, world: World) -> bool:
    """Return whether a clause has words of neither superlative, row nor column: "makes the most *money*"."""
    low, high = reading.get_clause(reading.words[at].start)
    named = {index for name in reading.names for index in name.words}
    named |= {index for stated in reading.stated for index in stated.words}
    column_words = _list_column_words(column, world)
    named |= set(range(at, at + length))
    rest = [
        word for index, word in enumerate(reading.words) if index not in named and low <= word.start < high
    ]
    worded = [word for word in rest if word.text[:1].isalnum() and word.form not in column_words]
    others = [word for word in worded if not is_of(word, "carrier")]
    types = [word for word in others if word.relation in ("nsubj", "attr", "pobj") and word.part == "NOUN"]
    return bool(others) and not len(others) == len(types) == 1


def _list_column_words(column: Column, world: World) -> frozenset[str]:
    """Return the words that name a column, of dates also those of any."""
    words = world.words_of(column.facts[0])
    return words | _DATE_WORDS if column.facts[0].value.kind is Kind.DATE else words


def _is_modified(reading: Reading, at: int, column: Column, world: World) -> bool:
    """Return whether a superlative is of some of the rows only: "the cheapest *dimmable* option"."""
    following = reading.words[at : at + 2]
    if following and following[0].text.lower() == "of":
        return True
    if len(following) < 2 or {word.form for word in following} <= _list_column_words(column, world):
        return False
    return following[0].part in ("ADJ", "NOUN", "VERB", "PROPN") and following[1].part == "NOUN"


def _describe_best(best: Fact, column: Column, degree: Degree, world: World) -> str:
    name = "max" if degree.sign > 0 else "min"
    shown = world.base.texts[best.source][best.start : best.end]
    return f"{name}({best.field} of {len(column.facts)} rows) = {shown}"


def _find_row(reading: Reading, world: World, start: int) -> int | None:
    """Return the one row that a clause is about."""
    low, high = reading.get_clause(start)
    names = [name for name in reading.names if low <= name.start < high]
    inside = [name for name in names if any(len(world.list_siblings(row)) > 1 for row in name.rows)]
    rows = set.intersection(*(set(name.rows) for name in inside)) if inside else set()
    if len(rows) > 1:
        # Each of several outputs has the row; one that printed it alone ranks nothing.
        listed = {row for row in rows if len(world.list_siblings(row)) > 1}
        groups = {world.base.records[row].group for row in listed}
        rows = {max(listed)} if listed and len(groups) == len(listed) else listed
    if not inside:
        rows = {world.get_row(fact.record) for at, fact in reading.by_stated.items() if low <= at < high}
    return rows.pop() if len(rows) == 1 else None


def _find_column(
    reading: Reading, binder: ValueBinder, row: int, start: int, degree: Degree
) -> Column | None:
    """Return the column of a superlative: named beside it, by its word, or that of a value stated with it."""
    world = binder.world
    full = _group_full_columns(row, world)
    low, high = reading.get_clause(start)
    words = frozenset(word.form for word in reading.words_between(low, high))
    stated = {world.get_field(fact) for at, fact in reading.by_stated.items() if low <= at < high}
    # The value may follow behind a colon: "A costs the most: 12.40".
    stated = stated or {world.get_field(fact) for fact in reading.by_stated.values()}
    groups = expand(words)
    scored = {name: binder.score(facts[0], words, groups) for name, facts in full.items()}
    best = max(scored.values(), default=0)
    named = {name for name, score in scored.items() if score == best > 0}
    by_word = {name for name, facts in full.items() if not degree.fields.isdisjoint(world.words_of(facts[0]))}
    for chosen, is_certain in (
        (named & stated, True),
        (named, best >= 1),
        (by_word, True),
        (stated & full.keys(), len(full) == 1),
        # The one column there is, where the word is not of other fields: "top" may be by anything.
        (set(full), not degree.fields),
    ):
        if len(chosen) == 1:
            return Column(tuple(full[chosen.pop()]), is_certain)
    return None


def _group_full_columns(row: int, world: World) -> dict[FieldName, list[Fact]]:
    """Return the columns of a row's table that have amounts of one unit in all rows, or in all but one."""
    columns: dict[FieldName, list[Fact]] = {}
    siblings = [
        sibling for sibling in world.list_siblings(row) if not is_total_row(world.list_facts(sibling))
    ]
    for fact in chain.from_iterable(map(world.list_facts, siblings)):
        if fact.value.kind in NUMERIC or fact.value.kind is Kind.DATE:
            columns.setdefault(world.get_field(fact), []).append(fact)
    fewest = max(2, len(siblings) - 1)
    return {name: facts for name, facts in columns.items() if is_full_column(facts, fewest)}


def _is_doubled(reading: Reading, at: int) -> bool:
    """Return whether a comparative is a hedge ("more than 12"), or a verb is two words behind it."""
    following = reading.words[at + 1 : at + 3]
    if len(following) == 2 and following[1].part == "VERB":
        return True
    is_than = bool(following) and following[0].text.lower() == "than"
    return is_than and any(at + 2 in stated.words for stated in reading.stated)


def _list_compared(degree: Degree, reading: Reading, binder: ValueBinder) -> list[tuple[Fact, Fact]]:
    """Return the pairs of amounts of one field that a comparative may be about."""
    world, fields = binder.world, degree.fields
    pairs = iter_pairs(None, reading, binder, fields)
    if fields:
        pairs = (pair for pair in pairs if fields & world.words_of(pair[0]))
    compared = {
        (one.start, two.start): (one, two)
        for one, two in pairs
        if are_alike(one, two) and world.get_field(one) == world.get_field(two)
    }
    return list(compared.values())


def _verify_comparatives(reading: Reading, binder: ValueBinder) -> Iterator[Claim]:
    """Yield claims that one row has more of a field than another: "A is cheaper than B"."""
    degrees = load_degrees("comparative")
    than = _THAN.search(reading.text)
    if than is None:
        return
    for at, word in enumerate(reading.words):
        degree = degrees.get(word.text.lower())
        if degree is None or at in reading.covered or word.start > than.start() or _is_doubled(reading, at):
            continue
        pairs = _list_compared(degree, reading, binder)
        ordered = (
            _order_by_mention(reading, binder.world, *pairs[0], than.start()) if len(pairs) == 1 else None
        )
        if ordered is None or reading.is_negated(word.start):
            continue
        greater, lesser = ordered
        program = f"{greater.value.amount:g} against {lesser.value.amount:g}"
        if (greater.value.number - lesser.value.number) * degree.sign > 0:
            reading.cover(at, *reading.find_words(*than.span()))
            reading.bound += pairs[0]
            span = (word.start, word.end)
            yield bind.build_agreeing_claim(
                reading, span, ClaimKind.COMPARISON, greater, binder.world, program
            )
        elif _are_surely_compared(reading, greater, lesser):
            yield _build_wrong_direction(reading, word, bind.build_evidence(greater, binder.world, program))


def _are_surely_compared(reading: Reading, greater: Fact, lesser: Fact) -> bool:
    """Return whether a sentence names two rows only, and two amounts that differ."""
    lone = [name for name in reading.names if len(name.rows) == 1]
    differ = greater.value.number != lesser.value.number
    return len(lone) == 2 and differ and not _is_aside(reading, greater, lesser)


def _is_aside(reading: Reading, *facts: Fact) -> bool:
    """Return whether a sentence has a value as an aside: "A, with 31 people, makes less than B"."""
    starts = [at for at, fact in reading.by_stated.items() if fact in facts]
    before = [reading.words_between(0, start)[-1:] for start in starts]
    return any(words and words[0].text.lower() == "with" for words in before)


def _order_by_mention(
    reading: Reading, world: World, one: Fact, two: Fact, than: int
) -> tuple[Fact, Fact] | None:
    """Return two facts with the one first whose value or name is before "than"; None where that is open."""
    places = []
    for fact in (one, two):
        stated = [at for at, bound in reading.by_stated.items() if bound is fact]
        named = [name.start for name in reading.names if name.rows == {world.get_row(fact.record)}]
        found = stated or named
        places.append(found[0] if found else None)
    if None in places or (places[0] < than) == (places[1] < than):  # type: ignore[operator]
        return None
    return (one, two) if places[0] < than else (two, one)  # type: ignore[operator]


def _verify_directions(reading: Reading, binder: ValueBinder) -> Iterator[Claim]:
    """Yield claims that a value rose or fell: "up from 12 to 15", "15, down from 18"."""
    for at, word in enumerate(reading.words):
        is_up, is_down = is_of(word, "up"), is_of(word, "down")
        if (
            is_up == is_down
            or at in reading.covered
            or word.part not in ("VERB", "NOUN", "ADV", "ADP", "ADJ", "")
        ):
            continue
        sign = 1 if is_up else -1
        found = find_change(reading, word.start)
        if found is None:
            continue
        earlier, later = found
        if earlier.source > later.source:
            # The outputs came in the opposite order, and nothing says of which time each is.
            continue
        change = later.value.number * later.factor - earlier.value.number * earlier.factor
        program = f"from {earlier.value.amount:g} to {later.value.amount:g}"
        evidence = bind.build_evidence(later, binder.world, program)
        if change * sign > 0 and not reading.is_negated(word.start):
            reading.cover(at)
            reading.bound += [earlier, later]
            span = (word.start, word.end)
            yield bind.build_agreeing_claim(reading, span, ClaimKind.COMPARISON, later, binder.world, program)
        elif change * sign < 0 and _is_plain_change(reading, word, earlier, later):
            yield _build_wrong_direction(reading, word, evidence)


def _build_wrong_direction(reading: Reading, word: Word, evidence: ClaimEvidence) -> Claim:
    span, rule = (word.start, word.end), GroundednessRule.DIRECTION
    return bind.build_contradiction(reading, span, ClaimKind.COMPARISON, Cause.OTHER_RESULT, evidence, rule)


def _is_plain_change(reading: Reading, word: Word, earlier: Fact, later: Fact) -> bool:
    """Return whether a word says how the value itself moved: it may not in "more than doubled"."""
    is_below_nothing = min(earlier.value.number, later.value.number) < 0
    is_compared = word.text.lower() in load_degrees("comparative")
    amounts = [other for other in reading.stated if other.mention.value.kind in NUMERIC]
    by = [other for other in amounts if other.words[0] and reading.words[other.words[0] - 1].text == "by"]
    is_of_more = len(amounts) - len(by) != 2
    return not (is_below_nothing or is_compared or is_of_more or reading.is_negated(word.start))


_FROM_REACH: Final = 4
_FROM_CHARS: Final = 25
_FROM_TO: Final = re.compile(r"\bfrom\b")


def find_change(reading: Reading, start: int, reach: int = _FROM_REACH) -> tuple[Fact, Fact] | None:
    """Return the two values of a change, where "from" is at most so many words behind a character."""
    stated = sorted((at, fact) for at, fact in reading.by_stated.items() if fact.value.kind in NUMERIC)
    if len(stated) != 2 or not are_alike(stated[0][1], stated[1][1]):
        return None
    origin = _FROM_TO.search(reading.text, start)
    if origin is None or len(reading.words_between(start, origin.start())) > reach:
        return None
    following = [entry for entry in stated if entry[0] > origin.start()]
    if not following or following[0][0] - origin.end() > _FROM_CHARS:
        return None
    earlier = following[0][1]
    later = next(fact for _, fact in stated if fact is not earlier)
    return (earlier, later) if earlier is not later else None


def cover_whole(reading: Reading) -> None:
    """Cover "all" before a number that counts a whole table and whose total the sentence states."""
    is_total = any(
        claim.cause is Cause.DERIVED and claim.kind is not ClaimKind.COUNT for claim in reading.claims
    )
    counted = {claim.start for claim in reading.claims if claim.kind is ClaimKind.COUNT}
    for at, word in enumerate(reading.words[:-1]):
        following = reading.passage.places[reading.words[at + 1].start]
        if is_total and is_of(word, "all") and following in counted:
            reading.cover(at)


def verify_quantifiers(reading: Reading, binder: ValueBinder, states: StateBinder) -> Iterator[Claim]:
    """Yield claims about each row: "all three are assigned", which each row has to have as its state."""
    world = binder.world
    for at, word in enumerate(reading.words):
        is_most = word.text.lower() == "most" and at + 1 < len(reading.words)
        if at in reading.covered or not (is_most or is_of(word, "all")) or _is_hedged(reading, at):
            continue
        found = states.find_said(reading, at + 1)
        if found is None:
            continue
        indices, facts = found
        cells = _list_column(facts, world)
        negations = [index for index, other in enumerate(reading.words) if is_of(other, "negation")]
        if not cells or negations not in ([], [at - 1]):
            continue
        having = [cell for cell in cells if cell in facts]
        has_all = len(having) > len(cells) / 2 if is_most else len(having) == len(cells)
        holds = has_all != bool(negations)
        program = f"{len(having)} of {len(cells)} rows have it"
        span = (word.start, word.end)
        if holds:
            reading.cover(at, *indices, *negations)
            reading.bound.append(facts[0])
            yield bind.build_agreeing_claim(reading, span, ClaimKind.QUANTIFIER, facts[0], world, program)
        elif _is_of_all_rows(reading, at, indices, binder):
            kind, rule = ClaimKind.QUANTIFIER, GroundednessRule.QUANTIFIER
            evidence = bind.build_evidence(facts[0], world, program)
            yield bind.build_contradiction(reading, span, kind, Cause.OTHER_RESULT, evidence, rule)


def _is_hedged(reading: Reading, at: int) -> bool:
    """Return whether a word follows a hedge: "almost all"."""
    return at > 0 and any(is_of(reading.words[at - 1], kind) for kind in ("about", "under"))


def _list_column(facts: Iterable[Fact], world: World) -> list[Fact]:
    """Return all cells of the one column that facts are of; none where a row of its table has no cell."""
    records = world.base.records
    columns = {(records[world.get_row(fact.record)].group, world.get_field(fact)) for fact in facts}
    if len(columns) != 1:
        return []
    ((group, field),) = columns
    rows = world.base.groups[group] if group is not None else []
    cells = [fact for row in rows for fact in world.list_facts(row) if world.get_field(fact) == field]
    return cells if len(cells) == len(rows) > 1 else []


def _is_of_all_rows(reading: Reading, at: int, indices: tuple[int, ...], binder: ValueBinder) -> bool:
    """Return whether nothing in a sentence picks rows out: "all products are available"."""
    others = [word for index, word in enumerate(reading.words) if index not in (at, *indices)]
    worded = [word for word in others if word.text[:1].isalnum()]
    picking = [word for word in worded if not is_of(word, "carrier") and not is_of(word, "negation")]
    is_bare = len(picking) <= 1 and all(word.part == "NOUN" and word.relation == "nsubj" for word in picking)
    return is_bare and not reading.names and not reading.scope and not binder.world.base.cut


def count_rows(stated: Stated, reading: Reading, binder: ValueBinder, states: StateBinder) -> Counted | None:
    """Return what a number counts: rows in a state, or a whole table."""
    value = stated.mention.value
    is_whole = (
        value.kind is Kind.NUMBER and value.number == int(value.number) and 0 <= value.number <= _MAX_COUNT
    )
    if not is_whole or value.factor != 1.0:
        return None
    return _count_state(stated, reading, binder, states) or _count_table(stated, reading, binder)


def _list_behind(stated: Stated, reading: Reading) -> list[Word]:
    """Return the words behind a number that say what it counts."""
    following = [word for word in reading.words if word.start >= stated.end][:_COUNT_REACH]
    ends = (at for at, word in enumerate(following) if word.text.lower() in _COUNT_ENDS)
    return following[: next(ends, len(following))]


def _count_state(
    stated: Stated, reading: Reading, binder: ValueBinder, states: StateBinder
) -> Counted | None:
    """Count the rows of one table that are in the state that a clause says: "two of the three failed"."""
    world = binder.world
    at = stated.words[-1] + 1
    found = states.find_said(reading, at)
    _, high = reading.get_clause(stated.start)
    if found is None or reading.is_negated(stated.start):
        return None
    indices, facts = found
    if reading.words[indices[0]].start >= high:
        return None
    tables: dict[int, set[int]] = {}
    for fact in facts:
        row = world.get_row(fact.record)
        group = world.base.records[row].group
        if group is not None:
            tables.setdefault(group, set()).add(row)
    if stated.mention.value.number in {len(rows) for rows in tables.values()}:
        return Counted(tuple(facts), indices, f"{int(stated.mention.value.number)} rows")
    return None


def _count_table(stated: Stated, reading: Reading, binder: ValueBinder) -> Counted | None:
    """Count all rows of a table whose name, tool or fields say what the number counts: "the five stores"."""
    world = binder.world
    number = stated.mention.value.number
    forms = frozenset(word.form for word in _list_behind(stated, reading) if word.text[:1].isalpha())
    previous = reading.words[stated.words[0] - 1].text.lower() if stated.words[0] else ""
    for group, members in sorted(world.base.groups.items(), reverse=True):
        facts = [fact for row in members[:1] for fact in world.list_facts(row)]
        if len(members) != number or not facts or not world.is_output(facts[0]):
            continue
        names = frozenset(world.base.group_names[group].lower().split()) | world.words_about(facts[0].source)
        names |= binder.task_words | world.words_of(facts[0])
        counted = forms.difference(*(world.words_of(fact) for fact in facts if fact.value.kind in NUMERIC))
        is_whole = previous in _DEFINITE and number >= _FEWEST_OF_TABLE
        if is_whole or not counted.isdisjoint(names) or not expand(counted).isdisjoint(expand(names)):
            return Counted(tuple(facts), (), f"{len(members)} rows")
    return None
