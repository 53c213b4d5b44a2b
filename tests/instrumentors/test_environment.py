"""Every standard variable that has to do with traces: it means what it should, and nonsense in it is told."""

import inspect
import json
import re
import sys
from pathlib import Path

import certifi
import opentelemetry.environment_variables
import opentelemetry.instrumentation.environment_variables
import opentelemetry.sdk.environment_variables
import pytest

from spanproof.instrumentors.variables import READERS, reading

from . import otel_components
from .conftest import run_program
from .otlp_sinks import Authority, counted, grpc_sink, http_sink

HONOURED: set[str] = set()
"""The variables that a test of this module shows to have their meaning."""


def honours(*names):
    """Mark a test as the one that shows what these variables do."""
    HONOURED.update(names)
    return lambda test: test


_PROGRAM = """
import json, logging
{before}
from spanproof.instrumentors import diagnostics, instrumented, register
from opentelemetry.trace import Link
provider = register({arguments})
def batch():
    return provider._active_span_processor._span_processors[1]._batch_processor
def exporter():
    wrapped = batch()._exporter.wrapped
    return wrapped if hasattr(wrapped, "_timeout") else wrapped._client
tracer = provider.get_tracer("application")
linked = tracer.start_span("linked")
linked.end()
link = Link(linked.get_span_context(), {{"a": 1, "b": 2}})
span = tracer.start_span("work", attributes={{"a": "x" * 90, "b": 1, "c": 2}}, links=[link, link, link])
for _ in range(3):
    span.add_event("event", {{"a": "y" * 90, "b": 1}})
span.end()
provider.force_flush()
print(json.dumps([{said}, dict(diagnostics().errors)]))
"""


def ran(said="None", *, before="", arguments="instrument=()", **environment):
    """Run a program with these variables: what it said of itself, and what it wrote to its console."""
    program = _PROGRAM.format(said=said, before=before, arguments=arguments)
    ended = run_program(sys.executable, "-c", program, **environment)
    assert ended.returncode == 0, ended.stderr
    *others, last = ended.stdout.splitlines()
    told, errors = json.loads(last)
    return told, errors, "\n".join(others), ended.stderr


def said_quietly(*arguments, **environment):
    """The same of a program that nothing is wrong with."""
    told, errors, _, console = ran(*arguments, **environment)
    assert (errors, console) == ({}, "")
    return told


@pytest.fixture
def sink():
    with http_sink() as made:
        yield made


@pytest.fixture(scope="module")
def components(tmp_path_factory):
    """A folder for the path with the package that brings components of its own."""
    folder = tmp_path_factory.mktemp("components")
    source = inspect.getsource(otel_components)
    (folder / "otel_components.py").write_text(source)
    (folder / "otel_context.py").write_text(otel_components.CONTEXT)
    described = folder / "otel_components-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: otel-components\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(otel_components.ENTRY_POINTS)
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@honours("OTEL_SDK_DISABLED")
def test_a_disabled_sdk_exports_and_instruments_nothing(sink):
    arguments = f"endpoint={sink.endpoint!r}"
    assert said_quietly("instrumented()", arguments=arguments, OTEL_SDK_DISABLED=" True ") == []
    assert sink.taken == []


@honours(
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS",
    "OTEL_PYTHON_ID_GENERATOR",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)
def test_the_resource_and_the_ids_are_as_the_environment_says(sink, components):
    said_quietly(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_SERVICE_NAME="shop",
        OTEL_RESOURCE_ATTRIBUTES="service.name=other,deployment.environment=te%2Cst",
        OTEL_EXPERIMENTAL_RESOURCE_DETECTORS="cloud",
        OTEL_PYTHON_ID_GENERATOR="counting",
        **components,
    )
    assert sink.requests[0][0] == "/v1/traces"
    assert sink.resource["service.name"] == "shop"
    assert sink.resource["deployment.environment"] == "te,st"
    assert sink.resource["cloud.region"] == "here"
    assert int.from_bytes(sink.named("work").trace_id) < 9


