"""Measure the evaluation of whole traces: realistic ones, long runs, large outputs.

Usage: python -m tests.bench.evaluation [--seconds 5] [--json]

One process, one thread. Realistic traces have 13 spans, 4 steps of code with a tool call and 50 KB of text.
The baseline in the same run is reading the same trace from its document, so that a ratio says what judging
costs beside holding a trace at all. Growth is the time of a run of 1,000 steps over that of 250: 4 is linear.
Times are of the processor, as other work may share it; a replay, which runs elsewhere, is timed by the clock.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.bench.served import build_trace as build_request

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.layers.groundedness import layer as groundedness_layer
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.outcomes.account import build_account
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import ExecutedCode, Payload, Span, SpanKind, StepInfo, ToolCall, Trace, trace_of
from spanproof.trace.codec import decode, encode
from spanproof.trace.dialects import read_traces

_START_NS = 1_790_000_000_000_000_000
_ROOT = "a" * 16
STEPS, PADDING = 4, 3_400
_CONTEXT = "The shop sells boxes of tea, rice and salt. Prices are in cents; orders are numbered from 1000. "


def main() -> None:
    """Measure each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    plain = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not measured here")
    realistic = run_of(STEPS, padding=PADDING)
    document = encode(plain.evaluate(realistic))
    found = {
        "realistic, bytes": float(len(document)),
        "realistic, read from its document, /s": a_second(
            lambda: decode(TraceEvaluation, document), options.seconds
        ),
        "realistic, without a replay, /s": a_second(lambda: plain.evaluate(realistic), options.seconds),
    }
    with open_sandbox("jail") as sandbox:
        replaying = Engine(pipeline=Pipeline(), sandbox=sandbox)
        found["realistic, with a replay, /s"] = a_second(
            lambda: replaying.evaluate(realistic), options.seconds, time.monotonic
        )
    shorter, longer = run_of(250), run_of(1_000)
    quarter, whole = cpu_s(lambda: plain.evaluate(shorter)), cpu_s(lambda: plain.evaluate(longer))
    found |= {"1,000 steps, s": whole, "growth from 250 to 1,000 steps": whole / quarter}
    large = outputs_of_100_kb()
    found["three outputs of 100 KB, an answer of 1 KB, s"] = cpu_s(lambda: plain.evaluate(large))
    lines = run_of(STEPS)
    logged = with_output_of_100_kb(lines)
    found["groundedness and outcomes, records of 1 KB a step, ms"] = verdicts_ms()
    found["a run of 4 steps, s"] = cpu_s(lambda: plain.evaluate(lines))
    found["the same with an output of 100 KB, s"] = cpu_s(lambda: plain.evaluate(logged))
    alone, beside = on_cores(1, options.seconds), on_cores(2, options.seconds)
    found |= {
        "realistic, one process, /s by the clock": alone[0],
        "realistic, two processes, /s by the clock": beside[0],
        "of one process, by the clock": beside[0] / alone[0] / 2,
        "of one process, by processor time": beside[1] / alone[1],
        "load": os.getloadavg()[0],
    }
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:48} {value:12,.2f}")


def a_second(
    work: Callable[[], object], seconds: float, clock: Callable[[], float] = time.process_time
) -> float:
    """Return how often it is done in a second of a clock."""
    work()
    began, count = clock(), 0
    while (took := clock() - began) < seconds:
        work()
        count += 1
    return count / took


def on_cores(processes: int, seconds: float) -> tuple[float, float]:
    """Return how often processes evaluate a trace in a second, and in a second of processor time."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes) as pool:
        pool.map(evaluate_for, [0.1] * processes, chunksize=1)  # everything is loaded
        found = pool.map(evaluate_for, [seconds] * processes, chunksize=1)
    done, cpu = sum(each[0] for each in found), sum(each[1] for each in found)
    return done / seconds, done / cpu


def evaluate_for(seconds: float) -> tuple[int, float]:
    """Evaluate a realistic trace for some seconds; return how often, and the processor time of it."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not measured here")
    trace, count = run_of(STEPS, padding=PADDING), 0
    until, began = time.monotonic() + seconds, time.process_time()
    while time.monotonic() < until:
        engine.evaluate(trace)
        count += 1
    return count, time.process_time() - began


