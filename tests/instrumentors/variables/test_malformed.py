"""A value that the SDK cannot read is reported once, with what is used instead, and nothing breaks."""

import pytest

from .otlp_sinks import http_sink
from .programs import ran

MALFORMED = {
    "OTEL_PROPAGATORS": "tracecontext,pigeon",
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
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "smoke",
    "OTEL_EXPORTER_OTLP_HEADERS": "authorization: Bearer hunter2",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=1, hunter2",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "0",
    "OTEL_EXPORTER_OTLP_COMPRESSION": "zip",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "br",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN",
    "OTEL_PYTHON_ID_GENERATOR": "dice",
}
"""A value for each variable that it cannot have."""


def test_every_malformed_value_is_reported_once_and_nothing_breaks():
    with http_sink() as sink:
        _, errors, _, console = ran(
            arguments=f"instrument=(), endpoint={sink.endpoint!r}", OTEL_TRACES_SAMPLER="some", **MALFORMED
        )
    assert "Traceback" not in console
    assert "hunter2" not in console, "a header may hold a secret"
    lines = console.splitlines()
    for name in MALFORMED:
        assert sum(line.startswith((f"{name}=", f"{name} ")) for line in lines) == 1, (name, console)
    assert errors == {"environment": len(MALFORMED)}, console
    assert [span.name for span in sink.spans] == ["linked", "work"]


def test_a_batch_is_no_larger_than_its_queue():
    said = ran(
        "batch()._max_export_batch_size", OTEL_BSP_MAX_QUEUE_SIZE="10", OTEL_TRACES_SAMPLER="always_off"
    )
    assert said[:2] == (10, {})


@pytest.mark.parametrize(
    "broken",
    [{"OTEL_PYTHON_ID_GENERATOR": "breaking"}, {"OTEL_PYTHON_TRACER_PROVIDER": "breaking"}],
)
def test_a_component_that_raises_is_reported_and_the_sdks_own_is_used(sink, components, broken):
    _, errors, _, console = ran(OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, **broken, **components)
    assert errors == {"environment": 1}, console
    (name,) = broken
    assert f"{name}='breaking' fails with " in console
    assert "; it is ignored" in console
    assert [span.name for span in sink.spans] == ["linked", "work"]


def test_a_sampler_that_raises_leaves_the_sdks_own(sink, components):
    _, _, _, console = ran(
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint, OTEL_TRACES_SAMPLER="breaking", **components
    )
    assert "no licence" in console
    assert [span.name for span in sink.spans] == ["linked", "work"]
