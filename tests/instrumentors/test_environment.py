"""The outermost span of a trace names what the agent's process had imported by its end."""

import importlib
import json
import sys
import threading
from importlib.metadata import version

import pytest
from agents import Agent, Runner, set_trace_processors
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from smolagents import tool

from spanproof.instrumentors import (
    ContentPolicy,
    diagnostics,
    instrument_openai_agents,
    instrument_smolagents,
    trace,
)
from spanproof.instrumentors.content.capture import read_policy
from spanproof.instrumentors.frameworks.diagnostics import remove_diagnostics
from spanproof.instrumentors.spans import environment
from spanproof.semconv import spanproof as ours
from spanproof.trace import trace_of
from spanproof.trace.dialects import normalise_request

from .agents_sdk import Scripted, says
from .coders import CodeAgent, ScriptedModel, coder
from .graphs import calculator, requested, turns


def naming(recorded):
    """Return the packages by the name of the span that names them."""
    return {
        span.name: json.loads(span.attributes[ours.ENVIRONMENT_PACKAGES])
        for span in recorded.spans
        if ours.ENVIRONMENT_PACKAGES in span.attributes
    }


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages on the path, and a process that has not looked at any yet."""
    monkeypatch.setattr(environment, "_imports", environment._Imports())
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(site, name, *paths, record=True):
    """Install a package whose modules are empty files."""
    for path in paths:
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text("")
    folder = site / f"{name.replace('-', '_')}-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n\nVersion: 9\n")
    if record:
        (folder / "RECORD").write_text("".join(f"{path},sha256=x,0\n" for path in paths))
    else:
        (folder / "top_level.txt").write_text("".join(f"{path.split('/')[0]}\n" for path in paths))


def imported(*names):
    for name in names:
        importlib.import_module(name)
    return json.loads(environment._imports.facts()[ours.ENVIRONMENT_PACKAGES])


def test_an_agents_run_names_packages_interpreter_and_platform(recorded):
    coder("final_answer(1)").run("Go.")
    run = recorded.named("invoke_agent CodeAgent")
    packages = json.loads(run.attributes[ours.ENVIRONMENT_PACKAGES])
    assert packages["smolagents"] == version("smolagents")
    assert packages["PyYAML"] == version("pyyaml")  # named otherwise than its module
    assert all(packages[name] == version(name) for name in packages)
    python = "{}.{}.{}".format(*sys.version_info)
    assert run.attributes[ours.ENVIRONMENT_PYTHON] == f"{sys.implementation.name} {python}"
    assert run.attributes[ours.ENVIRONMENT_PLATFORM].startswith(sys.platform)


def test_it_reads_back_as_the_runs_environment(recorded):
    coder("final_answer(1)").run("Go.")
    spans = normalise_request(encode_spans(recorded.spans))
    (run,) = [span for span in spans if span.name == "invoke_agent CodeAgent"]
    found = trace_of(spans).environment(run.span_id)
    assert found == run.environment
    assert found.packages["smolagents"] == version("smolagents")
    assert found.python.startswith("cpython 3.")
    assert found.platform


def test_of_agents_within_agents_the_outermost_names_it(recorded):
    helper = coder("final_answer(1)")
    helper.name, helper.description = "helper", "Helps."
    model = ScriptedModel(["<code>\nhelper('Go.')\nfinal_answer(1)\n</code>"])
    CodeAgent(tools=[], model=model, managed_agents=[helper], verbosity_level=-1).run("Go.")
    assert [*naming(recorded)] == ["invoke_agent CodeAgent"]


def test_every_framework_names_it(recorded):
    set_trace_processors([])
    instrument_openai_agents(recorded.provider)
    trace.configure(recorded.provider)
    try:
        calculator(*turns()).invoke(requested())
        Runner.run_sync(Agent(name="a", model=Scripted(says("Done."))), "Go.")
        trace.agent(name="clerk")(lambda: 1)()
    finally:
        trace.configure()
    assert [*naming(recorded)] == ["invoke_agent calculator", "Agent workflow", "invoke_agent clerk"]


def test_without_content_it_is_named_all_the_same(recorded):
    instrument_smolagents(recorded.provider, content=ContentPolicy(capture=False))
    coder("final_answer(1)").run("Go.")
    assert "smolagents" in naming(recorded)["invoke_agent CodeAgent"]


def test_it_is_switched_off_by_the_policy(recorded):
    instrument_smolagents(recorded.provider, content=ContentPolicy(environment=False))
    coder("final_answer(1)").run("Go.")
    assert not [span for span in recorded.spans if any("environment" in name for name in span.attributes)]


@pytest.mark.parametrize(
    ("value", "named", "reported"),
    [("", True, 0), ("true", True, 0), ("Off", False, 0), ("false", False, 0), ("sometimes", False, 1)],
)
def test_it_is_switched_off_by_the_variable(value, named, reported):
    remove_diagnostics()
    assert read_policy({"SPANPROOF_RECORD_ENVIRONMENT": value}).environment is named
    assert diagnostics().total == reported
    remove_diagnostics()


def test_a_package_imported_by_a_later_run_is_named_by_that_run(recorded, site):
    install(site, "late-package", "late/__init__.py")

    @tool
    def work() -> int:
        """Works."""
        importlib.import_module("late")
        return 1

    coder("final_answer(1)").run("Go.")
    agent = coder("final_answer(work())")
    agent.tools["work"] = work
    with recorded.provider.get_tracer("application").start_as_current_span("request"):
        coder("final_answer(1)").run("Go.")
        agent.run("Go.")
    found = [
        json.loads(span.attributes[ours.ENVIRONMENT_PACKAGES])
        for span in recorded.spans
        if ours.ENVIRONMENT_PACKAGES in span.attributes
    ]
    assert ["late-package" in each for each in found] == [False, False, True]
    assert found[-1]["late-package"] == "1.2"


def test_several_runs_of_one_trace_name_it_once(recorded):
    tracer = recorded.provider.get_tracer("application")
    coder("final_answer(1)").run("Go.")  # whatever the framework imports lazily is there now
    recorded.clear()
    with tracer.start_as_current_span("request"):
        for _ in range(3):
            coder("final_answer(1)").run("Go.")
    found = [ours.ENVIRONMENT_PACKAGES in span.attributes for span in recorded.spans]
    assert found.count(True) == 1


def test_what_is_installed_and_not_imported_is_not_named(site):
    install(site, "unused", "unused.py")
    install(site, "single", "single.py")
    install(site, "with-parts", "with_parts/__init__.py", "with_parts/inner.py")
    install(site, "compiled", "compiled.cpython-311-x86_64-linux-gnu.so", "compiled_by_hand.py")
    install(site, "without-record", "unrecorded/__init__.py", record=False)
    first = imported("single", "with_parts.inner")
    assert first.keys() >= {"single", "with-parts"}
    assert not first.keys() & {"unused", "compiled", "without-record"}
    sys.modules["compiled"] = sys
    later = imported("unrecorded")
    assert later.keys() >= {"single", "compiled", "without-record"}
    assert "unused" not in later


def test_of_a_namespaces_packages_only_those_that_are_imported_are_named(site):
    install(site, "wide-one", "wide/one/__init__.py")
    install(site, "wide-two", "wide/two/__init__.py")
    found = imported("wide.one")
    assert "wide-one" in found
    assert "wide-two" not in found
    assert "wide-two" in imported("wide.two")


def test_nothing_is_looked_up_while_nothing_is_imported(site, monkeypatch):
    before = environment._imports.facts()
    monkeypatch.setattr(environment._imports, "_add_packages", None)
    assert environment._imports.facts() is before


def test_packages_without_a_name_or_version_are_left_out(site):
    install(site, "nameless", "nameless.py")
    (site / "nameless-1.2.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\n\n")
    assert "nameless" not in imported("nameless")
    assert "None" not in imported()


def test_a_broken_installation_never_fails_a_run(recorded, site):
    install(site, "broken", "broken.py")
    (site / "broken-1.2.dist-info" / "RECORD").write_bytes(b"\xff\xfe broken")
    assert coder("final_answer(42)").run("Go.") == 42
    assert naming(recorded) == {}
    assert diagnostics().errors.keys() == {"environment"}
    remove_diagnostics()


def test_the_number_of_packages_and_their_size_are_bounded(site, monkeypatch):
    monkeypatch.setattr(environment, "_MAX_PACKAGES", 1)
    for name in ("aaa", "bbb"):
        install(site, name, f"{name}.py")
    assert len(imported("aaa", "bbb")) == 1
    assert environment.get_environment_facts(1, max_chars=10) == {}
    assert environment.get_environment_facts(1, max_chars=1_000)


def test_threads_that_look_at_once_see_the_same(site):
    install(site, "seen", "seen.py")
    importlib.import_module("seen")
    found = []
    threads = [threading.Thread(target=lambda: found.append(environment._imports.facts())) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(found) == 8
    assert all("seen" in each[ours.ENVIRONMENT_PACKAGES] for each in found)
