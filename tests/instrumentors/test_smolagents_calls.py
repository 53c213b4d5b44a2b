"""LLM and TOOL spans of smolagents: whatever class, way of calling, or thread."""

import json
import threading
from decimal import Decimal
from typing import ClassVar

import pytest
import wrapt
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from smolagents import ChatMessage, ChatMessageStreamDelta, CodeAgent, MessageRole, Model, Tool
from smolagents.monitoring import LogLevel

from .coders import Greeting, ScriptedModel, StreamingModel, cents_of, coder, echo, messages_of, written


def test_a_model_call_records_messages_model_and_usage(recorded):
    coder("final_answer(1)").run("Go.")
    call = recorded.named("chat scripted-coder")
    assert call.kind.name == "CLIENT"
    assert [message["role"] for message in messages_of(call)] == ["system", "user"]
    assert messages_of(call)[1]["parts"] == [{"type": "text", "content": "New task:\nGo."}]
    (answer,) = messages_of(call, "gen_ai.output.messages")
    assert answer["role"] == "assistant"
    assert answer["finish_reason"] == "stop"
    assert "final_answer(1)" in answer["parts"][0]["content"]
    assert call.attributes["gen_ai.usage.input_tokens"] == call.attributes["llm.token_count.prompt"] > 0
    assert call.attributes["gen_ai.request.model"] == "scripted-coder"


def test_a_name_without_a_utf8_form_does_not_keep_a_span_from_being_exported(recorded):
    model = ScriptedModel([written("final_answer(1)")])
    model.model_id = "lone \ud800"
    coder(model=model).run("Go.")
    encode_spans(recorded.spans)
    assert recorded.of_kind("LLM")[0].name == "chat lone \ufffd"


def test_later_calls_record_new_messages_only_and_say_what_they_left_out(recorded):
    coder("print(1)", "print(2)", "final_answer(1)").run("Go.")
    calls = recorded.of_kind("LLM")
    whole: dict[str, list] = {}
    for call in calls:
        base = whole.get(call.attributes.get("spanproof.messages.base"), [])
        messages = base[: call.attributes.get("spanproof.messages.omitted", 0)] + list(messages_of(call))
        answer = messages_of(call, "gen_ai.output.messages")
        whole[format(call.context.span_id, "016x")] = messages + answer
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user"] + ["assistant", "assistant", "tool"] * 2
    assert sum(len(messages_of(call)) for call in calls) == len(roles) - 2


def test_what_ends_an_answer_is_reported_once_and_again_where_it_changes(recorded):
    coder("'a plan'", "print(1)", "print(2)", "final_answer(1)", planning_interval=9).run("Go.")
    plan, first, *later = (
        call.attributes.get("gen_ai.request.stop_sequences") for call in recorded.of_kind("LLM")
    )
    assert plan == ("<end_plan>",)
    assert "Observation:" in first
    assert later == [None, None]


def test_the_bytes_of_a_run_grow_with_its_new_messages(recorded):
    def size(steps: int) -> int:
        recorded.clear()
        coder(*["print('x' * 2000)"] * steps, "final_answer(1)").run("Go.")
        return sum(len(str(value)) for span in recorded.spans for value in span.attributes.values())

    ten, twenty = size(10), size(20)
    assert twenty < 2.2 * ten


@pytest.mark.parametrize("stream", [False, True])
def test_a_streaming_model_is_one_call_with_the_joined_answer(recorded, stream):
    turns = [written("print(1)"), written("final_answer(1)")]
    agent = coder(model=StreamingModel(turns), stream_outputs=True, max_steps=3)
    list(agent.run("Go.", stream=True)) if stream else agent.run("Go.")
    calls = recorded.of_kind("LLM")
    assert len(calls) == 2
    assert recorded.parent(calls[0]).name == "step 1"
    (answer,) = messages_of(calls[0], "gen_ai.output.messages")
    assert answer["parts"][0]["content"] == turns[0]
    assert calls[0].attributes["gen_ai.usage.output_tokens"] == 3


class Pieces:
    """A provider's stream: an iterator with something of its own, no generator."""

    request_id = "r-1"

    def __init__(self, pieces):
        self._pieces = pieces

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._pieces)


class ProviderModel(StreamingModel):
    def generate_stream(self, messages, **options):
        return Pieces(super().generate_stream(messages, **options))


