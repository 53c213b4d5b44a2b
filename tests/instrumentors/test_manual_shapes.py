"""Whatever shape a decorated function or a block has, it behaves as before and its span is true."""

import asyncio
import contextlib
import gc
import json
import logging
import threading
from functools import cached_property, partial

import pytest
from opentelemetry.context import get_current
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from spanproof.instrumentors import feedback, set_cohort, trace


@pytest.fixture(autouse=True)
def _traced(recorded):
    trace.configure(recorded.provider)
    yield
    trace.configure()
    assert dict(get_current()) == {}


class Clerk:
    @trace.agent
    def answer(self, task):
        return self.lookup(task)

    @trace.tool
    def lookup(self, order_id, factor=1):
        return order_id * factor

    @trace.tool
    @classmethod
    def outside(cls, order_id):
        return cls, order_id

    @classmethod
    @trace.tool(name="inside")
    def inside(cls, order_id):
        return cls, order_id

    @trace.tool
    @staticmethod
    def alone(order_id):
        return order_id


def _arguments(span):
    return json.loads(span.attributes["gen_ai.tool.call.arguments"])


def test_a_methods_object_is_none_of_its_arguments(recorded):
    assert Clerk().answer("A") == "A"
    run, call = recorded.spans
    assert run.attributes["input.value"] == "A"
    assert _arguments(call) == {"order_id": "A"}
    assert "spanproof.tool.call.positional" not in call.attributes
    Clerk.lookup(Clerk(), "B", 2)
    assert _arguments(recorded.spans[-1]) == {"order_id": "B", "factor": 2}


@pytest.mark.parametrize("name", ["outside", "inside"])
def test_a_class_method_stays_one_on_whichever_side_it_is_decorated(recorded, name):
    class Derived(Clerk):
        pass

    assert getattr(Derived, name)("A") == (Derived, "A")
    assert getattr(Derived(), name)(order_id="A") == (Derived, "A")
    assert [_arguments(span) for span in recorded.spans] == [{"order_id": "A"}] * 2
    assert {span.name for span in recorded.spans} == {f"execute_tool {name}"}


def test_a_static_method_stays_one(recorded):
    assert Clerk.alone("A") == Clerk().alone("A") == "A"
    assert [_arguments(span) for span in recorded.spans] == [{"order_id": "A"}] * 2


@pytest.mark.parametrize("given", [property(len), cached_property(len), Clerk])
def test_what_would_no_longer_be_what_it_is_is_refused_with_its_remedy(given):
    with pytest.raises(TypeError, match="decorate the"):
        trace.step(given)
    with pytest.raises(TypeError, match="decorate the"):
        trace.step(name="named")(given)


async def test_an_object_whose_call_is_a_coroutine_is_awaited_within_its_span(recorded):
    class Asking:
        async def __call__(self, question):
            await asyncio.sleep(0)
            return question + 1

    assert await trace.tool(name="asking")(Asking())(1) == 2
    assert await trace.tool(name="partly")(partial(Asking(), 1))() == 2
    results = [span.attributes["gen_ai.tool.call.result"] for span in recorded.spans]
    assert results == ["2", "2"]


async def test_what_is_thrown_into_an_async_generator_reaches_it(recorded):
    seen = []

    @contextlib.asynccontextmanager
    @trace.step
    async def session():
        try:
            yield "session"
        except ValueError as error:
            seen.append(error)
            with trace.step("rollback"):
                await asyncio.sleep(0)

    async with session() as given:
        assert given == "session"
        raise ValueError("thrown")
    assert len(seen) == 1
    assert recorded.parent(recorded.named("rollback")) is recorded.named("session")
    assert recorded.named("session").status.status_code.name == "UNSET"


