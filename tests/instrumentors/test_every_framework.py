"""set_cohort and feedback with each framework: on every span of a run, and about it."""

import asyncio

import pytest
from opentelemetry.trace import format_trace_id

from spanproof.instrumentors import (
    feedback,
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    set_cohort,
    trace,
    uninstrument,
)

from . import graphs
from .trees import any_code, langchain, openai_agents, smolagents

RUNS = {
    "smolagents": smolagents.run,
    "smolagents in threads": smolagents.tools_in_threads_side_by_side,
    "langchain": langchain.agent,
    "langchain, async": langchain.agent_async,
    "langchain, tools in threads": langchain.tools_side_by_side,
    "openai agents": openai_agents.responses,
    "openai agents, streamed": openai_agents.chat_streamed,
    "any code": any_code.failed,
    "any code, generators": any_code.async_generator,
}


@pytest.fixture
def traced(recorded):
    openai_agents.agents.set_trace_processors([])
    instrument_openai_agents(recorded.provider)
    trace.configure(recorded.provider)
    yield recorded
    trace.configure()


@pytest.mark.parametrize("name", RUNS)
def test_the_cohort_is_on_every_span_of_a_run_and_on_none_after_it(traced, name):
    with set_cohort(task="sums", prompt_version="v3", release="2026.11"):
        RUNS[name](traced)
    within = traced.spans
    assert len(within) >= 2
    for span in within:
        reported = {
            key: span.attributes.get(f"spanproof.cohort.{key}")
            for key in ("task", "prompt_version", "release")
        }
        assert reported == {"task": "sums", "prompt_version": "v3", "release": "2026.11"}, span.name
    traced.clear()
    RUNS[name](traced)
    assert not [
        key for span in traced.spans for key in span.attributes if key.startswith("spanproof.cohort.")
    ]


@pytest.mark.parametrize("name", RUNS)
def test_feedback_names_the_run_it_is_about(traced, name):
    RUNS[name](traced)
    root = next(span for span in traced.spans if span.parent is None)
    feedback(format_trace_id(root.context.trace_id), "thumbs_down", span_id=root.context.span_id)
    reported = traced.named("feedback")
    assert reported.attributes["spanproof.feedback.trace_id"] == format_trace_id(root.context.trace_id)
    (link,) = reported.links
    assert link.context.span_id == root.context.span_id


def test_runs_side_by_side_keep_their_cohorts(traced):
    async def one(task):
        with set_cohort(task=task):
            await graphs.calculator(name=task).ainvoke(graphs.requested())

    async def both():
        await asyncio.gather(one("first"), one("second"))

    asyncio.run(both())
    for root in traced.of_kind("AGENT"):
        own = [span for span in traced.spans if span.context.trace_id == root.context.trace_id]
        assert {span.attributes["spanproof.cohort.task"] for span in own} == {
            root.name.removeprefix("invoke_agent ")
        }


@pytest.mark.parametrize(
    ("instrument", "run"),
    [
        (instrument_smolagents, smolagents.run),
        (instrument_langchain, langchain.agent),
        (instrument_openai_agents, openai_agents.generations),
    ],
)
def test_uninstrumented_a_framework_records_nothing_and_instrumented_again_all(recorded, instrument, run):
    openai_agents.agents.set_trace_processors([])
    uninstrument()
    run(recorded)
    assert recorded.spans == []
    instrument(recorded.provider)
    run(recorded)
    whole = recorded.tree()
    assert whole
    uninstrument()
    recorded.clear()
    run(recorded)
    assert recorded.spans == []
    instrument(recorded.provider)
    run(recorded)
    assert recorded.tree() == whole