def test_a_stream_that_is_no_generator_keeps_what_it_is(recorded):
    model = ProviderModel([written("final_answer(1)")])
    coder(model=model, stream_outputs=True).run("Go.")
    assert len(recorded.of_kind("LLM")) == 1
    stream = model.generate_stream([])
    assert stream.request_id == "r-1"
    assert isinstance(stream, Pieces)


class DerivedModel(ScriptedModel):
    def generate(self, messages, **options):
        return super().generate(messages, **options)


def test_a_model_that_calls_its_parents_generate_is_one_call(recorded):
    coder(model=DerivedModel([written("final_answer(1)")])).run("Go.")
    assert len(recorded.of_kind("LLM")) == 1


class FallbackModel(Model):
    def __init__(self, other):
        super().__init__(model_id="fallback")
        self.other = other

    def generate(self, messages, **options):
        return self.other.generate(messages, **options)


def test_a_model_that_requests_another_model_is_two_calls(recorded):
    other = ScriptedModel([written("final_answer(1)")])
    other([ChatMessage(role=MessageRole.USER, content="warm up")])
    recorded.clear()
    coder(model=FallbackModel(other)).run("Go.")
    assert recorded.parent(recorded.named("chat scripted-coder")).name == "chat fallback"


def test_a_model_called_directly_is_a_call_of_its_own(recorded):
    class OwnModel(Model):
        def generate(self, messages, **options):
            return ChatMessage(role=MessageRole.ASSISTANT, content="hello")

    assert OwnModel()([{"role": "user", "content": "hi"}], temperature=0.5).content == "hello"
    (call,) = recorded.spans
    assert call.name == "chat OwnModel"
    assert messages_of(call)[0]["parts"][0]["content"] == "hi"
    assert call.attributes["gen_ai.request.temperature"] == 0.5


class DuckModel:
    """No subclass of Model at all."""

    model_id = "duck"

    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content="<code>\nfinal_answer(1)\n</code>")


def test_a_model_that_is_no_model_subclass_is_recorded(recorded):
    CodeAgent(tools=[], model=DuckModel(), verbosity_level=LogLevel.OFF).run("Go.")
    assert recorded.named("chat duck")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("cents_of('A-17')", {"order_id": "A-17"}),
        ("cents_of('A-17', 2)", {"order_id": "A-17", "factor": 2}),
        ("cents_of(factor=2, order_id='A-17')", {"order_id": "A-17", "factor": 2}),
        ("cents_of({'order_id': 'A-17'})", {"order_id": "A-17"}),
    ],
)
def test_arguments_have_the_names_of_their_parameters_however_they_were_passed(recorded, call, arguments):
    coder(f"final_answer({call})").run("Go.")
    assert (
        json.loads(recorded.named("execute_tool cents_of").attributes["gen_ai.tool.call.arguments"])
        == arguments
    )


@pytest.mark.parametrize(
    ("value", "result", "kind"),
    [
        ("4500", "4500", None),
        ("'4500'", '"4500"', None),
        ("[1, 2.5, None, True]", "[1,2.5,null,true]", None),
        ("(1, 2)", "[1,2]", "tuple"),
        ("{'a': {'b': 1}}", '{"a":{"b":1}}', None),
        ("None", "null", None),
    ],
)
def test_a_tools_result_keeps_its_type(recorded, value, result, kind):
    coder(f"x = echo(value={value})", "final_answer(1)").run("Go.")
    call = recorded.named("execute_tool echo").attributes
    assert call["gen_ai.tool.call.result"] == result
    assert call.get("spanproof.tool.call.result.type") == kind


def test_a_result_that_json_cannot_hold_is_marked_lossy(recorded):
    with recorded.provider.get_tracer("application").start_as_current_span(
        "outer", attributes={"openinference.span.kind": "X"}
    ):
        coder("final_answer(1)").run("Go.")  # patches the tool's class
        assert echo(value=Decimal("45.00")) == Decimal("45.00")
    call = recorded.named("execute_tool echo").attributes
    assert call["gen_ai.tool.call.result"] == '"45.00"'
    assert call["spanproof.tool.call.result.type"] == "decimal.Decimal"
    assert "gen_ai.tool.call.result" in call["spanproof.content.lossy"]


class Named(Tool):
    """Its inputs have the names of what our own hooks are given."""

    name = "named"
    description = "Adds up."
    inputs: ClassVar = {
        key: {"type": "integer", "description": "A number."}
        for key in ("member", "original", "model", "tool")
    }
    output_type = "integer"

    def forward(self, member: int, original: int, model: int, tool: int) -> int:
        return member + original + model + tool


