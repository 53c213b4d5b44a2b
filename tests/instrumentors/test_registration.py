"""register(): honours the environment, joins what is there, and is the same the second time."""

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.instrumentors import register


def run(code, **environment):
    """Run a small program of ours in a fresh process, since providers are global; its last line is JSON."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "SPANPROOF_"))}
    ended = subprocess.run(
        [sys.executable, "-c", _PRELUDE + code],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=120,
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
    reported = run(
        "p = register()\nprint(json.dumps([dict(p.resource.attributes), exporters(p), instrumented()]))",
        OTEL_SERVICE_NAME="shop",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment=test",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://collector:4318",
    )
    resource, exporters, instrumented = reported
    assert resource["service.name"] == "shop"
    assert resource["deployment.environment"] == "test"
    assert exporters == [["OTLPSpanExporter", "http://collector:4318/v1/traces"]]
    assert instrumented == ["smolagents", "langchain", "openai-agents", "mcp"]


_HEARD = """
import io, logging, sys
heard = io.StringIO()
logging.basicConfig(stream=heard, level=logging.INFO)
"""


def test_one_line_says_what_was_found():
    heard = run(_HEARD + "register()\nprint(json.dumps(heard.getvalue().splitlines()))")
    (line,) = [line for line in heard if "instruments" in line]
    assert line.endswith("spanproof instruments smolagents, langchain, openai-agents, mcp")


def test_a_framework_may_be_given_by_its_name_alone():
    assert run("register(instrument='mcp')\nprint(json.dumps(instrumented()))") == ["mcp"]


_HIDE = """
for name in ('smolagents', 'langchain_core', 'agents', 'mcp'):
    sys.modules[name] = None
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("", "found no framework to instrument"), ("instrument=('mcp',)", "does not instrument mcp")],
)
def test_that_nothing_is_found_is_a_warning(arguments, said):
    heard = run(_HEARD + _HIDE + f"register({arguments})\nprint(json.dumps(heard.getvalue().splitlines()))")
    assert [line for line in heard if line.startswith("WARNING") and said in line]


def test_that_nothing_is_wanted_is_none():
    heard = run(_HEARD + "register(instrument=())\nprint(json.dumps(heard.getvalue().splitlines()))")
    assert not heard


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
    reported = run(
        "from spanproof.instrumentors.provider.exporters import get_protocol\n"
        "print(json.dumps(get_protocol(None)))",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
    )
    assert reported == "grpc"


def test_no_exporter_is_added_when_the_environment_says_none():
    assert run("print(json.dumps(exporters(register())))", OTEL_TRACES_EXPORTER="none") == []