@honours("OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG")
@pytest.mark.parametrize(
    ("sampler", "argument", "arrives"),
    [
        ("always_off", "", []),
        ("Parentbased_Always_On", "", ["linked", "work"]),
        ("traceidratio", "0", []),
        ("all_but", "linked", ["work"]),
    ],
)
def test_a_sampler_may_be_the_sdks_or_another_packages(sink, components, sampler, argument, arrives):
    said_quietly(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_TRACES_SAMPLER=sampler,
        OTEL_TRACES_SAMPLER_ARG=argument,
        **components,
    )
    assert [span.name for span in sink.spans] == arrives


@honours("OTEL_PYTHON_TRACER_CONFIGURATOR")
def test_a_tracer_configurator_may_switch_tracers_off(sink, components):
    said_quietly(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, OTEL_PYTHON_TRACER_CONFIGURATOR="quiet", **components
    )
    assert sink.spans == []


@honours("OTEL_PYTHON_TRACER_PROVIDER")
@pytest.mark.parametrize("asked_before", [True, False])
@pytest.mark.parametrize(("name", "arrives"), [("sdk_tracer_provider", 2), ("vendor", 0)])
def test_a_provider_that_a_variable_names_is_the_one(sink, components, name, arrives, asked_before):
    kind = said_quietly(
        "type(provider).__name__",
        before="from opentelemetry import trace\ntrace.get_tracer('x')" if asked_before else "",
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_PYTHON_TRACER_PROVIDER=name,
        **components,
    )
    assert kind == ("Vendor" if name == "vendor" else "TracerProvider")
    assert len(sink.spans) == arrives, "a provider of another's is joined, and exports by itself"


@honours("OTEL_PYTHON_CONTEXT", "OTEL_PROPAGATORS")
def test_context_and_propagators_are_the_apis(components):
    context, carried = said_quietly(
        "[type(context._RUNTIME_CONTEXT).__name__, carrier]",
        before="from opentelemetry import context, propagate\ncarrier = {}\npropagate.inject(carrier)",
        OTEL_PYTHON_CONTEXT="noted",
        OTEL_PROPAGATORS="tracecontext,mark",
        OTEL_TRACES_EXPORTER="none",
        **components,
    )
    assert (context, carried) == ("Noted", {"mark": "made"})


@honours("OTEL_TRACES_EXPORTER")
def test_exporters_are_those_that_are_named(sink, components):
    _, errors, printed, console = ran(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_TRACES_EXPORTER="console, otlp,silent,otlp",
        **components,
    )
    assert (errors, console) == ({}, "")
    assert '"name": "work"' in printed
    assert "taken linked work" in printed
    assert [span.name for span in sink.spans] == ["linked", "work"]


def test_no_exporter_but_the_broken_ones_is_left_out(sink, components):
    _, errors, _, console = ran(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, OTEL_TRACES_EXPORTER="breaking,zipkin,otlp", **components
    )
    assert errors == {"environment": 2}
    assert (
        "OTEL_TRACES_EXPORTER='breaking' fails with LookupError: no licence; no spans are exported thr"
        in console
    )
    assert (
        "OTEL_TRACES_EXPORTER='breaking,zipkin,otlp' names 'zipkin', which no installed package brings"
        in console
    )
    assert [span.name for span in sink.spans] == ["linked", "work"]


@honours(
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_BSP_EXPORT_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
)
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, [2048, 512, 5000, 10]),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_SCHEDULE_DELAY": "50"}, [100, 100, 50, 10]),
        ({"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "7", "OTEL_EXPORTER_OTLP_TIMEOUT": "20"}, [2048, 7, 5000, 20]),
        (
            {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "2.5", "OTEL_BSP_EXPORT_TIMEOUT": "3000"},
            [2048, 512, 5000, 2.5],
        ),
        ({"OTEL_EXPORTER_OTLP_TIMEOUT": "20", "OTEL_BSP_EXPORT_TIMEOUT": "300"}, [2048, 512, 5000, 0.3]),
    ],
)
def test_batches_and_timeouts_are_as_the_environment_says(protocol, environment, says):
    told = said_quietly(
        "[batch()._max_queue_size, batch()._max_export_batch_size, batch()._schedule_delay_millis,"
        " exporter()._timeout]",
        OTEL_TRACES_SAMPLER="always_off",
        OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
        **environment,
    )
    assert told == says


