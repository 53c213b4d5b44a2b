"""Closed sums: where the words say of which values a number is reckoned.

In: an `Asked`. Out: what those values come to, and the values, or None where it is open which are meant. Five
ways leave no choice: "from A to B" and "A … than B"; two values that the sentence names in full; the only two
of what the number measures; two values in all; a total or mean of the one column that is named, or there is.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, by_measure
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.closed_pairs import LEFT, is_told_as_a_share, pair_meant
from spanproof.evaluators.layers.groundedness.rules.derive import scaled_value
from spanproof.evaluators.layers.groundedness.rules.derive.cues import (
    CHANGE_CUES,
    DIFFERENCE_CUES,
    MULTIPLYING,
)
from spanproof.evaluators.layers.groundedness.rules.matching import comparable, fits, number_text
from spanproof.evaluators.layers.groundedness.rules.naming import coverage

_BY = re.compile(
    r"\b(?:by|of|difference|gap|lead|margin|change|is|was|only|just)\s+(?:just\s+|about\s+|only\s+)?$", re.I
)
_MORE = re.compile(
    r"\s+(?:\w+\s+){0,2}(?:more|less|fewer|higher|lower|greater|longer|shorter|warmer|cooler|colder|older|younger"
    r"|cheaper|faster|slower|ahead|behind|apart|above|below|clear|short|than)\b",
    re.IGNORECASE,
)
_MEASURES: dict[str, Callable[[list[float]], float]] = {
    "total": sum,
    "mean": statistics.fmean,
    "max": max,
    "min": min,
}
_RATES = canonical_set(
    "rate turnout share conversion converts converted full occupancy utilisation utilization survival"
    " survived success margin quota percent occupied"
)
"""Words that ask for the share one value of a row has of another."""
_LEAST_IN_A_ROW, _MOST_IN_A_ROW = 2, 5
_TOGETHER = canonical_set("together combined overall")
_ADD_UP = re.compile(
    r"\b(?:add(?:s|ed)? up|sum(?:s|med)? up|come|comes|came|amount|amounts|amounted)\s+to\s+$", re.I
)
_FIRST_FEW = re.compile(
    r"\b(?:top|first|last|best|bottom|largest|biggest|smallest|other)\s+(?:\d+|two|three|four|five|six|ten)\b",
    re.I,
)
"""What speaks of some of a column."""
_MAX_COLUMN = 500
_A_WHOLE = 3
"""A total and its two parts."""
Closed = tuple[str, list[Fact]]


def closed_result(asked: Asked) -> Closed | None:
    """What the values that the words leave no doubt about come to."""
    return _of_a_column(asked) or _of_a_whole(asked) or _of_a_row(asked) or _of_a_pair(asked)


def _of_a_row(asked: Asked) -> Closed | None:
    """A rate of the one row that is named, where no share of its values, nor of their columns, is it."""
    if asked.quantity.dimension is not Dimension.FRACTION or not asked.words.isdisjoint(CHANGE_CUES):
        return None
    if asked.words.isdisjoint(_RATES):
        return None
    row = _named_row(asked)
    if not _LEAST_IN_A_ROW <= len(row) <= _MOST_IN_A_ROW:
        return None
    values = [scaled_value(fact) for fact in row]
    if any(fact.dimension is Dimension.FRACTION for fact in row) or min(values) < 0:
        return None
    shares = [
        share
        for one in values
        for other in values
        if other and one is not other
        for share in (one / other, 1 - one / other, one / (one + other))
    ]
    totals = [sum(map(scaled_value, column)) for column in _columns(asked)]
    shares += [one / total for one in values for total in totals if total]
    if any(_is(asked, 100 * share) for share in shares):
        return None
    told = ", ".join(number_text(value) for value in values)
    return f"no share of {told} is that", row


def _named_row(asked: Asked) -> list[Fact]:
    """The numbers of the only row that the words name."""
    rows: dict[tuple[int, int], list[Fact]] = {}
    for fact in asked.binding.numbers:
        if fact.weak or fact.records < 0 or asked.binding.facts.records[fact.records].rows < 2:
            continue
        rows.setdefault((fact.records, fact.row), []).append(fact)
    if not rows or len({records for records, _ in rows}) > 1:
        return []
    shared = frozenset.intersection(*(row[0].scope for row in rows.values()))
    named = [row for row in rows.values() if not (row[0].scope - shared).isdisjoint(asked.words)]
    return named[0] if len(named) == 1 else []


def _of_a_whole(asked: Asked) -> Closed | None:
    """The share that the one part named has of the total told beside it and its one other part."""
    if asked.quantity.dimension is not Dimension.FRACTION or not asked.words.isdisjoint(CHANGE_CUES):
        return None
    numbers = [fact for fact in asked.binding.numbers if not fact.weak]
    totals = [fact for fact in numbers if "total" in fact.key]
    parts = [fact for fact in numbers if fact not in totals and coverage(fact, asked.words) == 1.0]
    if not (len(totals) == len(parts) == 1 and len(numbers) <= _A_WHOLE):
        return None
    part, total = parts[0], totals[0]
    said = set(content_words(asked.words)) - set(words_of(asked.quantity.text))
    noun = asked.stated.noun
    base = content_words(noun[1:])[:1] if noun[:1] == ("of",) else []
    if said - {*part.key, *base} or part.key[0] in base:
        return None  # "20 % of the failed ones were slow"
    one, whole = scaled_value(part), scaled_value(total)
    rest = sum(scaled_value(fact) for fact in numbers if fact is not part and fact is not total)
    if not whole or (len(numbers) == _A_WHOLE and one + rest != whole) or _is(asked, 100 * one / whole):
        return None
    return f"{number_text(one)} of {number_text(whole)} is {100 * one / whole:.4g} %", [part, total]


def _of_a_pair(asked: Asked) -> Closed | None:
    sentence = frozenset(asked.binding.answer.sentences[asked.stated.sentence].words)
    percent = asked.quantity.dimension is Dimension.FRACTION
    if asked.quantity.dimension is Dimension.MONEY and not sentence.isdisjoint(MULTIPLYING):
        return None  # "$180 more expensive over a year"
    is_left = not asked.stated.words.isdisjoint(LEFT)
    if not percent and (sentence.isdisjoint(DIFFERENCE_CUES) or not (is_left or _tells_a_change(asked))):
        return None
    pair = pair_meant(asked, sentence)
    if pair is None or (not percent and pair[0].dimension is not asked.quantity.dimension):
        return None
    first, second = (scaled_value(fact) for fact in pair)
    if percent and any(is_told_as_a_share(asked, fact) for fact in pair):
        return None
    if not percent and asked.quantity.decimals and first.is_integer() and second.is_integer():
        return None  # whole numbers are a whole number apart
    if percent and "point" in asked.words and _is(asked, 100 * abs(second - first)):
        return None
    told = f"{number_text(first)} and {number_text(second)}"
    if not percent:
        apart = abs(second - first)
        return None if _is(asked, apart) else (f"{told} are {number_text(apart)} apart", list(pair))
    if not first or not second:
        return None
    share, change = 100 * min(first, second) / max(first, second), 100 * (second - first) / first
    of_both = 100 * first / (first + second) if first + second else 0.0
    parts = () if not sentence.isdisjoint(CHANGE_CUES) else (share, 100 - share, of_both, 100 - of_both)
    if any(_is(asked, value) for value in (*parts, change, -change)):
        return None
    return f"of {told} one is {share:.4g} % of the other, and the change {change:.4g} %", list(pair)


def _is(asked: Asked, value: float) -> bool:
    return fits(asked.quantity, value, coarse=asked.coarse)


def _tells_a_change(asked: Asked) -> bool:
    """Whether the number itself is how far two values are apart: "over 5 epochs" tells something else."""
    text = asked.binding.answer.text
    behind = text[asked.quantity.end : asked.quantity.end + 40]
    return _BY.search(asked.before) is not None or _MORE.match(behind) is not None


def _of_a_column(asked: Asked) -> Closed | None:
    """The total, mean or extreme of the only column that can be meant, where no row of it is."""
    wanted = next((word for word in _MEASURES if word in asked.words), None)
    if wanted is None and (not asked.words.isdisjoint(_TOGETHER) or _ADD_UP.search(asked.before)):
        wanted = "total"
    percent = asked.quantity.dimension is Dimension.FRACTION
    if wanted is None or (percent and wanted in ("total", "mean")):
        return None
    if _FIRST_FEW.search(asked.binding.answer.sentences[asked.stated.sentence].text):
        return None
    columns = _columns(asked)
    meant = [column for column in columns if not asked.words.isdisjoint(column[0].key)] or columns
    meant = [column for column in meant if column[0].unit == asked.quantity.unit] or meant
    if len(meant) != 1 or any(wanted in fact.words for fact in asked.binding.numbers):
        return None
    column = meant[0]
    shared = frozenset.intersection(*(fact.words for fact in column))
    if any(not (fact.words - shared).isdisjoint(asked.words) for fact in column):
        return None
    value = _MEASURES[wanted]([scaled_value(fact) for fact in column])
    if _is(asked, value):
        return None
    told = ", ".join(number_text(scaled_value(fact)) for fact in column[:4]) + (
        ", …" if len(column) > 4 else ""
    )
    return f"the {wanted} of {told} is {number_text(value)}", column


def _columns(asked: Asked) -> list[list[Fact]]:
    found: list[list[Fact]] = []
    for records in asked.binding.facts.records:
        for column in records.columns.values():
            numbers = [fact for fact in column if fact.number is not None and fact.day is None]
            found += [
                alike
                for alike in (by_measure(numbers) if records.rows < 0 else [numbers])
                if 1 < len(alike) <= _MAX_COLUMN and comparable(asked.quantity, alike[0])
            ]
    return found