def test_a_tools_inputs_may_have_any_names(recorded):
    said = coder("final_answer(named(member=1, original=2, model=3, tool=4))", tools=(Named(),)).run("Go.")
    assert said == 10
    (call, _) = recorded.of_kind("TOOL")
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"])["member"] == 1


class EchoingModel(StreamingModel):
    """Answers with the options of its call."""

    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content=json.dumps(options))

    def generate_stream(self, messages, **options):
        yield ChatMessageStreamDelta(content=json.dumps(options))


class WrappedModel(EchoingModel):
    """The same under another vendor's instrumentation."""

    @wrapt.decorator
    def vendor(wrapped, instance, args, kwargs):
        return wrapped(*args, **kwargs)

    generate = vendor(EchoingModel.generate)
    generate_stream = vendor(EchoingModel.generate_stream)


@pytest.mark.parametrize("kind", [EchoingModel, WrappedModel])
def test_a_models_options_may_have_any_names(recorded, kind):
    options = {"model": "another", "member": 1, "agent": 2, "original": 3, "instance": 4, "kind": 5}
    model = kind([])
    assert json.loads(model([], **options).content) == options
    (piece,) = model.generate_stream([], **options)
    assert json.loads(piece.content) == options
    assert len(recorded.of_kind("LLM")) == 2


def test_a_tool_that_raises_is_recorded_with_type_and_message(recorded):
    coder("cents_of('missing')", "final_answer(1)").run("Go.")
    call = recorded.named("execute_tool cents_of")
    assert call.attributes["error.type"] == "LookupError"
    (event,) = call.events
    assert event.attributes["exception.message"] == "no such order"
    assert "LookupError: no such order" in event.attributes["exception.stacktrace"]
    assert recorded.parent(call).attributes["error.type"] == "LookupError"


def test_a_tool_that_overrides_call_is_one_call(recorded):
    assert coder("final_answer(greeting('you'))", tools=(Greeting(),)).run("Go.") == "hello you!"
    call = recorded.named("execute_tool greeting").attributes
    assert call["gen_ai.tool.call.result"] == '"hello you!"'


def test_tools_called_in_one_snippet_are_siblings_in_order(recorded):
    coder("final_answer(cents_of('A') + cents_of('B', 2))").run("Go.")
    calls = recorded.of_kind("TOOL")
    assert [span.attributes["gen_ai.tool.name"] for span in calls] == ["cents_of", "cents_of", "final_answer"]
    assert {recorded.parent(span).name for span in calls} == {"step 1"}


def test_application_spans_inside_a_tool_are_its_children(recorded):
    class Traced(Tool):
        name = "traced"
        description = "Opens a span."
        inputs: ClassVar = {}
        output_type = "integer"

        def forward(self) -> int:
            with recorded.provider.get_tracer("app").start_as_current_span(
                "query", attributes={"openinference.span.kind": "X"}
            ):
                return 1

    coder("final_answer(traced())", tools=(Traced(),)).run("Go.")
    assert recorded.parent(recorded.named("query")).name == "execute_tool traced"


def test_a_tool_outside_of_any_span_leaves_none(recorded):
    coder("final_answer(1)").run("Go.")
    recorded.clear()
    assert cents_of("A-17") == 4500
    assert recorded.spans == []


class Threaded(Tool):
    """Calls another tool and the agent's model in threads of its own."""

    name = "threaded"
    description = "Works in raw threads."
    inputs: ClassVar = {}
    output_type = "integer"

    def forward(self) -> int:
        results: list[int] = []
        model = ScriptedModel(["other"])

        def work():
            results.append(cents_of("A-17"))
            model([{"role": "user", "content": "hi"}])

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(results)


def test_tools_called_in_raw_threads_belong_to_the_step_going_on(recorded):
    assert coder("final_answer(threaded())", tools=(Threaded(),)).run("Go.") == 13500
    called = [span for span in recorded.of_kind("TOOL") if span.name == "execute_tool cents_of"]
    assert [recorded.parent(span).name for span in called] == ["step 1"] * 3


def test_a_tool_shared_by_two_runs_going_on_is_given_to_neither_from_a_raw_thread(recorded):
    streams = [coder("final_answer(1)", name=f"agent_{i}").run("Go.", stream=True) for i in range(2)]
    for stream in streams:
        next(stream)
    thread = threading.Thread(target=lambda: cents_of("A-17"))
    thread.start()
    thread.join()
    for stream in streams:
        list(stream)
    assert [span.name for span in recorded.of_kind("TOOL")] == ["execute_tool final_answer"] * 2
