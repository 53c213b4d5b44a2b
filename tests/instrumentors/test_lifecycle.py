"""Instrumenting and uninstrumenting: every original comes back, and twice is once."""

import inspect
import pickle
from types import CellType, FunctionType

import pytest
import smolagents
from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.runnables import RunnableLambda
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import agents, local_python_executor

from spanproof.instrumentors import (
    ContentPolicy,
    instrument_langchain,
    instrument_smolagents,
    instrumented,
    register,
    registration,
    trace,
    uninstrument,
)

from .coders import Greeting, ScriptedModel, StreamingModel, ToolCallingModel, coder, written

_OWNERS = (
    agents.MultiStepAgent,
    agents.CodeAgent,
    agents.ToolCallingAgent,
    smolagents.Tool,
    smolagents.Model,
    local_python_executor.LocalPythonExecutor,
    local_python_executor,
    Greeting,
    StreamingModel,
    StreamingModel.__mro__[1],
    ToolCallingModel,
    CallbackManager,
    AsyncCallbackManager,
)


def _state():
    return {owner: {name: id(value) for name, value in vars(owner).items()} for owner in _OWNERS}


def _work():
    return coder("final_answer(greeting('you'))", tools=(Greeting(),)).run("Go.")


def test_uninstrumenting_puts_every_original_back(recorded):
    uninstrument()
    before = _state()
    instrument_smolagents(recorded.provider)
    instrument_langchain(recorded.provider)
    _work()
    assert _state() != before
    uninstrument()
    assert _state() == before
    recorded.clear()
    assert _work() == "hello you!"
    RunnableLambda(lambda x: x).invoke(1)
    assert recorded.spans == []


def test_instrumenting_twice_records_once(recorded):
    instrument_smolagents(recorded.provider)
    instrument_langchain(recorded.provider)
    _work()
    RunnableLambda(lambda x: x).invoke(1)
    assert len(recorded.of_kind("AGENT")) == 1
    assert len(recorded.spans) == 6


def test_scopes_are_named_by_framework_and_not_by_module(recorded):
    instrument_langchain(recorded.provider)
    _work()
    RunnableLambda(lambda x: x).invoke(1)
    scopes = {span.instrumentation_scope.name for span in recorded.spans}
    assert scopes == {"spanproof.instrumentors.smolagents", "spanproof.instrumentors.langchain"}


def test_instrumenting_again_after_uninstrumenting_records(recorded):
    uninstrument()
    assert instrumented() == ()
    instrument_smolagents(recorded.provider)
    _work()
    assert len(recorded.of_kind("AGENT")) == 1


_HOOKS = [
    (agents.MultiStepAgent, "run"),
    (agents.MultiStepAgent, "__call__"),
    (agents.MultiStepAgent, "_finalize_step"),
    (agents.MultiStepAgent, "_generate_planning_step"),
    (agents.MultiStepAgent, "_handle_max_steps_reached"),
    (agents.CodeAgent, "_step_stream"),
    (local_python_executor.LocalPythonExecutor, "__call__"),
    (smolagents.Tool, "__call__"),
    (smolagents.Model, "__call__"),
    (Greeting, "__call__"),
    (ScriptedModel, "generate"),
    (StreamingModel, "generate_stream"),
]


def _all_of_it():
    """What passes each of the hooks; its results."""
    helper = coder("final_answer('helped')", name="helper", description="Helps.")
    turns = (
        "'a plan'",
        "print(greeting('you'), helper('Go.'))",
        "raise ValueError('secret_4711')",
        "'no more'",
    )
    options = {"tools": (Greeting(),), "managed_agents": [helper], "planning_interval": 9, "max_steps": 2}
    streaming = coder(model=StreamingModel([written("final_answer(1)")]), stream_outputs=True)
    requested = StreamingModel(["hello"])([])
    return coder(*turns, **options).run("Go."), streaming.run("Go."), requested.content


