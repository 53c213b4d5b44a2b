"""The rule for statuses and enumerations: "your refund is pending", "the order was not shipped".

In: the `Binding`. Out: a claim for each status word in a place where it is said of something. Statuses are
told by families: within one family the words exclude each other, so another member in the outputs
contradicts; a word that is the name of a key or of something counted is no status.
"""

from __future__ import annotations

import re
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.status_words import COMPATIBLE, Meanings
from spanproof.evaluators.layers.groundedness.language.words import words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import is_later
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.naming import best_named
from spanproof.evaluators.layers.groundedness.rules.other_states import (
    counted_without,
    of_a_line,
    of_an_unknown_state,
)
from spanproof.evaluators.layers.groundedness.rules.said_states import (
    NOT,
    Status,
    is_said,
    piece_of,
    sentence_of,
    statuses,
)

_MAX_RIVALS = 100

_PAST = re.compile(r"\b(?:was|were|had been|previously|before|earlier|initially|until)\b", re.IGNORECASE)
_BEFORE_THAT = re.compile(r"\b(?:after|although|though|despite|previously|had|originally)\b", re.IGNORECASE)


def status_claims(binding: Binding) -> list[Claim]:
    """Every status the answer says of something."""
    known: list[Status] | None = None
    claims: list[Claim] = []
    for match in islice(binding.states.forms_in(binding.answer.text), MAX_CLAIMS):
        if not is_said(match, binding):
            continue
        known = statuses(binding) if known is None else known
        found = _settle(match, binding, known)
        if found is not None:
            claims.append(found)
    return claims


def _settle(match: re.Match[str], binding: Binding, known: list[Status]) -> Claim | None:
    meanings = binding.states.forms[match[1].lower()]
    families = {family for family, _ in meanings}
    every = [status for status in known if status.family in families]
    if not every:
        return of_a_line(match, binding, meanings) or of_an_unknown_state(match, binding)
    rivals = _about(match, binding, every)
    same = _in_state(rivals, meanings)
    if NOT.search(binding.answer.text[max(0, match.start() - 40) : match.start()]) is not None:
        counts = counted_without(match, binding, _in_state(every, meanings))
        return counts or _denied(match, binding, rivals, same)
    if same:
        return _agreed(match, binding, rivals, same)
    earlier = _in_state(_overtaken(every), meanings) if _is_told_as_past(match, binding) else []
    if earlier:
        return _claim(match, binding, Verdict.GROUNDED, "an earlier output says so", earlier[0].fact)
    if _holds_beside(match, binding, rivals, every):
        return None
    reason = f"`{rivals[0].fact.text}` is what the outputs say"
    return _claim(match, binding, Verdict.UNCERTAIN, reason, rivals[0].fact)


def _claim(match: re.Match[str], binding: Binding, verdict: Verdict, reason: str, fact: Fact) -> Claim:
    return claim(binding, match.start(), match.end(), ClaimKind.STATUS, verdict, reason, evidence_of(fact))


def _in_state(of: list[Status], meanings: Meanings) -> list[Status]:
    return [status for status in of if (status.family, status.head) in meanings]


def _denied(match: re.Match[str], binding: Binding, rivals: list[Status], same: list[Status]) -> Claim:
    """What it is said not to be in."""
    if same and len(same) == len(rivals):
        reason = f"`{same[0].fact.text}` says it is"
        return _claim(match, binding, Verdict.CONTRADICTED, reason, same[0].fact)
    reason = "the outputs say otherwise, as the answer does"
    return _claim(match, binding, Verdict.GROUNDED, reason, rivals[0].fact)


def _agreed(match: re.Match[str], binding: Binding, rivals: list[Status], same: list[Status]) -> Claim:
    """A state that the outputs hold, if it is that of what the sentence names."""
    own = _of_the_named_row(match, binding, same)
    if own is not None:
        return _claim(match, binding, Verdict.UNCERTAIN, f"`{own.text}` is what the outputs say of it", own)
    if _is_open(match, binding, rivals, same):
        reason = "the outputs hold several states, and of which it is said the words do not tell"
        return _claim(match, binding, Verdict.UNCERTAIN, reason, rivals[0].fact)
    return _claim(match, binding, Verdict.GROUNDED, "an output says so", same[0].fact)