@honours(
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_EVENT_COUNT_LIMIT",
    "OTEL_SPAN_LINK_COUNT_LIMIT",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
)
@pytest.mark.parametrize(
    ("environment", "sizes"),
    [
        ({}, [3, 3, 3, 2, 2, 90, 90]),
        ({"SPAN_ATTRIBUTE_COUNT_LIMIT": "2", "EVENT_ATTRIBUTE_COUNT_LIMIT": "1"}, [2, 3, 3, 1, 2, 0, 0]),
        ({"SPAN_EVENT_COUNT_LIMIT": "2", "SPAN_LINK_COUNT_LIMIT": "1"}, [3, 2, 1, 2, 2, 90, 90]),
        ({"LINK_ATTRIBUTE_COUNT_LIMIT": "1", "ATTRIBUTE_VALUE_LENGTH_LIMIT": "50"}, [3, 3, 3, 2, 1, 50, 50]),
        ({"ATTRIBUTE_COUNT_LIMIT": "1", "SPAN_ATTRIBUTE_COUNT_LIMIT": ""}, [1, 3, 3, 1, 1, 0, 0]),
        (
            {"SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "60", "ATTRIBUTE_VALUE_LENGTH_LIMIT": "50"},
            [3, 3, 3, 2, 2, 60, 50],
        ),
    ],
)
def test_limits_are_as_the_environment_says(sink, environment, sizes):
    named = {f"OTEL_{name}": value for name, value in environment.items()}
    assert ran(OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, **named)[1] == {}
    work = sink.named("work")
    texts = [
        sum(len(each.value.string_value) for each in carrier.attributes) for carrier in (work, work.events[0])
    ]
    parts = [work.attributes, work.events, work.links, work.events[0].attributes, work.links[0].attributes]
    assert [*map(len, parts), *texts] == sizes


@honours("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"])
def test_the_protocol_is_as_the_environment_says(variable):
    with grpc_sink() as sink:
        said_quietly(OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, **{variable: "grpc"})
        assert sink.named("work")


