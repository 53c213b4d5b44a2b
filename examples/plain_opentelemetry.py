"""An agent that is traced with OpenTelemetry alone: any language can send these attributes."""

from __future__ import annotations

import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")

if __name__ == "__main__":
    provider = TracerProvider(resource=Resource.create({"service.name": "weather"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{ENDPOINT}/v1/traces")))
    tracer = provider.get_tracer("weather-agent")

    with tracer.start_as_current_span("invoke_agent weather") as agent:
        agent.set_attributes(
            {
                "openinference.span.kind": "AGENT",
                "gen_ai.agent.name": "weather",
                "input.value": "How warm was it on average, at 18, 21 and 24 degrees?",
                "spanproof.cohort.prompt_version": "v1",
            }
        )
        with tracer.start_as_current_span("step 1") as step:
            step.set_attributes(
                {
                    "openinference.span.kind": "CHAIN",
                    "spanproof.code.source": "degrees = [18, 21, 24]\nprint(sum(degrees) / len(degrees))",
                    "spanproof.code.language": "python",
                    "spanproof.execution.logs": "21.0\n",
                    "spanproof.execution.observation": "21.0\n",
                }
            )
        agent.set_attribute("output.value", "It was 21 degrees on average.")
    provider.shutdown()
