"""What the console's tests look at: runs evaluated for real, with hostile text, sessions and a long trace."""

from __future__ import annotations

import struct
import time
import zlib
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.experiments import Trial, TrialVerdict
from spanproof.experiments.folder import ExperimentFolder
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store
from spanproof.suites import promote_run
from spanproof.trace import Cause, Errored, Layer, Outcome, Skipped, Trace, digest, trace_of

from ..suites.conftest import misquote

FAILING, SPOILT, LONG, QUOTING = "5" * 32, "6" * 32, "8" * 32, "9" * 32
"""Ids of the run that misquotes its tool, of the same with hostile text, of the trace of 4,000 spans, and of
a run whose output holds the characters of its answer twice."""
OPEN, ERRORED, DISPUTED = "4" * 32, "7" * 32, "d" * 32
"""Ids of a run of whose answer one claim is grounded and two are open, of a run whose evaluation failed in
one layer and had nothing to judge in two, and of a failing run that a person calls right."""
SPANS, STEPS = 4_000, 1_333
IMAGE_WIDTH = 640
HOSTILE = (
    "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=2</script>"
    "\"><svg onload=window.hacked=3>\u202egnp.exe\x1b[31m javascript:window.hacked=4"
)  # fmt: skip
TENANT = 'acme "north" \\ co'
"""The value of an attribute, with all that a query line must quote."""


def fill(store: Store, workspace: Path) -> None:
    """Write runs into the store, and a suite of the failing one into the workspace."""
    engine = recorded_engine()
    with open_sandbox("jail") as sandbox:
        replaying = Engine(pipeline=Pipeline(), sandbox=sandbox)
        store.write([replaying.evaluate(misquote()), engine.evaluate(hostile(misquote()))])
    store.write_spans([conversation()])
    passing = [
        engine.evaluate(with_id(misquote("A box of tea costs $45.00."), number)) for number in range(300)
    ]
    unsure = [engine.evaluate(with_id(misquote("I do not know."), 0x1000 + number)) for number in range(6)]
    store.write([*passing, *unsure, engine.evaluate(long_trace()), engine.evaluate(quoting())])
    store.write([engine.evaluate(half_checked()), errored(engine.evaluate(quoting()))])
    store.write([engine.evaluate(disputed())])
    evaluation = store.evaluation(FAILING)
    assert evaluation is not None, "the store has the failing run"
    case = promote_run(evaluation, "a" * 16, workspace / "prices")
    write_experiment(workspace, case.id)


def write_experiment(workspace: Path, case: str) -> None:
    """Write an experiment whose trials did not pass, and one of a trial that is open."""
    failed = Trial(
        case, 1, TrialVerdict.FAILED, HOSTILE, Layer.GROUNDEDNESS, layers={"groundedness": "fail"},
        answer=f"A box of tea costs $54.00. {HOSTILE}", cost_usd=0.0021, wall_s=1.4, tokens=812,
    )  # fmt: skip
    left_open = Trial(
        case, 1, TrialVerdict.UNJUDGED, "no source has 300", layers={"groundedness": "uncertain"},
        answer="300 boxes were sold.", cost_usd=0.0019, wall_s=1.2, tokens=790,
    )  # fmt: skip
    for name, trials in (("nightly", (failed, replace(failed, number=2))), ("weekly", (left_open,))):
        results = ExperimentFolder(workspace / name)
        results.load_trials({"suite": str((workspace / "prices").resolve()), "agent": {"target": HOSTILE}})
        for trial in trials:
            results.add_trial(trial)


def recorded_engine() -> Engine:
    """Return an engine that replays nothing."""
    return Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test")


def conversation() -> ExportTraceServiceRequest:
    """Roots of traces that make two sessions of them: the failing trace has hostile text as the session's id,
    three others are one session of a user and a tenant."""
    roots = [_root(FAILING, 0, {"session.id": HOSTILE[:60]})]
    for number in range(3):
        named = {"session.id": "chat/17", "user.id": "ada", "tenant.id": TENANT}
        roots.append(_root(f"{0xA000 + number:032x}", number + 1, named))
    scope = ScopeSpans(spans=roots)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])])


def _root(trace_id: str, number: int, attributes: dict[str, str]) -> Span:
    return Span(
        trace_id=bytes.fromhex(trace_id),
        span_id=f"session{number}".encode(),
        name="turn",
        start_time_unix_nano=time.time_ns(),
        end_time_unix_nano=time.time_ns(),
        attributes=[
            KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()
        ],
    )


