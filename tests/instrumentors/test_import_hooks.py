"""Frameworks are instrumented when a program imports them, and never imported for it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from importlib.machinery import SourceFileLoader

import pytest

from spanproof.instrumentors.frameworks import import_hooks

from .conftest import run_program


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of its own on the path; what waits for it is dropped afterwards."""
    name = "spanproof_hooked_shop"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("loader = type(__spec__.loader).__name__\nLIST = [1]\n")
    (tmp_path / name / "till.py").write_text("from . import LIST\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    import_hooks._finder.actions.pop(name, None)
    import_hooks._finder.remove_if_idle()
    for module in (name, f"{name}.till"):
        sys.modules.pop(module, None)


def test_an_action_runs_once_when_the_package_of_a_module_is_imported(package):
    ran = []
    import_hooks.add_import_action(package, lambda: ran.append(sys.modules[package].LIST))
    assert not ran
    importlib.import_module(f"{package}.till")
    assert ran == [[1]]
    importlib.reload(sys.modules[package])
    assert ran == [[1]]


def test_a_module_has_the_loader_of_its_own_while_it_runs_and_afterwards(package):
    import_hooks.add_import_action(package, lambda: None)
    module = importlib.import_module(package)
    assert module.loader == "SourceFileLoader"
    assert isinstance(module.__spec__.loader, SourceFileLoader)
    assert module.__loader__ is module.__spec__.loader


def test_a_later_action_replaces_the_one_that_waits(package):
    ran = []
    import_hooks.add_import_action(package, lambda: ran.append("first"))
    import_hooks.add_import_action(package, lambda: ran.append("second"))
    importlib.import_module(package)
    assert ran == ["second"]


def test_looking_for_a_module_is_no_import(package):
    ran = []
    import_hooks.add_import_action(package, lambda: ran.append(1))
    assert importlib.util.find_spec(package) is not None
    assert not ran
    importlib.import_module(package)
    assert ran == [1]


def test_an_import_that_fails_raises_its_own_error_and_the_action_waits_on(package, tmp_path):
    ran = []
    init = tmp_path / package / "__init__.py"
    init.write_text("raise RuntimeError('no till')\n")
    import_hooks.add_import_action(package, lambda: ran.append(1))
    with pytest.raises(RuntimeError, match="no till"):
        importlib.import_module(package)
    assert not ran
    init.write_text("FINE = True\n")
    importlib.invalidate_caches()
    assert importlib.import_module(package).FINE
    assert ran == [1]


def test_the_finder_leaves_the_path_when_nothing_waits(package):
    others = set(import_hooks.list_awaited())
    import_hooks.add_import_action(package, lambda: None)
    assert import_hooks._finder in sys.meta_path
    importlib.import_module(package)
    assert (import_hooks._finder in sys.meta_path) is bool(others)


_REAL = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

from spanproof.instrumentors import diagnostics, instrumented, register
register()
early = [name for name in ("smolagents", "langchain_core", "agents", "mcp") if name in sys.modules]
promised = instrumented()

from langchain_core.tools import tool

@tool
def price(shelf: int) -> int:
    "The price of a shelf."
    return 36

price.invoke({"shelf": 4})
from mcp.client.session import ClientSession
from smolagents.agents import CodeAgent, MultiStepAgent
from agents import Agent
from agents.tracing.setup import get_trace_provider
print(json.dumps({
    "early": early,
    "promised": promised,
    "instrumented": instrumented(),
    "spans": [span.name for span in exporter.get_finished_spans()],
    "mcp": hasattr(ClientSession.call_tool, "__wrapped__"),
    "smolagents": hasattr(MultiStepAgent.run, "__wrapped__"),
    "agents": [type(each).__module__.split(".")[0] for each in
               get_trace_provider()._multi_processor._processors],
    "errors": dict(diagnostics().errors),
}))
"""


def test_real_frameworks_are_instrumented_as_the_program_imports_them():
    ended = run_program(sys.executable, "-c", _REAL)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found["early"] == []
    assert found["promised"] == found["instrumented"] == ["smolagents", "langchain", "openai-agents", "mcp"]
    assert found["spans"] == ["execute_tool price"]
    assert found["mcp"]
    assert found["smolagents"]
    assert "spanproof" in found["agents"]
    assert found["errors"] == {}


_FOREIGN = """
import json, pathlib, sys, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "mcp").mkdir()
(folder / "mcp" / "__init__.py").write_text("TILL = 1")
(folder / "mcp" / "client").mkdir()
(folder / "mcp" / "client" / "__init__.py").write_text("")
(folder / "mcp" / "client" / "session.py").write_text("")
sys.path.insert(0, str(folder))
from spanproof.instrumentors import instrumented, register
register(instrument="mcp")
import mcp
print(json.dumps([mcp.TILL, instrumented()]))
"""


def test_a_package_that_is_no_framework_is_imported_as_ever():
    ended = run_program(sys.executable, "-c", _FOREIGN, OTEL_TRACES_EXPORTER="none")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == [1, []]
    assert "mcp is not instrumented: ImportError" in ended.stderr
