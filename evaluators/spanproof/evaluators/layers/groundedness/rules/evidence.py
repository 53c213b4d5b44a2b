"""What a contradiction rests on: whether a number that no output gives surely misstates one.

In: an `Asked` that nothing bears out. Out: what it misstates and why that is sure, or None. A number nobody
gives may be wrong, or may be reckoned in a way no rule knows, or bound to another value than we would guess:
so that nobody is paged for a guess, one of these must speak against it.

- *a slip*: it is one slip away from a value, or from what the words ask to be reckoned: another digit, the
  digits in another order, a power of ten, the sign, the unit; with too few values for that to be chance,
  judged by the kind of slip, or of a value that is named or alone in its unit;
- *a name*: the words name one value beyond doubt, its row too where there are several, and ask for nothing
  that is reckoned;
- *a closed sum*: the words say of which values it is reckoned, and those come to something else;
- *nothing to reckon it of*: the outputs hold no two values of its kind, and the one there is is another;
  or more are told than the only list holds.
"""

from __future__ import annotations

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import content_words
from spanproof.evaluators.layers.groundedness.model import ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import EXISTS, Asked
from spanproof.evaluators.layers.groundedness.rules.binding import evidence_of
from spanproof.evaluators.layers.groundedness.rules.closed import closed_result
from spanproof.evaluators.layers.groundedness.rules.derive.cues import MULTIPLYING
from spanproof.evaluators.layers.groundedness.rules.matching import comparable, fits
from spanproof.evaluators.layers.groundedness.rules.meant import (
    asks_to_reckon,
    counts_what_is_averaged,
    is_a_part,
    is_a_window,
    is_below_a_total,
    named_surely,
    speaks_of_another,
    told_count,
)
from spanproof.evaluators.layers.groundedness.rules.misprints import (
    Misstated,
    may_be_the_units,
    slip_of_a_fact,
)
from spanproof.evaluators.layers.groundedness.rules.misreckoned import (
    in_another_unit,
    slip_of_a_result,
    slip_of_a_total,
)
from spanproof.evaluators.layers.groundedness.rules.nearest import nearest_to
from spanproof.evaluators.layers.groundedness.rules.slips import in_units_of

_FEW_KEYS = 3
"""From so many on, outputs say enough to tell that a sentence speaks of something else."""
_STEM = 4
_MADE_OF: dict[Dimension | None, frozenset[Dimension | str]] = {
    Dimension.SPEED: frozenset((Dimension.LENGTH,)),
    Dimension.ENERGY: frozenset((Dimension.POWER,)),
    Dimension.POWER: frozenset((Dimension.ENERGY,)),
    Dimension.AREA: frozenset((Dimension.LENGTH,)),
    Dimension.VOLUME: frozenset((Dimension.LENGTH,)),
    Dimension.FREQUENCY: frozenset((Dimension.TIME,)),
}
"""What values of one kind are reckoned of, beside their own: a speed of a length and a time."""


def misstated(asked: Asked) -> Misstated | None:
    """What the number surely misstates, None where that is open."""
    if speaks_of_another(asked) or counts_what_is_averaged(asked):
        return None
    return (
        slip_of_a_fact(asked)
        or slip_of_a_result(asked)
        or in_another_unit(asked)
        or slip_of_a_total(asked)
        or _of_a_name(asked)
        or _of_a_count(asked)
        or _of_a_closed_sum(asked)
        or _of_nothing(asked)
    )


def _is_foreign(asked: Asked) -> bool:
    """Whether the sentence speaks of nothing that the outputs or the task do, though these do use words."""
    said = content_words(asked.binding.answer.sentences[asked.stated.sentence].words)
    words = [word for word in said if word.isalpha() and len(word) >= _STEM - 1]
    keys = {fact.key for fact in asked.binding.numbers if not fact.weak and fact.key}
    return (
        bool(words)
        and len(keys) >= _FEW_KEYS
        and not any(asked.binding.is_spoken_of(word[:_STEM]) for word in words)
    )


def _of_a_name(asked: Asked) -> Misstated | None:
    fact = named_surely(asked)
    if fact is None or asks_to_reckon(asked, fact) or may_be_the_units(asked, fact):
        return None
    if is_a_window(asked) or is_a_part(asked, fact) or is_below_a_total(asked, fact):
        return None
    reason = f"no output gives {asked.quantity.text}; the words name `{fact.text}`"
    return Misstated(reason, evidence_of(fact), Verdict.UNCERTAIN)


