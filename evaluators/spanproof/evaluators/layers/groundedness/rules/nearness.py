"""What stands nearest to a number: whether the words beside it are its own fact's, and no rival's.

In: an `Asked`, the fact of its value, and a rival that the words around seem to name instead. Out: whether
that naming is void, because the fact's own row is named nearer, because the rival's name belongs to another
number beside it, or because the number is an argument, which no word beside it names.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.matching import binds

_ARGUMENTS_BEFORE = re.compile(r"\w\((?:[^()=]{0,30},)?\s*$")
_ARGUMENTS_BEHIND = re.compile(r"[^()=]{0,30}\)\s*=")
_IN_WORDS = {
    1.0: re.compile(r"\b(?:one|an?|a single)\s+(?P<noun>[\w-]+)", re.IGNORECASE),
    0.0: re.compile(r"\b(?:no|zero|without(?: any)?)\s+(?P<noun>[\w-]+)", re.IGNORECASE),
}
_OF = re.compile(
    r"\s+(?:out\s+)?of\s+(?:(?:the|its|their|a\s+total\s+of|all)\s+)?(?:about\s+)?", re.IGNORECASE
)


def is_an_argument(asked: Asked) -> bool:
    """Whether the number is what a function or a test is of: the degrees of freedom of "F(2, 91) = 5.8"."""
    text, quantity = asked.binding.answer.text, asked.quantity
    before = text[max(0, quantity.start - 34) : quantity.start]
    return bool(_ARGUMENTS_BEFORE.search(before) and _ARGUMENTS_BEHIND.match(text, quantity.end))


def is_a_row_name(asked: Asked, fact: Fact) -> bool:
    """Whether what reads like a number is a name as it stands in the output: "2B" among `2A` and `3A`."""
    if fact.string != asked.quantity.text or fact.records < 0:
        return False
    columns = asked.binding.facts.records[fact.records].columns.values()
    column = next((each for each in columns if any(other is fact for other in each)), [])
    return any(other.string and other.number is None for other in column)


def own_row_is_nearer(asked: Asked, fact: Fact, rival: Fact) -> bool:
    """Whether, reading back from the number's own piece, the fact's row is named and the rival's is not."""
    if fact.records < 0 or rival.records != fact.records or rival.row == fact.row:
        return False
    names, answer = asked.binding.row_names, asked.binding.answer
    ours, theirs = (each.scope | names[each.records, each.row] for each in (fact, rival))
    start, _ = answer.sentences[asked.stated.sentence].clause_at(asked.quantity.start)
    for begin, end in reversed(answer.sentences[asked.stated.sentence].pieces):
        if begin > asked.quantity.start or end <= start:
            continue
        said = set(words_of(answer.text[max(begin, start) : end]))
        own, other = said & (ours - theirs), said & (theirs - ours)
        if own or other:
            return not other
    return False


def is_told_in_words(asked: Asked, rival: Fact) -> bool:
    """Whether "one stop" or "no stops" of the same segment tells the rival: then its name is taken."""
    told = _IN_WORDS.get(rival.number if rival.number is not None else -1.0)
    if told is None:
        return False
    start, end = asked.binding.answer.sentences[asked.stated.sentence].segments[asked.stated.segment]
    matches = told.finditer(asked.binding.answer.text, start, end)
    return any(not set(rival.key).isdisjoint(words_of(match["noun"])) for match in matches)


def is_of_what_is_told(asked: Asked, fact: Fact, rival: Fact) -> bool:
    """Whether the number is the whole behind "68 of 80 GiB in use", where the part bears the rival's name."""
    text = asked.binding.answer.text
    return any(
        isinstance(part.what, Quantity)
        and part.what.end < asked.quantity.start
        and _OF.fullmatch(text, part.what.end, asked.quantity.start) is not None
        and any(
            (each.records, each.row, each.key) == (fact.records, fact.row, rival.key)
            and binds(_in_the_unit_of(asked.quantity, part.what), each, coarse=True) is not None
            for each in asked.binding.numbers
        )
        for part in asked.binding.answer.stated
        if part.sentence == asked.stated.sentence
    )


def _in_the_unit_of(whole: Quantity, part: Quantity) -> Quantity:
    """A part whose unit stands behind the whole: "9 of 80 GiB"."""
    return replace(part, unit=whole.unit) if part.unit is None else part
