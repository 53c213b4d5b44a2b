"""A desk of real smolagents agents that answers about refunds, alone or with a billing agent behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agents_of_a_shop import CodeModel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import CodeAgent, tool
from smolagents.monitoring import LogLevel

from spanproof.instrumentors import instrument_smolagents, uninstrument

REQUEST = "What is the refund of order A-17?"
RIGHT = ["print(refund_of('A-17'))", "final_answer('The refund of order A-17 is $45.00.')"]
WRONG = ["print(refund_of('A-17'))", "final_answer('The refund of order A-17 is $54.00.')"]
OTHER = ["print(refund_of('A-71'))", "final_answer('The refund of order A-71 is $12.00.')"]


@tool
def refund_of(order: str) -> str:
    """Return the refund of an order.

    Args:
        order: its number.
    """
    return {"A-17": "order A-17: refund $45.00, paid", "A-71": "order A-71: refund $12.00, open"}[order]


class _SessionName(SpanProcessor):
    """Names the session on each span, as instrumented applications do."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        span.set_attribute("session.id", "chat-7")


@contextmanager
def desk() -> Iterator[Callable[..., ExportTraceServiceRequest]]:
    """Gives a function from a request, the desk's turns and the billing agent's to the exported spans."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(_SessionName())
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument_smolagents(tracer_provider=provider)

    def run(request: str, turns: list[str], billing: list[str] | None = None) -> ExportTraceServiceRequest:
        exporter.clear()
        options = {"max_steps": 4, "verbosity_level": LogLevel.OFF}
        if billing is None:
            agent = CodeAgent([refund_of], CodeModel(turns), name="desk", **options)
        else:
            helper = CodeAgent(
                [refund_of], CodeModel(billing), name="billing", description="Knows refunds.", **options
            )
            agent = CodeAgent([], CodeModel(turns), name="desk", managed_agents=[helper], **options)
        agent.run(request)
        return encode_spans(exporter.get_finished_spans())

    try:
        yield run
    finally:
        uninstrument()
