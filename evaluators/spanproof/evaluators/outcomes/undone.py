"""Doings that an answer claims and that were not done, item by item.

In: the calls of a run that were to change something, its task and its answer. Out: an `Origin` for a claim
that no call supports. Three items required and two done make "all are done" untrue; a success for one
target makes good no failure for another, a later try for the same target does. Where the answer says of an
item that it was not done there is no such claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spanproof.evaluators.call_targets import get_target, is_other_choice, shares_target
from spanproof.evaluators.outcomes.calls import MadeCall
from spanproof.evaluators.outcomes.context import RunContext
from spanproof.evaluators.outcomes.model import (
    BROUGHT_NOTHING,
    Account,
    Origin,
    OriginKind,
    State,
    StepOutcome,
)
from spanproof.reading.answer_words import reports_failure
from spanproof.reading.doings import (
    list_named_verbs,
    list_tool_verbs,
    load_lexicon,
    reports_already_done,
    reports_done,
)
from spanproof.reading.done_claims import DoneClaim, list_done_claims, list_possible_verbs, names_agent
from spanproof.reading.shell_commands import read_command
from spanproof.reading.undone_reports import denies_doing, list_named_groups, names_value, reports_undone

_MAX_TASK = 20_000
_FEWEST_ALIKE = 2


@dataclass(frozen=True, slots=True)
class UndoneItem:
    """One thing that a run was to do and did not do.

    Attributes:
        verbs: of the tool that was to do it; none where the tool is a shell.
        names: the values that name it; none where nothing does.
        clause: why it is not done, as the end of a sentence.
        error: what the tool said; empty where it said nothing.
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
    error: str = ""


def iter_undone_claims(
    calls: Sequence[MadeCall], account: Account, context: RunContext, task: str, answer: str
) -> Iterator[Origin]:
    """Yield the first claim of an answer that something was done which was not."""
    possible, lexicon = list_possible_verbs(answer), load_lexicon()
    if not possible:
        return
    items = [*_iter_failed_items(calls, account, context, task), *_iter_untried_items(calls, account, task)]
    if any(lexicon.are_related(verb, item.verbs) for item in items for verb in possible):
        claims = list_done_claims(answer)
        for item in items:
            covering = [claim for claim in claims if _covers(claim, item, task)]
            untrue = (claim for claim in covering if not _is_earlier_state(claim, item, calls, account))
            claim = next(untrue, None)
            if claim is not None and not reports_undone(
                answer, task, item.names, item.done_names, item.verbs
            ):
                yield Origin(
                    claim.words,
                    OriginKind.UNDONE,
                    fabricated=True,
                    step=item.step,
                    span_id=item.span_id,
                    source=item.clause,
                )
                return
    yield from _iter_claims_without_call(calls, context, task, answer)


# What was not done.


def _find_verbs(call: MadeCall) -> frozenset[str] | None:
    """Return the verbs of a call that was to change something, None for a look-up."""
    if call.command:
        return frozenset() if read_command(call.command).does else None
    return list_tool_verbs(call.call.tool) or None


def _iter_failed_items(
    calls: Sequence[MadeCall], account: Account, context: RunContext, task: str
) -> Iterator[UndoneItem]:
    """Yield what calls were to do and did not, and what of a batch was not done."""
    for at, call in enumerate(calls):
        verbs = _find_verbs(call)
        # What one command failed to do another may do, or an editor: it counts where nothing else went well.
        may_be_done_otherwise = bool(call.command) and not context.nothing_worked
        if call.is_answer or verbs is None or may_be_done_otherwise:
            continue
        outcome = account.calls[call.key]
        later = _list_done(calls[at + 1 :], verbs, account)
        done = [*_list_done(calls[:at], verbs, account), *later]
        if outcome.batch is not None:
            yield from _iter_batch_items(call, outcome, verbs, later, done)
        elif outcome.state in BROUGHT_NOTHING and not _find_retry(call, outcome, later, task):
            yield _build_failed_item(call, outcome, verbs, done, task)


def _list_done(calls: Sequence[MadeCall], verbs: frozenset[str], account: Account) -> list[MadeCall]:
    """Return the calls that did the same, or anything where it is not known what was to be done."""
    lexicon = load_lexicon()
    done = []
    for call in calls:
        other = _find_verbs(call)
        if other is None or call.is_answer or account.calls[call.key].state is not State.OK:
            continue
        if not verbs or any(lexicon.are_related(verb, other) for verb in verbs):
            done.append(call)
    return done


def _find_retry(
    call: MadeCall, outcome: StepOutcome, later: Sequence[MadeCall], task: str
) -> MadeCall | None:
    """Return the later success for the same target, or with another choice that the error offers."""
    for other in later:
        is_same = shares_target(call.arguments, other.arguments, task, is_doing=True)
        if is_same or is_other_choice(call.arguments, other.arguments, outcome.quote):
            return other
    return None


def _build_failed_item(
    call: MadeCall, outcome: StepOutcome, verbs: frozenset[str], done: Sequence[MadeCall], task: str
) -> UndoneItem:
    if not call.command:
        names = frozenset[str]().union(*get_target(call.arguments).values())
    else:
        names = frozenset()
    done_names = _list_names(done)
    own = names - done_names or names
    if outcome.state is State.EMPTY:
        what = "changed nothing"
    else:
        what = f"failed ({outcome.cause})"
    return UndoneItem(
        call.step,
        call.span_id,
        verbs,
        own,
        f"step {call.step}, which was to do it, {what}",
        not done or any(names_value(task, name) for name in own),
        sum(map(_count_done, done)),
        done_names - names,
        call.result or outcome.quote,
    )


