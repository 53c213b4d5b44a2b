"""How each snippet and each step of a run ended.

In: the steps of a run, the outcomes of its calls, and its replay. Out: the outcome of each snippet and step
with the evidence it rests on. What raised decides first, then the span's status, an exit status, the text, an
exception that code printed, failures that code caught and kept silent about, and last the replay, where the
record shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from spanproof.evaluators.actions import ANSWER_TOOLS, is_answer
from spanproof.evaluators.detect.observation import parse_observation
from spanproof.evaluators.model import NoReplay, Replay, ReplayedStep
from spanproof.evaluators.outcomes.calls import (
    CallOutcomes,
    build_envelope_failure,
    build_error_outcome,
    build_failure,
    find_call_envelope,
)
from spanproof.evaluators.outcomes.failing import COMMON
from spanproof.evaluators.outcomes.model import (
    BROUGHT_NOTHING,
    FAILING,
    NOT_DONE,
    UNKNOWN,
    KnownBy,
    State,
    StepOutcome,
    build_blocked_outcome,
)
from spanproof.evaluators.recorded import read_unseen_output, shows_outcome
from spanproof.evaluators.replay.record import Record, classify_execution, read_record
from spanproof.reading.doings import changes_something
from spanproof.reading.envelopes.emptiness import is_empty
from spanproof.reading.envelopes.model import Envelope
from spanproof.reading.envelopes.read import find_failure
from spanproof.reading.python_facts import PythonFacts, find_python_facts
from spanproof.reading.shell_commands import read_command
from spanproof.reading.tool_kinds import ToolKind, classify_tool
from spanproof.sandbox import FailureClass
from spanproof.trace import Language, Snippet, SpanError, Step

_PRINTS = re.compile(r"\bprint\s*\(|\becho\b|console\.log|\bSELECT\b", re.IGNORECASE)
_ABSENT_TYPE = re.compile(r"(?:Lookup|Key|Index)Error|\w*NotFound(?:Error)?|\w*DoesNotExist|\w*NoResult\w*")
_ABSENT = re.compile(
    r"\b404\b|\b(?:not|n.t) (?:be )?found\b|\w+_NOT_FOUND\b|\bnot on file\b|\bdoes(?: not|n.t) exist\b"
    r"|\bno \w+ (?:of|with|by|for) (?:that|this)\b|\bno such"
    r" (?!table|column|function|module|host|tool|option|command)|\bunknown"
    r" (?:id|customer|user|order|product|name|city|key|item|number|account|sensor)\b",
    re.IGNORECASE,
)
_NOT_ABSENT = re.compile(
    r"(?:Module|Command|Tool|Table|Column)\w*NotFound|ToolNotFound"
    r"|\b(?:table|column|relation|function|module|tool)\b.{0,60}\bdoes(?: not|n.t) exist\b",
    re.IGNORECASE,
)
_NOT_EMPTY = frozenset(State) - {State.EMPTY}
_READERS = frozenset(
    str.split("open read_csv read_json read_excel read_parquet read_sql glob listdir urlopen requests httpx")
)


def build_snippet_outcome(
    step: Step,
    snippet: Snippet,
    replay: Replay | NoReplay,
    outcomes: CallOutcomes,
    defaulting: Collection[str] = (),
) -> StepOutcome:
    """Return how a snippet ended.

    Args:
        step: that it is of.
        snippet: that ran.
        replay: of the run.
        outcomes: of the run's calls.
        defaulting: span ids of code that put a default in place of a call that failed.
    """
    if snippet.refusal is not None:
        return build_blocked_outcome(snippet.refusal)
    record = read_record(snippet)
    again = replay.find_step(snippet.id) if isinstance(replay, Replay) else None
    replayed = classify_execution(record, again.execution) if again is not None else None
    error = snippet.error or _find_step_error(step, snippet)
    if error is not None:
        return build_error_outcome(error, replayed)
    if record.failure_class is None:
        return _build_replay_outcome(again, replayed)
    failed = _find_printed_failure(step, snippet, record, replayed)
    if failed is not None:
        return failed
    if record.failure_class is not FailureClass.OK:
        return build_failure(record.failure_class, KnownBy.EXIT_STATUS, None, "", replayed)
    state = State.EMPTY if _is_output_missing(step, snippet, record) else State.OK
    ended = StepOutcome(state, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK, replayed=replayed)
    calls = list_code_calls(step, snippet, outcomes)
    if snippet.span_id in defaulting:
        failed_call = next(outcome for _, outcome in calls if outcome.state in NOT_DONE)
        return _build_swallowed_outcome(failed_call, ended)
    return _find_swallowed_failure(snippet.source, calls, ended) or ended


def _find_step_error(step: Step, snippet: Snippet) -> SpanError | None:
    """Return the error of a step where it is its code's and nothing else shows how this ended."""
    if _is_error_of_a_call(step, snippet) or shows_outcome(step, snippet, own=True):
        return None
    return step.error


