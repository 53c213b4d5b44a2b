"""The rule for superlatives: "Hull has the highest sales", "the cheapest plan is Basic".

In: the `Binding`. Out: a claim where a sentence names one row and one column and says that the row is the
column's extreme. A number said to be the highest or lowest is checked where numbers are bound, by
`is_extreme`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.words import (
    canonical,
    canonical_set,
    plain_set,
    words_of,
)
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.derive import measured_value
from spanproof.evaluators.layers.groundedness.rules.derive.cues import SPENDING

_MAX = (
    "highest|largest|biggest|greatest|most(?!\\s+of\\b)|maximum|top|longest|slowest|oldest|priciest|busiest"
    "|heaviest|hottest|warmest|peaked|peaks"
)
_MIN = (
    "lowest|smallest|least|fewest|minimum|shortest|fastest|youngest|cheapest|lightest|coldest|coolest"
    "|bottomed out"
)
_CUE = re.compile(
    rf"\b(?:(?P<nth>second|third|fourth)[- ])?(?:(?P<max>{_MAX}|the (?:higher|larger|bigger|greater))"
    rf"|(?P<min>{_MIN}|the (?:lower|smaller|fewer)))\b"
    r"(?!\s+(?:of\s+all\b(?!\s*[.,;])|likely|recent|often|\d))(?P<after>(?:\s+\w+){0,2})",
    re.IGNORECASE,
)
_CUES = plain_set(
    "highest largest biggest greatest most maximum top longest slowest oldest priciest busiest heaviest"
    " hottest warmest peaked peaks higher larger bigger greater lowest smallest least fewest minimum shortest"
    " fastest youngest cheapest lightest coldest coolest bottomed lower smaller fewer"
)
_PLACES = {"second": 1, "third": 2, "fourth": 3}
_SIZED = frozenset(("largest", "biggest", "smallest"))
_SIZES = canonical_set("size bytes disk memory")
_TOTALS = canonical_set("total overall sum") | {"."}
"""Names of rows that hold what the others come to."""
_MOST_OF = re.compile(r"(?:most|least)\s+[a-z]+(?:id|ive|ous|ful|al|ed|ing|ent|ant|ar)\b", re.IGNORECASE)
"""Behind "most" an adjective names what is compared, or nothing here does."""
_LEAST_STEM = 5
_AT_MOST = re.compile(r"\bat\s+$", re.IGNORECASE)
_MEANT = {
    "expensiv": "price", "cheapest": "price", "priciest": "price", "oldest": "age", "youngest": "age",
    "slowest": "duration", "fastest": "duration", "hottest": "temperature", "warmest": "temperature",
    "coldest": "temperature", "coolest": "temperature", "heaviest": "weight", "lightest": "weight",
    "longest": "length", "shortest": "length",
}  # fmt: skip


def superlative_claims(binding: Binding) -> list[Claim]:
    """Every superlative that names a row."""
    claims: list[Claim] = []
    if _CUES.isdisjoint(binding.answer.said):
        return claims
    for sentence in binding.answer.sentences[:MAX_CLAIMS]:
        for match in islice(_CUE.finditer(binding.answer.text, sentence.start, sentence.end), MAX_CLAIMS):
            if _AT_MOST.search(binding.answer.text[max(0, match.start() - 5) : match.start()]):
                continue
            found = _settle(match, sentence, binding)
            if found is not None:
                claims.append(found)
    return claims


def extreme_asked(words: AbstractSet[str]) -> int:
    """1 where the words ask for a maximum, -1 for a minimum, 0 for neither or both."""
    return int("max" in words) - int("min" in words)


def is_extreme(fact: Fact, column: list[Fact], asked: int) -> bool:
    """Whether the fact is the column's maximum (1) or minimum (-1)."""
    values = [measured_value(each) for each in column if each.number is not None]
    return not values or measured_value(fact) == (max(values) if asked > 0 else min(values))


def column_of(fact: Fact, binding: Binding) -> list[Fact]:
    """The numbers of the column a fact stands in, empty where it stands in none."""
    if fact.records < 0:
        return []
    for column in binding.facts.records[fact.records].columns.values():
        if any(each is fact for each in column):
            numbers = [each for each in column if each.number is not None]
            return [each for each in numbers if each is fact or _TOTALS.isdisjoint(each.scope)]
    return []


