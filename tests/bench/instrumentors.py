"""What instrumentation costs an agent: uninstrumented, with ours, and with OpenInference's, in one run.

Usage: `python tests/bench/instrumentors.py [ROUNDS] [smolagents|langchain]`. OpenInference's figures need
`openinference-instrumentation-smolagents` and `openinference-instrumentation-langchain` beside Spanproof, in
an environment of their own if they want other versions. Each way has a process of its own, and the ways
take turns, so that other load on the machine falls on all of them alike. A turn is a run of a scripted agent
without and one with the instrumentation, in the same process: of two processes one is always a little faster.
Measured is CPU time of the process; what is added is told per span (p99 is that of runs). A second run
without (`nothing`) tells how far two equal runs lie apart: on a busy machine much of any p99 is that.
`sdk alone` opens and ends a span of 16 short attributes at the same places, by the OpenTelemetry SDK and
nothing else: what nobody who uses the SDK can go under. In a tight loop, as printed first, such a span costs
less: within an agent's work nothing of it is in the processor's caches.
Export is left out, since it happens in the background: finished spans are kept, and their size is that of one
OTLP request.
Answers are scripted, so no figure holds a network.
"""

from __future__ import annotations

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

STEPS = 12
FLEETS = 4
"""Sets of processes, one after the other: where one's memory happens to lie makes it faster or slower."""
OURS, THEIRS, FLOOR = "spanproof", "openinference", "sdk alone"
NOTHING = "nothing"
UNSAMPLED = ", unsampled"
PEERS = {
    "smolagents": ("openinference.instrumentation.smolagents", "SmolagentsInstrumentor"),
    "langchain": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
}


def code_of(step: int) -> str:
    """A snippet of the length models write: it asks a tool, works on the answer and prints what it found."""
    return (
        f"# Step {step}: look at the order, add up what was refunded, and keep the figures for the report.\n"
        f"lines = order_lines(order_id='A-{step}')\n"
        "refunded = [line for line in lines if line['status'] == 'refunded']\n"
        "total = 0\nfor line in refunded:\n    total = total + line['cents']\n"
        f"print('order A-{step}:', len(refunded), 'of', len(lines), 'lines refunded, in cents', total)\n"
        "for line in lines:\n    print(line['item'], line['cents'], line['status'])\n"
    )


def lines_of(order_id: str) -> list[dict[str, Any]]:
    """Lines of an order."""
    return [
        {"item": f"lamp {number} of {order_id}", "cents": 1500 * number, "status": status}
        for number, status in enumerate(("refunded", "paid") * 4)
    ]


def smolagents_run() -> Callable[[], object]:
    """A CodeAgent with one tool call per step."""
    import smolagents
    from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool
    from smolagents.monitoring import LogLevel, TokenUsage

    class Scripted(Model):
        """Exported below as if it came with the framework: OpenInference sees no other models."""

        turn = 0

        def generate(self, messages: Any, **options: Any) -> ChatMessage:
            self.turn += 1
            code = code_of(self.turn) if self.turn < STEPS else "final_answer('Refunded: $45.00.')"
            text = f"Thought: I go on with order {self.turn}.\n<code>\n{code}\n</code>"
            return ChatMessage(MessageRole.ASSISTANT, text, token_usage=TokenUsage(900, 150))

    smolagents.Scripted = Scripted

    @tool
    def order_lines(order_id: str) -> list:  # type: ignore[type-arg]
        """Lines of an order.

        Args:
            order_id: Number of the order.
        """
        return lines_of(order_id)

    def run() -> object:
        agent = CodeAgent([order_lines], Scripted(), max_steps=STEPS, verbosity_level=LogLevel.OFF)
        return agent.run("How much was refunded for the orders A-1 to A-11, in dollars?")

    return run


def langchain_run() -> Callable[[], object]:
    """A loop of model and tool within one runnable, through langchain-core alone."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.runnables import RunnableLambda
    from langchain_core.tools import tool

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **rest: Any
        ) -> ChatResult:
            turn = len(messages) // 2 + 1
            call = {"name": "run_python", "args": {"code": code_of(turn)}, "id": f"call_{turn}"}
            answer = AIMessage(f"I go on with order {turn}.", tool_calls=[call] if turn < STEPS else [])
            return ChatResult(generations=[ChatGeneration(message=answer)])

    @tool
    def run_python(code: str) -> str:
        """Run code."""
        return json.dumps(lines_of(code[:10]))

    model = Scripted()

    def loop(task: str) -> object:
        messages: list[Any] = [HumanMessage(task)]
        while True:
            answer = model.invoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                return answer.content
            messages.extend(run_python.invoke(call) for call in answer.tool_calls)

    agent = RunnableLambda(loop, name="refunds")
    return lambda: agent.invoke("How much was refunded for the orders A-1 to A-11, in dollars?")


RUNS = {"smolagents": smolagents_run, "langchain": langchain_run}


class Kept:
    """A span processor that keeps what has ended, and nothing else."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Nothing to do."""

    def _on_ending(self, span: Any) -> None:
        """Nothing to do."""

    def on_end(self, span: Any) -> None:
        """Keep it."""
        self.spans.append(span)

    def shutdown(self) -> None:
        """Nothing to do."""

    def force_flush(self, timeout_millis: int = 0) -> bool:
        """Nothing to do."""
        return True


