"""The rule for two numbers of a sentence that are in each other's place: "660 points, 1,840 short of gold".

In: the `Binding`, once numbers are bound. Out: contradicted claims only. Two values of one object or row are
exchanged where the words of each number name the other's value strictly better than its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.matching import binds
from spanproof.evaluators.layers.groundedness.rules.naming import coverage

_MOST_PAIRS = 200


def exchanged_claims(binding: Binding) -> list[Claim]:
    """One claim for each number that stands where another belongs, and that one in its place."""
    bound = [
        (stated, binding.bound[stated.what.start][0])
        for stated in binding.answer.stated
        if isinstance(stated.what, Quantity) and len(binding.bound.get(stated.what.start, ())) == 1
    ]
    pairs = [pair for pair in combinations(bound, 2) if pair[0][0].sentence == pair[1][0].sentence]
    return [found for pair in pairs[:_MOST_PAIRS] for found in _exchanged(*pair, binding)]


def _exchanged(one: tuple[Stated, Fact], other: tuple[Stated, Fact], binding: Binding) -> Iterator[Claim]:
    (first, its), (second, theirs) = one, other
    if (
        its.weak
        or theirs.weak
        or (its.output, its.scope, its.row) != (theirs.output, theirs.scope, theirs.row)
    ):
        return
    assert isinstance(first.what, Quantity)
    if its.dimension is not theirs.dimension or binds(first.what, theirs) is not None:
        return
    if _named(first.words, theirs) > _named(first.words, its) and _named(second.words, its) > _named(
        second.words, theirs
    ):
        for stated, held, meant in ((first, its, theirs), (second, theirs, its)):
            place = (binding, stated.what.start, stated.what.end, ClaimKind.NUMBER, Verdict.UNCERTAIN)
            reason = f"that is the value of `{held.text}`; the words name `{meant.text}`"
            yield claim(*place, reason, evidence_of(meant))


def _named(words: AbstractSet[str], fact: Fact) -> float:
    """How well the words name a value: the words of its key among them, and their share of it."""
    return len(words & set(fact.key)) + coverage(fact, words)