def verdicts_ms(traces: int = 40) -> float:
    """Return the mean processor time of groundedness and outcomes over the traces that `served.py` sends."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not measured here")
    made = [ExportTraceServiceRequest.FromString(build_request(number, 1)) for number in range(traces)]
    read = [read_traces([request])[0] for request in made]
    engine.evaluate(read[0])  # the parser is loaded
    spent = 0.0

    def timed(work: Callable[..., Any]) -> Callable[..., Any]:
        def measure(*args: Any) -> Any:
            nonlocal spent
            began = time.thread_time()
            try:
                return work(*args)
            finally:
                spent += time.thread_time() - began

        return measure

    with (
        mock.patch("spanproof.evaluators.engine.build_account", timed(build_account)),
        mock.patch.object(
            groundedness_layer, "evaluate_outcomes", timed(groundedness_layer.evaluate_outcomes)
        ),
    ):
        for trace in read[1:]:
            engine.evaluate(trace)
    return 1000 * spent / (traces - 1)


def cpu_s(work: Callable[[], object]) -> float:
    """Return its seconds of processor time, the least of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def run_of(steps: int, padding: int = 0) -> Trace:
    """Return a run whose steps look up a price by a tool and print it; the answer names the last one."""
    filling = (_CONTEXT * (padding // len(_CONTEXT) + 1))[:padding]
    price = 4500 + steps - 1
    answer = f"The last box costs {price} cents."
    spans = [
        span(0, None, "pricing agent", SpanKind.AGENT, agent="pricing agent",
             input=Payload("What does the last box cost?", "What does the last box cost?"),
             output=Payload(answer, answer))
    ]  # fmt: skip
    for step in range(steps):
        number, name = step * 3 + 1, f"tea-{step}"
        source = f"# {filling[:400]}\ncents_{step} = price_of({name!r})\nprint(cents_{step})"
        spans += [
            span(number, _ROOT, f"Step {step + 1}", SpanKind.CHAIN, step=StepInfo(step + 1),
                 code=ExecutedCode(source, "spanproof.code.source", "python", logs=f"{4500 + step}\n"),
                 observation=f"Execution logs:\n{4500 + step}\nLast output from code snippet:\nNone"),
            span(number + 1, f"{number:016x}", "llm", SpanKind.LLM, model="m",
                 input=Payload(filling, filling), output=Payload(filling + source, filling + source)),
            span(number + 2, f"{number:016x}", "price_of", SpanKind.TOOL,
                 tool=ToolCall("price_of", {"args": [name], "kwargs": {}}),
                 input=Payload(json.dumps(name), name),
                 output=Payload(str(4500 + step), 4500 + step, typed=True)),
        ]  # fmt: skip
    return trace_of(spans)


def outputs_of_100_kb() -> Trace:
    """Return a run whose three tools return a table of 100 KB each, and whose answer has 1 KB on them."""
    tables = [
        [{"order": 1000 + row, "item": f"tea-{row}", "cents": 4500 + row * table} for row in range(2_200)]
        for table in (1, 2, 3)
    ]
    lines = [f"Order {1000 + row} is for tea-{row} at {4500 + row * 2} cents." for row in range(0, 400, 18)]
    answer = " ".join(lines)
    spans = [
        span(0, None, "agent", SpanKind.AGENT, agent="agent",
             input=Payload("List some orders.", "List some orders."), output=Payload(answer, answer))
    ]  # fmt: skip
    for number, table in enumerate(tables, start=1):
        text = json.dumps(table)
        spans.append(
            span(number, _ROOT, "orders", SpanKind.TOOL, tool=ToolCall("orders", {"page": number}),
                 input=Payload(json.dumps({"page": number}), {"page": number}),
                 output=Payload(text, table, typed=True))
        )  # fmt: skip
    return trace_of(spans)


def with_output_of_100_kb(trace: Trace) -> Trace:
    """Return a run whose last step prints 100 KB of log lines."""
    text = "\n".join(
        f"2026-11-02T10:{n // 60 % 60:02}:{n % 60:02}Z job {n} took {n * 7 % 900} ms" for n in range(2_600)
    )
    spans = [
        replace(each, code=replace(each.code, logs=f"{each.code.logs}{text}\n"))
        if each.code is not None and each.step is not None and each.step.number == STEPS
        else each
        for each in trace.spans
    ]
    return trace_of(spans)


def span(number: int, parent: str | None, name: str, kind: SpanKind, **more: object) -> Span:
    """Return a span of the run, a millisecond after the one before it."""
    at = _START_NS + number * 1_000_000
    span_id = _ROOT if parent is None else f"{number:016x}"
    length = 90_000_000_000 if parent is None else 900_000
    return Span("5" * 32, span_id, parent, name, kind, at, at + length, "spanproof",
                resource={"service.name": "shop"}, **more)  # type: ignore[arg-type]  # fmt: skip


if __name__ == "__main__":
    main()
