"""The rule for statuses and enumerations: "your refund is pending", "the order was not shipped".

In: the `Binding`. Out: a claim for each status word in a place where it is said of something. Statuses are
told by families: within one family the words exclude each other, so another member in the outputs
contradicts; a word that is the name of a key or of something counted is no status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.status_words import (
    COMPATIBLE,
    Meanings,
    StateWords,
)
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import is_later
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.lines import line_named
from spanproof.evaluators.layers.groundedness.rules.naming import best_named

_SAID_OF = re.compile(
    r"(?:\b(?:is|are|was|were|been|be|being|remains?|currently|still|now|already|status|state|as|has|have|got|gets|became|looks|shows?|not|yet|never)|n['’]t|[(:=])\s*['\"*]*\s*(?:\w+ly\s+)?$",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?$", re.IGNORECASE)
_NOT = re.compile(
    r"(?:\b(?:not|never|no longer|neither|nor|hardly)|n['’]t)\s+(?:yet\s+|be\s+|been\s+|being\s+"
    r"|currently\s+|\w+ly\s+)*$",
    re.IGNORECASE,
)
_VERBS = frozenset(["failed", "succeeded", "passed", "crashed", "expired", "completed", "finished"])
_OUTCOMES = frozenset(["success", "succeeded", "successful", "ok", "passed"])
"""Flags that say how something ended."""

_STATES = canonical_set("status state stage phase decision outcome")
"""Keys of what a thing is at."""
_ASIDE = re.compile(r"\s+\(|;\s")
"""What follows a state: "active (running) since Monday"."""
_LONGEST = 40
_MAX_RIVALS = 100

_PAST = re.compile(r"\b(?:was|were|had been|previously|before|earlier|initially|until)\b", re.IGNORECASE)
_WILL = re.compile(
    r"\b(?:will|would|can|could|may|might|should|to|once|if|when|until)\s+(?:it\s+is\s+|be\s+|soon\s+|then\s+)*$",
    re.IGNORECASE,
)
_NOT_ALL = re.compile(
    r"\bnot\s+(?:all|every|both)\b|\b(?:except|apart from|other than|aside from|all but)\b", re.IGNORECASE
)
"""What leaves some out, of whom the word is not said."""
_BEFORE_THAT = re.compile(r"\b(?:after|although|though|despite|previously|had|originally)\b", re.IGNORECASE)
_NONE = re.compile(r"\b(?:no|none|neither|nothing|nobody|without)\b", re.IGNORECASE)
_LATER = re.compile(
    r"\b(?:again|now|later|then|finally|eventually|since|until|before|after)\b", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\b(?:I|we)(?:['’]ve|\s+have|\s+was|\s+were)?(?:\s+\w+)?\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Status:
    """A fact whose value is a status."""

    fact: Fact
    family: int
    head: str


def status_claims(binding: Binding) -> list[Claim]:
    """Every status the answer says of something."""
    known: list[_Status] | None = None
    claims: list[Claim] = []
    for match in islice(binding.states.forms_in(binding.answer.text), MAX_CLAIMS):
        if not _is_said(match, binding):
            continue
        known = _statuses(binding) if known is None else known
        found = _settle(match, binding, known)
        if found is not None:
            claims.append(found)
    return claims


def _statuses(binding: Binding) -> list[_Status]:
    found: list[_Status] = []
    for fact in binding.facts.facts:
        if fact.flag is not None:
            found.extend(_flag(fact, binding.states))
        if fact.string is None:
            continue
        word = _ASIDE.split(fact.string, maxsplit=1)[0]
        if len(word) <= _LONGEST:
            found.extend(_Status(fact, family, head) for family, head in binding.states.meanings(word))
    return found


def _flag(fact: Fact, states: StateWords) -> Iterator[_Status]:
    """`is_enabled: false` is the other member of its family, where the family has two."""
    name = fact.label.rpartition(".")[2].lower().removeprefix("is_").replace("_", " ")
    if name in _OUTCOMES:
        yield _Status(fact, 0, "completed" if fact.flag else "failed")
        return
    for family, head in states.forms.get(name, ()):
        heads = states.families[family]
        if len(heads) == 2:
            yield _Status(fact, family, head if fact.flag else heads[1 - heads.index(head)])


def _is_said(match: re.Match[str], binding: Binding) -> bool:
    """Whether the word stands where something is said of a thing, and is not the name of a key."""
    text = binding.answer.text
    before = text[max(0, match.start() - 40) : match.start()]
    if _FIRST_PERSON.search(before) or _WILL.search(before):
        return False
    sentence = _sentence(match, binding)
    if _NOT_ALL.search(binding.answer.text, sentence.start, sentence.end):
        return False
    if set(words_of(match[1])) & binding.key_words and not _is_a_verdict(match, binding):
        return False
    if match[1].lower() == "successfully":
        return True
    if _SAID_OF.search(before) or not before.strip() or _NOT.search(before):
        return True
    subject = words_of(before)[-1:]
    if binding.row_words.intersection(subject):
        return True
    if match[1].lower() in _VERBS and subject and not _counts_something(match, binding):
        return True
    after = words_of(text[match.end() : match.end() + 30])[:2]
    return bool(binding.vocabulary.intersection(after))


def _is_a_verdict(match: re.Match[str], binding: Binding) -> bool:
    """Whether a word that names numbers is said of the thing: "was approved" beside `approved_cents`."""
    words = set(words_of(match[1]))
    named = [fact for fact in binding.facts.facts if not fact.weak and not words.isdisjoint(fact.key)]
    if any(fact.number is None for fact in named):
        return False
    start, end = _piece(match, binding)
    counted = (
        fact
        for place, facts in binding.bound.items()
        if start <= place < end
        for fact in facts
        if not words.isdisjoint(fact.key)
    )
    if next(counted, None) is not None:
        return False
    before = binding.answer.text[start : match.start()]
    if _NONE.search(before):
        return False
    is_verb = match[1].lower() in _VERBS and not _counts_something(match, binding)
    return is_verb or _IS.search(before) is not None


def _counts_something(match: re.Match[str], binding: Binding) -> bool:
    """Whether a number in the clause says how many: "2 tests failed" counts, and says nothing of one."""
    sentence = _sentence(match, binding)
    start, end = sentence.piece_at(match.start())
    text = binding.answer.text
    return any(
        start <= stated.what.start < min(end, match.start())
        and not (text[stated.what.end : match.start()].isspace() and text[start : stated.what.start].strip())
        for stated in binding.answer.stated
    )  # "pipeline 90412 succeeded" counts nothing


def _settle(match: re.Match[str], binding: Binding, known: list[_Status]) -> Claim | None:
    meanings = binding.states.forms[match[1].lower()]
    families = {family for family, _ in meanings}
    rivals = [status for status in known if status.family in families]
    if not rivals:
        return _of_a_line(match, binding, meanings) or _of_an_unknown_state(match, binding)
    told_as_past = _PAST.search(binding.answer.text, *_piece(match, binding)) is not None
    earlier = [
        status
        for status in rivals[:_MAX_RIVALS]
        if (status.family, status.head) in meanings
        and any(is_later(other.fact, status.fact) for other in rivals[:_MAX_RIVALS])
    ]
    every, rivals = rivals, _about(match, binding, rivals)
    negated = _NOT.search(binding.answer.text[max(0, match.start() - 40) : match.start()]) is not None
    same = [status for status in rivals if (status.family, status.head) in meanings]
    place = (binding, match.start(), match.end(), ClaimKind.STATUS)
    held = [status for status in every if (status.family, status.head) in meanings]
    if negated and (counts := _counted_without(match, binding, held)) is not None:
        return counts
    if negated:
        if same and len(same) == len(rivals):
            return claim(
                *place, Verdict.CONTRADICTED, f"`{same[0].fact.text}` says it is", evidence_of(same[0].fact)
            )
        return claim(
            *place,
            Verdict.GROUNDED,
            "the outputs say otherwise, as the answer does",
            evidence_of(rivals[0].fact),
        )
    own = _of_the_named_row(match, binding, same)
    if own is not None:
        is_known = bool(binding.states.meanings(own.string or ""))
        verdict = Verdict.CONTRADICTED if is_known else Verdict.UNCERTAIN
        return claim(*place, verdict, f"`{own.text}` is what the outputs say of it", evidence_of(own))
    if same and _is_open(match, binding, rivals, same):
        reason = "the outputs hold several states, and of which it is said the words do not tell"
        return claim(*place, Verdict.UNCERTAIN, reason, evidence_of(rivals[0].fact))
    if same:
        return claim(*place, Verdict.GROUNDED, "an output says so", evidence_of(same[0].fact))
    if told_as_past and earlier and not negated:
        return claim(*place, Verdict.GROUNDED, "an earlier output says so", evidence_of(earlier[0].fact))
    stated = {head for _, head in meanings}
    if any(stated & _may_hold_beside(status, rivals) for status in rivals):
        return None
    if _is_told_beside(match, binding, rivals):
        return None  # "applied, and then rolled back": what came of it is told
    if not _is_named(match, binding, rivals) and any(
        stated & _may_hold_beside(each, every) for each in every
    ):
        return None  # "the second went through: 59.90 were charged": of which, only the sentence tells
    return claim(
        *place,
        Verdict.CONTRADICTED,
        f"`{rivals[0].fact.text}` is what the outputs say",
        evidence_of(rivals[0].fact),
    )


def _counted_without(match: re.Match[str], binding: Binding, same: list[_Status]) -> Claim | None:
    """How many rows are not in a state: "two pods of four are not running"."""
    told = _told_before(match, binding)
    if told is None or not same or same[0].fact.records < 0:
        return None
    first = same[0].fact
    column = [fact for fact in binding.facts.facts if fact.records == first.records and fact.key == first.key]
    exact = [fact for fact in column if (fact.string or "").lower() == match[1].lower()]
    number = len(column) - (len(exact) or len({id(status.fact) for status in same}))
    verdict = Verdict.GROUNDED if told.value == number else Verdict.CONTRADICTED
    evidence = ClaimEvidence(first.output, first.label, f"rows not {match[1]} = {number}")
    reason = f"{number} of {len(column)} rows are not"
    return claim(binding, match.start(), match.end(), ClaimKind.STATUS, verdict, reason, evidence)


def _told_before(match: re.Match[str], binding: Binding) -> Quantity | None:
    """The whole number that the clause begins with, as how many a state is said of."""
    start, _ = _piece(match, binding)
    for stated in binding.answer.stated:
        what = stated.what
        if start <= what.start < match.start() and isinstance(what, Quantity):
            is_first = not binding.answer.text[start : what.start].strip()
            return what if is_first and what.unit is None and not what.decimals else None
    return None


def _of_an_unknown_state(match: re.Match[str], binding: Binding) -> Claim | None:
    """A state said of a thing whose own state is a word that the table does not know: `partially_shipped`."""
    held = [
        fact
        for fact in binding.facts.facts
        if fact.string
        and fact.records < 0
        and not _STATES.isdisjoint(fact.key)
        and len(fact.string) <= _LONGEST
    ]
    before = binding.answer.text[max(0, match.start() - 40) : match.start()]
    if len(held) != 1 or _IS.search(before) is None:
        return None
    told = (held[0].string or "").replace("_", " ").lower()
    if binding.states.meanings(told) or match[1].lower() in told or told in binding.answer.text.lower():
        return None
    reason = f"`{held[0].text}` is what the outputs say; whether that is it, nothing tells"
    place = (binding, match.start(), match.end(), ClaimKind.STATUS, Verdict.UNCERTAIN)
    return claim(*place, reason, evidence_of(held[0]))


def _of_a_line(match: re.Match[str], binding: Binding, meanings: Meanings) -> Claim | None:
    """A state held against the one line of prose, or of a log, that the words before it name."""
    sentence, text = _sentence(match, binding), binding.answer.text
    start, _ = _piece(match, binding)
    if _NOT.search(text[max(0, match.start() - 40) : match.start()]) or _LATER.search(sentence.text):
        return None
    subject = text[start : match.start()]
    line = line_named(subject, {family for family, _ in meanings}, binding)
    if line is None or _NONE.search(subject):
        return None
    place, evidence = (
        (binding, match.start(), match.end(), ClaimKind.STATUS),
        ClaimEvidence(line.output, line.text),
    )
    if not set(meanings).isdisjoint(line.meanings):
        return claim(*place, Verdict.GROUNDED, "an output says so", evidence)
    if any(frozenset((one, other)) in COMPATIBLE for _, one in meanings for _, other in line.meanings):
        return None
    return claim(*place, Verdict.CONTRADICTED, f"`{line.text}` is what the outputs say", evidence)


def _is_told_beside(match: re.Match[str], binding: Binding, rivals: list[_Status]) -> bool:
    """Whether the sentence goes on to the outputs' own state, so that the word tells what was before it."""
    if any(status.fact.records >= 0 for status in rivals):
        return False  # each row has its own state
    held = {(status.family, status.head) for status in rivals}
    sentence, text = _sentence(match, binding), binding.answer.text
    return any(
        not held.isdisjoint(binding.states.forms[other[1].lower()])
        and _NOT.search(text[max(0, other.start() - 40) : other.start()]) is None
        and (other.start() > match.start() or _BEFORE_THAT.search(text, other.end(), match.start()))
        for other in binding.states.pattern.finditer(text, sentence.start, sentence.end)
        if other.start() != match.start()
    )


