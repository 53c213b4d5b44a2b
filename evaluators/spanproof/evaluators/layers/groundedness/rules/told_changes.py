"""What an output's own sentence says of a change: "fell to 388", "up 9 % from 3.78".

In: facts found in prose. Out: which of two came first, and whether one grew; None where the sentence is
silent.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.direction_words import DIRECTION, FROM_TO
from spanproof.evaluators.layers.groundedness.language.quantities import quantities_in
from spanproof.evaluators.layers.groundedness.language.segments import sentences_of
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact

_THAN_EARLIER = re.compile(
    r"(?:%|percent)\s+(?:(?P<up>more|higher)|(?P<down>fewer|less|lower))\s+than\b", re.IGNORECASE
)
_ARROW = re.compile(r"\d\s*(?:->|=>|→)\s*[$€£]?\d")


def told_order(first: Fact, last: Fact) -> int | None:
    """1 where the output's own "from" stands before the first of two values of a line, -1 before the last."""
    if not first.weak or first.line != last.line:
        return None
    if first.text == last.text and _ARROW.search(first.text):
        places = [each.value for each in quantities_in(first.text)]
        if {first.number, last.number} <= set(places):
            return 1 if places.index(first.number or 0.0) < places.index(last.number or 0.0) else -1
    from_first, from_last = _stands_behind_from(first), _stands_behind_from(last)
    return None if from_first == from_last else 1 if from_first else -1


def _stands_behind_from(fact: Fact) -> bool:
    place = next((each for each in quantities_in(fact.text) if each.value == fact.number), None)
    found = FROM_TO.search(fact.text[: place.start]) if place is not None else None
    return found is not None and found[1].lower() == "from"


def told_change(fact: Fact) -> float | None:
    """1 or -1 where one word of direction stands in the sentence around a value found in prose."""
    place = next((each for each in quantities_in(fact.text) if each.value == fact.number), None)
    if place is None:
        return None
    around = next(each for each in sentences_of(fact.text) if each.start <= place.start < each.end)
    words = list(DIRECTION.finditer(fact.text, around.start, around.end))
    words += _THAN_EARLIER.finditer(fact.text, around.start, around.end)
    nearest = min(words, key=lambda each: abs(each.start() - place.start), default=None)
    if nearest is None or not (nearest["up"] or nearest["down"]):
        return None
    return 1.0 if nearest["up"] else -1.0
