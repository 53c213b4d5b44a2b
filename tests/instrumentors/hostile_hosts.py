"""Hosts of the three frameworks that handle any value, and how what they did is looked at."""

import json
import os
from contextlib import contextmanager
from functools import cache
from typing import ClassVar

import agents
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from langchain_core.language_models.llms import LLM
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from smolagents import Model, Tool

from spanproof.instrumentors import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    trace,
    uninstrument,
)

from .coders import ScriptedChatModel

many = settings(
    max_examples=int(os.environ.get("HOSTILE_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)

ANYTHING = {"type": "object", "properties": {"value": {}}}
seeds = st.integers(0, 2**32)


class Passing(Tool):
    """Returns the very object it is given."""

    name = "passing"
    description = "Passes."
    inputs: ClassVar = {"value": {"type": "any", "description": "Anything."}}
    output_type = "any"

    def forward(self, value):
        return value


class AnsweringModel(Model):
    """Answers with what it was given."""

    answer: object = None

    def generate(self, messages, **options):
        return self.answer

    def generate_stream(self, messages, **options):
        yield self.answer
        yield from ()


class AnsweringChatModel(ScriptedChatModel):
    """The same for LangChain: an answer that no validation has seen."""

    def _generate(self, messages, stop=None, run_manager=None, **options):
        generation = ChatGeneration.model_construct(message=self.answers[0], text="", generation_info=None)
        return ChatResult.model_construct(generations=[generation], llm_output=options.get("llm_output"))


class AnsweringLLM(LLM):
    """The same for completions."""

    answer: object = None

    @property
    def _llm_type(self):
        return "answering"

    def _call(self, prompt, stop=None, run_manager=None, **options):
        return self.answer


class AnsweringRetriever(BaseRetriever):
    """The same for retrievers."""

    found: object = None

    def _get_relevant_documents(self, query, *, run_manager):
        return self.found


@cache
def exporter():
    return InMemorySpanExporter()


def instrument():
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter()))
    instrument_smolagents(provider)
    instrument_langchain(provider)
    agents.set_trace_processors([])
    instrument_openai_agents(provider)
    trace.configure(provider)
    return provider.get_tracer("application")


@contextmanager
def uninstrumented():
    uninstrument()
    try:
        yield
    finally:
        instrument()


def exported():
    """The spans so far, which must be ended, valid for OTLP, and hold JSON where they say so."""
    spans = exporter().get_finished_spans()
    exporter().clear()
    encode_spans(spans).SerializeToString()
    for span in spans:
        for name in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.input.messages"):
            if name in span.attributes:
                json.loads(span.attributes[name])
    return spans


def as_uninstrumented(*calls, same=True):
    """Each call returns or raises what it does without instrumentation; gives the spans of it.

    `same` where the very object must come back; else one of its type.
    """
    exporter().clear()
    instrumented = [_outcome(call, same=same) for call in calls]
    spans = exported()
    with uninstrumented():
        assert [_outcome(call, same=same) for call in calls] == instrumented
    return spans


def _outcome(run, *, same):
    """What a call returns or raises, as far as it can be compared."""
    try:
        result = run()
    except BaseException as error:  # what the framework itself makes of such a value
        return type(error)
    return id(result) if same else type(result)


def named(tool, name):
    tool.name = name
    return tool


class Arguments(dict):
    """smolagents writes a run's variables into its prompt."""

    def __str__(self):
        return "{…}"
