"""`spanproof eval` on traces with hostile snippets: as root and as a user, none passes the boundary.

Each trace is a run of an agent: a hostile step before an innocent one, or a whole hostile session. Every
second program of the corpus takes part, so that each kind does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from run_once import RunOnce

from spanproof.trace.otlp import ExportTraceServiceRequest, build_any_value, encode_protobuf

from .machine import Machine
from .snippets import HOSTILE
from .snippets.sessions import SESSIONS

HERE = Path(__file__).parent
WALLS = ["root", "user"] if os.geteuid() == 0 else ["user"]
SILENT = frozenset({"process"})
"""Kinds of attempts that are no refusals."""
ACTS_LATER = frozenset({"streams whose end is a deed"})
"""Programs whose streams stay: the next step prints to them, and does the deed itself."""
TRYING = [
    each
    for each in HOSTILE
    if each.on_record is not None
    and each.name not in ACTS_LATER
    and each.on_record[0] not in SILENT
    and each.recorded is None
    and each.tests is None
    and each.language == "python"
    and "timeout" not in each.classes
]
SINGLE = TRYING[::2]
INNOCENT = "print(end='')"


def encode_span(trace: int, number: int, parent: int, name: str, **values: object) -> Span:
    attributes = [
        KeyValue(key=key.replace("__", "."), value=build_any_value(each)) for key, each in values.items()
    ]
    return Span(
        trace_id=trace.to_bytes(16, "big"), span_id=number.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"", name=name,
        start_time_unix_nano=1000 + number, end_time_unix_nano=2000 + number, attributes=attributes,
    )  # fmt: skip


def encode_run(trace: int, sources: list[str]) -> ExportTraceServiceRequest:
    spans = [encode_span(trace, 1, 0, "agent", openinference__span__kind="AGENT", input__value="Do it")]
    for number, source in enumerate(sources, 1):
        step = {"spanproof__code__source": source, "spanproof__step__number": number}
        step |= {"spanproof__code__language": "python", "spanproof__execution__logs": ""}
        name = f"Step {number}"
        spans.append(encode_span(trace, number + 1, 1, name, openinference__span__kind="CHAIN", **step))
    scope = InstrumentationScope(name="spanproof.instrumentors.smolagents")
    scoped = ScopeSpans(scope=scope, spans=spans)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scoped])])


@pytest.fixture(scope="module", params=WALLS)
def scores(
    request: pytest.FixtureRequest, machine: Machine, run_once: RunOnce
) -> list[dict[tuple[str, str], dict[str, Any]]]:
    """By trace, the scores of its run by name and span."""
    found = run_once(f"evaluations-{request.param}", lambda: evaluate_all(request.param, machine))
    return [{(each["name"], each["span_id"]): each for each in scores} for scores in found]


def evaluate_all(wall: str, machine: Machine) -> list[list[dict[str, Any]]]:
    """Evaluate a trace of each program as this user, and return the scores of each."""
    runs = [[machine.filled(each.source, os.getpid()), INNOCENT] for each in SINGLE]
    runs += [list(each.steps) for each in SESSIONS]
    with TemporaryDirectory() as name:  # not pytest's own, which no other user may enter
        directory = Path(name)
        directory.chmod(0o755)
        files = []
        for number, sources in enumerate(runs, 1):
            files.append(directory / f"{number:04}.pb")
            files[-1].write_bytes(encode_protobuf(encode_run(number, sources)))
        command = [sys.executable, "-m", "spanproof.cli", "eval", "--json", *map(str, files)]
        if wall == "user" and os.geteuid() == 0:
            command = [sys.executable, str(HERE / "unprivileged.py"), *command]
        environment = {**os.environ, "HOME": name, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    rows = {int(row["trace_id"], 16): row for row in map(json.loads, done.stdout.splitlines())}
    assert len(rows) == len(runs), done.stderr[-2000:]
    return [rows[number]["runs"][0]["scores"] for number in range(1, len(runs) + 1)]


def label(scores: dict[tuple[str, str], dict[str, Any]], name: str, span: int) -> str:
    score = scores[name, f"{span:016x}"]
    return str(score["outcome"] if score["outcome"] != "scored" else score["label"] or "uncertain")


def test_enough_programs_take_part() -> None:
    assert len(SINGLE) + len(SESSIONS) >= 120


@pytest.mark.load
def test_no_run_with_a_hostile_step_passes_and_no_innocent_step_is_blamed(
    scores: list[dict[tuple[str, str], dict[str, Any]]],
) -> None:
    wrong = []
    for each, found in zip(SINGLE, scores, strict=False):
        of_run = label(found, "boundary", 1), label(found, "attempts", 2), label(found, "attempts", 3)
        if of_run[0] not in ("fail", "uncertain") or of_run[1] not in ("fail", "uncertain"):
            wrong.append((each.name, of_run))
        # What the interpreter is refused as it ends may be any step's doing: then no step is sure.
        elif of_run[2] not in ("pass", "skipped", *(("uncertain",) if of_run[1] == "uncertain" else ())):
            wrong.append((each.name, "the innocent step", of_run))
    assert not wrong


@pytest.mark.load
def test_in_a_hostile_session_each_step_has_its_own_verdict(
    scores: list[dict[tuple[str, str], dict[str, Any]]],
) -> None:
    wrong = []
    for each, found in zip(SESSIONS, scores[len(SINGLE) :], strict=True):
        for number in range(len(each.steps)):
            verdict = label(found, "attempts", number + 2)
            if number in each.on_record:
                expected = {"fail"}
            elif number in each.unsure:
                expected = {"uncertain"}
            else:
                expected = {"pass", "skipped"}
            if verdict not in expected:
                wrong.append((each.name, number, verdict))
        if each.on_record and label(found, "boundary", 1) not in ("fail", "uncertain"):
            wrong.append((each.name, "the run"))
    assert not wrong