@honours(
    "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)
@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
@pytest.mark.parametrize(("protocol", "opened"), [("grpc", grpc_sink), ("http/protobuf", http_sink)])
def test_headers_go_with_each_export(protocol, opened, variable):
    with opened() as sink:
        said_quietly(
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{sink.endpoint}/own/path",
            **{variable: "Authorization=Bearer%20x, other=1"},
        )
        ((path, headers),) = sink.requests
    assert (headers["authorization"], headers["other"]) == ("Bearer x", "1")
    assert path == ("" if protocol == "grpc" else "/own/path")


@honours("OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION")
@pytest.mark.parametrize(
    "variable", ["OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"]
)
@pytest.mark.parametrize(
    ("protocol", "compression"),
    [
        ("grpc", "none"),
        ("grpc", "gzip"),
        ("http/protobuf", "none"),
        ("http/protobuf", "gzip"),
        ("http/protobuf", "deflate"),
    ],
)
def test_compression_is_as_the_environment_says(protocol, compression, variable):
    opened = grpc_sink if protocol == "grpc" else http_sink
    with opened() as sink, counted(sink.endpoint) as (endpoint, sizes):
        said_quietly(
            before="import os",
            arguments="instrument=(), service_name='x' * 50_000",
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            **{variable: compression},
        )
        assert sink.named("work")
    assert (sum(sizes) < 10_000) == (compression != "none")


@honours("OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_TRACES_INSECURE")
@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_INSECURE", "OTEL_EXPORTER_OTLP_TRACES_INSECURE"])
def test_grpc_without_tls_where_the_endpoint_does_not_say(variable):
    with grpc_sink() as sink:
        said_quietly(
            OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
            OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint.removeprefix("http://"),
            **{variable: "True"},
        )
        assert sink.named("work")


@honours(
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
)
@pytest.mark.parametrize("prefixes", [("", ""), ("TRACES_", "TRACES_"), ("", "TRACES_")])
@pytest.mark.parametrize(("protocol", "opened"), [("grpc", grpc_sink), ("http/protobuf", http_sink)])
def test_certificates_prove_who_is_who(authority, protocol, opened, prefixes):
    of_server, of_client = (f"OTEL_EXPORTER_OTLP_{prefix}" for prefix in prefixes)
    certificate, key = authority.client
    knowing = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_EXPORTER_OTLP_TIMEOUT": "2",
        "REQUESTS_CA_BUNDLE": certifi.where(),  # of the host's own requests, none of the exporter's
        f"{of_server}CERTIFICATE": authority.certificate,
    }
    proving = {f"{of_client}CLIENT_CERTIFICATE": certificate, f"{of_client}CLIENT_KEY": key}
    with opened(authority, asks_client=True) as sink:
        knowing["OTEL_EXPORTER_OTLP_ENDPOINT"] = sink.endpoint
        said_quietly(**knowing, **proving)
        assert sink.named("work")
        sink.taken.clear()
        errors = ran(**knowing)[1]
        assert (list(errors), sink.taken) == (["export"], []), "a client that shows nothing is refused"


@pytest.mark.parametrize(("protocol", "opened"), [("grpc", grpc_sink), ("http/protobuf", http_sink)])
def test_a_server_whose_authority_nobody_named_is_not_trusted(authority, protocol, opened):
    with opened(authority) as sink:
        errors = ran(
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
            OTEL_EXPORTER_OTLP_TIMEOUT="2",
        )[1]
    assert (list(errors), sink.taken) == (["export"], [])


@honours(
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_TRACES_CREDENTIAL_PROVIDER",
)
@pytest.mark.parametrize("signal", ["", "TRACES_"])
@pytest.mark.parametrize("kind", ["HTTP", "GRPC"])
def test_credentials_may_come_from_another_package(authority, components, kind, signal):
    opened, name = (http_sink(), "session") if kind == "HTTP" else (grpc_sink(authority), "channel")
    with opened as sink:
        said_quietly(
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf" if kind == "HTTP" else "grpc",
            OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
            AUTHORITY=authority.certificate,
            **{f"OTEL_PYTHON_EXPORTER_OTLP_{kind}_{signal}CREDENTIAL_PROVIDER": name},
            **components,
        )
        assert sink.named("work")
    assert sink.requests[0][1].get("authorization") == ("of the session" if kind == "HTTP" else None)


@honours("OTEL_PYTHON_EXPORTER_OTLP_GRPC_RETRYABLE_ERROR_CODES")
def test_the_codes_after_which_grpc_tries_again_are_the_exporters():
    codes = said_quietly(
        "[code.name for code in exporter()._retryable_error_codes]",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
        OTEL_TRACES_SAMPLER="always_off",
        OTEL_PYTHON_EXPORTER_OTLP_GRPC_RETRYABLE_ERROR_CODES="internal",
    )
    assert codes == ["INTERNAL"]


@honours("OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED")
def test_the_sdk_counts_itself_where_it_is_asked_to():
    kinds = [
        said_quietly(
            "type(batch()._metrics).__name__",
            OTEL_TRACES_SAMPLER="always_off",
            OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED=wish,
        )
        for wish in ("false", "true")
    ]
    assert kinds[0] != kinds[1]


