"""The rule for statuses and enumerations: "your refund is pending", "the order was not shipped".

In: the `Binding`. Out: a claim for each status word in a place where it is said of something. Statuses are
told by families: within one family the words exclude each other, so another member in the outputs
contradicts; a word that is the name of a key or of something counted is no status.
"""

from __future__ import annotations

import re
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.status_words import COMPATIBLE
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
    rivals = [status for status in known if status.family in families]
    if not rivals:
        return of_a_line(match, binding, meanings) or of_an_unknown_state(match, binding)
    told_as_past = _PAST.search(binding.answer.text, *piece_of(match, binding)) is not None
    earlier = [
        status
        for status in rivals[:_MAX_RIVALS]
        if (status.family, status.head) in meanings
        and any(is_later(other.fact, status.fact) for other in rivals[:_MAX_RIVALS])
    ]
    every, rivals = rivals, _about(match, binding, rivals)
    negated = NOT.search(binding.answer.text[max(0, match.start() - 40) : match.start()]) is not None
    same = [status for status in rivals if (status.family, status.head) in meanings]
    place = (binding, match.start(), match.end(), ClaimKind.STATUS)
    held = [status for status in every if (status.family, status.head) in meanings]
    if negated and (counts := counted_without(match, binding, held)) is not None:
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
