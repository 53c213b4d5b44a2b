"""Code that DSPy's CodeAct ran: only the trajectory of the whole run says what became of it.

Takes the spans of a request; gives each prediction of code its code and what it came to. Without the agent's
span in the same request they stay as they are, and the code is code that a model wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from spanproof.trace import ExecutedCode, JsonValue, Span, SpanKind
from spanproof.trace.dialects.decode import as_text, decode_document
from spanproof.trace.dialects.failures import from_text

# An export may have no scopes.
_SCOPES: Final = ("openinference.instrumentation.dspy", "")
# Between a prediction and its model call: modules, and the adapter.
_MOST_LEVELS: Final = 8

_FAILED: Final = "Failed to execute the generated code: "
_Trajectory = Mapping[str, JsonValue]


def with_code_that_ran(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with the code of CodeAct's predictions, and its output or its error."""
    runs = {
        (span.trace_id, span.span_id): found
        for span in spans
        if span.kind is SpanKind.AGENT and span.scope in _SCOPES and (found := _find_trajectory(span))
    }
    if not runs:
        return list(spans)
    numbers: Counter[tuple[str, str]] = Counter()
    steps = _group_steps(spans)
    made: dict[tuple[str, str], Span] = {}
    for span in sorted(spans, key=lambda item: item.start_ns):
        run = (span.trace_id, span.parent_id or "")
        if run in runs and "generated_code" in _read_fields(span):
            step = steps.get((span.trace_id, span.span_id), span)
            made[step.trace_id, step.span_id] = _with_code(step, runs[run], numbers[run])
            numbers[run] += 1
    return [made.get((span.trace_id, span.span_id), span) for span in spans]


def _group_steps(spans: Sequence[Span]) -> dict[tuple[str, str], Span]:
    """Return the span around the last model call within each span, by the latter."""
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    found: dict[tuple[str, str], Span] = {}
    for call in sorted(spans, key=lambda item: item.start_ns):
        if call.kind is SpanKind.LLM:
            step = by_id.get((call.trace_id, call.parent_id or ""))
        else:
            step = None
        above = step
        for _ in range(_MOST_LEVELS):
            if step is None or above is None:
                break
            found[above.trace_id, above.span_id] = step
            above = by_id.get((above.trace_id, above.parent_id or ""))
    return found


def _with_code(span: Span, run: _Trajectory, number: int) -> Span:
    source = run.get(f"generated_code_{number}")
    if not isinstance(source, str):
        return span  # it could not be parsed, so that it did not run
    shown = run.get(f"code_output_{number}")
    noted = as_text(run.get(f"observation_{number}"))
    if noted.startswith(_FAILED):
        error = from_text(noted.removeprefix(_FAILED))
    else:
        error = span.error
    observation = None if shown is None else as_text(decode_document(shown))
    code = ExecutedCode(source, f"output.trajectory.generated_code_{number}", "python")
    # Its own output is the model's message, which the model call has.
    return replace(span, code=code, output=None, observation=observation, error=error)


def _find_trajectory(span: Span) -> _Trajectory | None:
    found = _read_fields(span).get("trajectory")
    if isinstance(found, dict) and "generated_code_0" in found:
        return found
    return None


def _read_fields(span: Span) -> Mapping[str, JsonValue]:
    value = decode_document(span.attributes.get("output.value"))
    return value if isinstance(value, dict) else {}
