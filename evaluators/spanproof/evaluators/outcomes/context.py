"""What a run was to do, what it had for it, and what its trace can show of it.

In: a trace, a run and how its calls ended. Out: a `RunContext`. The tools an agent had are those that its
definitions list, those whose signatures its system prompt holds, and those it called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from spanproof.evaluators.actions import ANSWER_TOOLS, is_answer
from spanproof.evaluators.outcomes.calls import MadeCall
from spanproof.evaluators.outcomes.lacks import RUNS_CODE
from spanproof.evaluators.outcomes.model import BROUGHT_NOTHING, NOT_DONE, Account, State, StepOutcome
from spanproof.evaluators.recorded import PROGRAMS, read_unseen_output, records_calls
from spanproof.evaluators.replay import list_offered_tools
from spanproof.reading.answer_words import (
    PRIVATE,
    allows_invention,
    list_topics,
    reports_failure,
)
from spanproof.reading.doings import changes_something
from spanproof.reading.numerals import list_numbers
from spanproof.trace import Language, RecordedCall, Run, Snippet, Span, SpanKind
from spanproof.trace.producers import Part, list_unrecorded

_SIGNATURE = re.compile(r"(?m)^\s*def ([a-z]\w*)\(")
_OWN_MATTER = re.compile(r"\b(?:our|ours|we|unsere?[rnms]?|wir|notre|nos|nuestr[oa]s?)\b", re.IGNORECASE)
_QUERYING = frozenset({Language.SQL, Language.BASH})
_MAX_TEXT = 200_000
_OF_TRACEBACK = re.compile(r"\s+(?:File |at )|\w*(?:Error|Exception)\b")
# Lines with figures from which the output of a program that failed is a report.
_FEWEST_LINES = 3
# Numbers of the task that the code uses from which the task gives its data itself.
_FEWEST_GIVEN = 2


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run was to do, and what it had for it.

    Attributes:
        task_topics: topics of the task.
        offered_tools: the tools that the agent had.
        offered_topics: topics of the names of those that bring data.
        has_data_tools: it had a tool that brings data.
        failed_topics: topics of the tools all of whose calls failed.
        answered_topics: topics of the tools that gave something.
        first_lack: the first step whose failure was not recovered, or that gave no result.
        first_source: the first step after it in which a look-up gave something.
        has_prompt: what the model was given before it wrote its first code is on the trace.
        allows_invention: the task wants values to be made up.
        gives_numbers: the task itself gives the numbers to work with.
        answer_reports_failure: the answer says that something failed.
        is_own_matter: the task is about something of the user's own.
        records_calls: calls of tools, had there been any, would be on this trace.
        records_results: what calls and code gave is on this trace, or a replay gave it.
        continues_talk: earlier turns are not on the trace as steps, so what they did is unknown.
        runs_programs: the agent wrote code or ran a shell, which may do what no call shows.
        nothing_worked: it did more than answer, and none of that gave a result.
        all_failed: all of that failed; none came back empty.
        did_nothing: it did nothing but answer.
        has_source: some tool call or other source gave it something.
        has_report: a program that failed printed figures all the same, as a run of tests does.
    """

    task_topics: frozenset[str] = frozenset()
    offered_tools: frozenset[str] = frozenset()
    offered_topics: frozenset[str] = frozenset()
    has_data_tools: bool = False
    failed_topics: frozenset[str] = frozenset()
    answered_topics: frozenset[str] = frozenset()
    first_lack: int | None = None
    first_source: int | None = None
    has_prompt: bool = True
    allows_invention: bool = False
    gives_numbers: bool = False
    answer_reports_failure: bool = False
    is_own_matter: bool = False
    records_calls: bool = True
    records_results: bool = True
    continues_talk: bool = False
    runs_programs: bool = False
    nothing_worked: bool = False
    all_failed: bool = False
    did_nothing: bool = False
    has_source: bool = True
    has_report: bool = False

    @property
    def records_all(self) -> bool:
        """Whether calls and results of the run are on the trace: only then does an absence count."""
        return self.records_calls and self.records_results

    @property
    def is_private(self) -> bool:
        """Whether the task is about what no model knows, and does not give it."""
        about_own = self.is_own_matter or bool(self.task_topics & PRIVATE)
        return about_own and not self.gives_numbers and self.has_prompt

    @property
    def has_tool_for_task(self) -> bool:
        """Whether there was a tool for the task's own matter, or any that brings data where it is private."""
        return self.was_offered or (self.is_private and self.has_data_tools)

    @property
    def was_offered(self) -> bool:
        """Whether there was a tool for what the task is about, and it gave nothing."""
        unused = self.offered_topics - self.answered_topics
        return bool(self.task_topics & unused) and not self.gives_numbers

    def was_without_data(self, step: int) -> bool:
        """Whether, at this step, the run had failed to get its data, and had got none since."""
        got_since = self.first_source is not None and step > self.first_source
        return self.first_lack is not None and step > self.first_lack and not got_since

    @property
    def should_look_up(self) -> bool:
        """Whether the task is about what the run had a tool for, or about what no model knows."""
        if self.allows_invention or not self.has_data_tools or not self.records_calls:
            return False
        return self.is_private or self.was_offered