@honours("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS")
@pytest.mark.parametrize(
    ("disabled", "left"), [("spanproof_langchain", ["smolagents"]), ("requests, *", []), ("langchain", None)]
)
def test_an_instrumentation_is_switched_off_by_its_entry_points_name(disabled, left):
    told = said_quietly(
        "instrumented()",
        arguments="instrument=('smolagents', 'langchain')",
        OTEL_TRACES_EXPORTER="none",
        OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=disabled,
    )
    assert told == (["smolagents", "langchain"] if left is None else left)


@honours("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "OTEL_SEMCONV_STABILITY_OPT_IN")
@pytest.mark.parametrize(("wish", "shown"), [("", True), ("SPAN_ONLY", True), ("no_content", False)])
def test_content_is_recorded_as_the_environment_says_and_names_are_the_newest(sink, wish, shown):
    said_quietly(
        "traced.tool(lambda order: order)('A-17') and provider.force_flush()",
        before="from spanproof.instrumentors import trace as traced",
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=wish,
        OTEL_SEMCONV_STABILITY_OPT_IN="http",
    )
    (tool,) = [span for span in sink.spans if span.name.startswith("execute_tool")]
    names = {each.key for each in tool.attributes}
    assert ("gen_ai.tool.call.arguments" in names) is shown
    assert "gen_ai.operation.name" in names


@honours("OTEL_LOG_LEVEL")
@pytest.mark.parametrize(
    ("level", "before", "says"),
    [
        ("error", "", [40, 40]),
        ("none", "", [51, 51]),
        ("debug", "logging.getLogger('opentelemetry').setLevel('INFO')", [20, 10]),
    ],
)
def test_the_log_level_is_that_of_the_loggers_that_nobody_set(level, before, says):
    told = said_quietly(
        "[logging.getLogger(name).level for name in ('opentelemetry', 'spanproof.instrumentors')]",
        before=before,
        OTEL_TRACES_EXPORTER="none",
        OTEL_LOG_LEVEL=level,
    )
    assert told == says


_CONFIGURATION = """
file_format: "1.0"
resource:
  attributes: [{{name: service.name, value: declared}}]
tracer_provider:
  processors:
    - simple: {{exporter: {{otlp_http: {{endpoint: "{endpoint}/v1/traces"}}}}}}
"""


@honours("OTEL_CONFIG_FILE")
def test_a_declarative_configuration_alone_says_what_is_exported(sink, tmp_path):
    path = tmp_path / "otel.yaml"
    path.write_text(_CONFIGURATION.format(endpoint=sink.endpoint))
    said_quietly(
        OTEL_CONFIG_FILE=str(path),
        OTEL_SERVICE_NAME="shop",
        OTEL_TRACES_EXPORTER="console",
    )
    assert sink.resource["service.name"] == "declared"
    assert [span.name for span in sink.spans] == ["linked", "work"]


@pytest.mark.parametrize("text", ["tracer_provider: [", None])
def test_a_configuration_that_cannot_be_used_exports_nothing(sink, tmp_path, text):
    path = tmp_path / "otel.yaml"
    if text is not None:
        path.write_text(text)
    _, errors, _, console = ran(OTEL_CONFIG_FILE=str(path), OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint)
    assert sink.taken == []
    assert errors == {"environment": 1}, console
    assert console.count(f"OTEL_CONFIG_FILE={str(path)!r} ") == 1
    assert "no spans are exported" in console


_MALFORMED = {
    "OTEL_SDK_DISABLED": "yes",
    "OTEL_CONFIG_FILE": None,  # on its own above
    "OTEL_LOG_LEVEL": "loud",
    "OTEL_SERVICE_NAME": None,
    "OTEL_RESOURCE_ATTRIBUTES": "a=1,b",
    "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS": "moon",
    "OTEL_TRACES_SAMPLER": "some",
    "OTEL_TRACES_SAMPLER_ARG": None,  # has a meaning only to samplers that take it
    "OTEL_PYTHON_ID_GENERATOR": "dice",
    "OTEL_PYTHON_TRACER_CONFIGURATOR": "loose",
    "OTEL_PYTHON_TRACER_PROVIDER": "nobody",
    "OTEL_PYTHON_CONTEXT": "air",
    "OTEL_PROPAGATORS": "tracecontext,pigeon",
    "OTEL_TRACES_EXPORTER": "otlp,smoke",
    "OTEL_BSP_MAX_QUEUE_SIZE": "0",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "-1",
    "OTEL_BSP_SCHEDULE_DELAY": "soon",
    "OTEL_BSP_EXPORT_TIMEOUT": "1.5",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "many",
    "OTEL_SPAN_EVENT_COUNT_LIMIT": "-3",
    "OTEL_SPAN_LINK_COUNT_LIMIT": "1e3",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": "few",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT": "²",
    "OTEL_ATTRIBUTE_COUNT_LIMIT": "0x10",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "long",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "short",
    "OTEL_EXPORTER_OTLP_ENDPOINT": None,  # on its own below
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": None,
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "smoke",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization: Bearer hunter2",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=1, hunter2",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "0",
    "OTEL_EXPORTER_OTLP_COMPRESSION": "zip",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "br",
    "OTEL_EXPORTER_OTLP_CERTIFICATE": None,  # on their own below
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": None,
    "OTEL_EXPORTER_OTLP_CLIENT_KEY": None,
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": None,
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": None,
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": None,
    "OTEL_EXPORTER_OTLP_INSECURE": "maybe",
    "OTEL_EXPORTER_OTLP_TRACES_INSECURE": "1",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER": None,
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER": None,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_CREDENTIAL_PROVIDER": None,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_TRACES_CREDENTIAL_PROVIDER": None,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_RETRYABLE_ERROR_CODES": "internal,often",
    "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": None,  # the SDK tells, with each tracer
    "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": None,  # names of other packages are none of ours
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN",
    "OTEL_SEMCONV_STABILITY_OPT_IN": None,
}
"""A value for each variable that it cannot have; None where any has a meaning."""


def test_every_malformed_value_is_told_once_and_nothing_breaks():
    malformed = {name: value for name, value in _MALFORMED.items() if value is not None}
    with http_sink() as sink:
        told, errors, _, console = ran(
            "provider.sampler.get_description()",
            arguments=f"instrument=(), endpoint={sink.endpoint!r}",
            **malformed,
        )
    assert "Traceback" not in console
    assert "hunter2" not in console, "a header may hold a secret"
    lines = console.splitlines()
    for name in malformed:
        assert sum(line.startswith((f"{name}=", f"{name} ")) for line in lines) == 1, (name, console)
    assert (len(lines), errors) == (len(malformed), {"environment": len(malformed)}), console
    assert told.startswith("ParentBased{root:AlwaysOn")
    assert [span.name for span in sink.spans] == ["linked", "work"]


@pytest.mark.parametrize("name", [name for name, value in _MALFORMED.items() if value is not None])
def test_a_malformed_value_is_told_with_its_remedy(name):
    read = reading(name, {name: _MALFORMED[name]})
    assert re.search(r"write |choose |install |make ", read.remedy), read
    assert read.value != _MALFORMED[name]


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"ENDPOINT": "localhost:4318"}, "is no URL"),
        ({"TRACES_ENDPOINT": "ftp://localhost:4318"}, "write it like http://127.0.0.1:4318"),
        ({"ENDPOINT": "http//localhost:4317", "PROTOCOL": "grpc"}, "is no URL"),
        ({"CERTIFICATE": "/nowhere/authority.pem"}, "cannot be read (no such file or directory)"),
        ({"TRACES_CLIENT_KEY": "/"}, "cannot be read (is a directory)"),
        (
            {"CLIENT_CERTIFICATE": "/nowhere", "PROTOCOL": "grpc"},
            "so no spans are exported; name a file that can",
        ),
    ],
)
def test_where_spans_go_and_how_they_are_protected_is_never_guessed(sink, environment, told):
    named = {f"OTEL_EXPORTER_OTLP_{name}": value for name, value in environment.items()}
    sent_to = {"OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint, **named}
    exporters, errors, _, console = ran(
        "len(provider._active_span_processor._span_processors) - 1", **sent_to
    )
    assert (exporters, errors, sink.taken) == (0, {"environment": 1}, []), console
    assert told in console


def test_a_credential_provider_that_nobody_brings_exports_nothing(sink):
    variable = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER"
    _, errors, _, console = ran(**{"OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint, variable: "vault"})
    assert (errors, sink.taken) == ({"environment": 1}, []), console
    assert f"{variable}='vault' is brought by no installed package, so no spans are exported" in console


def test_components_that_break_are_told_and_the_sdks_own_take_their_place(sink, components):
    broken = {
        "OTEL_TRACES_SAMPLER": "breaking",
        "OTEL_PYTHON_ID_GENERATOR": "breaking",
        "OTEL_PYTHON_TRACER_PROVIDER": "breaking",
    }
    _, errors, _, console = ran(OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, **broken, **components)
    assert errors == {"environment": 3}, console
    for name in broken:
        assert (
            f"{name}='breaking' fails with LookupError: no licence; the SDK's own holds until it works"
            in console
        )
    assert [span.name for span in sink.spans] == ["linked", "work"]


@pytest.mark.parametrize(
    ("environment", "name", "instead"),
    [
        (
            {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "2"},
            "OTEL_TRACES_SAMPLER_ARG",
            "1.0",
        ),
        (
            {"OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "20"},
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
            "10",
        ),
    ],
)
def test_values_that_do_not_go_together_are_told(environment, name, instead):
    read = reading(name, environment)
    assert read.value == instead
    assert read.remedy is not None


def test_grpc_asked_for_without_its_exporter_is_told(sink):
    hiding = "import sys\nsys.modules['opentelemetry.exporter.otlp.proto.grpc'] = None"
    _, errors, _, console = ran(
        before=hiding, OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL="grpc"
    )
    assert (errors, sink.taken) == ({"environment": 1}, [])
    assert (
        "OTEL_EXPORTER_OTLP_PROTOCOL='grpc' needs the package opentelemetry-exporter-otlp-proto-grpc"
        in console
    )


def test_every_variable_has_its_reader_its_test_and_its_row_in_the_docs():
    page = (Path(__file__).parents[2] / "docs" / "instrument.md").read_text()
    rows = {name for line in page.splitlines() if line.startswith("| `OTEL_") for name in _names(line)}
    assert rows == set(READERS)
    assert set(READERS) == HONOURED
    assert set(READERS) == set(_MALFORMED)
    assert _of_the_installed_packages() <= set(READERS) | _NOT_OURS


def _names(row):
    """The variables of a table's row: all that its first cell has in backticks."""
    return re.findall(r"`(OTEL_[A-Z_]+)`", row.split(" | ")[0])


_NOT_OURS = {
    "OTEL_PYTHON_DISTRO",
    "OTEL_PYTHON_CONFIGURATOR",
    "OTEL_PYTHON_AUTO_INSTRUMENTATION_EXPERIMENTAL_GEVENT_PATCH",
    "OTEL_EXPORTER_ZIPKIN_ENDPOINT",
    "OTEL_EXPORTER_ZIPKIN_TIMEOUT",
}
"""Of `opentelemetry-instrument` alone, before anything of ours runs, or of an exporter of old."""


def _of_the_installed_packages():
    modules = (
        opentelemetry.environment_variables,
        opentelemetry.sdk.environment_variables,
        opentelemetry.instrumentation.environment_variables,
    )
    other = re.compile("LOG(S|GER|GING|RECORD)_|METER_|METRICS?_|BLRP_|PROMETHEUS|LOGS$")
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, str) and re.fullmatch("OTEL_[A-Z_]+", value)
    }
    return {name for name in found if not other.search(name.replace("SDK_INTERNAL_METRICS", ""))}