def _find_printed_failure(
    step: Step, snippet: Snippet, record: Record, replayed: FailureClass | None
) -> StepOutcome | None:
    """Return the failure that code prints: an exception it caught, or what its output reports."""
    printed = _get_printed_text(record)
    facts = find_python_facts(snippet.source) if snippet.language is Language.PYTHON else None
    caught = facts.find_printed_exception(printed) if facts is not None else None
    if caught is not None:
        by_text = build_failure(FailureClass.EXCEPTION, KnownBy.PRINTED_EXCEPTION, None, caught, replayed)
    else:
        reported = _find_reported_failure(step, snippet, record, printed)
        if reported is None:
            return None
        by_text = build_envelope_failure(reported, replayed)
    if record.failure_class is None or record.failure_class is FailureClass.OK:
        return by_text
    return build_failure(record.failure_class, by_text.known_by, by_text.error_type, by_text.quote, replayed)


def _is_error_of_a_call(step: Step, snippet: Snippet) -> bool:
    """Whether the error of a step is that of another call in it, which says nothing of this code."""
    others = (call for call in step.calls if call.span_id != snippet.span_id and call not in snippet.tape)
    return any(call.error is not None and call.error == step.error for call in others)


def list_code_calls(step: Step, snippet: Snippet, outcomes: CallOutcomes) -> list[tuple[str, StepOutcome]]:
    """Return the calls that code made, without those that hand over an answer, and how each ended."""
    facts = find_python_facts(snippet.source) if snippet.language is Language.PYTHON else None
    if facts is None:
        return []
    made = snippet.tape or tuple(call for call in step.calls if call.span_id != snippet.span_id)
    return [
        (call.tool, outcomes.get(call)) for call in made if call.tool in facts.called_names - ANSWER_TOOLS
    ]


def _build_replay_outcome(again: ReplayedStep | None, replayed: FailureClass | None) -> StepOutcome:
    """Return the outcome of code of which the record shows nothing."""
    if again is None or replayed is None or again.flaky:
        return UNKNOWN  # another seed or time, another outcome: there is none to give
    if replayed is FailureClass.OK:
        return StepOutcome(State.OK, replayed, KnownBy.REPLAY, replayed=replayed)
    raised = again.execution.raised
    name, message = (raised.type, raised.message) if raised is not None else (None, "")
    return replace(build_failure(replayed, KnownBy.REPLAY, name, message, replayed), recorded=None)


def _get_printed_text(record: Record) -> str:
    printed = record.stdout if record.stdout is not None else record.shown
    return printed or (record.output.text if record.output is not None else "") or ""


def _find_reported_failure(step: Step, snippet: Snippet, record: Record, text: str) -> Envelope | None:
    """Return the failure that the output of code reports, None where it reports none."""
    is_own_interpreter = record.shown is None and snippet.language is Language.PYTHON
    if is_own_interpreter:
        # What an agent's own interpreter prints is the code's: words of failure in it may be its data.
        return _find_relayed_failure(step, snippet, text)
    value = record.output.value if record.output is not None else None
    command = snippet.source if snippet.language is Language.BASH else ""
    return find_failure(text, classify_tool("", snippet.language), value, command)