def _wrapped(monkeypatch, owner, name):
    """What is there now, and what its calls are given from now on: somebody else has wrapped it."""
    ours, seen = vars(owner)[name], []

    def theirs(self, *args, **kwargs):
        seen.append(args)
        return ours(self, *args, **kwargs)

    monkeypatch.setattr(owner, name, theirs)
    return ours, theirs, seen


@pytest.mark.parametrize(("owner", "name"), _HOOKS)
def test_a_method_wrapped_by_somebody_else_meanwhile_keeps_their_wrapper(recorded, monkeypatch, owner, name):
    _all_of_it()
    recorded.clear()
    ours, theirs, seen = _wrapped(monkeypatch, owner, name)
    uninstrument()
    assert vars(owner)[name] is theirs
    with recorded.provider.get_tracer("application").start_as_current_span("request"):
        assert len(_all_of_it()) == 3
    assert seen
    assert [span.name for span in recorded.spans] == ["request"]
    monkeypatch.undo()
    setattr(owner, name, ours.__wrapped__)  # of ours it was the original's place


@pytest.mark.parametrize(("owner", "name"), _HOOKS)
def test_beside_a_hook_that_somebody_has_kept_the_next_ones_record_alone(recorded, monkeypatch, owner, name):
    uninstrument()
    results = _all_of_it()
    instrument_smolagents(recorded.provider, content=ContentPolicy(capture=False))
    assert _all_of_it() == results
    tree = recorded.tree()
    recorded.clear()
    uninstrument()

    earlier, kept = TracerProvider(), InMemorySpanExporter()
    earlier.add_span_processor(SimpleSpanProcessor(kept))
    instrument_smolagents(earlier)
    assert _all_of_it() == results
    kept.clear()
    ours, _, seen = _wrapped(monkeypatch, owner, name)
    uninstrument()

    instrument_smolagents(recorded.provider, content=ContentPolicy(capture=False))
    assert _all_of_it() == results
    assert seen
    assert recorded.tree() == tree
    assert "secret_4711" not in "".join(span.to_json() for span in recorded.spans)
    assert kept.get_finished_spans() == ()
    uninstrument()
    monkeypatch.undo()
    setattr(owner, name, ours.__wrapped__)


def test_uninstrumenting_in_the_middle_of_a_run_leaves_the_run_alone(recorded):
    stream = coder("print(1)", "final_answer(2)").run("Go.", stream=True)
    next(stream)
    uninstrument()
    assert list(stream)[-1].output == 2
    assert all(span.end_time for span in recorded.spans)
    assert len(recorded.of_kind("AGENT")) == 1


def test_signatures_and_names_stay_what_they_were(recorded):
    assert "task" in inspect.signature(agents.MultiStepAgent.run).parameters
    assert agents.MultiStepAgent.run.__qualname__ == "MultiStepAgent.run"
    _work()
    assert "who" in inspect.getsource(Greeting.forward)
    assert "hello" in Greeting().to_dict()["code"]


def test_beside_another_vendors_wrapper_both_see_the_run(recorded):
    import wrapt

    uninstrument()
    seen = []

    @wrapt.decorator
    def vendor(wrapped, instance, args, kwargs):
        seen.append(type(instance).__name__)
        return wrapped(*args, **kwargs)

    original = agents.MultiStepAgent.run
    agents.MultiStepAgent.run = vendor(original)
    try:
        instrument_smolagents(recorded.provider)
        _work()
        assert seen == ["CodeAgent"]
        assert len(recorded.of_kind("AGENT")) == 1
        uninstrument()
    finally:
        agents.MultiStepAgent.run = original


def test_beside_another_vendors_wrapper_of_langchain_both_see_the_run(recorded):
    import wrapt

    uninstrument()
    seen = []

    @wrapt.decorator
    def vendor(wrapped, instance, args, kwargs):
        seen.append(instance)
        return wrapped(*args, **kwargs)

    original = vars(CallbackManager)["configure"]
    CallbackManager.configure = vendor(original)
    try:
        instrument_langchain(recorded.provider)
        assert RunnableLambda(lambda x: x).invoke(1) == 1
        assert seen == [CallbackManager]
        assert len(recorded.spans) == 1
        uninstrument()
        assert RunnableLambda(lambda x: x).invoke(1) == 1
        assert len(seen) == 2
        assert len(recorded.spans) == 1
    finally:
        CallbackManager.configure = original


