"""Deciding what happened in a run, once, for every layer.

In: a run, its scans and its replay. Out: an `Account`. The steps, in order:

1. calls: each call with its envelope (`calls.py`);
2. outcomes of snippets, calls and steps, with the evidence each rests on (`step_outcomes.py`);
3. actions and recoveries: what followed each failure (`run_actions.py`, `recovery.py`);
4. context: what the run was to do and had for it, and what its trace can show (`context.py`);
5. origins: where the values of the answer come from (`origins.py`), what it claims to be done or absent and
   is not (`undone.py`, `absence.py`);
6. effects: a success that does not reach the answer recovers nothing (`reaching.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from spanproof.evaluators.model import NoReplay, Replay
from spanproof.evaluators.outcomes.broadened import iter_broader_numbers, iter_swapped_numbers
from spanproof.evaluators.outcomes.calls import CallOutcomes, MadeCall, iter_made_calls
from spanproof.evaluators.outcomes.context import RunContext, build_context
from spanproof.evaluators.outcomes.lacks import list_fruitless_steps, list_lacks
from spanproof.evaluators.outcomes.model import (
    NOT_DONE,
    Account,
    Origin,
    OriginKind,
    State,
    StepOutcome,
)
from spanproof.evaluators.outcomes.origins import ValueTrace, build_value_trace
from spanproof.evaluators.outcomes.reaching import list_evaluated_recoveries
from spanproof.evaluators.outcomes.recovery import Recovery, RecoveryStatus, list_recoveries
from spanproof.evaluators.outcomes.run_actions import list_actions
from spanproof.evaluators.outcomes.sources import (
    hands_over,
    iter_code_steps,
    iter_earlier_texts,
    iter_given_texts,
    iter_queries,
    iter_result_texts,
    read_run_schema,
    writes_only_literals,
)
from spanproof.evaluators.outcomes.step_outcomes import (
    build_snippet_outcome,
    build_step_outcome,
    list_code_calls,
    reports_absence,
)
from spanproof.evaluators.outcomes.undone import iter_undone_claims
from spanproof.evaluators.recorded import PROGRAMS, shows_pictures
from spanproof.evaluators.runs import list_run_spans
from spanproof.reading.answer_words import (
    discloses,
    find_absence_claim,
    is_readable,
    proves_absence,
    reports_failure,
    reports_nothing,
)
from spanproof.reading.doings import changes_something
from spanproof.reading.source_values import SourceValues
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import Run, Span, Trace

_ZERO_RESULTS = frozenset(("0", "0.0", "[(0,)]", "(0,)", "[[0]]", "[0]", "0\n"))


def build_account(trace: Trace, run: Run, scans: Mapping[str, Scan], replay: Replay | NoReplay) -> Account:
    """Return what happened in this run."""
    outcomes, spans = CallOutcomes(), list_run_spans(trace, run)
    calls = tuple(iter_made_calls(run, outcomes))
    account = _build_outcome_account(run, scans, replay, calls, outcomes, ())
    earlier = tuple(iter_earlier_texts(trace, run, spans))
    traced, context = _build_origin_trace(spans, run, account, calls, outcomes, earlier)
    defaulting = _list_defaulting_spans(run, account, traced.origins, outcomes)
    if defaulting:
        account = _build_outcome_account(run, scans, replay, calls, outcomes, defaulting)
        traced, context = _build_origin_trace(spans, run, account, calls, outcomes, earlier)
    return _build_complete_account(spans, run, account, calls, traced, context)


def _build_outcome_account(
    run: Run,
    scans: Mapping[str, Scan],
    replay: Replay | NoReplay,
    calls: Sequence[MadeCall],
    outcomes: CallOutcomes,
    defaulting: Collection[str],
) -> Account:
    """Return the outcomes of all parts of a run, its actions and what followed each failure."""
    snippets = {
        snippet.id: build_snippet_outcome(step, snippet, replay, outcomes, defaulting)
        for step in run.steps
        for snippet in step.snippets
        if snippet.executed and snippet.language in PROGRAMS
    }
    of_calls: dict[tuple[int, int], StepOutcome] = {}
    for call in calls:
        of_code = snippets.get(call.snippet.id) if call.snippet is not None else None
        of_calls[call.key] = of_code if of_code is not None else call.outcome
    steps = {step.number: build_step_outcome(step, snippets, of_calls) for step in run.steps}
    bare = Account(snippets, of_calls, steps)
    actions = list_actions(run, scans, bare.get_snippet_outcome, bare.get_call_outcome)
    return replace(bare, actions=actions, recoveries=tuple(list_recoveries(actions, run.task or "")))


def _list_defaulting_spans(
    run: Run, account: Account, origins: Sequence[Origin], outcomes: CallOutcomes
) -> frozenset[str]:
    """Return the spans of code that ended well and whose answer is what it puts in place of a failed call."""
    defaults = [origin for origin in origins if origin.fabricated and origin.kind is OriginKind.DEFAULT]
    blamed = {(origin.step, origin.span_id) for origin in defaults}
    defaulting = set[str]()
    for step in run.steps:
        for snippet in step.snippets:
            if (step.number, snippet.span_id) in blamed and account.get_snippet_outcome(snippet).ok:
                states = {outcome.state for _, outcome in list_code_calls(step, snippet, outcomes)}
                if states & NOT_DONE:
                    defaulting.add(snippet.span_id)
    return frozenset(defaulting)


def _build_origin_trace(
    spans: Sequence[Span],
    run: Run,
    account: Account,
    calls: Sequence[MadeCall],
    outcomes: CallOutcomes,
    earlier: Sequence[str],
) -> tuple[ValueTrace, RunContext]:
    """Return where the answer's values come from, and what the run had for its task."""
    task, answer = run.task or "", run.answer.text if run.answer is not None else ""
    first_lack = min(list_lacks(run, account, calls), default=None)
    context = build_context(spans, run, account, calls, _list_idle_snippets(run, account, calls), first_lack)
    if run.hidden or not context.records_all or shows_pictures(spans):
        return ValueTrace(), context
    sources = SourceValues(task)
    for text in dict.fromkeys((*iter_given_texts(spans, run, account), *earlier)):
        sources.add(text)
    for text in dict.fromkeys(iter_result_texts(run)):
        sources.add_result(text)
    traced = build_value_trace(answer, tuple(iter_code_steps(run, account, outcomes)), sources, context)
    results = [call.result for call in calls if call.uses_tool and call.call.result is not None]
    origins = (
        *traced.origins,
        *iter_broader_numbers(list(iter_queries(run, account)), task, answer, results),
        *iter_swapped_numbers([call for call in calls if not call.is_answer], account, task, answer),
        *_iter_denied_claims(run, account, calls, context),
    )
    return replace(traced, origins=origins), context


