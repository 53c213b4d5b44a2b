"""AGENT spans: one per run, ended and parented rightly whatever happens to the run."""

import asyncio
import gc
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry import trace
from smolagents import AgentGenerationError

from .coders import RaisingModel, cents_of, coder

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

_TWO_STEPS = ('print(cents_of("A-17"))', 'final_answer("It is $45.00.")')


def test_a_run_records_task_answer_ending_and_what_it_may_use(recorded):
    assert coder(*_TWO_STEPS, name="clerk", description="Knows orders.").run("How much?") == "It is $45.00."
    run = recorded.named("invoke_agent clerk").attributes
    assert run["openinference.span.kind"] == "AGENT"
    assert run["gen_ai.operation.name"] == "invoke_agent"
    assert run["input.value"] == "How much?"
    assert run["output.value"] == "It is $45.00."
    assert run["spanproof.run.ending"] == "answered"
    assert run["spanproof.run.max_steps"] == 2
    names = [each["name"] for each in json.loads(run["gen_ai.tool.definitions"])]
    assert names == ["cents_of", "echo", "final_answer"]


def test_an_agent_without_a_name_is_called_by_its_class(recorded):
    coder(*_TWO_STEPS).run("How much?")
    assert recorded.named("invoke_agent CodeAgent").attributes["gen_ai.agent.name"] == "CodeAgent"


def test_an_answer_that_is_no_text_keeps_its_type(recorded):
    coder("final_answer({'cents': 4500, 'open': None})").run("How much?")
    run = recorded.of_kind("AGENT")[0].attributes
    assert json.loads(run["output.value"]) == {"cents": 4500, "open": None}
    assert run["output.mime_type"] == "application/json"


def test_the_full_result_of_a_run_records_its_answer_only(recorded):
    result = coder(*_TWO_STEPS, return_full_result=True).run("How much?")
    assert result.state == "success"
    assert recorded.of_kind("AGENT")[0].attributes["output.value"] == "It is $45.00."


def test_variables_given_to_a_run_are_recorded(recorded):
    coder("final_answer(rate * 2)").run("How much?", additional_args={"rate": 2.5})
    run = recorded.of_kind("AGENT")[0].attributes
    assert json.loads(run["spanproof.run.variables"]) == {"rate": 2.5}
    assert run["input.value"] == "How much?"


def test_a_stream_yields_what_it_would_and_records_the_same_tree(recorded):
    coder(*_TWO_STEPS).run("How much?")
    whole = recorded.tree()
    recorded.clear()
    kinds = [type(item).__name__ for item in coder(*_TWO_STEPS).run("How much?", stream=True)]
    assert kinds == ["ToolCall", "ActionOutput", "ActionStep"] * 2 + ["FinalAnswerStep"]
    assert recorded.tree() == whole


def test_between_two_items_of_a_stream_the_callers_context_is_current(recorded):
    tracer = recorded.provider.get_tracer("application")
    with tracer.start_as_current_span("request", attributes={"openinference.span.kind": "X"}) as request:
        for _ in coder(*_TWO_STEPS).run("How much?", stream=True):
            assert trace.get_current_span() is request
    assert recorded.parent(recorded.of_kind("AGENT")[0]).name == "request"


def test_a_stream_belongs_to_the_context_in_which_it_was_requested_for(recorded):
    tracer = recorded.provider.get_tracer("application")
    with tracer.start_as_current_span("request", attributes={"openinference.span.kind": "X"}):
        stream = coder(*_TWO_STEPS).run("How much?", stream=True)
    list(stream)
    assert recorded.parent(recorded.of_kind("AGENT")[0]).name == "request"


def test_interleaved_streams_do_not_mix(recorded):
    streams = [coder(*_TWO_STEPS, name=f"agent_{i}").run("How much?", stream=True) for i in range(3)]
    for _ in range(7):
        for stream in streams:
            next(stream, None)
    for stream in streams:
        list(stream)
    assert len({span.context.trace_id for span in recorded.of_kind("AGENT")}) == 3
    for run in recorded.of_kind("AGENT"):
        own = [span for span in recorded.spans if span.context.trace_id == run.context.trace_id]
        assert len(own) == 7


def test_a_stream_that_no_one_reads_leaves_no_span(recorded):
    coder(*_TWO_STEPS).run("How much?", stream=True)
    gc.collect()
    assert recorded.spans == []


