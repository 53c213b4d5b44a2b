"""The two ends of a change that a sentence states, and their order in time by the outputs.

In: the quantities of a sentence. Out: first and last of them, as "from A to B" or "B now, it was A
before" say.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.direction_words import DIRECTION, FROM_TO, NOW, THEN
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.outputs.order import before_after
from spanproof.evaluators.layers.groundedness.rules.binding import Binding
from spanproof.evaluators.layers.groundedness.rules.told_changes import told_order


def stated_ends(
    match: re.Match[str], quantities: list[Quantity], binding: Binding
) -> tuple[Quantity, Quantity] | None:
    """The quantities behind "from" and "to" of this word; "then rose to C" begins at the last end."""
    text = binding.answer.text
    sentence = next(each for each in binding.answer.sentences if each.start <= match.start() < each.end)
    others = [each.start() for each in DIRECTION.finditer(text, sentence.start, sentence.end)]
    stop = next((start for start in others if start > match.start()), sentence.end)
    ends: dict[str, Quantity] = {}
    reached: Quantity | None = None
    for quantity in quantities:
        found = FROM_TO.search(text[max(0, quantity.start - 8) : quantity.start])
        if found is None:
            continue
        side = found[1].lower()
        if len(others) == 1 or match.end() <= quantity.start < stop:
            ends.setdefault(side, quantity)
        if side == "to" and quantity.start < match.start():
            reached = quantity
    if "from" not in ends and "to" in ends and reached is not None and ends["to"] is not reached:
        ends["from"] = reached
    if len(ends) == 2 and (
        ends["from"].dimension is ends["to"].dimension or None in (ends["from"].unit, ends["to"].unit)
    ):
        return ends["from"], ends["to"]
    return None


def now_and_then(quantities: list[Quantity], binding: Binding) -> tuple[Quantity, Quantity] | None:
    """The value told of before and the one of today: "448 kB now, it was 412 kB before"."""
    now, then = (
        [each for each in quantities if _is_told(each, patterns, binding)] for patterns in (NOW, THEN)
    )
    if len(now) != 1 or len(then) != 1 or now == then or now[0].dimension is not then[0].dimension:
        return None
    return then[0], now[0]


def order_of_ends(first: Quantity, last: Quantity, binding: Binding) -> int | None:
    """1 where the outputs have them in this order, -1 in the other, None where they do not tell."""
    before, after = binding.bound.get(first.start), binding.bound.get(last.start)
    if not before or not after or len(before) != 1 or len(after) != 1:
        return None
    told = told_order(before[0], after[0])
    return before_after(before[0], after[0]) if told is None else told


def _is_told(quantity: Quantity, patterns: tuple[re.Pattern[str], re.Pattern[str]], binding: Binding) -> bool:
    text = binding.answer.text
    before, behind = (
        text[max(0, quantity.start - 24) : quantity.start],
        text[quantity.end : quantity.end + 24],
    )
    return patterns[0].search(before) is not None or patterns[1].match(behind) is not None