def test_a_run_that_began_uninstrumented_stays_so_and_one_that_began_instrumented_ends(recorded):
    uninstrument()

    def meanwhile(value):
        instrument_langchain(recorded.provider)
        return RunnableLambda(lambda x: x + 1).invoke(value)

    assert RunnableLambda(meanwhile).invoke(1) == 2
    assert recorded.spans == []

    def later(value):
        uninstrument()
        return RunnableLambda(lambda x: x + 1).invoke(value)

    assert RunnableLambda(later).invoke(1) == 2
    assert [span.name for span in recorded.spans] == ["later"]


def test_the_public_names_are_sorted_and_there():
    import spanproof.instrumentors as public

    assert public.__all__ == sorted(public.__all__)
    assert all(hasattr(public, name) for name in public.__all__)


def _says_it(recorded):
    with trace.step("said") as step:
        step.input("secret_4711")
    coder("final_answer('secret_4711')").run("Go.")
    RunnableLambda(lambda x: x).invoke("secret_4711")
    scopes = {
        span.instrumentation_scope.name.rpartition(".")[2]
        for span in recorded.spans
        if "secret_4711" in span.to_json()
    }
    recorded.clear()
    return scopes


def test_a_policy_holds_for_what_is_instrumented_already_and_until_another_is_given(recorded, monkeypatch):
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", recorded.provider)
    monkeypatch.setattr(registration, "_content", None)
    try:
        register(instrument=("smolagents",))
        assert _says_it(recorded) == {"trace", "smolagents", "langchain"}
        register(instrument=("smolagents",), content=ContentPolicy(capture=False))
        assert _says_it(recorded) == set()
        register()  # as a library may
        instrument_smolagents()
        assert _says_it(recorded) == set()
        uninstrument()
        register()
        assert _says_it(recorded) == set()
        instrument_smolagents(content=ContentPolicy())
        assert _says_it(recorded) == {"smolagents"}
        register(content=ContentPolicy())
        assert _says_it(recorded) == {"trace", "smolagents", "langchain"}
    finally:
        trace.configure()


def test_a_provider_that_is_given_receives_the_spans_from_then_on(recorded, monkeypatch):
    other, seen = TracerProvider(), InMemorySpanExporter()
    other.add_span_processor(SimpleSpanProcessor(seen))
    instrument_smolagents(other)
    instrument_smolagents()
    monkeypatch.setattr(otel, "_TRACER_PROVIDER", recorded.provider)
    try:
        register()  # names none
    finally:
        trace.configure()
    _work()
    assert recorded.spans == []
    assert len(seen.get_finished_spans()) == 5


@pytest.mark.parametrize("module", [__name__, "smolagents.models", None])
def test_a_replaced_method_can_be_sent_to_another_process_and_takes_nothing_of_ours_along(recorded, module):
    class Mine(ScriptedModel):
        __module__ = module

        def generate(self, messages, **options):
            return super().generate(messages, **options)

    coder(model=Mine(["Nothing."])).run("Go.")
    replaced = vars(Mine)["generate"]
    assert replaced is not replaced.__wrapped__
    # As cloudpickle does: code and name by value, each cell on its own, functions of `__main__` likewise.
    cells = [cell.cell_contents for cell in replaced.__closure__]
    sent = [each if each is replaced.__wrapped__ else pickle.dumps(each) for each in cells]
    assert not [each for each in sent if type(each) is bytes and b"spanproof" in each]
    arrived = [CellType(pickle.loads(each) if type(each) is bytes else each) for each in sent]
    recorded.clear()
    there = FunctionType(replaced.__code__, {}, "generate", None, tuple(arrived))
    uninstrument()
    assert there(Mine(["hello"]), []).content == "hello"
    assert recorded.spans == []
