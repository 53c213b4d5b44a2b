"""Runs of real smolagents agents with a scripted model, recorded by our instrumentor and replayed whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, tool
from smolagents.monitoring import LogLevel

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.replay import FixtureBook, FixtureSet, read_parameters
from spanproof.instrumentors import instrument_smolagents, uninstrument
from spanproof.sandbox import Ecosystem, FailureClass, PackageSet
from spanproof.sandbox.backends.jail.backend import JailSandbox
from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import trace_of
from spanproof.trace.dialects import normalise_request

PRICES = {"hat": 4500, "cap": 900}


@tool
def price(item: str, times: int = 1) -> int:
    """Price of an item, in cents.

    Args:
        item: Which.
        times: How many.
    """
    return PRICES[item] * times


@tool
def ticket() -> int:
    """The next number."""
    PRICES["ticket"] = PRICES.get("ticket", 0) + 1
    return PRICES["ticket"]


class Scripted(Model):
    """Writes these snippets, one a turn."""

    def __init__(self, *code):
        super().__init__(model_id="scripted")
        self._turns = iter(code)

    def generate(self, messages, **options):
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"So.\n<code>\n{next(self._turns)}\n</code>")


def agent(*code, **options):
    return CodeAgent(
        tools=[price, ticket],
        model=Scripted(*code),
        max_steps=len(code),
        verbosity_level=LogLevel.OFF,
        **options,
    )


@pytest.fixture
def evaluated(jail):
    """Runs an agent; gives the trace and what the engine finds about it."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument_smolagents(provider)

    def run(made):
        exporter.clear()
        made.run("How much?")
        trace = trace_of(normalise_request(encode_spans(exporter.get_finished_spans())))
        return trace, Engine(pipeline=Pipeline(), sandbox=jail).evaluate(trace)

    yield run
    uninstrument()


def replay_of(evaluation, name):
    (found,) = [each.replay for each in evaluation.runs if each.run.name.endswith(name)]
    return found


def test_a_run_with_tools_agrees_with_its_record_step_by_step(evaluated):
    trace, evaluation = evaluated(
        agent(
            "a = price('hat')\nb = price('cap', times=2)\nprint(a, b)",
            "numbers = [ticket(), ticket()]\nnumbers",
            "price('scarf')",
            "price(colour='red')",
            "final_answer(a + b + sum(numbers))",
            name="buyer",
        )
    )
    assert read_parameters(trace) == {"price": ("item", "times"), "ticket": (), "final_answer": ("answer",)}
    replay = replay_of(evaluation, "buyer")
    assert [(step.agrees, step.divergences) for step in replay.steps] == [(True, ())] * 5, replay.steps
    failed = [step.execution.raised.type for step in replay.steps if step.execution.raised]
    assert failed == ["KeyError", "TypeError"]
    assert replay.first_divergence is None


def test_a_managed_agent_is_answered_from_the_tape_and_its_own_run_is_replayed_too(evaluated):
    helper = agent("final_answer(price('hat'))", name="helper", description="Looks prices up.")
    _, evaluation = evaluated(
        agent(
            "told = helper('look up the hat')\nprint('4500' in told)",
            "final_answer('45 dollars')",
            managed_agents=[helper],
            name="boss",
        )
    )
    boss, own = replay_of(evaluation, "boss"), replay_of(evaluation, "helper")
    assert [(step.agrees, step.divergences) for step in boss.steps] == [(True, ())] * 2, boss.steps
    assert boss.steps[0].execution.stdout == "True\n"
    assert [step.agrees for step in own.steps] == [True], own.steps


def test_the_first_step_that_leaves_the_record_is_named(evaluated, jail):
    trace, _ = evaluated(agent("price('hat')", "print(price('cap'))", "final_answer(1)", name="buyer"))
    lost = [span for span in trace.spans if span.tool is None or span.tool.arguments != {"item": "cap"}]
    assert len(lost) < len(trace.spans)
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail).evaluate(trace_of(lost))
    number, step = replay_of(evaluation, "buyer").first_divergence
    assert (number, step.divergences[0].reason) == (2, "unknown_arguments")
    assert step.execution.failure_class is FailureClass.EXCEPTION
    assert step.agrees is None


def test_a_run_whose_fixture_set_is_not_in_the_book_is_not_replayed_and_says_so(evaluated, jail):
    trace, _ = evaluated(agent("print(open('prices.csv').read())", "final_answer(1)", name="buyer"))
    book = FixtureBook((FixtureSet("shop", files={"prices.csv": b"hat"}),), "fixtures.yaml")
    found = []
    for named in ("none", "shop"):
        spans = [
            replace(span, attributes={**span.attributes, "spanproof.cohort.fixture_set": named})
            for span in trace.spans
        ]
        evaluation = Engine(pipeline=Pipeline(), sandbox=jail, fixtures=book).evaluate(trace_of(spans))
        found.append(replay_of(evaluation, "buyer"))
    assert "fixtures.yaml: the run's fixture set 'none' is not in it" in found[0].reason
    assert found[1].steps[0].execution.stdout == "hat\n"


def test_packages_that_cannot_be_had_are_the_reason_why_a_run_is_not_replayed(evaluated, monkeypatch):
    trace, _ = evaluated(agent("final_answer(price('hat'))", name="buyer"))
    pinned = FixtureSet("shop", packages=PackageSet(Ecosystem.PIP, ("six==1.16.0",)))
    with JailSandbox() as sandbox:
        monkeypatch.setattr(sandbox.environments, "get_lease", _refuse)
        engine = Engine(pipeline=Pipeline(), sandbox=sandbox, fixtures=FixtureBook((pinned,), "f.yaml"))
        assert replay_of(engine.evaluate(trace), "buyer").reason == "six==1.16.0 cannot be had: no index"


def _refuse(packages):
    raise EnvironmentUnavailable("six==1.16.0 cannot be had: no index")
