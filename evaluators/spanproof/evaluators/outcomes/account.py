"""Deciding what happened in a run, once, for every layer.

In: a run, its scans and its replay. Out: an `Account`: the outcome of each snippet, tool call and step with
the evidence it rests on, what followed each failure, and where the values of the answer come from. What
raised decides first, then the span's status, a structured result, an exit status, the text, an exception that
code printed, and last the replay, where the record shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from spanproof.evaluators.detect.observation import split_observation
from spanproof.evaluators.model import NoReplay, Replay, ReplayedStep
from spanproof.evaluators.outcomes.actions import ANSWER_TOOLS, is_answer, is_answer_only
from spanproof.evaluators.outcomes.broadened import Call, Query, find_broader_numbers, find_swapped_numbers
from spanproof.evaluators.outcomes.claims import (
    Lack,
    acts,
    find_absence_claim,
    find_denied_claims,
    is_refused,
    proves_absence,
    refuses,
)
from spanproof.evaluators.outcomes.commands import read_command
from spanproof.evaluators.outcomes.described import Result
from spanproof.evaluators.outcomes.dodges import has_only_literals
from spanproof.evaluators.outcomes.emptiness import is_empty
from spanproof.evaluators.outcomes.failing import parse_called_names, parse_python
from spanproof.evaluators.outcomes.flow import CodeStep
from spanproof.evaluators.outcomes.known import Known
from spanproof.evaluators.outcomes.model import (
    FAILING,
    NOT_DONE,
    UNKNOWN,
    Account,
    KnownBy,
    OriginKind,
    State,
    StepOutcome,
    make_blocked_outcome,
)
from spanproof.evaluators.outcomes.origins import Traced, Worked, trace_back
from spanproof.evaluators.outcomes.places import Giver, identify_giver
from spanproof.evaluators.outcomes.printed import find_printed_exception
from spanproof.evaluators.outcomes.queries import is_constant
from spanproof.evaluators.outcomes.reaching import weigh_effects
from spanproof.evaluators.outcomes.recorded import PROGRAMS, read_unseen_output, shows_outcome
from spanproof.evaluators.outcomes.recovery import Came, Fate, decide_fates
from spanproof.evaluators.outcomes.run_actions import collect_actions, is_within
from spanproof.evaluators.outcomes.schema import Schema, build_schema
from spanproof.evaluators.outcomes.situation import build_situation, shows_pictures
from spanproof.evaluators.outcomes.swallowed import (
    find_swallowed_failure,
    make_swallowed_outcome,
    reports_absence,
)
from spanproof.evaluators.outcomes.texts import TextFailure, read_failure, read_refusal
from spanproof.evaluators.outcomes.topics import discloses, reports_failure, reports_nothing
from spanproof.evaluators.replay.record import (
    Record,
    classify_execution,
    find_raised_type,
    read_record,
    recorded_class,
)
from spanproof.evaluators.runs import spans_of
from spanproof.sandbox import FailureClass
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import Language, RecordedCall, Run, Snippet, SpanError, SpanKind, Step, Trace
from spanproof.trace.dialects.decode import decode_document

_PRINTS = re.compile(r"\bprint\s*\(|\becho\b|console\.log|\bSELECT\b", re.IGNORECASE)
_STOPPED = frozenset(
    {FailureClass.TIMEOUT, FailureClass.OUT_OF_MEMORY, FailureClass.OUTPUT_LIMIT, FailureClass.KILLED}
)
_REFUSED = frozenset({FailureClass.PERMISSION_DENIED, FailureClass.UNSAFE_OPERATION})
_MAX_QUOTE = 200
_ALTERS = re.compile(r"\b(?:ALTER|CREATE|DROP|RENAME)\b", re.IGNORECASE)
# Arguments in which shell tools take their command.
_COMMAND_NAMES = ("command", "cmd", "commands", "script", "code", "bash", "shell", "input")


def build_account(trace: Trace, run: Run, scans: Mapping[str, Scan], replay: Replay | NoReplay) -> Account:
    """Return what happened in this run."""
    account = _decide(trace, run, scans, replay, frozenset())
    silent = frozenset(_find_defaulting_spans(run, account))
    return _decide(trace, run, scans, replay, silent) if silent else account


def _decide(
    trace: Trace, run: Run, scans: Mapping[str, Scan], replay: Replay | NoReplay, silent: frozenset[str]
) -> Account:
    """Decide the account, where the code on the spans `silent` answered with a default for what failed."""
    calls = {
        (step.number, position): _decide_call(call)
        for step in run.steps
        for position, call in enumerate(step.calls)
    }
    snippets: dict[str, StepOutcome] = {}
    for step in run.steps:
        for snippet in step.snippets:
            if snippet.executed and snippet.language in PROGRAMS:
                snippets[snippet.id] = _decide_snippet(step, snippet, replay, silent)
    for step in run.steps:
        for position, call in enumerate(step.calls):
            ran = _find_call_snippet(step, call)
            if ran is not None and ran.id in snippets:
                calls[step.number, position] = snippets[ran.id]
    steps = {step.number: _decide_step(step, snippets, calls) for step in run.steps}
    bare = Account(snippets, calls, steps)
    actions = collect_actions(run, scans, bare.of, bare.of_call)
    found = tuple(decide_fates(actions, run.task or ""))
    return _add_origins(trace, run, Account(snippets, calls, steps, actions, found))


def _find_defaulting_spans(run: Run, account: Account) -> Iterator[str]:
    """Yield spans of code that ended well and whose answer is what it puts in place of a failed call."""
    blamed = {
        (origin.step, origin.span_id) for origin in account.fabricated if origin.kind is OriginKind.DEFAULT
    }
    for step in run.steps:
        for snippet in step.snippets:
            failing = [
                outcome for _, outcome in _list_call_outcomes(step, snippet) if outcome.state in NOT_DONE
            ]
            if failing and (step.number, snippet.span_id) in blamed and account.of(snippet).ok:
                yield snippet.span_id


def _list_call_outcomes(step: Step, snippet: Snippet) -> list[tuple[str, StepOutcome]]:
    """List the calls that code made, without those that hand over an answer, and how each ended."""
    named = parse_called_names(snippet.source) if snippet.language is Language.PYTHON else frozenset()
    made = snippet.tape or tuple(call for call in step.calls if call.span_id != snippet.span_id)
    return [(call.tool, _decide_call(call)) for call in made if call.tool in named - ANSWER_TOOLS]


def _decide_snippet(
    step: Step, snippet: Snippet, replay: Replay | NoReplay, silent: frozenset[str]
) -> StepOutcome:
    if snippet.refusal is not None:
        return make_blocked_outcome(snippet.refusal)
    record = read_record(snippet)
    again = replay.step(snippet.id) if isinstance(replay, Replay) else None
    replayed = classify_execution(record, again.execution) if again is not None else None
    if snippet.error is None and step.error is not None and not shows_outcome(step, snippet, own=True):
        return _decide_error(step.error, replayed)
    if snippet.error is not None:
        return _decide_error(snippet.error, replayed)
    if record.failure_class is None:
        return _decide_by_replay(again, replayed)
    seen = _find_reported_failure(step, snippet, record)
    if seen is not None:
        failure_class = recorded_class(SpanError(seen.error_type, seen.quote)) if seen.error_type else None
        if record.failure_class is not FailureClass.OK:
            failure_class = record.failure_class
        return _make_failure(
            failure_class or FailureClass.EXCEPTION, seen.known_by, seen.error_type, seen.quote, replayed
        )
    if record.failure_class is not FailureClass.OK:
        return _make_failure(record.failure_class, KnownBy.EXIT_STATUS, None, "", replayed)
    state = State.EMPTY if _is_output_missing(step, snippet, record) else State.OK
    ended = StepOutcome(state, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK, replayed=replayed)
    made = _list_call_outcomes(step, snippet)
    if snippet.span_id in silent:
        return make_swallowed_outcome(
            next(outcome for _, outcome in made if outcome.state in NOT_DONE), ended
        )
    return find_swallowed_failure(snippet.source, made, ended) or ended


def _decide_error(error: SpanError, replayed: FailureClass | None = None) -> StepOutcome:
    known = KnownBy.RAISED if error.type is not None else KnownBy.SPAN_STATUS
    return _make_failure(recorded_class(error), known, find_raised_type(error), error.message, replayed)


def _make_failure(
    failure_class: FailureClass,
    known_by: KnownBy,
    error_type: str | None,
    quote: str,
    replayed: FailureClass | None = None,
) -> StepOutcome:
    state = State.FAILED
    if failure_class in _STOPPED:
        state = State.STOPPED
    elif failure_class in _REFUSED:
        state = State.REFUSED
    return StepOutcome(
        state, failure_class, known_by, error_type, quote[:_MAX_QUOTE], failure_class, replayed
    )


def _decide_by_replay(again: ReplayedStep | None, replayed: FailureClass | None) -> StepOutcome:
    """Return the outcome of code of which the record shows nothing."""
    if again is None or replayed is None or again.flaky:
        return UNKNOWN  # another seed or time, another outcome: there is none to give
    raised = again.execution.raised
    if replayed is FailureClass.OK:
        return StepOutcome(State.OK, replayed, KnownBy.REPLAY, replayed=replayed)
    name, message = (raised.type, raised.message) if raised is not None else (None, "")
    found = _make_failure(replayed, KnownBy.REPLAY, name, message)
    return StepOutcome(
        found.state, replayed, KnownBy.REPLAY, name, found.quote, recorded=None, replayed=replayed
    )


def _find_reported_failure(step: Step, snippet: Snippet, record: Record) -> TextFailure | None:
    """Return the failure that the output of code reports, None where it reports none."""
    own = record.shown is None and snippet.language is Language.PYTHON
    printed = record.stdout if record.stdout is not None else record.shown
    text = printed or (record.output.text if record.output is not None else "") or ""
    if own:
        # What an agent's own interpreter prints is the code's: words of failure in it may be its data.
        line = find_printed_exception(snippet.source, text)
        if line is not None:
            return TextFailure(KnownBy.PRINTED_EXCEPTION, line)
        return _find_relayed_failure(step, snippet, text)
    value = record.output.value if record.output is not None else None
    caught = find_printed_exception(snippet.source, text) if snippet.language is Language.PYTHON else None
    if caught is not None:
        return TextFailure(KnownBy.PRINTED_EXCEPTION, caught)
    command = snippet.source if snippet.language is Language.BASH else ""
    return read_failure(text, identify_giver("", snippet.language), value, command)


def _find_relayed_failure(step: Step, snippet: Snippet, text: str) -> TextFailure | None:
    """Return a failure that a tool reported to the code, and that the code only showed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for call in snippet.tape or step.calls:
        result = call.result
        if result is None or is_answer(call):
            continue
        found = _find_call_failure(call)
        if found is not None and lines and result.text.strip().endswith(lines[-1]):
            return found
    return read_failure(text, Giver.PYTHON) if "Traceback (most recent call last)" in text else None