def build_context(
    spans: Sequence[Span],
    run: Run,
    account: Account,
    calls: Sequence[MadeCall],
    handed_over: frozenset[str],
    first_lack: int | None,
) -> RunContext:
    """Return what this run was to do and what it had for it.

    Args:
        spans: of the run.
        run: that is judged.
        account: how its parts ended.
        calls: of the run, in order.
        handed_over: ids of snippets that support no value.
        first_lack: the first step that gave no result.
    """
    task = run.task or ""
    offered = frozenset(_iter_offered_tools(spans, run)) - ANSWER_TOOLS
    data_tools = [name for name in offered if _brings_data(name)]
    worked = _select_tools(calls, account, {State.OK})
    failed = _select_tools(calls, account, NOT_DONE)
    programs = [snippet for snippet in run.snippets if snippet.executed and snippet.language in PROGRAMS]
    states = {outcome.state for outcome in _iter_working_outcomes(run, account, handed_over)}
    reports = run.answer is not None and reports_failure(run.answer.text, task)
    runs_programs = bool(programs) or any(call.command for call in calls)
    has_source = any(call.uses_tool and account.calls[call.key].state is State.OK for call in calls)
    is_whole = Part.RESULTS not in list_unrecorded(spans)
    return RunContext(
        task_topics=list_topics(task),
        offered_tools=offered,
        offered_topics=frozenset[str]().union(*map(list_topics, data_tools)),
        has_data_tools=bool(data_tools),
        failed_topics=frozenset[str]().union(*map(list_topics, failed - worked)),
        answered_topics=frozenset[str]().union(*map(list_topics, worked)),
        first_lack=first_lack,
        first_source=_find_source_step(run, account, calls, first_lack),
        has_prompt=_has_prompt(spans, programs),
        allows_invention=allows_invention(task),
        gives_numbers=_gives_numbers(task, programs),
        answer_reports_failure=reports,
        is_own_matter=_OWN_MATTER.search(task) is not None,
        records_calls=records_calls(spans, run),
        records_results=is_whole and _records_results(programs, account, calls),
        continues_talk=_has_earlier_turns(spans),
        runs_programs=runs_programs,
        nothing_worked=bool(states) and states <= BROUGHT_NOTHING,
        all_failed=bool(states) and states <= NOT_DONE,
        did_nothing=not states,
        has_source=has_source,
        has_report=_has_report(programs, account),
    )


def _select_tools(calls: Sequence[MadeCall], account: Account, states: Collection[State]) -> frozenset[str]:
    """Return the tools with a call that ended in one of these states."""
    return frozenset(call.call.tool for call in calls if account.calls[call.key].state in states)


def _brings_data(tool: str) -> bool:
    """Whether a tool gives data, by its name: it neither changes something nor runs code."""
    return not RUNS_CODE.search(tool.lower()) and not changes_something(tool)


def _gives_numbers(task: str, programs: Sequence[Snippet]) -> bool:
    """Whether code works with numbers of the task itself."""
    used = frozenset[str]().union(*(list_numbers(program.source) for program in programs))
    shared = [number for number in list_numbers(task) if number in used and len(number) > 1]
    return len(shared) >= _FEWEST_GIVEN


def _has_earlier_turns(spans: Sequence[Span]) -> bool:
    """Whether the first model call was sent words of the assistant: turns before this run."""
    first = next((span for span in spans if span.kind is SpanKind.LLM), None)
    return first is not None and any(message.role == "assistant" for message in first.input_messages)