def _find_relayed_failure(step: Step, snippet: Snippet, text: str) -> Envelope | None:
    """Return a failure that a tool reported to the code, and that the code only showed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for call in snippet.tape or step.calls:
        if call.result is None or is_answer(call):
            continue
        found = find_call_envelope(call)
        if found is not None and found.failed and lines and call.result.text.strip().endswith(lines[-1]):
            return found
    if "Traceback (most recent call last)" in text:
        return find_failure(text, ToolKind.PYTHON)
    return None


def _is_output_missing(step: Step, snippet: Snippet, record: Record) -> bool:
    """Whether code was to show something, and showed nothing."""
    looks_up = snippet.language is Language.BASH and read_command(snippet.source).looks_up
    if snippet.is_final or not (looks_up or _PRINTS.search(snippet.source)):
        return False
    shown = record.stdout if record.stdout is not None else record.shown
    if shown is None:
        shown = parse_observation(step.observation).logs
    value = record.output.value if record.output is not None else None
    has_value = value not in (None, "", "None", [], {})
    return shown is not None and not has_value and is_empty(shown, kind=classify_tool("", snippet.language))


def build_step_outcome(
    step: Step, snippets: Mapping[str, StepOutcome], calls: Mapping[tuple[int, int], StepOutcome]
) -> StepOutcome:
    """Return the last outcome of a step's code, else of the first call that failed, else of its calls.

    A refused call counts only where nothing else was done.
    """
    if step.refusal is not None:
        return build_blocked_outcome(step.refusal)
    of_code = [snippets[snippet.id] for snippet in step.snippets if snippet.id in snippets]
    decided = [outcome for outcome in of_code if outcome.state is not State.UNKNOWN]
    if decided:
        return _find_outcome(decided, FAILING) or decided[-1]
    of_calls = [calls[step.number, at] for at, call in enumerate(step.calls) if not is_answer(call)]
    made = [outcome for outcome in of_calls if outcome.state is not State.BLOCKED]
    failed = _find_outcome(made, FAILING)
    if failed is not None:
        return failed
    # A refused call may have left its error on the step.
    if step.error is not None and not any(call.refusal for call in step.calls):
        return build_error_outcome(step.error)
    if made:
        return _find_outcome(made, _NOT_EMPTY) or made[-1]
    if read_unseen_output(step):
        return StepOutcome(State.OK, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK)
    return UNKNOWN


def _find_outcome(outcomes: Iterable[StepOutcome], states: Collection[State]) -> StepOutcome | None:
    """Return the first outcome in one of these states."""
    return next((outcome for outcome in outcomes if outcome.state in states), None)


# Failures that code caught and kept silent about: the code ended well, and what it was after did not come.


def reports_absence(outcome: StepOutcome) -> bool:
    """Whether a failure says that what was looked for is not there: a look-up that found nothing."""
    kind = outcome.error_type or ""
    if _NOT_ABSENT.search(kind) or _NOT_ABSENT.search(outcome.quote):
        return False
    return _ABSENT_TYPE.fullmatch(kind) is not None or _ABSENT.search(outcome.quote) is not None


def _find_swallowed_failure(
    source: str, calls: Sequence[tuple[str, StepOutcome]], ended: StepOutcome
) -> StepOutcome | None:
    """Return the outcome of code all of whose calls failed or came back empty, None where it is not so.

    A look-up whose error says that there is no such thing, and whose handler puts nothing in its place, came
    back empty.
    """
    if not calls:
        return None
    tools, outcomes = zip(*calls, strict=True)
    if any(outcome.state not in BROUGHT_NOTHING for outcome in outcomes):
        return None
    facts = find_python_facts(source)
    if facts is None or _brings_data(facts, tools):
        return None
    failed = [outcome for outcome in outcomes if outcome.state in NOT_DONE]
    if not failed:
        looked_up = facts.shows_value and not any(map(changes_something, tools))
        return replace(ended, state=State.EMPTY) if looked_up else None
    # A failed call says more about the code than a refused one.
    last = _find_outcome(reversed(failed), FAILING) or failed[-1]
    puts_in_place = any(any(handler.has_own_value) for handler in facts.handlers)
    if all(map(reports_absence, failed)) and not puts_in_place:
        return StepOutcome(
            State.EMPTY, ended.failure_class, KnownBy.SWALLOWED, None, last.quote, ended.recorded
        )
    return _build_swallowed_outcome(last, ended)


def _build_swallowed_outcome(failure: StepOutcome, ended: StepOutcome) -> StepOutcome:
    """Return the outcome of code that swallowed this failure, or this refusal."""
    return replace(
        failure, known_by=KnownBy.SWALLOWED, recorded=failure.failure_class, replayed=ended.replayed
    )


def _brings_data(facts: PythonFacts, tools: Collection[str]) -> bool:
    """Whether code reads a file, a variable of an earlier step, or calls what the trace has no call of."""
    names = facts.used_names | (facts.attributes & _READERS)
    return bool(names & _READERS) or bool(names - facts.stored_names - COMMON - set(tools))
