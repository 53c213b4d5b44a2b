"""Decorators and blocks for agents of no framework."""

import asyncio
import json

import pytest
from opentelemetry import trace as otel

from spanproof.instrumentors import ContentPolicy, set_cohort, trace


@pytest.fixture(autouse=True)
def _traced(recorded):
    trace.configure(recorded.provider)
    yield
    trace.configure()


@trace.tool
def lookup(order_id, factor=1):
    if order_id == "missing":
        raise LookupError("no such order")
    return {"cents": 4500 * factor}


def test_a_decorated_agent_has_its_tools_beneath_it(recorded):
    @trace.agent(name="clerk")
    def answer(task):
        with trace.step("step 1"):
            return f"${lookup('A-17', factor=2)['cents'] / 100:.2f}"

    with set_cohort(task="refund"):
        assert answer("How much?") == "$90.00"
    run, step, call = recorded.spans
    assert run.name == "invoke_agent clerk"
    assert run.attributes["input.value"] == "How much?"
    assert run.attributes["output.value"] == "$90.00"
    assert run.attributes["spanproof.run.ending"] == "answered"
    assert recorded.parent(step) is run
    assert recorded.parent(call) is step
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"order_id": "A-17", "factor": 2}
    assert json.loads(call.attributes["gen_ai.tool.call.result"]) == {"cents": 9000}
    assert {span.attributes["spanproof.cohort.task"] for span in recorded.spans} == {"refund"}


def test_session_user_and_tags_are_on_each_span_of_the_block(recorded):
    @trace.agent(name="clerk")
    def answer(task):
        return lookup("A-17")

    with set_cohort(session="chat-7", user="u-1", tags=["beta", "german"]), set_cohort(tags=["inner"]):
        answer("How much?")
    carried = [(span.attributes["session.id"], span.attributes["user.id"]) for span in recorded.spans]
    assert carried == [("chat-7", "u-1")] * 2
    assert {span.attributes["tag.tags"] for span in recorded.spans} == {("inner",)}


def test_executed_code_is_recorded_on_the_current_step(recorded):
    with trace.step("step 1"):
        trace.record_execution("print(1)", "python", observation="1\n", logs="1\n", output=None)
    step = recorded.named("step 1").attributes
    assert step["spanproof.code.source"] == "print(1)"
    assert step["spanproof.code.language"] == "python"
    assert step["spanproof.execution.logs"] == "1\n"
    assert "spanproof.execution.output" not in step


def test_a_failed_execution_fails_the_step(recorded):
    with trace.step("step 1"):
        trace.record_execution("1/0", "python", error=ZeroDivisionError("division by zero"))
    step = recorded.named("step 1")
    assert step.attributes["error.type"] == "ZeroDivisionError"
    assert step.status.status_code.name == "ERROR"


def test_a_failed_execution_of_which_only_a_text_is_known_fails_the_step(recorded):
    with trace.step("step 1"):
        trace.record_execution("exit 1", "bash", error="no such file")
    step = recorded.named("step 1")
    assert step.attributes["error.type"] == "_OTHER"
    assert step.status.description == "no such file"


def test_an_exception_passes_and_is_recorded(recorded):
    @trace.agent
    def answer(task):
        return lookup("missing")

    with pytest.raises(LookupError):
        answer("How much?")
    assert [span.attributes["error.type"] for span in recorded.spans] == ["LookupError"] * 2
    assert recorded.named("invoke_agent answer").attributes["spanproof.run.ending"] == "failed"


async def test_coroutines_side_by_side_keep_their_parents(recorded):
    @trace.agent
    async def answer(number):
        await asyncio.sleep(0.001 * number)
        return lookup(str(number))

    await asyncio.gather(*(answer(number) for number in range(3)))
    for call in (span for span in recorded.spans if span.name == "execute_tool lookup"):
        number = json.loads(call.attributes["gen_ai.tool.call.arguments"])["order_id"]
        assert recorded.parent(call).attributes["input.value"] == number


def test_a_generators_context_is_current_only_while_it_works(recorded):
    @trace.agent
    def answer(task):
        yield lookup("A")
        received = yield "second"
        return received

    stream = answer("go")
    assert next(stream) == {"cents": 4500}
    assert otel.get_current_span() is otel.INVALID_SPAN
    assert next(stream) == "second"
    with pytest.raises(StopIteration) as stopped:
        stream.send("sent")
    assert stopped.value.value == "sent"
    assert recorded.parent(recorded.named("execute_tool lookup")).name == "invoke_agent answer"


async def test_an_async_generator_is_one_span(recorded):
    @trace.agent
    async def answer(task):
        for number in range(3):
            await asyncio.sleep(0)
            yield lookup(str(number))

    assert len([item async for item in answer("go")]) == 3
    assert len(recorded.of_kind("AGENT")) == 1
    assert {recorded.parent(span).name for span in recorded.of_kind("TOOL")} == {"invoke_agent answer"}


async def test_an_abandoned_async_generator_ends_without_an_error(recorded):
    @trace.agent
    async def answer(task):
        yield 1
        yield 2

    stream = answer("go")
    await anext(stream)
    await stream.aclose()
    assert recorded.named("invoke_agent answer").status.status_code.name == "UNSET"


async def test_a_run_that_its_caller_cancels_has_not_failed(recorded):
    @trace.agent
    async def answer(task):
        await asyncio.Event().wait()

    running = asyncio.create_task(answer("go"))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    run = recorded.named("invoke_agent answer")
    assert run.status.status_code.name == "UNSET"
    assert not {"spanproof.run.ending", "error.type"} & set(run.attributes)


def test_hidden_content_stays_hidden(recorded):
    trace.configure(recorded.provider, ContentPolicy(capture=False))
    with trace.step("step 1"):
        trace.record_execution("secret_4711()", "python", observation="secret_4711")
        lookup("secret_4711")
    assert all("secret_4711" not in span.to_json() for span in recorded.spans)
    for span in recorded.spans:
        assert span.instrumentation_scope.attributes["spanproof.content.hidden"] is True


def test_code_that_ran_within_a_span_of_the_applications_is_marked_hidden_there(recorded):
    trace.configure(recorded.provider, ContentPolicy(capture=False))
    with recorded.provider.get_tracer("shop").start_as_current_span("cart"):
        trace.record_execution("secret_4711()", "python")
    assert recorded.named("cart").attributes["spanproof.content.hidden"] is True


def test_a_decorated_function_keeps_its_name_and_signature():
    assert lookup.__name__ == "lookup"
    assert asyncio.iscoroutinefunction(trace.tool(asyncio.sleep)) is True
