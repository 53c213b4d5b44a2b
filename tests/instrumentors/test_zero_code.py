"""Without a line in the program: `opentelemetry-instrument python app.py`, and what may stand in its way."""

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from spanproof.instrumentors import diagnostics, instrumented, registration, uninstrument
from spanproof.instrumentors.frameworks.diagnostics import remove_diagnostics
from spanproof.instrumentors.zero_code import LangChain, OpenAIAgents, Smolagents

from .conftest import AGENT_PROGRAM, RUN_KINDS, run_program


def test_each_entry_point_instruments_its_framework_and_raises_nothing(recorded):
    uninstrument()
    for entry_point in (Smolagents, LangChain, OpenAIAgents):
        entry_point().instrument(skip_dep_check=True)
    assert {"smolagents", "langchain"} <= set(instrumented())
    Smolagents().uninstrument()
    assert instrumented() == ()


def test_a_framework_that_is_missing_is_left_out(monkeypatch):
    def missing(*_arguments, **_named):
        raise ModuleNotFoundError("No module named 'smolagents'", name="smolagents")

    monkeypatch.setattr(registration, "_instrument_framework", missing)
    Smolagents().instrument()
    assert diagnostics().errors == {}


_OLD_SMOLAGENTS = """
from importlib.metadata import version
from spanproof.instrumentors import instrumented, register, registration
registration.version = lambda name: "1.2.0" if name == "smolagents" else version(name)
register()
print(*instrumented())
"""


def test_register_leaves_a_release_out_of_range_alone_too():
    ended = run_program(sys.executable, "-c", _OLD_SMOLAGENTS, OTEL_TRACES_EXPORTER="none")
    assert (ended.returncode, ended.stdout) == (0, "langchain openai-agents mcp\n"), ended.stderr
    assert "smolagents 1.2.0 is installed, smolagents>=1.24 is needed" in ended.stderr


def test_a_release_out_of_range_is_reported_and_the_others_go_on(monkeypatch, caplog):
    def old(name):
        return "1.2.0" if name == "smolagents" else version(name)

    monkeypatch.setattr(registration, "version", old)
    remove_diagnostics()
    try:
        Smolagents().instrument()
        LangChain().instrument()
        assert instrumented() == ("langchain",)
        assert "smolagents 1.2.0 is installed, smolagents>=1.24 is needed" in caplog.text
        assert diagnostics().errors == {"instrument.smolagents": 1}
    finally:
        uninstrument()
        remove_diagnostics()


@pytest.fixture
def launcher():
    return str(Path(sys.executable).parent / "opentelemetry-instrument")


def test_a_program_that_knows_nothing_of_us_is_on_the_trace(launcher, receiving, tmp_path):
    app = tmp_path / "app.py"
    app.write_text(AGENT_PROGRAM + "print(answer())\n")
    ended = run_program(launcher, sys.executable, str(app), **_exporting_to(receiving))
    assert (ended.returncode, ended.stdout) == (0, "42\n"), ended.stderr
    assert receiving.kinds() == RUN_KINDS


def test_variables_that_cannot_be_read_are_reported_in_a_line_and_the_program_is_on_the_trace(
    launcher, receiving, tmp_path
):
    app = tmp_path / "app.py"
    app.write_text(AGENT_PROGRAM + "print(answer())\n")
    wrong = {
        "OTEL_BSP_SCHEDULE_DELAY": "soon",
        "OTEL_BSP_MAX_QUEUE_SIZE": "100",  # less than the SDK's default for a batch
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "many",
        "OTEL_TRACES_EXPORTER": "otlp,carrier_pigeon",
    }
    exporting = {**_exporting_to(receiving), "OTEL_EXPORTER_OTLP_PROTOCOL": "smoke"}
    ended = run_program(launcher, sys.executable, str(app), **exporting, **wrong)
    assert (ended.returncode, ended.stdout) == (0, "42\n"), ended.stderr
    assert receiving.kinds() == RUN_KINDS
    reported = ended.stderr.splitlines()
    assert [line.partition("=")[0] for line in reported] == [
        "OTEL_BSP_SCHEDULE_DELAY",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "OTEL_TRACES_EXPORTER",
    ]
    assert reported[0].endswith("='soon' is not a whole number from 1 up, so it is ignored")


def test_a_framework_that_works_in_other_ways_is_reported_and_the_program_runs(launcher, receiving, tmp_path):
    broken = tmp_path / "smolagents"
    broken.mkdir()
    (broken / "__init__.py").write_text("from . import agents\nclass Tool: ...\nclass Model: ...\n")
    (broken / "agents.py").write_text("class MultiStepAgent:\n    def run(self): return 'as ever'\n")
    (broken / "local_python_executor.py").write_text("")
    app = tmp_path / "app.py"
    app.write_text("from smolagents.agents import MultiStepAgent\nprint(MultiStepAgent().run())\n")
    ended = run_program(
        launcher, sys.executable, str(app), PYTHONPATH=str(tmp_path), **_exporting_to(receiving)
    )
    assert (ended.returncode, ended.stdout) == (0, "as ever\n"), ended.stderr
    assert "smolagents is not instrumented: AttributeError: MultiStepAgent has no" in ended.stderr
    assert receiving.spans == []


def _exporting_to(receiving):
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiving.http,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
    }
