"""What is handed to the search for derivations: the quantity's readings, the cue words, the given pair.

In: an `Asked`. Out: the first `Derived` found, also where the answer writes the sum out itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity, whole_quantity
from spanproof.evaluators.layers.groundedness.language.units import PERCENT, Dimension
from spanproof.evaluators.layers.groundedness.language.words import content_words
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Facts
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.bases import (
    LEVEL,
    others_of_the_sentence,
    told_by_others,
    two_ends,
)
from spanproof.evaluators.layers.groundedness.rules.derive import (
    Derived,
    Search,
    derive,
    further_steps,
    natural,
)
from spanproof.evaluators.layers.groundedness.rules.derive.cues import CHANGE_CUES
from spanproof.evaluators.layers.groundedness.rules.derive.rates import HOURS
from spanproof.evaluators.layers.groundedness.rules.matching import Probe, fits, number_text
from spanproof.evaluators.layers.groundedness.rules.slips import as_told
from spanproof.evaluators.layers.groundedness.rules.years import is_part_of_a_name

_ADDING = frozenset(("add", "together"))
"""Words that ask for a sum wherever they stand in the sentence."""
_MADE_UP = re.compile(
    r"\b(?:ma[dk]e|makes|making|set|came|comes|end\w*|br[eo]\w+|sum\w*)\s+(?:up|down)\b", re.I
)
_UP_OR_DOWN = frozenset(("up", "down"))
_MAX_RECKONED = 6
_EVERY = re.compile(r"\b(?:every|each)\s+$", re.IGNORECASE)
_OUT_OF = re.compile(
    r"(?:(?:^|[.;!?]\s+|,\s+out\s+)(?:out\s+)?of\s+(?:the\s+|all\s+|these\s+)?$)"
    r"|(?:\d\s+(?:\w+\s+)?|\b(?:half|third|quarter|tenth|most|all|some|rest)\s+|%\s*|\bpercent\s+)"
    r"(?:out\s+)?of\s+(?:the\s+|all\s+|our\s+|its\s+|their\s+|these\s+|a\s+total\s+of\s+)?$",
    re.IGNORECASE,
)
_EQUATION = re.compile(r"([$€£]?\d[\d,.]*%?)\s*([-+−–×x*/÷])\s*([$€£]?\d[\d,.]*%?)\s*=\s*$")


def derived_value(asked: Asked, *, named: bool = False) -> Derived | None:
    """The first derivation that gives the quantity in a reading; with `named`, of the named facts only."""
    small = asked.quantity.spelled and asked.quantity.unit is None and not asked.quantity.scaled
    if small and "than" not in _sentence_words(asked):
        return None
    only = _named_facts(asked) if named else None
    for search in _searches(asked):
        found = derive(search if only is None else replace(search, facts=only))
        if found is not None:
            return found
    return _equation(asked)


def asked_results(asked: Asked) -> list[tuple[float, Quantity]]:
    """What the derivations that the words ask for come to, each with the reading of the quantity it is in."""
    own = {each.name: getattr(asked.quantity, each.name) for each in fields(asked.quantity)}
    probe = Probe(**own)
    named = _named_facts(asked)
    for search in _searches(asked, probe):
        derive(replace(search, facts=named) if named is not None else search)
    if named is not None and not probe.tried:  # "including the fee": the one that is named goes with another
        for search in _searches(asked, probe):
            derive(search)
    return probe.tried


def _named_facts(asked: Asked) -> Facts | None:
    """The facts of the rows that the words name, or of the keys where they name no row; None for neither."""
    facts = asked.binding.facts
    strong = [fact for fact in asked.binding.numbers if not fact.weak]
    rows = {
        id(fact): fact
        for fact in strong
        if not (fact.scope & asked.words).isdisjoint(asked.binding.row_words)
    }
    if len(rows) == len(strong):
        rows = {}
    named = rows or {id(fact): fact for fact in strong if not asked.words.isdisjoint(fact.key)}
    if not named:
        return None
    kept = [
        fact
        for fact in facts.facts
        if id(fact) in named or fact.number is None or fact.dimension is Dimension.TIME
    ]
    return replace(facts, facts=kept)


def given_pair(asked: Asked) -> tuple[Fact, Fact] | None:
    """The two values that the sentence itself sets against each other, where each end is one value."""
    bases = _search(asked).bases
    if bases is None or any(len({fact.number for fact in side}) > 1 for side in bases):
        return None
    return bases[0][0], bases[1][0]


def is_whole(asked: Asked) -> bool:
    """Whether the quantity is what something is a part of: "98 of 105", "60 % of the two million rows"."""
    return "of" in asked.binding.answer.said and _OUT_OF.search(asked.before) is not None


def natural_value(asked: Asked) -> Derived | None:
    """What is reckoned without a word for it, where that is no luck."""
    if _EVERY.search(asked.before):
        return None
    for search in _searches(asked):
        told = as_told(search.quantity, coarse=asked.coarse)
        found = natural(replace(search, quantity=told))
        if found is not None:
            return found
    return None


def further_value(asked: Asked) -> Derived | None:
    """A derivation that nothing asks for, or in two steps: it grounds nothing, and keeps from accusing."""
    return next((found for search in _searches(asked) if (found := further_steps(search)) is not None), None)


def _reckoned(asked: Asked) -> tuple[Fact, ...]:
    """The values the answer has derived so far, as facts under the words beside them."""
    found: list[Fact] = []
    for other in asked.binding.answer.stated:
        derived = asked.binding.derived.get(other.what.start)
        if derived is None or not isinstance(other.what, Quantity) or len(found) >= _MAX_RECKONED:
            continue
        output = derived.operands[0].output if derived.operands else 0
        words = tuple(content_words(other.words))
        unit, value = other.what.unit, other.what.value
        found.append(Fact(output, "", derived.text, words, number=value, unit=unit))
    return tuple(found)


def _sentence_words(asked: Asked) -> tuple[str, ...]:
    return asked.binding.answer.sentences[asked.stated.sentence].words


def _searches(asked: Asked, probe: Probe | None = None) -> Iterator[Search]:
    """The search for the quantity, or for what fits the probe in its place, in each of its readings."""
    search = _search(asked)
    for reading in _readings(asked, probe or asked.quantity):
        yield search if reading is asked.quantity else replace(search, quantity=reading)


def _search(asked: Asked) -> Search:
    """How the quantity may be derived: worked out once for all that ask."""
    if asked.search is None:
        asked.search = _worked_out(asked)
    return asked.search


def _worked_out(asked: Asked) -> Search:
    sentence = frozenset(_sentence_words(asked))
    cues = sentence
    if asked.binding.is_short:
        cues = asked.words | asked.binding.task_words | (sentence & _ADDING)
    words = sentence | asked.words | (asked.binding.task_words if asked.binding.is_short else frozenset())
    counts = [each for each in others_of_the_sentence(asked) if not is_part_of_a_name(each, asked.binding)]
    given = tuple(
        each.value
        for each in (*asked.binding.task_quantities, *counts)
        if each.unit is None and each.value.is_integer()
    )
    amounts = tuple(
        each.value
        for each in (*asked.binding.task_quantities, *others_of_the_sentence(asked))
        if each.dimension in (None, Dimension.MONEY)
    )
    told = told_by_others(asked)
    taken = _names_of_facts(asked)
    cues, near = _meant(cues, asked) - taken, asked.words - taken
    facts, reckoned = asked.binding.facts, _reckoned(asked)
    return Search(asked.quantity, cues, words, facts, near, given, amounts, told, reckoned, two_ends(asked))


def _meant(cues: frozenset[str], asked: Asked) -> frozenset[str]:
    """The cue words without idioms ("made up 74 %"), and with what the form asks: "98 of 105" is a total."""
    turned = not _UP_OR_DOWN.isdisjoint(asked.binding.answer.said)
    if turned and _MADE_UP.search(asked.binding.answer.sentences[asked.stated.sentence].text):
        cues = cues - _UP_OR_DOWN
    if asked.quantity.dimension is Dimension.FRACTION and LEVEL.search(asked.before):
        cues = cues - CHANGE_CUES  # "shrank to 15.3 %" tells where it ended, not how far it went
    return cues | {"total"} if is_whole(asked) else cues


def _names_of_facts(asked: Asked) -> frozenset[str]:
    """Words that are a fact's whole name: "mean fare" then speaks of that fact and asks for no mean."""
    records = asked.binding.facts.records
    return frozenset(
        word
        for fact in asked.binding.numbers
        if not fact.weak
        and len(fact.key) > 1
        and (fact.records < 0 or records[fact.records].rows < 0)
        and asked.words.issuperset(fact.key)
        for word in fact.key
        if word not in HOURS
    )


