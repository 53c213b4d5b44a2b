"""The rule for stated dates, absolute and relative.

In: a `DateMention` with its words, and the `Binding`. Out: one claim, or None for a "today" that is no more
than a manner of speaking. A date is compared as far as it is written; with several dates in the outputs the
one that is named counts. A relative one is held against the day the outputs or the task call today, else the
run's clock.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.clock import TimeMention
from spanproof.evaluators.layers.groundedness.language.dates import DateMention, day_of
from spanproof.evaluators.layers.groundedness.language.relative import Relative
from spanproof.evaluators.layers.groundedness.language.words import (
    canonical,
    content_words,
    words_of,
)
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.day_spans import after_a_span, is_as_far, is_span
from spanproof.evaluators.layers.groundedness.rules.naming import (
    best_named,
    named_instead,
    spoken_of,
    told_instead,
)
from spanproof.evaluators.layers.groundedness.rules.times import is_time

_MAX_DATED = 50
_BASE = re.compile(r"\b(?:from|than|since|versus|vs\.?|compared (?:to|with))\s+(?:the\s+)?$", re.IGNORECASE)
"""What something is compared with: "down from a month ago" dates nothing the outputs date."""
_TO = re.compile(r",?\s*(?:to|until|till|through|and|-|–|—)\s*", re.IGNORECASE)
"""What stands between the two ends of a range."""


def date_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated date."""
    mention = stated.what
    assert isinstance(mention, DateMention)
    if mention.relative is not None:
        return _relative_claim(stated, mention, mention.relative, binding)
    dated = binding.dated
    matches = [fact for fact in dated if binding.is_day(mention, fact)]
    words = binding.words_at(stated)
    return (
        _bound(matches, dated, words, stated, binding)
        or _given_or_following(mention, dated, binding)
        or _of_the_run(mention, dated, words, binding)
        or _incomparable(mention, dated, binding)
        or _open_or_misquoted(stated, mention, dated, words, binding)
    )


def _given_or_following(mention: DateMention, dated: list[Fact], binding: Binding) -> Claim | None:
    """A date of the task's, one that a span leads to, or one in a text."""
    given = any(_same(mention, given) for given in binding.task_dates)
    if given or mention.text.lower() in binding.task.lower():
        evidence = ClaimEvidence(None, mention.text)
        return _claim(mention, binding, Verdict.GROUNDED, "the task gives it", evidence)
    reckoned = after_a_span(mention, dated, binding)
    if reckoned is not None:
        evidence = evidence_of(*reckoned)
        return _claim(mention, binding, Verdict.GROUNDED, "it follows from the outputs", evidence)
    if _named_in_text(mention, binding):
        return _claim(mention, binding, Verdict.GROUNDED, "an output names it")
    return None


def _of_the_run(
    mention: DateMention, dated: list[Fact], words: frozenset[str], binding: Binding
) -> Claim | None:
    """The day on which it was all done, if no other is named."""
    if not any(mention.says(today) for today in binding.facts.todays):
        return None
    named = best_named(dated, words)
    if not named:
        return _claim(mention, binding, Verdict.GROUNDED, "it is the day of the run")
    reason = f"it is the day of the run, and `{named[0].text}` is what the outputs say"
    return _claim(mention, binding, Verdict.UNCERTAIN, reason, evidence_of(named[0]))


def _incomparable(mention: DateMention, dated: list[Fact], binding: Binding) -> Claim | None:
    """Where there is nothing to compare it with, or not all was read."""
    if not dated:
        return _claim(mention, binding, Verdict.UNCERTAIN, "the outputs hold no dates to compare it with")
    if binding.facts.cut:
        reason = "not found in the part of the outputs that was read"
        return _claim(mention, binding, Verdict.UNCERTAIN, reason)
    if mention.weekday is not None and not binding.facts.todays and all(fact.yearless for fact in dated):
        return _claim(mention, binding, Verdict.UNCERTAIN, "the outputs' dates have no year")
    return None


def _open_or_misquoted(
    stated: Stated, mention: DateMention, dated: list[Fact], words: frozenset[str], binding: Binding
) -> Claim:
    misquoted = _misquoted(mention, dated, words) or _other_end(stated, dated, binding)
    if misquoted is None:
        reason = "no output gives this date, or names what it dates"
        return _claim(mention, binding, Verdict.UNCERTAIN, reason)
    reason = f"no output gives this date; `{misquoted.text}` is what they say"
    return _claim(mention, binding, Verdict.CONTRADICTED, reason, evidence_of(misquoted))


def _misquoted(mention: DateMention, dated: list[Fact], words: frozenset[str]) -> Fact | None:
    """The date it stands in for: the only one, the one the words name, or one with a part in common."""
    named = best_named(dated, words)
    if named:
        return named[0]
    own = (mention.year, mention.month, mention.day)
    for fact in dated:
        assert fact.day is not None
        parts = (fact.day.year, fact.day.month, fact.day.day)
        if sum(one == other for one, other in zip(own, parts, strict=True)) > 1:
            return fact
    only = dated[0].day if len({fact.day for fact in dated}) == 1 else None
    near = only is not None and (
        mention.month in (None, only.month) or only.day == mention.day or only.year == mention.year
    )
    return dated[0] if near else None


