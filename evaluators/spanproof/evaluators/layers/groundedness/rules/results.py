"""The rule for results told as two numbers: "won 3-1", "a 64–58 win".

In: a quantity that is one side of such a pair, and the `Binding`. Out: one claim for the pair, where the
outputs hold pairs of this form; without any the numbers stand for themselves (ranges, differences).
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim

_RESULT = re.compile(r"(?<![\w.,-])(\d{1,3})\s?[-–](?:\s?)(\d{1,3})(?![\w-]|[.,]\d|\s?%)")
_MAX_TEXT = 50_000


def result_at(quantity: Quantity, binding: Binding) -> re.Match[str] | None:
    """The pair this quantity is a side of, None where it stands alone or the outputs hold no pairs."""
    text = binding.answer.text
    around = text[max(0, quantity.start - 6) : quantity.end + 6]
    if "-" not in around and "–" not in around:
        return None
    for match in _RESULT.finditer(text, max(0, quantity.start - 6), quantity.end + 8):
        if match.start() <= quantity.end - 1 < match.end() and (
            _pairs(binding) or _both_held(match, binding)
        ):
            return match
    return None


def result_claim(match: re.Match[str], quantity: Quantity, binding: Binding) -> Claim | None:
    """The claim of the pair, told once, at its first number."""
    if quantity.end > match.end(1):
        return None
    told = (match[1], match[2])
    place = (binding, match.start(), match.end(), ClaimKind.NUMBER)
    held = _pairs(binding)
    index = held.get(told, held.get(told[::-1]))
    if index is not None:
        return claim(*place, Verdict.GROUNDED, "an output says so", ClaimEvidence(index, match.group()))
    if _both_held(match, binding):
        return claim(
            *place, Verdict.GROUNDED, "the outputs hold both sides", ClaimEvidence(None, match.group())
        )
    (one, other), index = next(iter(held.items()))
    evidence = ClaimEvidence(index, f"{one}-{other}")
    return claim(*place, Verdict.UNCERTAIN, f"`{evidence.text}` is what the outputs say", evidence)


def _both_held(match: re.Match[str], binding: Binding) -> bool:
    """Whether both sides stand in the outputs, each for itself: "Lakers 112, Celtics 108"."""
    numbers = {fact.number for fact in binding.numbers}
    return float(match[1]) in numbers and float(match[2]) in numbers


def _pairs(binding: Binding) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for index, text in enumerate(binding.facts.texts):
        for match in _RESULT.finditer(text[:_MAX_TEXT]):
            found.setdefault((match[1], match[2]), index)
    return found
