"""What is instrumented, what of it is recorded, and how much the loggers say."""

import pytest

from .programs import honours, said_quietly


@honours("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS")
@pytest.mark.parametrize(
    ("disabled", "left"), [("spanproof_langchain", ["smolagents"]), ("requests, *", []), ("langchain", None)]
)
def test_an_instrumentation_is_switched_off_by_its_entry_points_name(disabled, left):
    reported = said_quietly(
        "instrumented()",
        arguments="instrument=('smolagents', 'langchain')",
        OTEL_TRACES_EXPORTER="none",
        OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=disabled,
    )
    assert reported == (["smolagents", "langchain"] if left is None else left)


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