def _settle(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    """The claim where one row of a column is said to be its extreme; a guessed column accuses nobody."""
    words = frozenset(sentence.words) | binding.moments_in(sentence)
    for columns, sure in _meant_columns(match, sentence, words, binding):
        found = [pair for column in columns if (pair := _row_and_extreme(match, column, words)) is not None]
        if not found:
            continue
        row, extreme = next((pair for pair in found if pair[0].number == pair[1].number), found[0])
        right = row.number == extreme.number
        verdict = Verdict.GROUNDED if right else Verdict.CONTRADICTED if sure else Verdict.UNCERTAIN
        reason = "it is the extreme of its column"
        if not right:
            reason = f"`{extreme.text}` is the extreme, not `{row.text}`"
        place = (binding, match.start(), match.end(), ClaimKind.SUPERLATIVE)
        return claim(*place, verdict, reason, evidence_of(extreme))
    return None


def _meant_columns(
    match: re.Match[str], sentence: Sentence, words: frozenset[str], binding: Binding
) -> Iterator[tuple[list[list[Fact]], bool]]:
    """The columns that may be meant, the best known first, and whether that is sure."""
    first = match.group().split()[0].lower()
    meant = {_MEANT[word] for word in (*words_of(match.group()), first) if word in _MEANT}
    yield _columns(binding, meant | set(words_of(match["after"]))), True
    yield list(_stated_columns(sentence.piece_at(match.start()), binding)), True
    if first in _SIZED:
        yield _columns(binding, _SIZES), True
    if not _MOST_OF.match(match.group()) and not meant:
        start, end = sentence.piece_at(match.start())
        yield _columns(binding, set(words_of(binding.answer.text[start:end]))), True
        yield _columns(binding, words), False
    yield _lone_columns(binding), False


def _row_and_extreme(
    match: re.Match[str], column: list[Fact], words: frozenset[str]
) -> tuple[Fact, Fact] | None:
    """The row that the words name, and the one that is the extreme."""
    if not words.isdisjoint(SPENDING):
        column = [fact for fact in column if (fact.number or 0.0) < 0] or column
    telling = words - frozenset.intersection(*(fact.words for fact in column))
    rows = [fact for fact in column if not fact.words.isdisjoint(telling)]
    if len(rows) != 1:
        return None
    ranked = sorted(column, key=lambda fact: _size(fact, column), reverse=match["min"] is None)
    place = _PLACES.get((match["nth"] or "").lower(), 0)
    return (rows[0], ranked[place]) if place < len(ranked) else None


def _size(fact: Fact, column: list[Fact]) -> float:
    """How large a value is; of amounts that all went out, how much that was."""
    number = measured_value(fact)
    return abs(number) if all((each.number or 0.0) < 0 for each in column) else number


def _stated_columns(piece: tuple[int, int], binding: Binding) -> Iterator[list[Fact]]:
    """The columns of the numbers that stand beside it: "Amy owes the most: $12,400"."""
    for start, facts in binding.bound.items():
        if piece[0] <= start < piece[1] and len(facts) == 1:
            column = column_of(facts[0], binding)
            if len(column) > 1:
                yield column


def _columns(binding: Binding, words: AbstractSet[str]) -> list[list[Fact]]:
    """The numeric columns the words name."""
    named: list[list[Fact]] = []
    for records in binding.facts.records:
        for name, column in _numeric(records):
            if _is_called(_column_words(name, records), words):
                named.append(column)
    return named


def _lone_columns(binding: Binding) -> list[list[Fact]]:
    """Columns that are their table's only one with numbers."""
    found = (list(_numeric(records)) for records in binding.facts.records)
    return [numeric[0][1] for numeric in found if len(numeric) == 1]


def _is_called(names: AbstractSet[str], words: AbstractSet[str]) -> bool:
    """Whether a word is a column's name, or of its family: "humid" for `humidity`."""
    if not names.isdisjoint(words):
        return True
    return any(name.startswith(word) for name in names for word in words if len(word) >= _LEAST_STEM)


def _numeric(records: Records) -> Iterator[tuple[str, list[Fact]]]:
    for name, column in records.columns.items():
        numbers = [fact for fact in column if fact.number is not None]
        numbers = [fact for fact in numbers if _TOTALS.isdisjoint(fact.scope)] or numbers
        if _names_its_rows(numbers):
            continue
        if len(numbers) > 1 and all(fact.null or fact.number is not None for fact in column):
            yield name, numbers


def _names_its_rows(numbers: list[Fact]) -> bool:
    """Whether a column only numbers its rows on: the largest job is not the one with the highest number."""
    return all(f"{fact.number:g}" in fact.scope for fact in numbers)


def _column_words(name: str, records: Records) -> frozenset[str]:
    return frozenset(canonical(word) for word in name.split()) or frozenset(records.words)