def _is_told_as_past(match: re.Match[str], binding: Binding) -> bool:
    return _PAST.search(binding.answer.text, *piece_of(match, binding)) is not None


def _overtaken(every: list[Status]) -> list[Status]:
    """Those that a later output has changed; only of the first, each of which is held against each."""
    first = every[:_MAX_RIVALS]
    return [status for status in first if any(is_later(other.fact, status.fact) for other in first)]


def _holds_beside(match: re.Match[str], binding: Binding, rivals: list[Status], every: list[Status]) -> bool:
    """Whether the word may be true beside what the outputs hold."""
    stated = {head for _, head in binding.states.forms[match[1].lower()]}
    if any(stated & _may_hold_beside(status, rivals) for status in rivals):
        return True
    if _is_told_beside(match, binding, rivals):
        return True  # "applied, and then rolled back": what came of it is told
    # "the second went through: 59.90 were charged": of which, only the sentence tells
    return not _is_named(match, binding, rivals) and any(
        stated & _may_hold_beside(each, every) for each in every
    )


def _is_told_beside(match: re.Match[str], binding: Binding, rivals: list[Status]) -> bool:
    """Whether the sentence goes on to the outputs' own state, so that the word tells what was before it."""
    if any(status.fact.records >= 0 for status in rivals):
        return False  # each row has its own state
    held = {(status.family, status.head) for status in rivals}
    sentence, text = sentence_of(match, binding), binding.answer.text
    return any(
        not held.isdisjoint(binding.states.forms[other[1].lower()])
        and NOT.search(text[max(0, other.start() - 40) : other.start()]) is None
        and (other.start() > match.start() or _BEFORE_THAT.search(text, other.end(), match.start()))
        for other in binding.states.pattern.finditer(text, sentence.start, sentence.end)
        if other.start() != match.start()
    )


def _of_the_named_row(match: re.Match[str], binding: Binding, same: list[Status]) -> Fact | None:
    """The state of the row that the clause names, where every state of this name is another row's."""
    start, end = piece_of(match, binding)
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


def _is_open(match: re.Match[str], binding: Binding, rivals: list[Status], same: list[Status]) -> bool:
    """Whether others, alone or in rows, are in another state, and the sentence names none in this one."""
    if len(same) == len(rivals) or {status.fact.records for status in rivals} == {same[0].fact.records}:
        return False
    sentence = sentence_of(match, binding)
    said = frozenset(sentence.words) - set(words_of(match[1]))
    return all(said.isdisjoint(status.fact.words) for status in same)


def _may_hold_beside(status: Status, rivals: list[Status]) -> set[str]:
    """States that may hold beside all that the fact's word may mean: in transit is not delivered."""
    heads = {other.head for other in rivals if other.fact is status.fact}
    found = [{next(iter(pair - {head})) for pair in COMPATIBLE if head in pair} for head in heads]
    return set.intersection(*found)


def _is_named(match: re.Match[str], binding: Binding, rivals: list[Status]) -> bool:
    """Whether the clause itself names one of these."""
    said = frozenset(words_of(binding.answer.text[slice(*piece_of(match, binding))]))
    return any(not status.fact.words.isdisjoint(said) for status in rivals)


def _about(match: re.Match[str], binding: Binding, rivals: list[Status]) -> list[Status]:
    """Of several statuses those that the clause or the sentence names; of one that changed the last."""
    if len(rivals) < 2:
        return rivals
    sentence = sentence_of(match, binding)
    start, end = piece_of(match, binding)
    for words in (words_of(binding.answer.text[start:end]), sentence.words):
        named = best_named((status.fact for status in rivals), frozenset(words))
        if named and len(named) < len(rivals):
            kept = {id(fact) for fact in named}
            rivals = [status for status in rivals if id(status.fact) in kept]
            break
    if len(rivals) > _MAX_RIVALS:
        return rivals  # rows of a table, not turns: looking for the later of each pair is not worth its cost
    return [status for status in rivals if not any(is_later(other.fact, status.fact) for other in rivals)]
