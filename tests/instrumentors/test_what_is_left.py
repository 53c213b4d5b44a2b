"""What an agent held goes with it: nothing of ours is a circle that waits for the garbage collector."""

import gc
from collections import Counter
from types import TracebackType

import pytest
from opentelemetry.sdk.trace import TracerProvider

from spanproof.instrumentors import (
    instrument_langchain,
    instrument_openai_agents,
    instrument_smolagents,
    trace,
    uninstrument,
)

from .test_golden_trees import SCENARIOS

pytestmark = pytest.mark.filterwarnings("ignore")


class Untold:
    """In place of what is recorded: no test here reads that."""

    provider = TracerProvider(shutdown_on_exit=False)


@pytest.fixture
def instrumented():
    from agents import set_trace_processors

    set_trace_processors([])

    def switch():
        for each in (instrument_smolagents, instrument_langchain, instrument_openai_agents):
            each(Untold.provider)
        trace.configure(Untold.provider)

    yield switch
    uninstrument()
    trace.configure()


def left_by(scenario):
    """Objects, by their class, that only the garbage collector frees."""
    scenario(Untold)
    gc.collect()
    gc.freeze()  # what is there is no part of the question, and half a million objects take a while to visit
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        scenario(Untold)
        gc.collect()
        return Counter(type(each) for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_leaves_no_more_to_the_garbage_collector_than_without_us(name, instrumented):
    before = left_by(SCENARIOS[name])
    if TracebackType in before:
        return  # an error that the framework keeps is a circle itself, with every frame that it came through
    instrumented()
    more = left_by(SCENARIOS[name]) - before
    # Of what Python makes by itself, a framework that notifies a handler makes some more.
    assert {kind for kind in more if kind.__module__ != "builtins"} == set()
