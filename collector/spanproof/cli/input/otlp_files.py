"""Traces from OTLP files."""

from __future__ import annotations

from pathlib import Path

from spanproof.cli.problems import UsageProblem
from spanproof.trace import Span, Trace, trace_of
from spanproof.trace.dialects import normalise
from spanproof.trace.otlp import MalformedOtlp, read_what_is_good

_REMEDY = "Give OTLP trace data: .pb (protobuf), .json, or .jsonl (one request a line)."


def read_traces(file: Path) -> tuple[list[Trace], list[UsageProblem]]:
    """Return the traces of one OTLP file, in the order of their first span, and what could not be read."""
    spans: dict[str, list[Span]] = {}
    try:
        requests, malformed = read_what_is_good(file)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        return [], [UsageProblem(f"{file} cannot be read: {reason}", "Give the path of an OTLP file.")]
    except MalformedOtlp as failure:
        requests, malformed = [], [failure]
    for request in requests:
        for span in normalise(request):
            spans.setdefault(span.trace_id, []).append(span)
    problems = [UsageProblem(str(each), _REMEDY) for each in malformed]
    return [trace_of(of_trace) for of_trace in spans.values()], problems