async def test_what_a_closed_async_generator_still_does_is_within_its_span(recorded):
    @trace.step
    async def reading():
        try:
            yield (yield 1)
        finally:
            with trace.step("closing"):
                await asyncio.sleep(0)

    stream = reading()
    assert await anext(stream) == 1
    assert await stream.asend("sent") == "sent"
    await stream.aclose()
    assert recorded.parent(recorded.named("closing")) is recorded.named("reading")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_generator_that_is_called_wrongly_ends_its_span(recorded, asynchronous):
    @trace.tool
    def reading(path):
        yield path

    @trace.tool
    async def reading_slowly(path):
        yield path

    async def all_of_it():
        return [item async for item in reading_slowly()]

    with pytest.raises(TypeError, match="path"):
        asyncio.run(all_of_it()) if asynchronous else list(reading())
    (call,) = recorded.spans
    assert call.attributes["error.type"] == "TypeError"


def test_a_block_entered_again_before_it_is_left_is_two_spans(recorded):
    block = trace.step("again")
    with block as outer, trace.step("between"), block as inner:
        inner.output("inner")
        outer.output("outer")
    first, between, second = recorded.spans
    assert recorded.parent(second) is between
    assert recorded.parent(between) is first
    assert (first.attributes["output.value"], second.attributes["output.value"]) == ("outer", "inner")


def test_a_block_shared_by_threads_is_a_span_in_each(recorded, caplog):
    block, together = trace.step("shared"), threading.Barrier(4)

    def work():
        with block:
            together.wait()
            with trace.step("within"):
                together.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared = [span for span in recorded.spans if span.name == "shared"]
    assert len({span.context.trace_id for span in shared}) == 4
    parents = {recorded.parent(span).context.span_id for span in recorded.spans if span.name == "within"}
    assert parents == {span.context.span_id for span in shared}
    assert not caplog.records


def test_a_block_entered_and_left_by_hand_ends_its_span(recorded):
    block = trace.agent(name="by hand").__enter__()
    block.__exit__(None, None, None)
    assert recorded.named("invoke_agent by hand").end_time


async def test_blocks_in_a_generator_that_is_closed_elsewhere_leave_the_console_alone(recorded, caplog):
    async def working():
        with set_cohort(task="t"), trace.step("left"):
            yield 1
            yield 2

    stream = working()
    await asyncio.create_task(anext(stream))
    with caplog.at_level(logging.INFO):
        await stream.aclose()
        stream = working()
        await anext(stream)
        del stream
        gc.collect()
        await asyncio.get_running_loop().shutdown_asyncgens()
    assert not caplog.records
    assert [span.name for span in recorded.spans] == ["left", "left"]


def test_names_and_cohorts_that_utf8_has_no_form_for_are_exported(recorded, caplog):
    with set_cohort(task="lone \ud800", release=7):
        trace.agent(name="lone \ud800")(trace.tool(name="lone \ud800")(lambda: 1))()
    feedback("a" * 32, "rerun", comment="lone \ud800")
    encode_spans(recorded.spans).SerializeToString()
    assert not caplog.records
    assert {span.attributes.get("spanproof.cohort.task") for span in recorded.spans} == {"lone \ufffd", None}
    assert recorded.spans[0].attributes["spanproof.cohort.release"] == "7"
    assert recorded.spans[0].attributes["gen_ai.agent.name"] == "lone \ufffd"
    assert recorded.spans[1].attributes["gen_ai.tool.name"] == "lone \ufffd"


def test_what_reports_nothing_of_itself_harms_no_run(recorded):
    class Silent:
        def __str__(self):
            raise ValueError("no")

        __repr__ = __str__

    with set_cohort(task=Silent(), release="r"), trace.step(Silent()):
        trace.record_execution(Silent(), observation=Silent(), logs=Silent(), error=LookupError("gone"))
    feedback("a" * 32, "thumbs_down", comment=Silent())
    step, reported = recorded.spans
    assert step.attributes["spanproof.cohort.release"] == "r"
    assert "Silent" in step.attributes["spanproof.code.source"]
    assert step.attributes["error.type"] == "LookupError"
    assert "Silent" in reported.attributes["spanproof.feedback.comment"]