def _is_output_missing(step: Step, snippet: Snippet, record: Record) -> bool:
    """Whether code was to show something, and showed nothing."""
    looks_up = snippet.language is Language.BASH and read_command(snippet.source).looks_up
    if snippet.is_final or not (looks_up or _PRINTS.search(snippet.source)):
        return False
    shown = record.stdout if record.stdout is not None else record.shown
    if shown is None:
        shown = split_observation(step.observation).logs
    value = record.output.value if record.output is not None else None
    return (
        shown is not None
        and is_empty(shown, giver=identify_giver("", snippet.language))
        and value in (None, "", "None", [], {})
    )


def _decide_call(call: RecordedCall) -> StepOutcome:
    if call.refusal is not None:
        return make_blocked_outcome(call.refusal)
    if call.error is not None:
        return _decide_error(call.error)
    if call.result is None:
        # The span ended without an error; what it returned is not on the trace.
        return StepOutcome(State.OK, FailureClass.OK, KnownBy.SPAN_STATUS, recorded=FailureClass.OK)
    if not is_answer(call):
        seen = _find_call_failure(call)
        if seen is not None:
            named = SpanError(seen.error_type, seen.quote)
            failure_class = recorded_class(named) if seen.error_type else FailureClass.EXCEPTION
            return _make_failure(failure_class, seen.known_by, seen.error_type, seen.quote)
    given = (*call.args, *call.kwargs.values())
    empty = is_empty(call.result.text, call.result.value, identify_giver(call.tool), given)
    state = State.EMPTY if empty else State.OK
    return StepOutcome(state, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK)