def _of_the_named_row(match: re.Match[str], binding: Binding, same: list[_Status]) -> Fact | None:
    """The state of the row that the clause names, where every state of this name is another row's."""
    start, end = _piece(match, binding)
    said = frozenset(words_of(binding.answer.text[start:end])) - set(words_of(match[1]))
    rival: Fact | None = None
    for status in same:
        rows = [
            fact
            for fact in binding.facts.facts
            if fact.records == status.fact.records >= 0 and fact.key == status.fact.key and fact.string
        ]
        if len(rows) < 2 or not (status.fact.scope - _shared(rows)).isdisjoint(said):
            return None
        named = [
            fact for fact in rows if not (fact.scope - _shared(rows) - status.fact.scope).isdisjoint(said)
        ]
        if len(named) != 1:
            return None
        rival = named[0]
    return rival


def _shared(rows: list[Fact]) -> frozenset[str]:
    return frozenset.intersection(*(fact.scope for fact in rows))


def _is_open(match: re.Match[str], binding: Binding, rivals: list[_Status], same: list[_Status]) -> bool:
    """Whether others, alone or in rows, are in another state, and the sentence names none in this one."""
    if len(same) == len(rivals) or {status.fact.records for status in rivals} == {same[0].fact.records}:
        return False
    sentence = _sentence(match, binding)
    said = frozenset(sentence.words) - set(words_of(match[1]))
    return all(said.isdisjoint(status.fact.words) for status in same)


