"""Values that a fact has, and that it may not bear out all the same.

In: a stated value, its fact, the reading and the world. Out: whether the claim stays open.
"""

from __future__ import annotations

from spanproof.evaluators.layers.groundedness.reader import Reading, Stated
from spanproof.evaluators.layers.groundedness.world import World
from spanproof.reading.agreement import Hedge, may_be_minor_units
from spanproof.reading.fact_names import list_supposing
from spanproof.reading.records import Fact

# A word so near before a value says how it is meant; "at least 12" may be 12.
_LIMIT_REACH = 3
_INCLUSIVE = frozenset(("least", "most", "plus"))


def may_mean_other(stated: Stated, fact: Fact, reading: Reading, world: World) -> bool:
    """Return whether a fact has the value and may not bear out what is said with it.

    Such are cents, "more than 12" of 12, "5 of 5" of one 5, "removed 5" of "would remove 5", and another row.
    """
    value, first = stated.mention.value, stated.words[0]
    texts = [word.text.lower() for word in reading.words]
    before = texts[max(0, first - _LIMIT_REACH) : first]
    is_same = value.number == fact.value.number * fact.factor
    is_limit = stated.hedge in (Hedge.OVER, Hedge.UNDER) and is_same and _INCLUSIVE.isdisjoint(before)
    is_of_itself = "of" in before and any(other is fact for other in reading.by_stated.values())
    is_supposed = any(word not in texts for word in list_supposing(fact))
    is_minor = may_be_minor_units(value, fact, world.list_facts(world.get_row(fact.record)))
    return any((is_limit, is_of_itself, is_supposed, is_minor, _is_of_other_row(fact, reading, world)))


def _is_of_other_row(fact: Fact, reading: Reading, world: World) -> bool:
    """Return whether a passage without names has values of other rows and fields of this table only."""
    row, column = world.get_row(fact.record), world.get_field(fact)
    others = [(world.get_row(other.record), world.get_field(other)) for other in reading.by_stated.values()]
    siblings = {*world.list_siblings(row)} - {row}
    are_other = all(other in siblings and field != column for other, field in others)
    return bool(others) and not reading.names and are_other
