"""What instrumentation costs an agent: uninstrumented, with ours, and with OpenInference's, in one run.

Usage: `python tests/bench/instrumentors.py [smolagents|langchain …] [--times N] [--way NAME]`: ten minutes
for all. A 99th percentile wants more runs, of fewer ways: `--way 'spanproof, no content' --times 4`.
OpenInference's figures need `openinference-instrumentation-smolagents` and
`openinference-instrumentation-langchain` beside Spanproof, in an environment of their own if they want other
versions. Answers are scripted, so no figure holds a network, and export is left out, since it happens in the
background: finished spans are kept, and their size is that of one OTLP request.

Each way of being instrumented has a process of its own, and the ways take turns, so that other load on the
machine falls on all of them alike. Within a turn a process runs the agent without and with instrumentation
by turns, and a run is compared with those right before and after it: of two processes one is always a little
faster. Measured is CPU time, of the steps during which no other process was on the processor's core
(`stopwatch.py`): their share is printed, and where it is small, runs wait for a moment.
What a span costs is derived from the steps: by how much the time between two calls of the model is more than
without, in the median and in the 99th percentile, divided by the spans that lie between. `nothing`
instruments nothing: it shows how far equal runs lie apart, and its 99th percentile is taken off the others'.
`overhead` is of runs, with their begin and end, and the interval that holds its median in 95 of 100 cases.
Beside the ratio to OpenInference's time stand the least and the greatest of the measurement's quarters.
`sdk alone` opens and ends a span of 16 short attributes at the same places, by the OpenTelemetry SDK and
nothing else. In a tight loop, between the turns, such a span costs less: within an agent's work nothing of it
is in the processor's caches. `sdk alone, empty` is the same without any attribute, and `fast spans alone,
empty` that with a fast span of ours: what we cannot go under.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from opentelemetry.sdk.trace import SpanProcessor
from scripted_agents import RUNS, STEPS
from spans_alone import Bare
from stopwatch import Stopwatch, Times
from turns import Turn, added_per_span, high, overhead, ratios_of_quarters, seconds, share_known

REPEATS = 4
"""Times that a turn instruments, each for two runs."""
FLEETS = 4
"""Sets of processes, one after the other, each time: where one's memory lies makes it faster or slower."""
TURNS = {"smolagents": 4, "langchain": 10}
"""Turns of each process, after one that is not counted."""
SPANS_OF_A_STEP = {"smolagents": 3, "langchain": 2}
OURS, THEIRS, NOTHING = "spanproof", "openinference", "nothing"
FLOOR, LIGHT = "sdk alone", "fast spans alone"
UNSAMPLED, HIDDEN, EMPTY = ", unsampled", ", no content", ", empty"
WAYS = [
    *(FLOOR, FLOOR + EMPTY, LIGHT + EMPTY),
    *(who + how for who in (OURS, THEIRS) for how in ("", HIDDEN, UNSAMPLED)),
]
PEERS = {
    "smolagents": ("openinference.instrumentation.smolagents", "SmolagentsInstrumentor"),
    "langchain": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
}
HIDING = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT",
    "OPENINFERENCE_HIDE_INPUTS": "true",
    "OPENINFERENCE_HIDE_OUTPUTS": "true",
}


class Kept(SpanProcessor):
    """A span processor that keeps what has ended, and nothing else."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def on_end(self, span: Any) -> None:
        """Keep it."""
        self.spans.append(span)


class Way:
    """One way of being instrumented, switched on and off within this process."""

    def __init__(self, framework: str, way: str) -> None:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON

        self._framework, self._who = framework, way.partition(",")[0]
        sampler = ALWAYS_OFF if way.endswith(UNSAMPLED) else ALWAYS_ON
        self._provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.kept = Kept()
        self._provider.add_span_processor(self.kept)
        self._bare: Bare | None = None
        if self._who in (FLOOR, LIGHT):
            attributes = 0 if way.endswith(EMPTY) else 16
            tracer = self._provider.get_tracer(FLOOR)
            self._bare = Bare(framework, tracer, attributes, light=self._who == LIGHT)

    def on(self) -> None:
        """Instrument."""
        if self._bare is not None:
            self._bare.on()
        elif self._who == OURS:
            from spanproof import instrumentors

            getattr(instrumentors, f"instrument_{self._framework}")(self._provider)
        elif self._who == THEIRS:
            self._peer().instrument(tracer_provider=self._provider)

    def off(self) -> None:
        """Put the originals back."""
        if self._bare is not None:
            self._bare.off()
        elif self._who == OURS:
            from spanproof.instrumentors import uninstrument

            uninstrument()
        elif self._who == THEIRS:
            self._peer().uninstrument()

    def _peer(self) -> Any:
        module, name = PEERS[self._framework]
        return getattr(importlib.import_module(module), name)()


def work(framework: str, name: str) -> None:
    """A worker: for each line that comes in, a turn goes out."""
    stopwatch = Stopwatch()
    run, way = RUNS[framework](stopwatch.mark), Way(framework, name)

    def timed() -> Times:
        way.kept.spans.clear()
        gc.collect()
        return stopwatch.timed(run)

    timed()
    gc.freeze()  # the libraries' own objects are no part of what a run costs
    if hasattr(os, "sched_setaffinity"):  # threads that change their core make two equal runs differ most
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    one_turn(way, timed)  # the interpreter learns for some time: no agent in production is so young
    print(flush=True)
    for _ in sys.stdin:
        print(json.dumps(vars(one_turn(way, timed))), flush=True)


def one_turn(way: Way, timed: Callable[[], Times]) -> Turn:
    """The seconds of an agent's runs without and with instrumentation, `timed` one by one."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    timed()  # fills the caches that another process has emptied
    turn = Turn(plain=[timed()])
    for _ in range(REPEATS):
        way.on()
        timed()  # looks at what is looked at once
        turn.instrumented += [timed(), timed()]
        ended = list(way.kept.spans)
        way.off()
        timed()  # the interpreter has to learn anew what methods these are
        turn.plain.append(timed())
    turn.spans, turn.bytes = len(ended), encode_spans(ended).ByteSize()
    return turn


