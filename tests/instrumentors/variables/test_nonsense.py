"""A value that a variable cannot have is told once, with what to do, and nothing breaks."""

import re

import pytest

from spanproof.instrumentors.provider.variables import reading

from .otlp_sinks import http_sink
from .programs import ran

MALFORMED = {
    "OTEL_SDK_DISABLED": "yes",
    "OTEL_CONFIG_FILE": None,  # in `test_tracing`
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
    "OTEL_EXPORTER_OTLP_ENDPOINT": None,  # in `test_trust`
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": None,
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "smoke",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization: Bearer hunter2",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=1, hunter2",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "0",
    "OTEL_EXPORTER_OTLP_COMPRESSION": "zip",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "br",
    "OTEL_EXPORTER_OTLP_CERTIFICATE": None,  # in `test_trust`
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
    malformed = {name: value for name, value in MALFORMED.items() if value is not None}
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


@pytest.mark.parametrize("name", [name for name, value in MALFORMED.items() if value is not None])
def test_a_malformed_value_is_told_with_its_remedy(name):
    read = reading(name, {name: MALFORMED[name]})
    assert re.search(r"write |choose |install |make ", read.remedy), read
    assert read.value != MALFORMED[name]


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
