"""register(): honours the environment, joins what is there, and is the same the second time."""

import json
import os
import subprocess
import sys

import pytest

from spanproof.instrumentors import register


def run(code, **environment):
    """Run a small program of ours in a fresh process, since providers are global; its last line is JSON."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "SPANPROOF_"))}
    ended = subprocess.run(
        [sys.executable, "-c", _PRELUDE + code],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


_PRELUDE = """
import json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from spanproof.instrumentors import register, set_cohort, uninstrument, instrumented
def exporters(provider):
    found = []
    for processor in provider._active_span_processor._span_processors:
        exporter = getattr(processor, 'span_exporter', None)
        exporter = exporter or getattr(getattr(processor, '_batch_processor', None), '_exporter', None)
        exporter = getattr(exporter, 'wrapped', None)
        if exporter is not None:
            found.append([type(exporter).__name__, getattr(exporter, '_endpoint', '')])
    return found
"""


def test_without_arguments_the_standard_variables_decide():
    told = run(
        "p = register()\nprint(json.dumps([dict(p.resource.attributes), exporters(p), instrumented()]))",
        OTEL_SERVICE_NAME="shop",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment=test",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://collector:4318",
    )
    resource, exporters, instrumented = told
    assert resource["service.name"] == "shop"
    assert resource["deployment.environment"] == "test"
    assert exporters == [["OTLPSpanExporter", "http://collector:4318/v1/traces"]]
    assert instrumented == ["smolagents", "langchain"]


def test_arguments_win_over_variables():
    resource, exporters = run(
        "p = register(service_name='own', project='p', endpoint='http://other:4318/')\n"
        "print(json.dumps([dict(p.resource.attributes), exporters(p)]))",
        OTEL_SERVICE_NAME="shop",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://collector:4318",
    )
    assert resource["service.name"] == "own"
    assert exporters == [["OTLPSpanExporter", "http://other:4318/v1/traces"]]


def test_the_protocol_may_come_from_the_environment():
    told = run(
        "from spanproof.instrumentors.exporting import protocol_of\nprint(json.dumps(protocol_of(None)))",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
    )
    assert told == "grpc"


def test_no_exporter_is_added_when_the_environment_says_none():
    assert run("print(json.dumps(exporters(register())))", OTEL_TRACES_EXPORTER="none") == []


def test_calling_it_twice_changes_nothing():
    same, exporters, processors = run(
        "a = register(endpoint='http://c:4318')\nb = register(endpoint='http://c:4318')\n"
        "print(json.dumps([a is b, exporters(a), len(a._active_span_processor._span_processors)]))"
    )
    assert same
    assert len(exporters) == 1
    assert processors == 2


def test_an_existing_provider_is_joined_and_its_exporters_kept():
    same, exporters = run(
        "own = TracerProvider()\ntrace.set_tracer_provider(own)\np = register(project='shop')\n"
        "print(json.dumps([p is own, exporters(p)]))"
    )
    assert same
    assert exporters == []


def test_project_and_cohort_are_on_the_applications_own_spans():
    attributes = run(
        "p = register(project='shop')\n"
        "with set_cohort(task='refund'):\n"
        "    span = p.get_tracer('application').start_span('work')\n"
        "print(json.dumps(dict(span.attributes)))",
        OTEL_TRACES_EXPORTER="none",
    )
    assert attributes == {"spanproof.cohort.project": "shop", "spanproof.cohort.task": "refund"}


def test_a_disabled_sdk_records_nothing():
    recording = run(
        "p = register()\nprint(json.dumps(p.get_tracer('x').start_span('y').is_recording()))",
        OTEL_SDK_DISABLED="true",
    )
    assert recording is False


def test_importing_the_package_loads_no_framework():
    loaded = run(
        "import sys\nprint(json.dumps(['smolagents' in sys.modules, 'langchain_core' in sys.modules]))"
    )
    assert loaded == [False, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"instrument": ("crewai",)}, "no framework 'crewai' is known; choose from smolagents, langchain"),
        ({"instrument": "smolagents"}, "give a sequence of names"),
        ({"endpoint": "localhost:4318"}, "write it like http://127.0.0.1:4318"),
        ({"endpoint": "http://c:4318", "protocol": "smoke"}, "'smoke' is not known; choose 'http/protobuf'"),
    ],
)
def test_a_wrong_argument_is_told_with_its_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        register(**arguments)