def measured(framework: str, ways: list[str], fleets: int) -> tuple[dict[str, list[Turn]], float]:
    """Turns of each way, whose order in a round is turned as well, and what an SDK's span took meanwhile."""
    found: dict[str, list[Turn]] = {way: [] for way in ways}
    in_a_loop: list[float] = []
    for _ in range(fleets):
        workers = {way: worker(framework, way) for way in ways}
        for each in workers.values():
            answer(each)  # it is warm
        for number in range(TURNS[framework]):
            in_a_loop += sdk_in_a_loop()
            for way in ways if number % 2 else reversed(ways):
                found[way].append(Turn(**json.loads(request_turn(workers[way]))))
        for each in workers.values():
            each.communicate()
    return found, statistics.median(in_a_loop)


def worker(framework: str, way: str) -> subprocess.Popen[str]:
    """A process for one way."""
    return subprocess.Popen(
        [sys.executable, __file__, "--work", framework, way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(HIDING if way.endswith(HIDDEN) else {})},
    )


def request_turn(worker: subprocess.Popen[str]) -> str:
    """What a worker answers to a line."""
    assert worker.stdin is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    return answer(worker)


def answer(worker: subprocess.Popen[str]) -> str:
    """The next line of a worker."""
    assert worker.stdout is not None
    return worker.stdout.readline()


def sdk_in_a_loop() -> list[float]:
    """Microseconds of spans of the SDK's with 16 short attributes, with all they need in the caches."""
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Kept())
    tracer = provider.get_tracer("floor")
    attributes = {f"attribute.{number}": "a short value" for number in range(16)}
    times = []
    for _ in range(10):
        began = time.process_time()
        for _ in range(100):
            tracer.start_span("floor", attributes=attributes).end()
        times.append((time.process_time() - began) * 1e4)
    return times


def table(framework: str, fleets: int, chosen: list[str]) -> None:
    """Measure one framework and print it."""
    if not _installed(PEERS[framework][0]):
        package = f"openinference-instrumentation-{framework}"
        print(f"{framework}: no peer to compare with; pip install {package}", file=sys.stderr)
        chosen = [way for way in chosen if not way.startswith(THEIRS)]
    ways = [NOTHING, *chosen]
    found, in_a_loop = measured(framework, ways, fleets)
    every = [turn for turns in found.values() for turn in turns]
    plain = 1000 * seconds([run for turn in every for run in turn.plain])
    runs = len(found[NOTHING]) * 2 * REPEATS
    print(f"\n{framework}: {STEPS} steps, {plain:.2f} ms uninstrumented; {runs} runs of each way")
    print(f"steps during which no other process was seen on the core: {share_known(every):.0f} %")
    print(f"{FLOOR}, in a tight loop: {in_a_loop:.1f} µs for a span of 16 attributes")
    print(f"{'':26}{'spans':>6}{'added µs/span: p50':>20}{'p99':>7}{'kB/run':>9}{'overhead %':>12}")
    middle, rare = dict[str, float](), dict[str, float]()
    for way, turns in found.items():
        last = turns[-1]
        added = added_per_span(turns, SPANS_OF_A_STEP[framework])
        middle[way] = statistics.median(added)
        rare[way] = high(added) - rare.get(NOTHING, 0.0)
        share, least, most = overhead(turns)
        print(
            f"{way:26}{last.spans:6}{middle[way]:20.1f}{rare[way]:7.1f}{last.bytes / 1000:9.1f}"
            f"{share:12.1f} [{least:.1f}, {most:.1f}]"
        )
    for how in ("", HIDDEN):
        ours, theirs = found.get(OURS + how), found.get(THEIRS + how)
        if not ours:
            continue
        of_loop = middle[OURS + how] / in_a_loop, rare[OURS + how] / in_a_loop
        said = f"{OURS + how}: {of_loop[0]:.2f} of the SDK's span in a tight loop (p99 {of_loop[1]:.1f})"
        if theirs:
            ratio, size = middle[OURS + how] / middle[THEIRS + how], ours[-1].bytes / theirs[-1].bytes
            alone = sorted(ratios_of_quarters(ours, theirs, SPANS_OF_A_STEP[framework]))
            said += f"; to OpenInference's, time per span {ratio:.3f}"
            said += f" (of the quarters alone {alone[0]:.3f} to {alone[-1]:.3f}), bytes {size:.3f}"
        print(said)


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def main() -> None:
    """Print a table for each framework."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("framework", nargs="*", choices=[*RUNS, []], help="all of them when not named")
    parser.add_argument("--times", type=int, default=1, help="measure N times as long")
    parser.add_argument(
        "--way", action="append", choices=WAYS, help="measure this, and `nothing`; again for another"
    )
    arguments = parser.parse_args()
    for framework in arguments.framework or RUNS:
        try:
            table(framework, arguments.times * FLEETS, arguments.way or WAYS)
        except statistics.StatisticsError:
            sys.exit(
                f"{framework}: another process was on the core in all but a few steps;"
                " measure again when the machine is quieter, or longer: --times N"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:4])
    else:
        main()