def _readings(asked: Asked, quantity: Quantity) -> Iterator[Quantity]:
    """The quantity as written, in the scale the outputs declare, and as the percentage a bare answer is."""
    yield quantity
    for scale in asked.binding.scales:
        if quantity.scaled or abs(quantity.value) >= scale:
            yield replace(quantity, value=quantity.value / scale, ulp=quantity.ulp / scale, scaled=False)
    if asked.binding.is_short and quantity.unit is None and "percent" in asked.binding.task_words:
        yield replace(quantity, unit=PERCENT)


def _equation(asked: Asked) -> Derived | None:
    """A sum the answer writes out: "4 × $6.50 = $26.00". Its parts are claims of their own."""
    match = _EQUATION.search(asked.before) if "=" in asked.before else None
    if match is None:
        return None
    parts = [whole_quantity(match[1]), whole_quantity(match[3])]
    if parts[0] is None or parts[1] is None:
        return None
    one, other = parts[0].value, parts[1].value
    operations = {"+": one + other, "-": one - other, "×": one * other, "/": one / other if other else 0.0}
    sign = {"−": "-", "–": "-", "x": "×", "*": "×", "÷": "/"}.get(match[2], match[2])
    value = operations[sign]
    if not fits(asked.quantity, value):
        return None
    return Derived(f"{number_text(one)} {sign} {number_text(other)} = {number_text(value)}", (), value)


def told_beside(asked: Asked) -> tuple[Fact, ...]:
    """The facts that the other numbers of the sentence tell, where each can be only one."""
    return _search(asked).beside
