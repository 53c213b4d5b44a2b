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
from spanproof.evaluators.layers.groundedness.language.words import canonical, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of

_MAX = (
    "highest|largest|biggest|greatest|most|maximum|top|longest|slowest|oldest|priciest|busiest"
    "|heaviest|hottest|warmest"
)
_MIN = "lowest|smallest|least|fewest|minimum|shortest|fastest|youngest|cheapest|lightest|coldest|coolest"
_CUE = re.compile(
    rf"\b(?:(?P<max>{_MAX}|the (?:higher|larger|bigger|greater))|(?P<min>{_MIN}|the (?:lower|smaller"
    rf"|fewer)))\b"
    r"(?!\s+(?:of\s+all\b(?!\s*[.,;])|likely|recent|often|\d))(?P<after>(?:\s+\w+){0,2})",
    re.IGNORECASE,
)
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
    values = [each.number for each in column if each.number is not None]
    return not values or fact.number == (max(values) if asked > 0 else min(values))


def column_of(fact: Fact, binding: Binding) -> list[Fact]:
    """The numbers of the column a fact stands in, empty where it stands in none."""
    if fact.records < 0:
        return []
    for column in binding.facts.records[fact.records].columns.values():
        if any(each is fact for each in column):
            return [each for each in column if each.number is not None]
    return []


def _settle(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    cue = words_of(match.group())
    meant = {_MEANT[word] for word in (*cue, match.group().split()[0].lower()) if word in _MEANT}
    after = set(words_of(match["after"]))
    lowering = match["min"] is not None
    words = set(sentence.words)
    columns = _columns(binding, after | meant)
    if not columns and not _MOST_OF.match(match.group()):
        columns = _columns(binding, words | meant)
    for column in columns or _stated_columns(sentence, binding):
        telling = words - frozenset.intersection(*(fact.words for fact in column))
        rows = [fact for fact in column if not fact.words.isdisjoint(telling)]
        if len(rows) != 1:
            continue
        row = rows[0]
        extreme = (min if lowering else max)(column, key=lambda fact: fact.number or 0.0)
        right = row.number == extreme.number
        verdict = Verdict.GROUNDED if right else Verdict.CONTRADICTED
        reason = (
            "it is the extreme of its column"
            if right
            else f"`{extreme.text}` is the extreme, not `{row.text}`"
        )
        return claim(
            binding, match.start(), match.end(), ClaimKind.SUPERLATIVE, verdict, reason, evidence_of(extreme)
        )
    return None


def _stated_columns(sentence: Sentence, binding: Binding) -> Iterator[list[Fact]]:
    """The columns of the numbers that the sentence states: "Amy owes the most: $12,400"."""
    for start, facts in binding.bound.items():
        if sentence.start <= start < sentence.end and len(facts) == 1:
            column = column_of(facts[0], binding)
            if len(column) > 1:
                yield column


def _columns(binding: Binding, words: AbstractSet[str]) -> list[list[Fact]]:
    """The numeric columns the words name; a table's only numeric column needs no naming."""
    named: list[list[Fact]] = []
    lone: list[list[Fact]] = []
    for records in binding.facts.records:
        numeric = list(_numeric(records))
        named += [column for name, column in numeric if _is_called(_column_words(name, records), words)]
        if len(numeric) == 1:
            lone.append(numeric[0][1])
    return named or lone


def _is_called(names: AbstractSet[str], words: AbstractSet[str]) -> bool:
    """Whether a word is a column's name, or of its family: "humid" for `humidity`."""
    if not names.isdisjoint(words):
        return True
    return any(name.startswith(word) for name in names for word in words if len(word) >= _LEAST_STEM)


def _numeric(records: Records) -> Iterator[tuple[str, list[Fact]]]:
    for name, column in records.columns.items():
        numbers = [fact for fact in column if fact.number is not None]
        if len(numbers) > 1 and len(numbers) == sum(not fact.null for fact in column):
            yield name, numbers


def _column_words(name: str, records: Records) -> frozenset[str]:
    return frozenset(canonical(word) for word in name.split()) or frozenset(records.words)