class _Taking(BaseHTTPRequestHandler):
    """A server that keeps what it is sent: path, headers and body."""

    taken: ClassVar[list] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.taken.append((self.path, headers, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def test_every_other_standard_variable_keeps_its_meaning():
    _Taking.taken.clear()
    with ThreadPoolExecutor(1) as pool, HTTPServer(("127.0.0.1", 0), _Taking) as server:
        pool.submit(server.serve_forever, 0.05)
        sampled = run(
            """
p = register()
tracer = p.get_tracer("application")
spans = [tracer.start_span("work", attributes={"a": "x" * 90, "b": 1, "c": 2}) for _ in range(200)]
for span in spans: span.end()
p.force_flush()
print(json.dumps(sum(span.is_recording() or bool(getattr(span, "end_time", 0)) for span in spans)))
""",
            OTEL_TRACES_SAMPLER="parentbased_traceidratio",
            OTEL_TRACES_SAMPLER_ARG="0.25",
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"http://127.0.0.1:{server.server_port}/own/path",
            OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x",
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
            OTEL_BSP_MAX_EXPORT_BATCH_SIZE="10",
            OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT="2",
            OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT="50",
        )
        server.shutdown()
    assert 15 <= sampled <= 95
    requests = [ExportTraceServiceRequest.FromString(gzip.decompress(body)) for _, _, body in _Taking.taken]
    spans = [
        each
        for r in requests
        for resource in r.resource_spans
        for s in resource.scope_spans
        for each in s.spans
    ]
    assert len(spans) == sampled
    assert len(requests) >= sampled / 10
    assert all([pair.key for pair in span.attributes] == ["b", "c"] for span in spans)
    for path, headers, _ in _Taking.taken:
        assert (path, headers["authorization"], headers["content-encoding"]) == (
            "/own/path",
            "Bearer x",
            "gzip",
        )


def test_an_exporter_of_another_name_is_the_one_that_its_package_brings():
    exporters = run(
        "print(json.dumps(exporters(register())))", OTEL_TRACES_EXPORTER="otlp_proto_http,console"
    )
    assert [name for name, _ in exporters] == ["OTLPSpanExporter", "ConsoleSpanExporter"]


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


def test_an_endpoint_that_is_exported_to_already_gets_no_span_twice():
    joined, own = run(
        "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter\n"
        "from opentelemetry.sdk.trace.export import BatchSpanProcessor\n"
        "p = register()\n"
        "register(endpoint='http://c:4318/')\n"
        "own = TracerProvider()\n"
        "own.add_span_processor(BatchSpanProcessor(OTLPSpanExporter('http://c:4318/v1/traces')))\n"
        "trace._TRACER_PROVIDER = own\n"
        "for endpoint in ('http://c:4318', 'http://c:4318/', 'http://other:4318'):\n"
        "    register(endpoint=endpoint)\n"
        "print(json.dumps([exporters(own), exporters(p)]))",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://c:4318",
    )
    assert own == [["OTLPSpanExporter", "http://c:4318/v1/traces"]]
    assert joined == [["OTLPSpanExporter", "http://other:4318/v1/traces"]], "beside the one it had"


def test_a_name_that_a_joined_provider_does_not_take_is_reported():
    reported = run(
        "import logging, io\nsaid = io.StringIO()\nlogging.basicConfig(stream=said)\n"
        "trace.set_tracer_provider(TracerProvider())\nregister(service_name='refunds')\n"
        "register(service_name='refunds')\nprint(json.dumps(said.getvalue()))",
        OTEL_SERVICE_NAME="shop",
    )
    assert (
        reported.count("service_name='refunds' has no effect: the tracer provider that is there already") == 1
    )
    assert "names the service 'shop'; set OTEL_SERVICE_NAME" in reported


def test_the_project_is_the_resource_s_and_a_cohort_is_on_the_applications_own_spans():
    named, attributes = run(
        "p = register(project='shop')\n"
        "with set_cohort(task='refund'):\n"
        "    span = p.get_tracer('application').start_span('work')\n"
        "print(json.dumps([span.resource.attributes['spanproof.cohort.project'], dict(span.attributes)]))",
        OTEL_TRACES_EXPORTER="none",
    )
    assert named == "shop"
    assert attributes == {"spanproof.cohort.task": "refund"}


def test_a_joined_provider_names_the_project_on_spans_unless_its_resource_does():
    attributes, reported = run(
        "import io, logging\nlog = io.StringIO()\nlogging.basicConfig(stream=log)\n"
        "from opentelemetry.sdk.resources import Resource\n"
        "def record(named):\n"
        "    trace._TRACER_PROVIDER = p = TracerProvider(resource=Resource(named))\n"
        "    register(project='shop')\n"
        "    return dict(p.get_tracer('application').start_span('work').attributes)\n"
        "found = [record({}), record({'spanproof.cohort.project': 'billing'})]\n"
        "print(json.dumps([found, log.getvalue()]))",
        OTEL_TRACES_EXPORTER="none",
    )
    assert attributes == [{"spanproof.cohort.project": "shop"}, {}]
    assert reported.count("project='shop' has no effect: the resource of the tracer provider") == 1
    assert "names 'billing'" in reported


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
        ({"instrument": ("crewai",)}, "no framework 'crewai' is known; choose 'auto', or from smolagents"),
        ({"instrument": "crewai"}, "no framework 'crewai' is known"),
        ({"endpoint": "localhost:4318"}, "write it like http://127.0.0.1:4318"),
        ({"endpoint": "http://c:4318", "protocol": "smoke"}, "'smoke' is not known; choose 'http/protobuf'"),
    ],
)
def test_a_wrong_argument_is_reported_with_its_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        register(**arguments)


def test_eval_tags_are_on_every_span() -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from spanproof.instrumentors.spans.cohort import CohortProcessor

    exported, cohort = InMemorySpanExporter(), CohortProcessor()
    cohort.set_tags(("polite", "billing"))
    provider = TracerProvider()
    provider.add_span_processor(cohort)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    provider.get_tracer("host").start_span("x").end()
    (span,) = exported.get_finished_spans()
    assert span.attributes == {"spanproof.eval.tags": ("polite", "billing")}
