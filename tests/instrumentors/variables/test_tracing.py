"""What the tracer provider is made of: resource, ids, samplers, limits, context, or a file in their place."""

import pytest

from .programs import honours, ran, said_quietly


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


@honours("OTEL_PYTHON_TRACER_PROVIDER")
@pytest.mark.parametrize("requested_before", [True, False])
@pytest.mark.parametrize(("name", "arrives"), [("sdk_tracer_provider", 2), ("vendor", 0)])
def test_a_provider_that_a_variable_names_is_the_one(sink, components, name, arrives, requested_before):
    kind = said_quietly(
        "type(provider).__name__",
        before="from opentelemetry import trace\ntrace.get_tracer('x')" if requested_before else "",
        OTEL_EXPORTER_OTLP_ENDPOINT=sink.endpoint,
        OTEL_PYTHON_TRACER_PROVIDER=name,
        **components,
    )
    assert kind == ("Vendor" if name == "vendor" else "TracerProvider")
    assert len(sink.spans) == arrives, "a provider of another's is joined, and exports by itself"


@honours("OTEL_PYTHON_CONTEXT", "OTEL_PROPAGATORS")
def test_context_and_propagators_are_the_apis(components):
    context, carried, attach = said_quietly(
        "[type(context._RUNTIME_CONTEXT).__name__, carrier, contexts.attach.__module__]",
        before="from opentelemetry import context, propagate\ncarrier = {}\npropagate.inject(carrier)\n"
        "from spanproof.instrumentors.spans import contexts",
        OTEL_PYTHON_CONTEXT="noted",
        OTEL_PROPAGATORS="tracecontext,mark",
        OTEL_TRACES_EXPORTER="none",
        **components,
    )
    assert (context, carried) == ("Noted", {"mark": "made"})
    assert attach == "opentelemetry.context", "ours ask it, not the variable"


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
