"""Traces from files: OTLP, or what another product exported."""

from __future__ import annotations

from pathlib import Path

from spanproof.cli.problems import UsageProblem
from spanproof.trace import Span, Trace, trace_of
from spanproof.trace.dialects import normalise
from spanproof.trace.exports import read_file
from spanproof.trace.otlp import MalformedOtlp

_REMEDY = (
    "Give OTLP trace data (.pb, .json, .jsonl), or an export of Jaeger, Langfuse, LangSmith, MLflow, Phoenix"
    " or Weave (.json, .jsonl, .parquet)."
)


def read_traces(file: Path) -> tuple[list[Trace], list[UsageProblem]]:
    """Return the traces of one file, in the order of their first span, and what could not be read."""
    spans: dict[str, list[Span]] = {}
    try:
        requests, malformed = read_file(file)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        return [], [UsageProblem(f"{file} cannot be read: {reason}", "Give the path of a file with traces.")]
    except MalformedOtlp as failure:
        requests, malformed = [], [failure]
    for request in requests:
        for span in normalise(request):
            spans.setdefault(span.trace_id, []).append(span)
    problems = [UsageProblem(str(each), _REMEDY) for each in malformed]
    return [trace_of(of_trace) for of_trace in spans.values()], problems