def _other_end(stated: Stated, dated: list[Fact], binding: Binding) -> Fact | None:
    """The other of the only two days there are, where the sentence tells one of them as an end of a range."""
    beside = [
        other
        for other in binding.answer.stated
        if isinstance(other.what, DateMention) and other is not stated and other.sentence == stated.sentence
    ]
    if len(beside) != 1 or len({fact.day for fact in dated}) != 2:
        return None
    first, last = sorted((stated.what, beside[0].what), key=lambda each: each.start)
    if not _TO.fullmatch(binding.answer.text, first.end, last.start):
        return None
    told = beside[0].what
    assert isinstance(told, DateMention)
    left = [fact for fact in dated if not binding.is_day(told, fact)]
    return left[0] if len({fact.day for fact in left}) == 1 else None


def _claim(
    mention: DateMention,
    binding: Binding,
    verdict: Verdict,
    reason: str,
    evidence: ClaimEvidence | None = None,
) -> Claim:
    return claim(binding, mention.start, mention.end, ClaimKind.DATE, verdict, reason, evidence)


def _bound(
    matches: list[Fact], dated: list[Fact], words: frozenset[str], stated: Stated, binding: Binding
) -> Claim | None:
    """The claim where some fact is of this day: of its own, or of another that the words name."""
    mention = stated.what
    assert isinstance(mention, DateMention)
    rival: Fact | None = None
    same = {id(fact) for fact in matches}
    others = [fact for fact in dated if id(fact) not in same]
    for fact in matches:
        named = (
            other
            for other in others
            if not (fact.weak and _told_beside(other, stated, binding))
            and (told_instead(other, fact, words) if fact.weak else named_instead(other, fact, words))
        )
        rival = next(named, None)
        if rival is None:
            return _claim(mention, binding, Verdict.GROUNDED, "an output says so", evidence_of(fact))
    if rival is None:
        return None
    reason = f"that is the date of `{matches[-1].text}`; the words name `{rival.text}`"
    return _claim(mention, binding, Verdict.UNCERTAIN, reason, evidence_of(rival))


def _told_beside(rival: Fact, stated: Stated, binding: Binding) -> bool:
    """Whether the sentence tells the rival's date too: "from January 1 to March 31"."""
    return any(
        isinstance(other.what, DateMention) and other is not stated and binding.is_day(other.what, rival)
        for other in binding.answer.stated
        if other.sentence == stated.sentence
    )


def _relative_claim(
    stated: Stated, mention: DateMention, relative: Relative, binding: Binding
) -> Claim | None:
    if _BASE.search(binding.answer.text[max(0, mention.start - 16) : mention.start]):
        return None
    waiting = [fact for fact in binding.numbers if is_span(fact)]
    told = next((fact for fact in waiting if relative.exact and is_as_far(fact, relative.exact)), None)
    if told is not None:
        return _claim(mention, binding, Verdict.GROUNDED, "an output says so", evidence_of(told))
    todays = binding.todays
    if not todays and waiting and relative.exact is not None:
        reason = f"`{waiting[0].text}` is what the outputs say"
        return _claim(mention, binding, Verdict.UNCERTAIN, reason, evidence_of(waiting[0]))
    dated = binding.dated
    words = frozenset(content_words(binding.answer.sentences[stated.sentence].words))
    about = (
        _timed(stated, binding)
        or spoken_of(dated, words)
        or (dated if len({fact.day for fact in dated}) == 1 else [])
    )
    if not about and (relative.exact is None or relative.is_now()):
        return None
    if not todays:
        return _claim(
            mention, binding, Verdict.UNCERTAIN, "neither the outputs nor the task say what day it is"
        )
    matches = [fact for fact in dated if binding.is_day(mention, fact)]
    settled = _bound(matches, dated, words | stated.words, stated, binding)
    if settled is not None:
        return _with_today(settled, todays[0])
    lasting = mention.text.lower().startswith("in ") and _apart(relative, dated)
    if not about or mention.text.lower() in binding.task.lower() or lasting:
        return _claim(
            mention,
            binding,
            Verdict.UNCERTAIN,
            f"today is {todays[0]}, and the outputs do not date what it says",
        )
    reason = f"today is {todays[0]}, and `{about[0].text}` is what the outputs say"
    return _claim(mention, binding, Verdict.CONTRADICTED, reason, evidence_of(about[0]))


def _with_today(found: Claim, today: date) -> Claim:
    """The claim with the day it was reckoned from."""
    if found.evidence is None:
        return found
    return replace(found, evidence=replace(found.evidence, derivation=f"today is {today}"))


def _timed(stated: Stated, binding: Binding) -> list[Fact]:
    """The facts of the time of day that the sentence tells: "today at 23:06"."""
    times = [
        other.what
        for other in binding.answer.stated
        if other.sentence == stated.sentence and isinstance(other.what, TimeMention)
    ]
    return [fact for fact in binding.dated if any(is_time(time, fact) for time in times)]


def _apart(relative: Relative, dated: list[Fact]) -> bool:
    """Whether the words may tell how long something took: "arrived in 3 days" of two dates of the outputs."""
    days = [fact.day for fact in dated[:_MAX_DATED] if fact.day is not None]
    return any((other - one).days == relative.exact for one in days for other in days if relative.exact)


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