def _may_hold_beside(status: _Status, rivals: list[_Status]) -> set[str]:
    """States that may hold beside all that the fact's word may mean: in transit is not delivered."""
    heads = {other.head for other in rivals if other.fact is status.fact}
    found = [{next(iter(pair - {head})) for pair in COMPATIBLE if head in pair} for head in heads]
    return set.intersection(*found)


def _sentence(match: re.Match[str], binding: Binding) -> Sentence:
    return next(each for each in binding.answer.sentences if each.start <= match.start() < each.end)


def _is_named(match: re.Match[str], binding: Binding, rivals: list[_Status]) -> bool:
    """Whether the clause itself names one of these."""
    said = frozenset(words_of(binding.answer.text[slice(*_piece(match, binding))]))
    return any(not status.fact.words.isdisjoint(said) for status in rivals)


def _piece(match: re.Match[str], binding: Binding) -> tuple[int, int]:
    return _sentence(match, binding).piece_at(match.start())


def _about(match: re.Match[str], binding: Binding, rivals: list[_Status]) -> list[_Status]:
    """Of several statuses those that the clause or the sentence names; of one that changed the last."""
    if len(rivals) < 2:
        return rivals
    sentence = _sentence(match, binding)
    start, end = _piece(match, binding)
    for words in (words_of(binding.answer.text[start:end]), sentence.words):
        named = best_named((status.fact for status in rivals), frozenset(words))
        if named and len(named) < len(rivals):
            kept = {id(fact) for fact in named}
            rivals = [status for status in rivals if id(status.fact) in kept]
            break
    if len(rivals) > _MAX_RIVALS:
        return rivals  # rows of a table, not turns: looking for the later of each pair is not worth its cost
    return [status for status in rivals if not any(is_later(other.fact, status.fact) for other in rivals)]