def _find_call_failure(call: RecordedCall) -> TextFailure | None:
    """Return the failure that a call's result reports, None where it reports none."""
    if call.result is None:
        return None
    giver = identify_giver(call.tool)
    failure = read_failure(call.result.text, giver, call.result.value, _extract_command(call, giver))
    if failure is not None or not acts(call.tool) or refuses(call.tool):
        return failure
    result = call.result.value if isinstance(call.result.value, dict) else decode_document(call.result.text)
    given = [*call.args, *call.kwargs.values()]
    if isinstance(result, dict) and is_refused(call.tool, result, given):
        return TextFailure(KnownBy.STRUCTURED_RESULT, call.result.text[:_MAX_QUOTE])
    return read_refusal(call.result.text)


def _extract_command(call: RecordedCall, giver: Giver) -> str:
    """Return the shell command that a call ran; empty where it ran none."""
    if giver is not Giver.SHELL:
        return ""
    named = {**{str(at): value for at, value in enumerate(call.args)}, **call.kwargs}
    texts = {name: value for name, value in named.items() if isinstance(value, str)}
    named_so = [texts[name] for name in _COMMAND_NAMES if name in texts]
    return (named_so or (list(texts.values()) if len(texts) == 1 else [""]))[0]


def _find_call_snippet(step: Step, call: RecordedCall) -> Snippet | None:
    """Return the code that this very call ran."""
    given = [*call.args, *call.kwargs.values()]
    return next(
        (
            snippet
            for snippet in step.snippets
            if snippet.executed and (snippet.span_id == call.span_id or snippet.source in given)
        ),
        None,
    )