def _of_a_count(asked: Asked) -> Misstated | None:
    fact = told_count(asked)
    if fact is None or asked.coarse or asks_to_reckon(asked, fact) or is_a_part(asked, fact):
        return None
    return Misstated(
        f"no output gives {asked.quantity.text}; `{fact.text}` is what they count", evidence_of(fact)
    )


def _of_a_closed_sum(asked: Asked) -> Misstated | None:
    closed = closed_result(asked)
    if closed is None:
        return None
    text, facts = closed
    evidence = ClaimEvidence(facts[0].output, "; ".join(fact.text for fact in facts[:4]), text)
    return Misstated(f"no output gives {asked.quantity.text}; {text}", evidence)


def _of_nothing(asked: Asked) -> Misstated | None:
    """A number that the outputs hold no two values to reckon it of: the one there is says otherwise."""
    quantity, numbers = asked.quantity, asked.binding.numbers
    if quantity.spelled and quantity.unit is None:
        return _of_a_list(asked)
    if quantity.dimension in (None, Dimension.FRACTION, Dimension.TIME):
        alike = numbers  # a share, a span, or a number without a unit may be reckoned of anything
    else:
        alike = [fact for fact in numbers if _is_alike(asked, fact)]
    if any(fact.dimension is Dimension.FRACTION and not fact.weak for fact in numbers) and len(numbers) > 1:
        return None  # a share of another value may be told
    if _MADE_OF.get(quantity.dimension, frozenset("?")) <= {fact.dimension for fact in numbers}:
        return None
    if quantity.dimension is Dimension.TIME and any(
        fact.day is not None or fact.clock is not None for fact in asked.binding.facts.facts
    ):
        return None
    if len({fact.number for fact in alike}) > 1 or (alike and not asked.words.isdisjoint(MULTIPLYING)):
        return None
    if not alike and _may_be_of_bare_numbers(asked):
        return None
    if _is_foreign(asked):
        return None
    nearest = nearest_to(asked)
    if nearest is None:
        return Misstated(f"no output gives {quantity.text}, nor two values that it could be reckoned of")
    fact, reading = nearest
    told = f" ({reading})" if reading else ""
    reason = f"no output gives {quantity.text}; `{fact.text}`{told} is what they say"
    return Misstated(reason, evidence_of(fact))


def _may_be_of_bare_numbers(asked: Asked) -> bool:
    """Whether the unit may be one that the outputs leave out: 48.3 km of `48270`, a speed of two numbers."""
    bare = [fact.number or 0.0 for fact in asked.binding.numbers if fact.dimension is None]
    if asked.quantity.dimension in _MADE_OF and len(set(bare)) > 1:
        return True
    return any(
        fits(asked.quantity, abs(value)) for number in bare for value in in_units_of(asked.quantity, number)
    )


def _of_a_list(asked: Asked) -> Misstated | None:
    """More than there are, where the outputs are one list and hold no number."""
    lists = asked.binding.facts.records
    if len(lists) != 1 or asked.binding.numbers or not EXISTS.search(asked.before):
        return None
    if asked.quantity.value <= lists[0].rows:
        return None  # "there are two that move": of them
    evidence = ClaimEvidence(lists[0].output, lists[0].label or "the list", f"entries = {lists[0].rows}")
    return Misstated(f"the outputs list {lists[0].rows}", evidence)


def _is_alike(asked: Asked, fact: Fact) -> bool:
    """Whether the quantity may be reckoned of this: of its measure, or of a bare number that is named."""
    wanted = asked.quantity.dimension
    if fact.dimension is not None:
        return fact.dimension is wanted
    named = not asked.words.isdisjoint(fact.clause if fact.weak else fact.words) or not fact.words
    if named and not fact.weak and fact.records < 0 and asked.words.isdisjoint(fact.key):
        named = not any(  # the object's name alone names none of its numbers where another measures the same
            other.dimension is wanted and other.scope == fact.scope for other in asked.binding.numbers
        )
    return comparable(asked.quantity, fact) and (named or wanted is Dimension.MONEY)