def _iter_denied_claims(
    run: Run, account: Account, calls: Sequence[MadeCall], context: RunContext
) -> Iterator[Origin]:
    """Yield what the answer claims to be done, or to be absent, where failures deny it."""
    task, answer = run.task or "", run.answer.text if run.answer is not None else ""
    if not answer.strip():
        return
    undone = list(iter_undone_claims(calls, account, context, task, answer))
    if undone:
        yield from undone
    elif is_readable(answer) and not reports_failure(answer, task):
        yield from _iter_absence_claims(account, calls, context, answer)


def _iter_absence_claims(
    account: Account, calls: Sequence[MadeCall], context: RunContext, answer: str
) -> Iterator[Origin]:
    """Yield the claim that there is none, where every look-up failed and none says so."""
    made = [(call, account.calls[call.key]) for call in calls if not call.is_answer]
    worked = {call.call.tool for call, outcome in made if outcome.state is State.OK}
    failed = [
        (call, outcome)
        for call, outcome in made
        if outcome.state in NOT_DONE and call.call.tool not in worked
    ]
    found_none = any(reports_absence(outcome) for _, outcome in failed)
    found_none |= any(outcome.state is State.EMPTY for outcome in account.steps.values())
    lookups = [
        (call, outcome)
        for call, outcome in failed
        if not changes_something(call.call.tool) and not call.command
    ]
    absence = find_absence_claim(answer)
    if found_none or not context.nothing_worked or not lookups or absence is None:
        return
    if not any(proves_absence(outcome.quote, answer) for _, outcome in lookups):
        call, outcome = lookups[-1]
        yield Origin(
            absence,
            OriginKind.ABSENCE,
            fabricated=True,
            step=call.step,
            span_id=call.span_id,
            source=f"step {call.step}, which was to look that up, failed ({outcome.cause})",
        )


