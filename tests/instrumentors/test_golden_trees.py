"""Whole span trees, one golden file per scenario: kinds, parents, outcomes and what distinguishes them."""

import inspect
from types import ModuleType

import pytest

from spanproof.instrumentors import instrument_openai_agents, trace

from .conftest import GOLDEN
from .trees import any_code, langchain, openai_agents, smolagents

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

_MODULES = (smolagents, langchain, openai_agents, any_code)


def _scenarios_of(module: ModuleType) -> dict[str, object]:
    found = inspect.getmembers(module, inspect.isfunction)
    named = {name: function for name, function in found if function.__module__ == module.__name__}
    return {
        f"{module.__name__.rpartition('.')[2]}_{name}": function
        for name, function in named.items()
        if list(inspect.signature(function).parameters) in (["_"], ["recorded"])
    }


SCENARIOS = {name: function for module in _MODULES for name, function in _scenarios_of(module).items()}


@pytest.fixture
def traced(recorded):
    from agents import set_trace_processors

    set_trace_processors([])
    instrument_openai_agents(recorded.provider)
    trace.configure(recorded.provider)
    yield recorded
    trace.configure()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenarios_span_tree_is_the_golden_one(name, traced, golden):
    SCENARIOS[name](traced)
    golden(f"{name}.txt", traced.tree(side_by_side=name.endswith("_side_by_side")))


def test_no_golden_tree_is_left_without_its_scenario():
    known = {f"{name}.txt" for name in SCENARIOS}
    found = {
        path.name for path in GOLDEN.glob("*.txt") if not path.name.startswith(("scenario_", "shown_by_"))
    }
    assert found == known
