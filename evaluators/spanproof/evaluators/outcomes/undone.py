"""Doings that an answer claims and that were not done, item by item.

In: the calls of a run that were to change something, its task and its answer. Out: an `Origin` for a claim
that no call bears out. Three items required and two done make "all are done" untrue; a success for one
target makes good no failure for another, a later try for the same target does. Where the answer says of an
item that it was not done there is no such claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanproof.evaluators.call_targets import find_target, names_value, shares_target
from spanproof.evaluators.outcomes.calls import MadeCall
from spanproof.evaluators.outcomes.context import RunContext
from spanproof.evaluators.outcomes.model import NOT_DONE, Account, Origin, OriginKind, State, StepOutcome
from spanproof.reading.answer_words import reports_failure
from spanproof.reading.doings import list_tool_verbs, load_lexicon
from spanproof.reading.done_claims import DoneClaim, list_done_claims
from spanproof.reading.shell_commands import read_command

_SENTENCE = re.compile(r"[^.!?。！？\n;]+")
# Words by which a sentence says of what it names that it was not done.
_DENIES = re.compile(
    r"\b(?:not|except|unless|excluding|pending|remain\w*|still|skipped|outstanding|unsuccessful\w*|fail\w*"
    r"|rejected|declined|refused|denied|cannot|only|bounced|unable|nicht|kein\w*|pas|aucun\w*)\b"
    r"|n['’]t\b|(?:未|没有|无法|失败|ませんでした|できません)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[\w.+-]+@[\w.-]+\w|\b(?=[\w-]*\d)[A-Za-z\d][\w-]*\b")
_LISTED_NAMES = re.compile(r"\b[A-Z]\w+(?:(?:, (?:and )?| and )[A-Z]\w+)+")
_MAX_TASK = 20_000
_FEWEST_ALIKE = 2


@dataclass(frozen=True, slots=True)
class UndoneItem:
    """One thing that a run was to do and did not do.

    Attributes:
        verbs: of the tool that was to do it; none where the tool is a shell.
        names: the values that name it; none where nothing does.
        clause: why it is not done, as the end of a sentence.
        is_wanted: the task names it, or no other was done in its place.
        done_count: how many others were done.
        done_names: the values that name these.
    """

    step: int | None
    span_id: str | None
    verbs: frozenset[str]
    names: frozenset[str]
    clause: str
    is_wanted: bool
    done_count: int
    done_names: frozenset[str]


def find_undone_claims(
    calls: Sequence[MadeCall], account: Account, context: RunContext, task: str, answer: str
) -> Iterator[Origin]:
    """Yield the first claim of an answer that something was done which was not."""
    items = [*_iter_failed_items(calls, account, context, task), *_iter_untried_items(calls, account, task)]
    if items:
        claims = list_done_claims(answer)
        for item in items:
            claim = next((each for each in claims if _covers(each, item)), None)
            if claim is not None and not _is_reported(item, answer, task):
                yield _make_origin(claim, item)
                return
    yield from _find_claims_without_call(calls, context, task, answer)


def _make_origin(claim: DoneClaim, item: UndoneItem) -> Origin:
    return Origin(
        claim.words,
        OriginKind.UNDONE,
        fabricated=True,
        step=item.step,
        span_id=item.span_id,
        source=item.clause,
    )


# What was not done.


def _get_verbs(call: MadeCall) -> frozenset[str] | None:
    """Return the verbs of a call that was to change something, None for a look-up."""
    if call.command:
        return frozenset() if read_command(call.command).does else None
    return list_tool_verbs(call.call.tool) or None


def _iter_failed_items(
    calls: Sequence[MadeCall], account: Account, context: RunContext, task: str
) -> Iterator[UndoneItem]:
    """Yield what calls were to do and did not, and what of a batch was not done."""
    for at, call in enumerate(calls):
        verbs = _get_verbs(call)
        # What one command failed to do another may do, or an editor: it counts where nothing else went well.
        if call.is_answer or verbs is None or (call.command and not context.nothing_worked):
            continue
        outcome = account.calls[call.step, call.position]
        later = [
            each for each in calls[at + 1 :] if account.calls[each.step, each.position].state is State.OK
        ]
        later = [each for each in later if _is_related(verbs, each)]
        done = [
            each
            for each in calls
            if each is not call
            and account.calls[each.step, each.position].state is State.OK
            and _is_related(verbs, each)
        ]
        if outcome.batch is not None:
            yield from _iter_batch_items(call, outcome, verbs, later, done)
            continue
        is_undone = outcome.state in NOT_DONE or outcome.state is State.EMPTY
        retries = [
            each for each in later if shares_target(call.arguments, each.arguments, task, is_doing=True)
        ]
        if is_undone and not retries:
            yield _make_failed_item(call, outcome, verbs, done, task)


def _is_related(verbs: frozenset[str], call: MadeCall) -> bool:
    other = _get_verbs(call)
    lexicon = load_lexicon()
    if other is None or call.is_answer:
        return False
    return not verbs or any(lexicon.are_related(verb, other) for verb in verbs)


def _make_failed_item(
    call: MadeCall, outcome: StepOutcome, verbs: frozenset[str], done: Sequence[MadeCall], task: str
) -> UndoneItem:
    names = frozenset[str]().union(*find_target(call.arguments).values()) if not call.command else frozenset()
    done_names = _collect_names(done)
    own = names - done_names or names
    what = "changed nothing" if outcome.state is State.EMPTY else f"failed ({outcome.cause})"
    return UndoneItem(
        call.step,
        call.span_id,
        verbs,
        own,
        f"step {call.step}, which was to do it, {what}",
        not done or any(names_value(task, name) for name in own),
        sum(_count_done(each) for each in done),
        done_names - names,
    )


def _collect_names(calls: Sequence[MadeCall]) -> frozenset[str]:
    return frozenset[str]().union(
        *(values for each in calls for values in find_target(each.arguments).values())
    )


def _count_done(call: MadeCall) -> int:
    return call.outcome.batch.done_count or 0 if call.outcome.batch is not None else 1


def _iter_batch_items(
    call: MadeCall,
    outcome: StepOutcome,
    verbs: frozenset[str],
    later: Sequence[MadeCall],
    done: Sequence[MadeCall],
) -> Iterator[UndoneItem]:
    batch = outcome.batch
    if batch is None or any(
        each.outcome.batch is None and each.call.tool == call.call.tool for each in later
    ):
        return  # another try at the rest
    total = (batch.done_count or 0) + (batch.failed_count or 0)
    clause = f"step {call.step} did it for {batch.done_count} of {total}"
    done_count = (batch.done_count or 0) + sum(_count_done(each) for each in done)
    done_names = frozenset(item.name.casefold() for item in batch.items if item.done)
    failed = [item for item in batch.items if not item.done]
    later_names = _collect_names(later)
    for item in failed:
        name = item.name.casefold()
        if name not in later_names:
            why = f"{clause}; {item.name} failed" + (f" ({item.reason})" if item.reason else "")
            yield UndoneItem(
                *(call.step, call.span_id, verbs, frozenset({name}), why, True, done_count, done_names)
            )
    if not failed:
        yield UndoneItem(*(call.step, call.span_id, verbs, frozenset(), clause, True, done_count, done_names))


def _iter_untried_items(calls: Sequence[MadeCall], account: Account, task: str) -> Iterator[UndoneItem]:
    """Yield what a task names beside what was done, and what no call was for.

    Of `Cancel A-14, A-15 and A-16` two calls cancelled the first two.
    """
    named = [each for each in _list_named_groups(task[:_MAX_TASK]) if len(each) > _FEWEST_ALIKE]
    if not named:
        return
    tried = "\n".join(f"{call.call.args} {call.call.kwargs}".casefold() for call in calls)
    for verbs in dict.fromkeys(filter(None, map(_get_verbs, calls))):
        done = [
            call
            for call in calls
            if _get_verbs(call) == verbs and account.calls[call.step, call.position].state is State.OK
        ]
        done_names = _collect_names(done)
        for group in named:
            handled = [name for name in group if name in done_names]
            untried = [name for name in group if not names_value(tried, name)]
            if len(handled) >= _FEWEST_ALIKE and untried and len(handled) + len(untried) == len(group):
                clause = f"no call did it for {untried[0]}"
                yield UndoneItem(
                    *(None, None, verbs, frozenset(untried), clause, True, len(done), frozenset(handled))
                )


def _list_named_groups(task: str) -> list[tuple[str, ...]]:
    """Return the names in a task that are written alike: identifiers of one form, and names in a list."""
    groups: dict[str, dict[str, None]] = {}
    for name in _IDENTIFIER.findall(task):
        form = "address" if "@" in name else re.sub(r"[A-Za-z]+", "A", re.sub(r"\d+", "9", name))
        if form != "9":
            groups.setdefault(form, {})[name.casefold()] = None
    lists = [re.findall(r"[A-Z]\w+", found[0]) for found in _LISTED_NAMES.finditer(task)]
    return [*map(tuple, groups.values()), *(tuple(name.casefold() for name in names) for names in lists)]


# What the answer says of it.


def _covers(claim: DoneClaim, item: UndoneItem) -> bool:
    """Whether a claim says of an item that it was done."""
    if not load_lexicon().are_related(claim.verb, item.verbs):
        return False
    if any(names_value(claim.sentence, name) for name in item.names):
        return _DENIES.search(claim.sentence) is None
    if claim.count is not None:
        return claim.count > item.done_count
    if claim.covers_all:
        return item.is_wanted or item.done_count == 0
    if any(names_value(claim.sentence, name) for name in item.done_names):
        return False
    if item.done_count == 0:
        return True
    return item.is_wanted and claim.is_plural


def _is_reported(item: UndoneItem, answer: str, task: str) -> bool:
    """Whether an answer says of an item that it was not done, or of no item in particular."""
    for sentence in _SENTENCE.findall(answer):
        names_item = any(names_value(sentence, name) for name in item.names)
        names_other = any(names_value(sentence, name) for name in item.done_names)
        denies = _DENIES.search(sentence) is not None
        if names_item and denies:
            return True
        speaks_of_it = reports_failure(sentence, task) or (denies and _is_about_doing(sentence, item.verbs))
        if speaks_of_it and not (names_other and item.names):
            return True
    return False


def _is_about_doing(sentence: str, verbs: frozenset[str]) -> bool:
    """Whether a sentence holds a word for a doing, in any form of the lexicon, or one of another language."""
    lexicon = load_lexicon()
    words = re.findall(r"[a-z]+", sentence.casefold())
    said = [lexicon.participles.get(word, word) for word in words]
    is_english = any(each in lexicon.verbs and lexicon.are_related(each, verbs) for each in said)
    return is_english or any(forms.denied.search(sentence) for forms in lexicon.languages.values())


def _find_claims_without_call(
    calls: Sequence[MadeCall], context: RunContext, task: str, answer: str
) -> Iterator[Origin]:
    """Yield the claim of an agent to have done what it had a tool for, where it called none for it."""
    lexicon = load_lexicon()
    offered = frozenset[str]().union(*map(list_tool_verbs, context.offered_tools))
    if not offered or not context.records_calls or context.runs_programs:
        return
    made = frozenset[str]().union(*filter(None, map(_get_verbs, calls)))
    for claim in list_done_claims(answer) if not reports_failure(answer, task) else ():
        is_specific = bool(claim.verb) and claim.verb not in lexicon.general
        had_tool = lexicon.are_related(claim.verb, offered)
        called = bool(made) and lexicon.are_related(claim.verb, made)
        if claim.by_agent and is_specific and had_tool and not called:
            clause = "no call of the run was to do it"
            yield Origin(claim.words, OriginKind.UNDONE, fabricated=True, source=clause)
            return
