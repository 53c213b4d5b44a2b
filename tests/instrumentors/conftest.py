"""Real frameworks, scripted models, spans kept in memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from spanproof.collector.receive.accept import Accepted, Acceptor
from spanproof.collector.receive.admission import Admission, Backlog
from spanproof.collector.receive.auth import Authoriser
from spanproof.collector.receive.server import Endpoints, Receiver
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Limits, Receivers
from spanproof.instrumentors import (
    diagnostics,
    instrument_langchain,
    instrument_smolagents,
    trace,
    uninstrument,
)
from spanproof.instrumentors.frameworks.diagnostics import remove_diagnostics
from spanproof.semconv import attributes

GOLDEN = Path(__file__).parent.parent / "golden" / "instrumentors"
_SHOWN = (
    "gen_ai.agent.name",
    "gen_ai.request.model",
    "gen_ai.response.finish_reasons",
    "gen_ai.tool.type",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "spanproof.code.language",
    "spanproof.code.source",
    "spanproof.code.argument",
    "spanproof.execution.logs",
    "spanproof.execution.output",
    "spanproof.execution.is_final",
    "spanproof.execution.error.chain",
    "spanproof.executor.type",
    "spanproof.executor.image.name",
    "spanproof.executor.image.digest",
    "spanproof.messages.omitted",
    "spanproof.run.ending",
    "spanproof.run.max_steps",
    "spanproof.step.kind",
    "spanproof.step.number",
    "spanproof.cohort.task",
    "error.type",
)


class Recorded:
    """The finished spans of a test."""

    def __init__(self, provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
        self.provider = provider
        self.exporter = exporter

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time)

    def clear(self) -> None:
        self.exporter.clear()

    def of_kind(self, kind: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.attributes["openinference.span.kind"] == kind]

    def named(self, name: str) -> ReadableSpan:
        found = [span for span in self.spans if span.name == name]
        assert len(found) == 1, (
            f"{len(found)} spans named {name!r} among {[span.name for span in self.spans]}"
        )
        return found[0]

    def parent(self, span: ReadableSpan) -> ReadableSpan | None:
        if span.parent is None:
            return None
        return next(each for each in self.spans if each.context.span_id == span.parent.span_id)

    def tree(self, *, side_by_side: bool = False) -> str:
        """One line per span: its name, kind, and the attributes that say what it is.

        Siblings stand in the order of their beginning, or of their text when they ran `side_by_side`.
        """
        children: dict[int | None, list[ReadableSpan]] = {}
        for span in self.spans:
            children.setdefault(span.parent.span_id if span.parent else None, []).append(span)

        def shown(span: ReadableSpan, depth: int) -> str:
            margin = "  " * depth
            kind = span.attributes.get("openinference.span.kind", "-")
            lines = [f"{margin}{kind} {span.name} [{span.status.status_code.name}]"]
            lines += [
                f"{margin}  . {name}: {_shown(span.attributes[name])}"
                for name in _SHOWN
                if name in span.attributes
            ]
            if "spanproof.environment.packages" in span.attributes:
                lines.append(f"{margin}  . spanproof.environment: named")
            below = [shown(each, depth + 1) for each in children.pop(span.context.span_id, ())]
            return "".join(["\n".join(lines) + "\n", *(sorted(below) if side_by_side else below)])

        roots = [shown(span, 0) for span in children.pop(None, ())]
        assert not children, "a span's parent is missing"
        return "".join(sorted(roots) if side_by_side else roots)


def assert_documented(spans: list[ReadableSpan]) -> None:
    """Every attribute on a span of ours is one that semconv defines, with a value of the type it says."""
    for span in spans:
        if not span.instrumentation_scope.name.startswith("spanproof."):
            continue
        events = [item for event in span.events for item in event.attributes.items()]
        for name, value in [*span.attributes.items(), *events]:
            assert name in _DEFINED, f"{name} on {span.name} is defined nowhere"
            kind = _DEFINED[name].type
            assert isinstance(value, tuple) is kind.endswith("[]"), (name, value)
            members = value if isinstance(value, tuple) else (value,)
            assert all(isinstance(each, _PYTHON_TYPES[kind.removesuffix("[]")]) for each in members), (
                name,
                value,
            )


_DEFINED = {each.name: each for each in attributes()}
_PYTHON_TYPES = {"string": str, "int": int, "double": float | int, "boolean": bool}


def _shown(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return repr(text) if "\n" in text else text


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Both frameworks instrumented, and what they record; at the end nothing may have been swallowed."""
    provider = TracerProvider()
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    remove_diagnostics()
    instrument_smolagents(provider)
    instrument_langchain(provider)
    try:
        seen = Recorded(provider, exporter)
        yield seen
        assert_documented(seen.spans)
        assert diagnostics().errors == {}, diagnostics()
    finally:
        uninstrument()
        remove_diagnostics()


def assert_golden(name: str, text: str) -> None:
    """Compare with a golden file; `UPDATE_GOLDEN=1` writes it."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path.name} differs; UPDATE_GOLDEN=1 writes it anew"


@pytest.fixture
def golden() -> Any:
    return assert_golden


class Receiving:
    """Spanproof's own receivers on free ports, and the spans that arrived there."""

    def __init__(self, endpoints: Endpoints, accepted: list[Accepted]) -> None:
        self.http, self.grpc = endpoints.http or "", f"http://{endpoints.grpc}"
        self._accepted = accepted

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for accepted in self._accepted
            for resource in accepted.request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def kinds(self) -> list[str]:
        return sorted(
            each.value.string_value
            for span in self.spans
            for each in span.attributes
            if each.key == "openinference.span.kind"
        )


@pytest.fixture
def receiving(tmp_path: Path) -> Iterator[Receiving]:
    """A receiver on the loopback, over both protocols."""
    limits, telemetry, accepted = Limits(), Telemetry(), []
    wal = Wal(tmp_path / "wal", segment_bytes=1 << 20)
    acceptor = Acceptor(
        authoriser=Authoriser(),
        limits=limits,
        admission=Admission(limits, Backlog(limits.max_backlog_bytes)),
        wal=wal,
        telemetry=telemetry,
        hand_on=accepted.append,
    )
    where = Receivers.model_validate({"grpc": {"port": 0}, "http": {"port": 0}})
    receiver = Receiver(where, acceptor, telemetry)
    try:
        yield Receiving(receiver.start(), accepted)
    finally:
        receiver.stop()
        wal.close()


def run_program(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh process, since providers are global."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "SPANPROOF_"))}
    return subprocess.run(
        command, env={**kept, **environment}, capture_output=True, text=True, timeout=120, check=False
    )


AGENT_PROGRAM = """
from smolagents import ChatMessage, CodeAgent, MessageRole, Model
class Scripted(Model):
    def generate(self, messages, **options):
        text = "I answer.\\n<code>\\nprint('working')\\nfinal_answer(42)\\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)
def answer():
    return CodeAgent(tools=[], model=Scripted(), verbosity_level=-1).run("What is it?")
"""
RUN_KINDS = ["AGENT", "CHAIN", "LLM", "TOOL"]
"""Of the spans of one `answer()`."""


@pytest.fixture(scope="module")
def tracer() -> Iterator[Any]:
    """An application's tracer, and every framework instrumented; the spans are `hostile_hosts.exported()`."""
    from .hostile_hosts import instrument  # loads all three frameworks

    yield instrument()
    uninstrument()
    trace.configure()