def _list_idle_snippets(run: Run, account: Account, calls: Sequence[MadeCall]) -> frozenset[str]:
    """Return the ids of snippets that only hand over or, where data is missing, write down values."""
    ran = [snippet for snippet in run.snippets if snippet.id in account.snippets]
    idle = {snippet.id for snippet in ran if hands_over(snippet)}
    if list_fruitless_steps(run, account, calls):
        idle |= {snippet.id for snippet in ran if writes_only_literals(snippet)}
    return frozenset(idle)


def _build_complete_account(
    spans: Sequence[Span],
    run: Run,
    account: Account,
    calls: Sequence[MadeCall],
    traced: ValueTrace,
    context: RunContext,
) -> Account:
    """Return the account with its origins, and with what these say of recoveries and of the answer."""
    task, answer = run.task or "", run.answer.text if run.answer is not None else ""
    inventing: dict[str, str] = {}
    for snippet in run.snippets:
        if snippet.id in account.snippets:
            is_made_up = snippet.span_id in traced.made_up and bool(account.get_snippet_outcome(snippet).ok)
            if is_made_up or hands_over(snippet):
                inventing[snippet.span_id] = snippet.id
    is_honest = not any(origin.fabricated for origin in traced.origins)
    says_none = is_honest and _reports_none(answer, task, account, calls)
    says_failed = is_honest and _reports_failing(answer, task, account)
    has_no_failure = account.unrecovered is None and not reports_failure(answer, task)
    recoveries = tuple(_iter_recoveries(account.recoveries, inventing.keys()))
    return replace(
        account,
        recoveries=list_evaluated_recoveries(recoveries, account.actions, answer, traced.origins),
        origins=traced.origins,
        handed_over=frozenset(inventing.values()),
        reports_failure=says_none or says_failed,
        reports_absence=says_none and has_no_failure,
        nothing_worked=context.nothing_worked and context.records_all,
        all_failed=context.all_failed,
        records_all=context.records_all,
        schema=read_run_schema(spans, run, account, calls),
    )


def _reports_failing(answer: str, task: str, account: Account) -> bool:
    """Whether an answer says that something failed, or that its values are assumed, where something did."""
    gave_nothing = (State.EMPTY, State.BLOCKED)
    has_lack = bool(account.recoveries) or any(
        outcome.state in gave_nothing for outcome in account.steps.values()
    )
    return has_lack and (reports_failure(answer, task) or discloses(answer))


def _reports_none(answer: str, task: str, account: Account, calls: Sequence[MadeCall]) -> bool:
    """Whether an answer says that there is no such thing, where a look-up found none."""
    outcomes = (*account.steps.values(), *account.calls.values())
    found_none = _has_zero_count(calls) or any(_is_none_found(outcome, answer) for outcome in outcomes)
    return found_none and (find_absence_claim(answer) is not None or reports_nothing(answer, task))


def _is_none_found(outcome: StepOutcome, answer: str) -> bool:
    """Whether something came back empty, or its error says that there is no such thing."""
    says_absent = reports_absence(outcome) or proves_absence(outcome.quote, answer)
    return outcome.state is State.EMPTY or (outcome.state in NOT_DONE and says_absent)


def _has_zero_count(calls: Sequence[MadeCall]) -> bool:
    """Whether the last look-up of a run counted none."""
    made = [call for call in calls if not call.is_answer]
    return bool(made) and made[-1].result.strip() in _ZERO_RESULTS


def _iter_recoveries(recoveries: Iterable[Recovery], inventing: Collection[str]) -> Iterator[Recovery]:
    """Yield what followed each failure; code that only writes values down recovers from none."""
    for recovery in recoveries:
        action = recovery.decided_by
        is_lasting = recovery.status is RecoveryStatus.UNRECOVERED
        if action is None or is_lasting or action.span_id not in inventing:
            yield recovery
        else:
            why = f"step {action.step} writes values down that no source holds"
            yield Recovery(recovery.failure, RecoveryStatus.UNRECOVERED, why, action, is_likely=False)