def with_id(trace: Trace, number: int) -> Trace:
    """Return the trace under another id."""
    return trace_of([replace(span, trace_id=f"{0xA000 + number:032x}") for span in trace.spans])


def hostile(trace: Trace) -> Trace:
    """Return the trace with hostile text in every field that a page shows."""

    def spoil(span):
        changed = {"name": HOSTILE, "trace_id": SPOILT, "attributes": {HOSTILE: HOSTILE}}
        if span.agent:
            changed["agent"] = HOSTILE
        if span.code:
            changed["code"] = replace(span.code, source=f"x = {HOSTILE!r}\nprint(x)", logs=HOSTILE)
            changed["observation"] = HOSTILE
        if span.tool:
            changed["tool"] = replace(span.tool, name=HOSTILE)
        if span.input:
            changed["input"] = replace(span.input, text=HOSTILE, value=HOSTILE)
        if span.output:
            changed["output"] = replace(span.output, text=f"$54.00 {HOSTILE}", value=HOSTILE)
        return replace(span, **changed)

    return trace_of([spoil(span) for span in trace.spans])


def quoting() -> Trace:
    """Return a run that quotes the second of two prices; the first one ends with the same characters."""
    root, step, _, final = misquote("A box of tea costs $45.00.").spans
    logs = "stock value 145.00, price 45.00\n"
    observation = f"Execution logs:\n{logs}Last output from code snippet:\nNone"
    printing = replace(step, code=replace(step.code, logs=logs), observation=observation)
    return trace_of([replace(span, trace_id=QUOTING) for span in (root, printing, final)])


def half_checked() -> Trace:
    """Return a run of whose answer one value is an output's, and two are in no source."""
    trace = misquote("A box of tea costs $45.00, and 300 boxes were sold in 2021.")
    return trace_of([replace(span, trace_id=OPEN) for span in trace.spans])


def disputed() -> Trace:
    """Return a run that misquotes its tool by another amount; the call of the tool holds an image."""
    root, step, call, final = misquote("A box of tea costs $58.00.").spans
    image = f"data:image/png;base64,{b64encode(make_image()).decode()}"
    call = replace(call, attributes={**call.attributes, "input.value": image})
    return trace_of([replace(span, trace_id=DISPUTED) for span in (root, step, call, final)])


def make_image() -> bytes:
    """Return a PNG of one colour."""
    height = IMAGE_WIDTH * 3 // 4
    rows = (b"\0" + b"\x40\x80\xc0" * IMAGE_WIDTH) * height
    header = struct.pack(">IIBBBBB", IMAGE_WIDTH, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def errored(evaluation: TraceEvaluation) -> TraceEvaluation:
    """Return the evaluation under another id, as if one layer had failed and two had had no code to judge."""
    outcomes: dict[str, Outcome] = {
        Layer.EXECUTION.value: Errored("TimeoutError", "the layer took longer than 30 s"),
        Layer.CORRECTNESS.value: Skipped("the run has no code", Cause.NO_CODE),
        Layer.BOUNDARY.value: Skipped("the run has no code", Cause.NO_CODE),
    }
    trace = trace_of([replace(span, trace_id=ERRORED) for span in evaluation.trace.spans])
    (run,) = evaluation.runs
    scores = tuple(
        replace(
            score,
            id=digest("errored", score.id),
            trace_id=ERRORED,
            outcome=outcomes.get(score.name, score.outcome),
        )
        for score in run.scores
    )
    judged = replace(run, run=replace(run.run, trace_id=ERRORED), scores=scores)
    return TraceEvaluation(trace, (judged,), evaluation.code_bearing_span_ids)


def long_trace() -> Trace:
    """Return a run of 1,333 steps, of which each calls a tool twice."""
    root, step, call, _ = misquote("I do not know.").spans
    spans = [replace(root, end_ns=root.start_ns + STEPS * 3_000_000)]
    for number in range(STEPS):
        start = root.start_ns + number * 3_000_000
        own = f"{0x1000 + 3 * number:016x}"
        info = replace(step.step, number=number + 1)
        spans.append(replace(step, span_id=own, start_ns=start, end_ns=start + 900_000, step=info))
        for other in (1, 2):
            at = start + other * 200_000
            spans.append(
                replace(
                    call,
                    span_id=f"{0x1000 + 3 * number + other:016x}",
                    parent_id=own,
                    start_ns=at,
                    end_ns=at + 1000,
                )
            )
    return trace_of([replace(span, trace_id=LONG) for span in spans])
