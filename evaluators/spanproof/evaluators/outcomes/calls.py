"""The calls of a run, each with its envelope and its outcome.

In: the steps of a run. Out: `MadeCall`s in order: a call with what it ran and how it ended. What raised
first, then a refusal, then what the result says of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.call_targets import get_arguments
from spanproof.evaluators.outcomes.model import KnownBy, State, StepOutcome, build_blocked_outcome
from spanproof.evaluators.replay.record import classify_recorded_error, find_raised_type
from spanproof.reading.doings import changes_something, is_for_refusing, is_refused
from spanproof.reading.envelopes.documents import find_result_document
from spanproof.reading.envelopes.model import Envelope, EnvelopeForm, EnvelopeStatus
from spanproof.reading.envelopes.read import read_envelope
from spanproof.reading.envelopes.texts import find_refusal
from spanproof.reading.tool_kinds import ToolKind, classify_tool
from spanproof.sandbox import FailureClass
from spanproof.trace import JsonValue, RecordedCall, Run, Snippet, SpanError, Step

_STOPPED = frozenset(
    {FailureClass.TIMEOUT, FailureClass.OUT_OF_MEMORY, FailureClass.OUTPUT_LIMIT, FailureClass.KILLED}
)
_REFUSED = frozenset({FailureClass.PERMISSION_DENIED, FailureClass.UNSAFE_OPERATION})
_MAX_QUOTE = 200
_NO_RETURN_VALUE = frozenset(("", "None", "null", "{}", "[]", '""', "''"))
# Arguments in which shell tools take their command.
_COMMAND_NAMES = ("command", "cmd", "commands", "script", "code", "bash", "shell", "input")
_KNOWN_BY = {
    EnvelopeForm.STRUCTURED: KnownBy.STRUCTURED_RESULT,
    EnvelopeForm.EXIT_STATUS: KnownBy.EXIT_STATUS,
    EnvelopeForm.TEXT: KnownBy.ERROR_TEXT,
}


@dataclass(frozen=True, slots=True)
class MadeCall:
    """One tool call that was made.

    Attributes:
        step, position: number of its step, and its place among the step's calls.
        command: the shell command that it ran; empty where it ran none.
        snippet: the code that this very call ran, None where it ran none.
        outcome: how it ended, by what its own span shows.
        is_answer: it only hands over the answer.
    """

    step: int
    position: int
    span_id: str
    call: RecordedCall
    command: str
    snippet: Snippet | None
    outcome: StepOutcome
    is_answer: bool

    @property
    def key(self) -> tuple[int, int]:
        """What an account has its outcome by."""
        return self.step, self.position

    @property
    def uses_tool(self) -> bool:
        """Whether it neither ran code nor handed over the answer."""
        return self.snippet is None and not self.is_answer

    @property
    def result(self) -> str:
        """What it returned, as text; empty where that is not on the trace."""
        return self.call.result.text if self.call.result is not None else ""

    @property
    def arguments(self) -> dict[str, JsonValue]:
        """Its arguments by name."""
        return get_arguments(self.call)


class CallOutcomes:
    """How each call ended, decided once per call."""

    def __init__(self) -> None:
        self._outcomes: dict[int, tuple[RecordedCall, StepOutcome]] = {}

    def get(self, call: RecordedCall) -> StepOutcome:
        """Return how a call ended."""
        decided = self._outcomes.get(id(call))
        if decided is None:
            decided = self._outcomes[id(call)] = (call, _build_call_outcome(call))
        return decided[1]


def iter_made_calls(run: Run, outcomes: CallOutcomes) -> Iterator[MadeCall]:
    """Yield the calls of a run, in order."""
    for step in run.steps:
        for position, call in enumerate(step.calls):
            yield MadeCall(
                step.number,
                position,
                call.span_id or step.span_id,
                call,
                get_command(call),
                find_call_snippet(step, call),
                outcomes.get(call),
                is_answer(call),
            )


def find_call_snippet(step: Step, call: RecordedCall) -> Snippet | None:
    """Return the code that this very call ran, None where it ran none."""
    arguments = [*call.args, *call.kwargs.values()]
    for snippet in step.snippets:
        is_of_call = snippet.span_id == call.span_id or snippet.source in arguments
        if snippet.executed and is_of_call:
            return snippet
    return None


def get_command(call: RecordedCall) -> str:
    """Return the shell command that a call ran; empty where it ran none."""
    if classify_tool(call.tool) is not ToolKind.SHELL:
        return ""
    texts = {name: value for name, value in get_arguments(call).items() if isinstance(value, str)}
    for name in _COMMAND_NAMES:
        if name in texts:
            return texts[name]
    return next(iter(texts.values())) if len(texts) == 1 else ""


def find_call_envelope(call: RecordedCall) -> Envelope | None:
    """Return what a call's result says of itself, None where there is no result or it is the answer."""
    if call.result is None:
        return None
    arguments = (*call.args, *call.kwargs.values())
    kind = classify_tool(call.tool)
    is_doing = changes_something(call.tool)
    envelope = read_envelope(
        call.result.text, kind, call.result.value, get_command(call), arguments, is_batch=is_doing
    )
    if envelope.failed or not is_doing:
        return envelope
    value = call.result.value
    document = value if isinstance(value, dict | list) else find_result_document(call.result.text)
    if isinstance(document, dict) and is_refused(call.tool, document, arguments):
        return Envelope(EnvelopeStatus.FAILED, EnvelopeForm.STRUCTURED, call.result.text[:_MAX_QUOTE])
    refusal = None if is_for_refusing(call.tool) else find_refusal(call.result.text)
    return refusal or envelope


