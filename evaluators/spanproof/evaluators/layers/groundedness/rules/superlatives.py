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
from spanproof.evaluators.layers.groundedness.language.units import Dimension, Unit
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
from spanproof.evaluators.layers.groundedness.rules.qualities import ADJECTIVES, SUPERLATIVES, side_of

_MAX = (
    "highest|largest|biggest|greatest|most(?!\\s+of\\b)|maximum|top|longest|slowest|oldest|priciest|busiest"
    "|heaviest|hottest|warmest|dearest|costliest|wettest|rainiest|sunniest|tallest|deepest|widest|windiest"
    "|loudest|farthest|peaked|peaks"
)
_MIN = (
    "lowest|smallest|least|fewest|minimum|shortest|fastest|quickest|youngest|newest|cheapest|lightest|coldest"
    "|coolest|closest|nearest|driest|dryest|shallowest|narrowest|bottomed out"
)
_CUE = re.compile(
    rf"\b(?:(?P<nth>second|third|fourth)[- ])?(?:(?P<max>{_MAX}|the (?:higher|larger|bigger|greater))"
    rf"|(?P<min>{_MIN}|the (?:lower|smaller|fewer)))\b"
    r"(?!\s+(?:of\s+all\b(?!\s*[.,;])|likely|recent|often|\d))(?P<after>(?:\s+\w+){0,2})",
    re.IGNORECASE,
)
_CUES = plain_set(
    "highest largest biggest greatest most maximum top longest busiest peaked peaks higher larger bigger"
    " greater lowest smallest least fewest minimum shortest bottomed lower smaller fewer"
).union(SUPERLATIVES)
_PLACES = {"second": 1, "third": 2, "fourth": 3}
_SIZED = frozenset(("largest", "biggest", "smallest"))
_SIZES = canonical_set("size bytes disk memory")
_TOTALS = canonical_set("total overall sum") | {"."}
"""Names of rows that hold what the others come to."""
_STATISTICS = canonical_set("count mean std min max")
_FEW_STATISTICS = 3
_NAMELESS = _STATISTICS | canonical_set("median total sum n value number")
"""Words that name a measure of a thing, and no thing."""
_MOST_NAMED = 200
_MOST_OF = re.compile(
    r"(?:most|least)\s+[a-z]+(?:id|ive|ous|ful|al|ed|ing|ent|ant|ar|[aie]ble)\b", re.IGNORECASE
)
"""Behind "most" an adjective names what is compared, or nothing here does."""
_LEAST_STEM = 5
_AT_MOST = re.compile(r"\bat\s+$", re.IGNORECASE)
_AMONG = re.compile(r"\b(?:among|amongst|within|in|for)\s+(?:the\s+|all\s+)?([\w-]+)", re.IGNORECASE)
_COMMON = canonical_set("common frequent popular frequently")
_COUNTS = canonical_set("number total frequency") | {""}


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
        if any(each is fact for each in column) and not _is_summary(column):
            numbers = [each for each in column if each.number is not None]
            return [each for each in numbers if each is fact or _TOTALS.isdisjoint(each.scope)]
    return []


