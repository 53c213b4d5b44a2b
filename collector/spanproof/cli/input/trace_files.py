"""Traces from files: OTLP, or what another product exported."""

from __future__ import annotations

from pathlib import Path

from spanproof.cli.problems import UsageProblem
from spanproof.trace import Trace, dialects
from spanproof.trace.exports import read_file
from spanproof.trace.otlp import MalformedOtlp

_REMEDY = (
    "Give OTLP trace data (.pb, .json, .jsonl), an export of Datadog, Jaeger, Langfuse, LangSmith, Logfire,"
    " MLflow, Phoenix, Weave or Zipkin (.json, .jsonl, .csv, .parquet), printed spans (.json, .log, .txt), or"
    " a transcript (.json, .jsonl, .eval, .traj)."
)


def read_traces(file: Path) -> tuple[list[Trace], list[UsageProblem]]:
    """Return the traces of one file, in the order of their first span, and what could not be read."""
    try:
        requests, malformed = read_file(file)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        return [], [UsageProblem(f"{file} cannot be read: {reason}", "Give the path of a file with traces.")]
    except MalformedOtlp as failure:
        requests, malformed = [], [failure]
    problems = [UsageProblem(str(item), _REMEDY) for item in malformed]
    return dialects.read_traces(requests), problems