def _build_call_outcome(call: RecordedCall) -> StepOutcome:
    if call.refusal is not None:
        return build_blocked_outcome(call.refusal)
    if call.error is not None:
        return build_error_outcome(call.error)
    if call.result is None:
        # The span ended without an error; what it returned is not on the trace.
        return StepOutcome(State.OK, FailureClass.OK, KnownBy.SPAN_STATUS, recorded=FailureClass.OK)
    envelope = find_call_envelope(call)
    is_doing = changes_something(call.tool)
    if envelope is None or (is_answer(call) and envelope.status is not EnvelopeStatus.EMPTY):
        return StepOutcome(State.OK, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK)
    if envelope.failed:
        return build_envelope_failure(envelope)
    batch = envelope if envelope.status is EnvelopeStatus.PARTIAL and is_doing else None
    if batch is not None and batch.done_count == 0:
        return build_failure(FailureClass.EXCEPTION, KnownBy.STRUCTURED_RESULT, None, batch.quote)
    # An operation that works may return nothing at all; one that says "0 rows" did nothing.
    returns_nothing = is_doing and call.result.text.strip() in _NO_RETURN_VALUE
    state = State.EMPTY if envelope.status is EnvelopeStatus.EMPTY and not returns_nothing else State.OK
    return StepOutcome(state, FailureClass.OK, KnownBy.RESULT, recorded=FailureClass.OK, batch=batch)


def build_envelope_failure(envelope: Envelope, replayed: FailureClass | None = None) -> StepOutcome:
    """Return the outcome of what an envelope says failed."""
    named = SpanError(envelope.error_type, envelope.quote)
    failure_class = classify_recorded_error(named) if envelope.error_type else FailureClass.EXCEPTION
    return build_failure(
        failure_class, _KNOWN_BY[envelope.form], envelope.error_type, envelope.quote, replayed
    )


def build_error_outcome(error: SpanError, replayed: FailureClass | None = None) -> StepOutcome:
    """Return the outcome of what a span's error ended."""
    known_by = KnownBy.RAISED if error.type is not None else KnownBy.SPAN_STATUS
    return build_failure(
        classify_recorded_error(error), known_by, find_raised_type(error), error.message, replayed
    )


def build_failure(
    failure_class: FailureClass,
    known_by: KnownBy,
    error_type: str | None,
    quote: str,
    replayed: FailureClass | None = None,
) -> StepOutcome:
    """Return the outcome of what failed, was stopped or was refused, by its class."""
    state = State.FAILED
    if failure_class in _STOPPED:
        state = State.STOPPED
    elif failure_class in _REFUSED:
        state = State.REFUSED
    return StepOutcome(
        state, failure_class, known_by, error_type, quote[:_MAX_QUOTE], failure_class, replayed
    )
