"""Modules loaded anew and processes forked: the agent behaves as ever, and is recorded or it is not."""

import json
import sys

import pytest

from .conftest import AGENT_PROGRAM, RUN_KINDS, run_program

_PRELUDE = """
import importlib, json, os, threading
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from spanproof.instrumentors import diagnostics, instrument_langchain, instrument_smolagents, uninstrument
provider, exporter = TracerProvider(), InMemorySpanExporter()
provider.add_span_processor(SimpleSpanProcessor(exporter))
def kinds():
    found = sorted(span.attributes["openinference.span.kind"] for span in exporter.get_finished_spans())
    exporter.clear()
    return found
told = []
"""


def run(code):
    program = AGENT_PROGRAM + _PRELUDE + code + "\nprint(json.dumps([told, dict(diagnostics().errors)]))"
    ended = run_program(sys.executable, "-c", program)
    assert ended.returncode == 0, ended.stderr
    reported, errors = json.loads(ended.stdout.splitlines()[-1])
    assert errors == {}
    return reported


@pytest.mark.parametrize("module", ["smolagents.agents", "smolagents.tools", "smolagents.models"])
def test_an_agent_made_before_a_reload_works_on_and_is_recorded(module):
    reported = run(f"""
instrument_smolagents(provider)
importlib.reload(importlib.import_module({module!r}))
told += [answer(), kinds()]
""")
    assert reported == [42, RUN_KINDS]


def test_after_a_reload_of_the_executor_instrumenting_again_records_as_before():
    reported = run("""
import smolagents.local_python_executor as module
instrument_smolagents(provider)
original = importlib.reload(module).timeout
told += [answer(), kinds() != []]
instrument_smolagents(provider)
told += [answer(), kinds(), module.timeout is original]
uninstrument()
told += [answer(), kinds(), module.timeout is original]
""")
    assert reported == [42, True, 42, RUN_KINDS, False, 42, [], True]


def test_classes_that_a_reload_made_are_as_uninstrumented_until_instrumenting_again():
    reported = run("""
import smolagents.agents as module
instrument_smolagents(provider)
CodeAgent = importlib.reload(module).CodeAgent
original = module.MultiStepAgent.run
told += [answer(), kinds()]
instrument_smolagents(provider)
told += [answer(), kinds()]
uninstrument()
told += [answer(), kinds(), module.MultiStepAgent.run is original]
""")
    assert reported == [42, [], 42, RUN_KINDS, 42, [], True]


def test_a_reload_of_langchains_callbacks_and_instrumenting_again_harm_nothing():
    reported = run("""
import langchain_core.callbacks.manager as module
from langchain_core.runnables import RunnableLambda
def double(): return RunnableLambda(lambda x: 2 * x).invoke(21)
instrument_langchain(provider)
told += [double(), kinds()]
first = module.CallbackManager
original = vars(importlib.reload(module).CallbackManager)["configure"]
told += [double(), len(kinds()) <= 1]
instrument_langchain(provider)
told += [double(), len(kinds()) <= 1]
uninstrument()
told += [double(), kinds(), vars(module.CallbackManager)["configure"] is original]
""")
    assert reported == [42, ["CHAIN"], 42, True, 42, True, 42, [], True]


def test_a_child_forked_while_every_lock_is_held_runs_and_exports_on_its_own(receiving):
    program = (
        AGENT_PROGRAM
        + f"""
import os, threading
from spanproof.instrumentors import diagnostics, register
from spanproof.instrumentors import diagnostics as _, registration
import spanproof.instrumentors.frameworks.diagnostics as counting
import spanproof.instrumentors.frameworks.patching as patching
provider = register(endpoint={receiving.http!r}, instrument=("smolagents",))
"""
        + _FORKING
    )
    ended = run_program(sys.executable, "-c", program)
    assert ended.returncode == 0, ended.stderr
    assert receiving.kinds() == sorted(2 * RUN_KINDS)
    assert len({span.trace_id for span in receiving.spans}) == 2
    assert len({span.span_id for span in receiving.spans}) == 8


def test_a_child_forked_within_a_run_runs_on_its_own_and_the_run_goes_on():
    reported = run("""
from langchain_core.runnables import RunnableLambda
instrument_langchain(provider)
instrument_smolagents(provider)
def forking(value):
    child = os.fork()
    if child == 0:
        right = RunnableLambda(lambda x: 2 * x).invoke(21) == answer() == 42 and diagnostics().errors == {}
        os._exit(0 if right else 3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
told += [RunnableLambda(forking).invoke(1), kinds(), answer(), kinds()]
""")
    assert reported == [0, ["CHAIN"], 42, RUN_KINDS]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("registering", ["early", "in the worker"])
def test_a_worker_of_multiprocessing_exports_its_spans_before_it_ends(
    receiving, tmp_path, method, registering
):
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from spanproof.instrumentors import register, trace
def begin():
    register(endpoint={receiving.http!r}, instrument=())
@trace.agent
def answer(task):
    return 2 * task
def work(task):
    begin()
    return answer(task)
if {registering == "early"}:
    begin()
if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context({method!r})) as workers:
        assert workers.submit({"answer" if registering == "early" else "work"}, 21).result() == 42
"""
    )
    ended = run_program(sys.executable, str(program))
    assert ended.returncode == 0, ended.stderr
    assert [span.name for span in receiving.spans] == ["invoke_agent answer"]


_FORKING = """
held, forked = threading.Event(), threading.Event()
def hold():
    import sys
    counting = sys.modules["spanproof.instrumentors.frameworks.diagnostics"]
    with counting._lock, registration._lock, patching._lock:
        held.set()
        forked.wait(30)
threading.Thread(target=hold, daemon=True).start()
held.wait(30)
child = os.fork()
if child == 0:
    code = 3
    try:
        register(instrument=("smolagents",))
        if answer() == 42 and diagnostics().errors == {} and provider.force_flush():
            code = 0
    finally:
        os._exit(code)
forked.set()
ended = os.waitpid(child, 0)[1]
assert os.waitstatus_to_exitcode(ended) == 0, ended
assert answer() == 42
provider.shutdown()
"""
