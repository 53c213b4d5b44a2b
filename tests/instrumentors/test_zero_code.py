"""Entry points for `opentelemetry-instrument`."""

from spanproof.instrumentors import instrumented, uninstrument
from spanproof.instrumentors.zero_code import LangChain, OpenAIAgents, Smolagents


def test_each_entry_point_instruments_its_framework_and_raises_nothing(recorded):
    uninstrument()
    for entry_point in (Smolagents, LangChain, OpenAIAgents):
        entry_point().instrument(skip_dep_check=True)
    assert {"smolagents", "langchain"} <= set(instrumented())
    Smolagents().uninstrument()
    assert instrumented() == ()


def test_a_framework_that_is_missing_is_left_out(monkeypatch):
    def missing():
        raise ModuleNotFoundError("No module named 'smolagents'", name="smolagents")

    monkeypatch.setattr(Smolagents, "instrument_framework", staticmethod(missing))
    Smolagents().instrument()