def _decide_step(
    step: Step, snippets: Mapping[str, StepOutcome], calls: Mapping[tuple[int, int], StepOutcome]
) -> StepOutcome:
    """Return the last outcome of a step's code, else of the first call that failed, else of its calls.

    A refused call counts only where nothing else was done.
    """
    if step.refusal is not None:
        return make_blocked_outcome(step.refusal)
    ran = [snippets[snippet.id] for snippet in step.snippets if snippet.id in snippets]
    known = [outcome for outcome in ran if outcome.state is not State.UNKNOWN]
    if known:
        return next((outcome for outcome in known if outcome.state in FAILING), known[-1])
    made = [
        outcome
        for position, call in enumerate(step.calls)
        if not is_answer(call)
        for outcome in (calls[step.number, position],)
        if outcome.state is not State.BLOCKED
    ]
    failing = next((outcome for outcome in made if outcome.state in FAILING), None)
    if failing is not None:
        return failing
    # A refused call may have left its error on the step.
    if step.error is not None and not any(call.refusal for call in step.calls):
        return _decide_error(step.error)
    if made:
        empty = all(outcome.state is State.EMPTY for outcome in made)
        return made[-1] if empty else next(one for one in made if one.state is not State.EMPTY)
    if read_unseen_output(step):
        return StepOutcome(State.OK, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK)
    return UNKNOWN


