"""The rules for stated dates and times of day.

In: a `DateMention` or `TimeMention` with its words, and the `Binding`. Out: one claim. A date is compared as
far as it is written; with several dates in the outputs the one that is named counts. Relative words are
resolved only where the outputs or the task say what day it is.
"""

from __future__ import annotations

from datetime import date, timedelta

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.dates import (
    DateMention,
    TimeMention,
    day_of,
    resolve,
    times_in,
)
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import canonical, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.naming import best_named, named_instead

_MAX_DATED = 50
_MAX_SPAN_DAYS = 3_660
_TODAY_WORDS = frozenset(("today", "now", "current"))


def date_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated date."""
    mention = stated.what
    assert isinstance(mention, DateMention)

    def verdict(outcome: Verdict, reason: str, evidence: ClaimEvidence | None = None) -> Claim:
        return claim(binding, mention.start, mention.end, ClaimKind.DATE, outcome, reason, evidence)

    if mention.offset_days is not None:
        waiting = [fact for fact in binding.numbers if _is_wait(fact)]
        told = next((fact for fact in waiting if _in_days(fact) == mention.offset_days), None)
        if told is not None:
            return verdict(Verdict.GROUNDED, "an output says so", evidence_of(told))
        today = _today(binding)
        if today is None and waiting:
            return verdict(
                Verdict.CONTRADICTED, f"`{waiting[0].text}` is what the outputs say", evidence_of(waiting[0])
            )
        if today is None:
            return verdict(Verdict.UNCERTAIN, "neither the outputs nor the task say what day it is")
        mention = resolve(mention, today)
    dated = [fact for fact in binding.facts.facts if fact.day is not None]
    matches = [fact for fact in dated if fact.day is not None and mention.says(fact.day)]
    words = binding.words_at(stated)
    for fact in matches:
        rivals = [rival for rival in dated if rival not in matches and named_instead(rival, fact, words)]
        if fact.weak or not rivals:
            return verdict(Verdict.GROUNDED, "an output says so", evidence_of(fact))
    if matches:
        rival = next(
            rival for rival in dated if rival not in matches and named_instead(rival, matches[0], words)
        )
        return verdict(
            Verdict.CONTRADICTED,
            f"that is the date of `{matches[0].text}`; the words name `{rival.text}`",
            evidence_of(rival),
        )
    if (
        any(_same(mention, given) for given in binding.task_dates)
        or mention.text.lower() in binding.task.lower()
    ):
        return verdict(Verdict.GROUNDED, "the task gives it", ClaimEvidence(None, mention.text))
    reckoned = _after_a_span(mention, dated, binding)
    if reckoned is not None:
        fact, derivation = reckoned
        return verdict(Verdict.GROUNDED, "it follows from the outputs", evidence_of(fact, derivation))
    if _named_in_text(mention, binding):
        return verdict(Verdict.GROUNDED, "an output names it")
    if not dated:
        return verdict(Verdict.UNCERTAIN, "the outputs hold no dates to compare it with")
    if binding.facts.cut:
        return verdict(Verdict.UNCERTAIN, "not found in the part of the outputs that was read")
    nearest = (best_named(dated, words) or dated)[0]
    return verdict(
        Verdict.CONTRADICTED,
        f"no output gives this date; `{nearest.text}` is what they say",
        evidence_of(nearest),
    )


def time_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated time of day."""
    mention = stated.what
    assert isinstance(mention, TimeMention)
    there: list[TimeMention] = []
    for index, text in enumerate(binding.facts.texts):
        for found in times_in(text[:200_000]):
            there.append(found)
            if found.hour == mention.hour and (mention.minute or 0) == (found.minute or 0):
                return claim(
                    binding,
                    mention.start,
                    mention.end,
                    ClaimKind.TIME,
                    Verdict.GROUNDED,
                    "an output says so",
                    ClaimEvidence(index, found.text),
                )
    if mention.text in binding.task:
        verdict, reason = Verdict.GROUNDED, "the task gives it"
    elif there:
        verdict, reason = (
            Verdict.CONTRADICTED,
            f"no output gives this time; {there[0].text} is the first they hold",
        )
    else:
        verdict, reason = Verdict.UNCERTAIN, "the outputs hold no times of day to compare it with"
    return claim(binding, mention.start, mention.end, ClaimKind.TIME, verdict, reason)


def _after_a_span(mention: DateMention, dated: list[Fact], binding: Binding) -> tuple[Fact, str] | None:
    """A day that lies a span of the outputs after a day of theirs: ordered on, plus a window of 30 days."""
    for span in (fact for fact in binding.numbers if _is_wait(fact)):
        for fact in dated[:_MAX_DATED]:
            days = _in_days(span)
            if fact.day is None or not 0 < abs(days) < _MAX_SPAN_DAYS:
                continue
            if mention.says(fact.day + timedelta(days=days)):
                return fact, f"{fact.day} + {days:g} days = {fact.day + timedelta(days=days)}"
    return None


def _is_wait(fact: Fact) -> bool:
    return (
        fact.unit is not None
        and fact.unit.dimension is Dimension.TIME
        and fact.unit.factor >= 86400
        and not fact.weak
    )


def _in_days(fact: Fact) -> float:
    assert fact.unit is not None
    return (fact.number or 0.0) * fact.unit.factor / 86400


def _today(binding: Binding) -> date | None:
    for fact in binding.facts.facts:
        if fact.day is not None and not _TODAY_WORDS.isdisjoint(fact.key):
            return fact.day
    given = [day for mention in binding.task_dates if (day := day_of(mention)) is not None]
    return given[0] if len(given) == 1 and not _TODAY_WORDS.isdisjoint(binding.task_words) else None


def _same(mention: DateMention, given: DateMention) -> bool:
    day = day_of(given)
    return (
        mention.says(day) if day else (mention.month, mention.day) == (given.month, given.day) != (None, None)
    )


def _named_in_text(mention: DateMention, binding: Binding) -> bool:
    """A month or weekday that stands in an output as a word or within a key."""
    if mention.day is not None and mention.weekday is None:
        return False
    if mention.weekday is not None:
        day = canonical(mention.text)
        return day in binding.vocabulary or any(
            day in words_of(text[:20_000]) for text in binding.facts.texts
        )
    words = mention.text.lower().split()
    return all(any(word in text.lower() for text in binding.facts.texts) for word in words)