class Bare:
    """The SDK alone: at each place where there is a span, one with attributes that cost nothing to make."""

    def __init__(self, framework: str, provider: Any) -> None:
        self._framework, self._tracer = framework, provider.get_tracer(FLOOR)
        self._attributes = {f"attribute.{number}": "a short value" for number in range(16)}
        self._replaced: list[tuple[Any, str, Any]] = []
        self._handler: Any = None

    def on(self) -> None:
        """Open and end spans."""
        if self._framework == "langchain":
            self._handle()
            return
        import smolagents
        from smolagents import CodeAgent

        for owner, name in (
            (CodeAgent, "run"),
            (smolagents.Scripted, "generate"),
            (smolagents.Tool, "__call__"),
        ):
            self._replace(owner, name, self._within)
        self._replace(CodeAgent, "_step_stream", self._streaming)

    def off(self) -> None:
        """Stop."""
        if self._handler is not None:
            self._handler.set(None)
        for owner, name, original in self._replaced:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        self._replaced.clear()

    def _replace(self, owner: Any, name: str, wrap: Callable[..., Any]) -> None:
        self._replaced.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, wrap(getattr(owner, name)))

    def _within(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from opentelemetry.context import attach, detach
        from opentelemetry.trace import set_span_in_context

        def call(*args: Any, **kwargs: Any) -> Any:
            span = self._tracer.start_span("floor", attributes=self._attributes)
            token = attach(set_span_in_context(span))
            try:
                return original(*args, **kwargs)
            finally:
                detach(token)
                span.end()

        return call

    def _streaming(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begun = self._within(original)

        def call(*args: Any, **kwargs: Any) -> Any:
            yield from begun(*args, **kwargs)

        return call

    def _handle(self) -> None:
        from contextvars import ContextVar

        from langchain_core.callbacks import BaseCallbackHandler
        from langchain_core.tracers.context import register_configure_hook

        tracer, attributes, spans = self._tracer, self._attributes, dict[Any, Any]()

        class Handler(BaseCallbackHandler):
            run_inline = True

            def begin(self, *_: Any, run_id: Any, **__: Any) -> None:
                spans[run_id] = tracer.start_span("floor", attributes=attributes)

            def end(self, *_: Any, run_id: Any, **__: Any) -> None:
                spans.pop(run_id).end()

            on_chain_start = on_chat_model_start = on_tool_start = begin
            on_chain_end = on_llm_end = on_tool_end = end

        if self._handler is None:
            self._handler = ContextVar[Any]("bare", default=None)
            register_configure_hook(self._handler, inheritable=True)
        self._handler.set(Handler())


class Way:
    """One way of being instrumented, switched on and off within this process."""

    def __init__(self, framework: str, way: str) -> None:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON

        self._framework, self._ours, self._bare = framework, way.startswith(OURS), None
        sampler = ALWAYS_OFF if way.endswith(UNSAMPLED) else ALWAYS_ON
        self._provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.kept = Kept()
        self._provider.add_span_processor(self.kept)  # type: ignore[arg-type]
        if way == FLOOR:
            self._bare = Bare(framework, self._provider)

    def on(self) -> None:
        """Instrument."""
        if self._bare is not None:
            self._bare.on()
        elif self._ours:
            from spanproof import instrumentors

            getattr(instrumentors, f"instrument_{self._framework}")(self._provider)
        else:
            self._peer().instrument(tracer_provider=self._provider)

    def off(self) -> None:
        """Put the originals back."""
        if self._bare is not None:
            self._bare.off()
        elif self._ours:
            from spanproof.instrumentors import uninstrument

            uninstrument()
        else:
            self._peer().uninstrument()

    def _peer(self) -> Any:
        module, name = PEERS[self._framework]
        return getattr(importlib.import_module(module), name)()


def work(framework: str, name: str) -> None:
    """A worker: for each line that comes in, a run without and one with the instrumentation.

    Out go the CPU seconds of two without and of the one with, how many spans there were, and their bytes.
    """
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    if hasattr(os, "sched_setaffinity"):  # threads that change their core make two equal runs differ most
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    run = RUNS[framework]()
    way = Way(framework, name)

    def timed() -> float:
        for _ in range(2):  # what is looked at once, and caches that another process has emptied
            run()
        way.kept.spans.clear()
        gc.collect()
        began = time.process_time()
        run()
        return time.process_time() - began

    timed()
    gc.freeze()  # the libraries' own objects are no part of what a run costs
    print(flush=True)
    for _ in sys.stdin:
        plain, again = timed(), timed()
        assert not way.kept.spans
        way.on()
        spent = timed()
        size = encode_spans(way.kept.spans).ByteSize() if way.kept.spans else 0
        print(json.dumps([plain, again, spent, len(way.kept.spans), size]), flush=True)
        way.off()


Measured = list[tuple[float, float, float, int, int]]


def measured(framework: str, ways: list[str], rounds: int) -> dict[str, Measured]:
    """Runs of each way, in turns; the order of a round is turned as well."""
    found: dict[str, Measured] = {way: [] for way in ways}
    for _ in range(FLEETS):
        workers = {way: worker(framework, way) for way in ways}
        for number in range(rounds // FLEETS):
            for way in ways if number % 2 else reversed(ways):
                found[way].append(tuple(json.loads(asked(workers[way]))))
        for each in workers.values():
            each.communicate()
    return found


def worker(framework: str, way: str) -> subprocess.Popen[str]:
    """A process for one way, warm."""
    started = subprocess.Popen(
        [sys.executable, __file__, "--work", framework, way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    started.stdout.readline()
    return started


def asked(worker: subprocess.Popen[str]) -> str:
    """What a worker answers to a line."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    return worker.stdout.readline()


def sdk_floor(rounds: int) -> float:
    """Microseconds of a span of the SDK's with 16 short attributes: what nobody can go under."""
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Kept())  # type: ignore[arg-type]
    tracer = provider.get_tracer("floor")
    attributes = {f"attribute.{number}": "a short value" for number in range(16)}
    times = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(100):
            tracer.start_span("floor", attributes=attributes).end()
        times.append((time.process_time() - began) / 100)
    return statistics.median(times) * 1e6


def table(framework: str, rounds: int) -> None:
    """Measure one framework and print it."""
    ways = [FLOOR, OURS, OURS + UNSAMPLED]
    if _installed(PEERS[framework][0]):
        ways += [THEIRS, THEIRS + UNSAMPLED]
    else:
        package = f"openinference-instrumentation-{framework}"
        print(f"{framework}: no peer to compare with; pip install {package}", file=sys.stderr)
    found = measured(framework, ways, rounds)
    plain = 1000 * statistics.median(base for runs in found.values() for base, *_ in runs)
    print(f"\n{framework}: {STEPS} steps, {rounds} rounds; {plain:.2f} ms uninstrumented")
    print(f"{'way':26}{'spans':>6}{'added µs/span p50':>19}{'p99':>8}{'kB/run':>9}{'overhead':>10}")
    added: dict[str, float] = {}
    of_ours = found[OURS][-1][3]
    equal = sorted(1e6 * abs(again - base) for runs in found.values() for base, again, *_ in runs)
    apart = [f"{value / of_ours:.1f}" for value in _ends(equal)]
    print(f"{NOTHING:26}{'':6}{apart[0]:>19}{apart[1]:>8}")
    for way in ways:
        *_, spans, size = found[way][-1]
        extra = sorted(1e6 * (spent - base) for base, _, spent, *_ in found[way])
        added[way] = statistics.median(extra)
        shown = [f"{value / spans:.1f}" if spans else "–" for value in _ends(extra)]
        share = added[way] / plain / 10
        print(f"{way:26}{spans:6}{shown[0]:>19}{shown[1]:>8}{size / 1000:9.1f}{share:9.1f}%")
    if THEIRS in ways:
        ours, theirs = found[OURS][-1], found[THEIRS][-1]
        time_ratio = added[OURS] / added[THEIRS]
        per_span = time_ratio * theirs[3] / ours[3]
        print(
            f"ours to theirs: time per run {time_ratio:.2f}, per span {per_span:.2f},"
            f" bytes {ours[4] / theirs[4]:.2f}"
        )
    floor = added[FLOOR] / found[FLOOR][-1][3]
    print(f"of ours the SDK alone: {floor:.1f} µs per span; above it: {added[OURS] / of_ours - floor:.1f}")


def _ends(values: list[float]) -> tuple[float, float]:
    """Median and 99th percentile of sorted values."""
    return statistics.median(values), values[int(len(values) * 0.99)]


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:4])
    else:
        count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
        print(f"{FLOOR}, in a tight loop: {sdk_floor(50):.1f} µs for a span of 16 attributes")
        for each in sys.argv[2:] or RUNS:
            table(each, count)