def _add_origins(trace: Trace, run: Run, account: Account) -> Account:
    """Return the account with where the answer's values come from."""
    answer = run.answer.text if run.answer is not None else ""
    code = list(_code_steps(run, account))
    handed_over = {
        snippet.span_id: snippet.id
        for step in run.steps
        for snippet in step.snippets
        if snippet.id in account.snippets and _hands_over(snippet)
    }
    lacking = [fate.failure.step for fate in account.fates if fate.came is not Came.MENDED]
    lacking += [
        number for number, outcome in account.steps.items() if outcome.state in (State.EMPTY, State.BLOCKED)
    ]
    traced, worked = Traced(), _summarise_work(run, account, set(handed_over.values()))
    if not run.hidden and not shows_pictures(trace, run):
        known = Known(run.task or "")
        for text in _collect_given_texts(trace, run, account):
            known.add(text)
        for text in _collect_result_texts(run):
            known.add_result(text)
        situation = build_situation(trace, run, account, code, min(lacking, default=None))
        others = [
            call.result.text
            for step in run.steps
            for call in step.calls
            if call.result is not None and not is_answer(call) and _find_call_snippet(step, call) is None
        ]
        broader = find_broader_numbers(_collect_queries(run, account), run.task or "", answer, others)
        traced = trace_back(answer, code, known, situation, worked)
        other = find_swapped_numbers(list(_collect_calls(run, account)), run.task or "", answer)
        claimed = find_denied_claims(answer, run.task or "", *_find_lacks(run, account, worked))
        traced = replace(traced, origins=(*traced.origins, *broader, *other, *claimed))
    for step in run.steps:
        for snippet in step.snippets:
            if snippet.span_id in traced.made_up and account.of(snippet).ok:
                handed_over[snippet.span_id] = snippet.id
    honest = not any(origin.fabricated for origin in traced.origins)
    reports = honest and bool(account.fates or lacking) and _reports_ending(answer, run.task or "", account)
    return Account(
        account.snippets,
        account.calls,
        account.steps,
        account.actions,
        weigh_effects(
            tuple(_exclude_inventions(account.fates, handed_over.keys())),
            account.actions,
            answer,
            traced.origins,
        ),
        traced.origins,
        frozenset(handed_over.values()),
        reports,
        nothing_worked=worked.nothing,
        schema=_derive_schema(trace, run, account),
    )


def _derive_schema(trace: Trace, run: Run, account: Account) -> Schema:
    """Return the tables that the run was shown; none where it has no SQL, or SQL that changes tables."""
    queries = [each.source for each in run.snippets if each.language is Language.SQL]
    if not queries or any(_ALTERS.search(query) for query in queries):
        return Schema()
    worked = [
        each.source
        for each in run.snippets
        if each.language is Language.SQL and account.of(each).state in {State.OK, State.EMPTY}
    ]
    return build_schema(
        (*_collect_given_texts(trace, run, account), *_collect_result_texts(run)),
        _collect_results(run, account),
        worked,
    )


def _collect_results(run: Run, account: Account) -> Iterator[Result]:
    """Yield what the queries, tools and code of a run gave, each with the query or the code behind it."""
    for step in run.steps:
        for position, call in enumerate(step.calls):
            if account.of_call(step, position).state is State.OK and call.result is not None:
                given = tuple(each for each in (*call.args, *call.kwargs.values()) if isinstance(each, str))
                ran = _find_call_snippet(step, call)
                source = ran.source if ran is not None else (given[0] if len(given) == 1 else "")
                yield Result(call.result.text, source, call.tool, given, call.result.value)
        for snippet in step.snippets:
            shown = snippet.observation or snippet.logs or ""
            if account.of(snippet).state is State.OK and shown:
                yield Result(shown, snippet.source)


def _reports_ending(answer: str, task: str, account: Account) -> bool:
    """Whether an answer says how the run ended: that something failed, or that there is no such thing."""
    if reports_failure(answer, task) or discloses(answer):
        return True
    found_none = any(
        outcome.state is State.EMPTY
        or (outcome.state in NOT_DONE and (reports_absence(outcome) or proves_absence(outcome.quote, answer)))
        for outcome in (*account.steps.values(), *account.calls.values())
    )
    return found_none and (find_absence_claim(answer) is not None or reports_nothing(answer, task))