def _has_report(programs: Sequence[Snippet], account: Account) -> bool:
    """Whether a program that failed printed figures all the same."""
    failed = [program for program in programs if account.get_snippet_outcome(program).state in NOT_DONE]
    return any(_has_figures(program.logs or program.observation or "") for program in failed)


def _has_figures(printed: str) -> bool:
    """Whether what a program printed has figures outside the lines of a traceback."""
    lines = printed[:_MAX_TEXT].splitlines()
    return sum(bool(list_numbers(line)) and not _OF_TRACEBACK.match(line) for line in lines) >= _FEWEST_LINES


def _records_results(programs: Sequence[Snippet], account: Account, calls: Sequence[MadeCall]) -> bool:
    """Whether it is known what each program and each look-up of a run gave.

    A call without a result may have given what the answer says; one that changes something need not give any.
    What was refused gave nothing.
    """
    ran = [program for program in programs if program.refusal is None]
    if any(account.get_snippet_outcome(program).state is State.UNKNOWN for program in ran):
        return False
    lookups = [call for call in calls if call.uses_tool and not changes_something(call.call.tool)]
    return not any(call.call.result is None and call.outcome.state is State.OK for call in lookups)


def _has_prompt(spans: Sequence[Span], programs: Sequence[Snippet]) -> bool:
    """Whether the trace has what the model was given when it wrote its first code, or at all without code.

    A run whose turns before the code are not recorded may have its data from a file or a message.
    """
    wrote = {program.span_id for program in programs}
    first_ns = min((span.start_ns for span in spans if span.span_id in wrote), default=None)
    return any(
        message.role in {"user", "system", "developer"}
        for span in spans
        if first_ns is None or span.start_ns <= first_ns
        for message in span.input_messages
    )


def _find_source_step(
    run: Run, account: Account, calls: Sequence[MadeCall], first_lack: int | None
) -> int | None:
    """Return the first step after a lack in which a tool, a query or a command gave something."""
    if first_lack is None:
        return None
    lookups = [call for call in calls if call.uses_tool and not changes_something(call.call.tool)]
    steps = [call.step for call in lookups if account.calls[call.key].state is State.OK]
    for step in run.steps:
        queries = [snippet for snippet in step.snippets if snippet.language in _QUERYING]
        steps += [step.number for query in queries if account.get_snippet_outcome(query).state is State.OK]
    return min((number for number in steps if number > first_lack), default=None)


def _iter_offered_tools(spans: Sequence[Span], run: Run) -> Iterator[str]:
    yield from list_offered_tools(spans)
    for step in run.steps:
        for call in step.calls:
            yield call.tool
    for span in spans:
        if span.kind is SpanKind.LLM:
            for message in span.input_messages:
                if message.role == "system":
                    yield from _SIGNATURE.findall(message.text[:_MAX_TEXT])


def _iter_working_outcomes(run: Run, account: Account, handed_over: frozenset[str]) -> Iterator[StepOutcome]:
    """Yield outcomes of what was done for the task: code, and calls outside of code."""
    for step in run.steps:
        ran = [snippet for snippet in step.snippets if snippet.id in account.snippets]
        in_code = list_code_spans(ran)
        for snippet in step.snippets:
            has_run = snippet.id in account.snippets
            if has_run:
                counts = snippet.id not in handed_over
            else:
                counts = snippet.refusal is not None
            if counts:
                yield account.get_snippet_outcome(snippet)
        for position, call in enumerate(step.calls):
            if not is_answer(call) and not is_within(call, ran, in_code):
                yield account.get_call_outcome(step, position)
        if not ran and read_unseen_output(step):
            yield account.steps[step.number]


def list_code_spans(snippets: Sequence[Snippet]) -> frozenset[str]:
    """Return the ids of the spans of code, and of the calls that it made."""
    tapes = (call.span_id for snippet in snippets for call in snippet.tape if call.span_id)
    return frozenset((*tapes, *(snippet.span_id for snippet in snippets)))


def is_within(call: RecordedCall, executed: Sequence[Snippet], code_spans: frozenset[str]) -> bool:
    """Whether a call was made by a snippet, or is the very call that ran one."""
    if call.span_id in code_spans or any(call in snippet.tape for snippet in executed):
        return True
    arguments = [*call.args, *call.kwargs.values()]
    return any(snippet.source in arguments for snippet in executed)
