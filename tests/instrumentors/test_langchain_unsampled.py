"""LangChain and LangGraph: what a run that is not sampled leaves alone."""

import asyncio

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from opentelemetry import trace as otel

from spanproof.instrumentors import instrument_langchain, uninstrument

from .graphs import calculator, calls, requested


@pytest.fixture
def unsampled(recorded):
    """The frameworks instrumented with a provider that samples nothing; the application's samples all."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    uninstrument()
    instrument_langchain(TracerProvider(sampler=ALWAYS_OFF))
    return recorded


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_unsampled_run_records_nothing_and_its_tools_spans_are_as_unsampled(unsampled, asynchronous):
    tracer = unsampled.provider.get_tracer("application")
    sampled: list[bool] = []

    @tool
    def asking() -> int:
        """Looks at the current span."""
        sampled.append(otel.get_current_span().get_span_context().trace_flags.sampled)
        assert otel.get_current_span().get_span_context().is_valid
        return 1

    graph = calculator(calls(("asking", {})), AIMessage("done"), tools=(asking,))
    answer = asyncio.run(graph.ainvoke(requested())) if asynchronous else graph.invoke(requested())
    assert answer["messages"][-1].content == "done"
    assert sampled == [False]
    assert otel.get_current_span() is otel.INVALID_SPAN
    with tracer.start_as_current_span("later", attributes={"openinference.span.kind": "X"}) as later:
        assert later.parent is None
    assert [span.name for span in unsampled.spans] == ["later"]


def test_the_applications_own_trace_goes_on_through_an_unsampled_run(unsampled):
    tracer = unsampled.provider.get_tracer("application")
    kind = {"openinference.span.kind": "X"}

    @tool
    def asking() -> int:
        """Opens a span."""
        with tracer.start_as_current_span("query", attributes=kind):
            return 1

    graph = calculator(calls(("asking", {})), AIMessage("done"), tools=(asking,))
    with tracer.start_as_current_span("request", attributes=kind):
        graph.invoke(requested())
    assert unsampled.parent(unsampled.named("query")).name == "request"