def _find_lacks(run: Run, account: Account, worked: Worked) -> tuple[list[Lack], list[Lack]]:
    """Return the operations that failed and no other made good, and look-ups where all brought nothing."""
    made = [
        _make_lack(step, call, account.of_call(step, position), worked)
        for step in run.steps
        for position, call in enumerate(step.calls)
        if not is_answer(call)
    ]
    done = [lack for lack in made if lack.outcome.state is State.OK]
    names = {lack.name for lack in done}
    failed = [lack for lack in made if lack.outcome.state in NOT_DONE and lack.name not in names]
    undone = [] if any(lack.does for lack in done) else [lack for lack in failed if lack.does]
    absent = any(reports_absence(lack.outcome) for lack in failed)
    empty = any(outcome.state is State.EMPTY for outcome in account.steps.values())
    unlooked = [] if absent or empty or not worked.nothing else [lack for lack in failed if not lack.does]
    return undone, unlooked


def _make_lack(step: Step, call: RecordedCall, outcome: StepOutcome, worked: Worked) -> Lack:
    """Return a call with what it was to do: by its tool's name, or by the programs that its shell ran.

    What one command failed to do another may do, or an editor: it counts where nothing else went well.
    """
    command = _extract_command(call, identify_giver(call.tool))
    known = read_command(command) if command else None
    name = " ".join((call.tool, *sorted(known.programs))) if known is not None else call.tool
    does = known.does and worked.nothing if known is not None else acts(call.tool)
    return Lack(step.number, call.span_id or step.span_id, name, outcome, does)


def _collect_queries(run: Run, account: Account) -> list[Query]:
    """Return the queries of a run, in order, with what they gave."""
    found: list[Query] = []
    for step in run.steps:
        for snippet in step.snippets:
            if snippet.language is Language.SQL and (snippet.executed or snippet.refusal is not None):
                outcome = account.of(snippet)
                result = snippet.observation or snippet.logs or ""
                found.append(Query(step.number, snippet.span_id, snippet.source, outcome.state, result))
    return found


def _collect_calls(run: Run, account: Account) -> Iterator[Call]:
    """Yield the tool calls of a run, in order, with their arguments that are texts."""
    for step in run.steps:
        for position, call in enumerate(step.calls):
            if is_answer(call):
                continue
            named = {**{str(at): value for at, value in enumerate(call.args)}, **call.kwargs}
            texts = {name: value for name, value in named.items() if isinstance(value, str)}
            state, result = account.of_call(step, position).state, call.result
            text = result.text if result is not None else ""
            yield Call(step.number, call.span_id or step.span_id, call.tool, texts, state, text)


def _summarise_work(run: Run, account: Account, handed_over: set[str]) -> Worked:
    """Return the outcome of what the run did, beside answering."""
    written = {
        each.id for each in run.snippets if each.id in account.snippets and _writes_only_literals(each)
    }
    if any(outcome.state in {*NOT_DONE, State.EMPTY} for outcome in account.steps.values()):
        handed_over = handed_over | written
    works = [
        outcome for step in run.steps for outcome in _select_working_outcomes(step, account, handed_over)
    ]
    nothing = bool(works) and all(outcome.state in {*NOT_DONE, State.EMPTY} for outcome in works)
    sourced = any(
        outcome.state is State.OK
        for step in run.steps
        for position, call in enumerate(step.calls)
        if not is_answer(call) and _find_call_snippet(step, call) is None
        for outcome in (account.of_call(step, position),)
    )
    return Worked(nothing, not works, sourced)


def _exclude_inventions(found: Iterable[Fate], made_up: Collection[str]) -> Iterator[Fate]:
    """Yield what followed each failure; code that only writes values down recovers from none."""
    for fate in found:
        if fate.by is None or fate.came is Came.LOST or fate.by.span_id not in made_up:
            yield fate
        else:
            why = f"step {fate.by.step} writes values down that no source holds"
            yield Fate(fate.failure, Came.LOST, why, fate.by, likely=False)