def test_an_abandoned_stream_ends_its_spans_without_an_error(recorded):
    stream = coder(*_TWO_STEPS).run("How much?", stream=True)
    next(stream)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):  # as without instrumentation
        stream.close()
    run = recorded.of_kind("AGENT")[0]
    assert run.status.status_code.name == "UNSET"
    assert "spanproof.run.ending" not in run.attributes
    assert len(recorded.spans) == 3
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_an_exception_thrown_into_a_stream_reaches_it(recorded):
    stream = coder(*_TWO_STEPS).run("How much?", stream=True)
    next(stream)
    assert type(stream.throw(ValueError("from the caller"))).__name__ == "ActionStep"
    with pytest.raises(ValueError, match="from the caller"):
        next(stream)
    assert recorded.of_kind("AGENT")[0].attributes["error.type"] == "ValueError"


def test_a_models_failure_reaches_the_host_and_is_recorded_along_the_path(recorded):
    with pytest.raises(AgentGenerationError) as raised:
        coder(model=RaisingModel(ConnectionError("provider away"))).run("How much?")
    assert isinstance(raised.value.__cause__, ConnectionError)
    run, step, call = recorded.spans
    assert run.attributes["spanproof.run.ending"] == "failed"
    assert run.attributes["error.type"] == "AgentGenerationError"
    assert step.attributes["error.type"] == "ConnectionError"
    assert step.attributes["spanproof.execution.error.chain"] == ("AgentGenerationError", "ConnectionError")
    assert call.attributes["error.type"] == "ConnectionError"
    assert {span.status.status_code.name for span in recorded.spans} == {"ERROR"}


def test_a_keyboard_interrupt_passes_and_ends_every_span(recorded):
    with pytest.raises(KeyboardInterrupt):
        coder(model=RaisingModel(KeyboardInterrupt())).run("How much?")
    assert [span.attributes["error.type"] for span in recorded.spans] == ["KeyboardInterrupt"] * 3
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_runs_in_threads_keep_to_their_own_traces(recorded):
    barrier = threading.Barrier(4)

    def work(number: int) -> str:
        barrier.wait(120)
        return coder(f"final_answer(cents_of('A-{number}', {number}))", name=f"agent_{number}").run(
            "How much?"
        )

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(1, 5))) == [4500, 9000, 13500, 18000]
    for run in recorded.of_kind("AGENT"):
        own = [span for span in recorded.spans if span.context.trace_id == run.context.trace_id]
        assert [span.attributes["openinference.span.kind"] for span in own] == [
            "AGENT", "CHAIN", "LLM", "TOOL", "TOOL",
        ]  # fmt: skip


async def test_runs_under_asyncio_are_children_of_their_tasks(recorded):
    tracer = recorded.provider.get_tracer("application")

    async def work(number: int) -> None:
        with tracer.start_as_current_span(f"task {number}", attributes={"openinference.span.kind": "X"}):
            await asyncio.to_thread(coder(*_TWO_STEPS, name=f"agent_{number}").run, "How much?")

    await asyncio.gather(*(work(number) for number in range(4)))
    for number in range(4):
        run = recorded.named(f"invoke_agent agent_{number}")
        assert recorded.parent(run).name == f"task {number}"


def test_a_managed_agent_is_a_tool_call_with_a_run_inside(recorded, golden):
    helper = coder("final_answer(cents_of('A-17'))", name="helper", description="Looks up.")
    manager = coder(
        "print(helper('look up A-17'))", "final_answer('done')", managed_agents=[helper], name="boss"
    )
    manager.run("Delegate.")
    tree = recorded.tree()
    assert "Your task" not in tree.split("TOOL execute_tool helper")[0]
    call = recorded.named("execute_tool helper")
    assert call.attributes["gen_ai.tool.type"] == "agent"
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"task": "look up A-17"}
    assert recorded.parent(recorded.named("invoke_agent helper")).name == "execute_tool helper"
    assert recorded.parent(call).name == "step 1"


def test_an_unsampled_run_answers_the_same_and_records_nothing(recorded):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    from spanproof.instrumentors import instrument_smolagents, uninstrument

    uninstrument()
    instrument_smolagents(TracerProvider(sampler=ALWAYS_OFF))
    assert coder(*_TWO_STEPS).run("How much?") == "It is $45.00."
    assert recorded.spans == []


def test_a_shared_tool_is_recorded_under_the_run_that_called_it(recorded):
    assert coder("final_answer(cents_of('A-17'))").run("a") == cents_of("A-17")
    assert (
        len(recorded.of_kind("TOOL")) == 2
    )  # cents_of and final_answer; the direct call is outside of any run