def _settle(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    """The claim where one row of a column is said to be its extreme; a guessed column accuses nobody."""
    words = frozenset(sentence.words) | binding.moments_in(sentence)
    start, end = sentence.piece_at(match.start())
    near = frozenset(words_of(binding.answer.text[start:end]))
    group = {canonical(found[1]) for found in _AMONG.finditer(sentence.text)}
    for columns, sure in _meant_columns(match, sentence, words, binding):
        pairs = (_row_and_extreme(match, _of_group(column, group), (near, words)) for column in columns)
        found = [pair for pair in pairs if pair is not None]
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
    said = match.group().lower().split()
    measured = not ADJECTIVES.isdisjoint(said)
    if measured:
        yield [column for column in _all_columns(binding) if _side(match, column[0])], True
    yield _columns(binding, set(words_of(match["after"]))), True
    piece = binding.answer.text[slice(*sentence.piece_at(match.start()))]
    yield list(_families(binding, frozenset(words_of(piece)))), True
    yield list(_stated_columns(sentence.piece_at(match.start()), binding)), True
    if not _SIZED.isdisjoint(said):
        yield _columns(binding, _SIZES), True
    if not _COMMON.isdisjoint(words_of(match["after"])):
        yield [column for column in _lone_columns(binding) if _COUNTS.issuperset(column[0].key)], True
    if not _MOST_OF.match(match.group()) and not measured:
        start, end = sentence.piece_at(match.start())
        yield _columns(binding, set(words_of(binding.answer.text[start:end]))), True
        yield _columns(binding, words), False
    lone = _lone_columns(binding)
    told = list(_stated_columns((sentence.start, sentence.end), binding))
    yield lone, len(lone) == 1 and told == lone


def _row_and_extreme(
    match: re.Match[str], column: list[Fact], said: tuple[frozenset[str], frozenset[str]]
) -> tuple[Fact, Fact] | None:
    """The row that the words beside it name, else those of the sentence, and the one that is the extreme."""
    near, words = said
    if not words.isdisjoint(SPENDING):
        column = [fact for fact in column if (fact.number or 0.0) < 0] or column
    row = _row_called(near, column) or _row_called(words, column)
    if row is None:
        return None
    side = _side(match, column[0]) or (1 if match["min"] is None else -1)
    ranked = sorted(column, key=lambda fact: _size(fact, column), reverse=side > 0)
    place = _PLACES.get((match["nth"] or "").lower(), 0)
    return (row, ranked[place]) if place < len(ranked) else None


def _of_group(column: list[Fact], group: set[str]) -> list[Fact]:
    """The rows of the group that the sentence speaks of: "among women"."""
    rows = [fact for fact in column if not fact.words.isdisjoint(group)]
    return rows if 1 < len(rows) < len(column) else column


def _side(match: re.Match[str], fact: Fact) -> int:
    """Which end of what the fact measures the adjective says, 0 where it measures something else."""
    said = match.group().lower().split()
    return next((side for word in said if (side := side_of(word, fact, less="least" in said))), 0)


def _row_called(words: frozenset[str], column: list[Fact]) -> Fact | None:
    """The one row that the words name, or name in full where others have a part of its name."""
    telling = words - frozenset.intersection(*(fact.words for fact in column))
    named = sorted(
        ((fact.words & telling, fact) for fact in column if not fact.words.isdisjoint(telling)),
        key=lambda pair: -len(pair[0]),
    )
    if not named or any(not words < named[0][0] for words, _ in named[1:]):
        return None
    return named[0][1]


def _size(fact: Fact, column: list[Fact]) -> float:
    """How large a value is; of amounts that all went out, how much that was."""
    number = measured_value(fact)
    went_out = fact.dimension in (None, Dimension.MONEY) and all((each.number or 0.0) < 0 for each in column)
    return abs(number) if went_out else number


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


def _families(binding: Binding, words: frozenset[str]) -> Iterator[list[Fact]]:
    """Values whose names differ in one word, where the words say the rest: `mean_yield_north`."""
    groups: dict[tuple[int, frozenset[str], Unit | None, tuple[str | None, ...]], list[Fact]] = {}
    for fact in binding.numbers[:_MOST_NAMED]:
        if fact.weak or (fact.records >= 0 and binding.facts.records[fact.records].rows >= 0):
            continue
        for place in range(len(fact.key)) if len(fact.key) > 1 else ():
            named = (*fact.key[:place], None, *fact.key[place + 1 :])
            groups.setdefault((fact.output, fact.scope, fact.unit, named), []).append(fact)
    for (_, _, _, rest), family in groups.items():
        at = rest.index(None)
        own = {fact.key[at] for fact in family}
        common = {word for word in rest if word} - _NAMELESS
        if len(family) > 1 and own.isdisjoint(_NAMELESS) and common <= words and common:
            yield family


def _all_columns(binding: Binding) -> Iterator[list[Fact]]:
    """Every column of numbers."""
    for records in binding.facts.records:
        for _, column in _numeric(records):
            yield column


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
        if _names_its_rows(numbers) or _is_summary(numbers):
            continue
        if len(numbers) > 1 and all(fact.null or fact.number is not None for fact in column):
            yield name, numbers


def _is_summary(column: list[Fact]) -> bool:
    """Whether statistics of one measure stand below each other: none of them is the largest of the others."""
    names = frozenset[str]().union(*(fact.words for fact in column))
    return len(names & _STATISTICS) >= _FEW_STATISTICS


def _names_its_rows(numbers: list[Fact]) -> bool:
    """Whether a column only numbers its rows on: the largest job is not the one with the highest number."""
    return all(f"{fact.number:g}" in fact.scope for fact in numbers)


def _column_words(name: str, records: Records) -> frozenset[str]:
    return frozenset(canonical(word) for word in name.split()) or frozenset(records.words)