def _select_working_outcomes(step: Step, account: Account, handed_over: set[str]) -> Iterator[StepOutcome]:
    """Yield outcomes of what a step did for the task: its code and its calls outside of code."""
    ran = [snippet for snippet in step.snippets if snippet.id in account.snippets]
    in_code: set[str | None] = {call.span_id for each in ran for call in each.tape if call.span_id}
    in_code |= {each.span_id for each in ran}
    for snippet in ran:
        if snippet.id not in handed_over:
            yield account.of(snippet)
    yield from (account.of(each) for each in step.snippets if each.refusal is not None and each not in ran)
    for position, call in enumerate(step.calls):
        if not is_answer(call) and not is_within(call, ran, in_code):
            yield account.of_call(step, position)
    if not ran and read_unseen_output(step):
        yield account.steps[step.number]


def _hands_over(snippet: Snippet) -> bool:
    """Whether code only hands over an answer written down in it."""
    if snippet.language is not Language.PYTHON:
        return False
    if is_answer_only(snippet.source):
        return True
    tree = parse_python(snippet.source) if parse_called_names(snippet.source) & ANSWER_TOOLS else None
    return tree is not None and has_only_literals(tree)


def _writes_only_literals(snippet: Snippet) -> bool:
    """Whether code only binds and prints values written down in it."""
    tree = parse_python(snippet.source) if snippet.language is Language.PYTHON else None
    return tree is not None and bool(tree.body) and has_only_literals(tree)


def _code_steps(run: Run, account: Account) -> Iterator[CodeStep]:
    for step in run.steps:
        for snippet in step.snippets:
            if snippet.id not in account.snippets:
                continue
            is_query = _is_constant_query(snippet)
            if snippet.language is not Language.PYTHON and not is_query:
                continue
            made = snippet.tape or tuple(call for call in step.calls if call.span_id != snippet.span_id)
            outcomes = [(call.tool, _decide_call(call)) for call in made]
            working = frozenset(tool for tool, outcome in outcomes if outcome.state is State.OK)
            failed = frozenset(tool for tool, outcome in outcomes if outcome.state in NOT_DONE)
            printed = "\n".join(filter(None, (snippet.logs, snippet.observation, step.observation)))
            stopped = account.of(snippet).state is State.STOPPED
            place = (step.number, snippet.span_id, snippet.source, printed)
            went_on = account.of(snippet).ok is True or account.of(snippet).known_by is KnownBy.SWALLOWED
            swallowed = bool(failed) and went_on
            found_nothing = any(outcome.state is State.EMPTY for _, outcome in outcomes)
            said = _hands_over(snippet)
            yield CodeStep(
                *place, working, failed - working, stopped, is_query, swallowed, found_nothing, said
            )


def _is_constant_query(snippet: Snippet) -> bool:
    return snippet.language is Language.SQL and is_constant(snippet.source)


def _collect_given_texts(trace: Trace, run: Run, account: Account) -> Iterator[str]:
    """Yield the texts given to the run that bear values out: the task, prompts, users' words, errors."""
    yield run.task or ""
    for span in spans_of(trace, run):
        if span.kind is SpanKind.LLM:
            yield from (
                text.text for text in span.input_messages if text.role in {"system", "user", "developer"}
            )
        elif span.kind is SpanKind.AGENT and span.input is not None:
            yield span.input.text
    for step in run.steps:
        yield account.steps[step.number].quote
        if step.refusal is not None and step.error is not None:
            yield step.error.message
        # What a refused call returned is the refusal.
        yield from (call.result.text for call in step.calls if call.refusal is not None and call.result)
        yield from (call.error.message for call in step.calls if call.error is not None)


def _collect_result_texts(run: Run) -> Iterator[str]:
    """Yield the texts of what tools returned."""
    for step in run.steps:
        for call in step.calls:
            ran = call.refusal is None and _find_call_snippet(step, call) is None
            if call.result is not None and not is_answer(call) and ran:
                yield call.result.text
        for snippet in step.snippets:
            if snippet.language is not Language.PYTHON and not _is_constant_query(snippet):
                yield from filter(None, (snippet.logs, snippet.observation))
        if not step.snippets and step.observation and not all(is_answer(c) for c in step.calls):
            yield step.observation