def _list_names(calls: Sequence[MadeCall]) -> frozenset[str]:
    targets = [get_target(call.arguments) for call in calls]
    return frozenset[str]().union(*(values for target in targets for values in target.values()))


def _count_done(call: MadeCall) -> int:
    if call.outcome.batch is not None:
        return call.outcome.batch.done_count or 0
    return 1


def _iter_batch_items(
    call: MadeCall,
    outcome: StepOutcome,
    verbs: frozenset[str],
    later: Sequence[MadeCall],
    done: Sequence[MadeCall],
) -> Iterator[UndoneItem]:
    batch = outcome.batch
    if batch is None or any(
        other.outcome.batch is None and other.call.tool == call.call.tool for other in later
    ):
        return  # another try at the rest
    own_count = batch.done_count or 0
    total = own_count + (batch.failed_count or 0)
    clause = f"step {call.step} did it for {batch.done_count} of {total}"
    done_count = own_count + sum(map(_count_done, done))
    done_names = frozenset(item.name.casefold() for item in batch.items if item.done)
    failed = [item for item in batch.items if not item.done]
    later_names = _list_names(later)
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
    """Yield what a task names along with what was done, and what no call was for.

    Of `Cancel A-14, A-15 and A-16` two calls cancelled the first two.
    """
    groups = [names for names in list_named_groups(task[:_MAX_TASK]) if len(names) > _FEWEST_ALIKE]
    if not groups:
        return
    tried = "\n".join(f"{call.call.args} {call.call.kwargs}".casefold() for call in calls)
    for verbs in dict.fromkeys(filter(None, map(_find_verbs, calls))):
        same = [call for call in calls if _find_verbs(call) == verbs]
        done = [call for call in same if account.calls[call.key].state is State.OK]
        done_names = _list_names(done)
        for group in groups:
            handled = [name for name in group if name in done_names]
            untried = [name for name in group if not names_value(tried, name)]
            if len(handled) >= _FEWEST_ALIKE and untried and len(handled) + len(untried) == len(group):
                clause = f"no call did it for {untried[0]}"
                yield UndoneItem(
                    *(None, None, verbs, frozenset(untried), clause, True, len(done), frozenset(handled))
                )


# What the answer says of it.


def _covers(claim: DoneClaim, item: UndoneItem, task: str) -> bool:
    """Whether a claim says of an item that it was done."""
    if not load_lexicon().are_related(claim.verb, item.verbs) or not _is_requested(claim, item, task):
        return False
    if any(names_value(claim.sentence, name) for name in item.names):
        return not denies_doing(claim.sentence)
    if claim.count is not None:
        return claim.count > item.done_count
    if claim.covers_all:
        return item.is_wanted or item.done_count == 0
    if any(names_value(claim.sentence, name) for name in item.done_names):
        return False
    if item.done_count == 0:
        return True
    return item.is_wanted and claim.is_plural


def _is_requested(claim: DoneClaim, item: UndoneItem, task: str) -> bool:
    """Whether the task requires an item, where a claim such as `Done` says of no doing in particular."""
    lexicon = load_lexicon()
    requested = list_named_verbs(task[:_MAX_TASK])
    if not requested or not item.verbs or claim.verb not in lexicon.general:
        return True
    names_item = any(names_value(task, name) for name in item.names)
    return names_item or any(lexicon.are_related(verb, requested) for verb in item.verbs)


def _is_earlier_state(
    claim: DoneClaim, item: UndoneItem, calls: Sequence[MadeCall], account: Account
) -> bool:
    """Whether a claim may say of the item what was so before, by a look-up or the error itself."""
    if claim.by_agent:
        return False
    if claim.is_earlier or reports_already_done(item.error, item.verbs):
        return True
    for call in calls:
        verbs = _find_verbs(call)
        is_same_doing = verbs is not None and load_lexicon().are_related(claim.verb, verbs)
        # What code prints and the answer itself are the agent's own words.
        is_own = call.is_answer or call.snippet is not None
        if is_same_doing or is_own or account.calls[call.key].state is not State.OK:
            continue
        about = f"{call.result} {call.call.args} {call.call.kwargs}"
        names_item = any(names_value(about, name) for name in item.names) or not item.names
        if names_item and reports_done(call.result, claim.verb):
            return True
    return False


def _iter_claims_without_call(
    calls: Sequence[MadeCall], context: RunContext, task: str, answer: str
) -> Iterator[Origin]:
    """Yield the claim of an agent to have done what it had a tool for, where it called none for it."""
    lexicon = load_lexicon()
    offered = frozenset[str]().union(*map(list_tool_verbs, context.offered_tools))
    if not (offered and context.records_calls) or context.runs_programs or context.continues_talk:
        return
    made = frozenset[str]().union(*filter(None, map(_find_verbs, calls)))
    claimed = [verb for verb in list_possible_verbs(answer) if lexicon.are_related(verb, offered)]
    # The lexicon takes no verbs at all for any: without calls nothing was done.
    missing = {verb for verb in claimed if not made or not lexicon.are_related(verb, made)} - lexicon.general
    if not missing or not names_agent(answer) or reports_failure(answer, task):
        return
    for claim in list_done_claims(answer):
        if claim.by_agent and claim.verb in missing:
            clause = "no call of the run was to do it"
            yield Origin(claim.words, OriginKind.UNDONE, fabricated=True, source=clause)
            return
