"""Components that another package brings for the standard variables, found by their entry points."""

import os
from pathlib import Path

import grpc
import requests
from opentelemetry.propagators.textmap import TextMapPropagator, default_setter
from opentelemetry.sdk.resources import Resource, ResourceDetector
from opentelemetry.sdk.trace import TracerProvider, _TracerConfig
from opentelemetry.sdk.trace.export import ConsoleSpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult

ENTRY_POINTS = """
[opentelemetry_traces_sampler]
all_but = otel_components:AllBut
breaking = otel_components:breaking
[opentelemetry_id_generator]
counting = otel_components:Counting
breaking = otel_components:breaking
[opentelemetry_resource_detector]
cloud = otel_components:Cloud
[opentelemetry_propagator]
mark = otel_components:Mark
[opentelemetry_context]
noted = otel_context:Noted
[opentelemetry_tracer_provider]
vendor = otel_components:Vendor
breaking = otel_components:breaking
[_opentelemetry_tracer_configurator]
quiet = otel_components:quiet
[opentelemetry_otlp_credential_provider]
session = otel_components:session
channel = otel_components:channel
[opentelemetry_traces_exporter]
breaking = otel_components:breaking
silent = otel_components:Silent
"""

CONTEXT = """
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
class Noted(ContextVarsRuntimeContext): ...
"""
"""A module of its own: it is imported while the API is."""


def breaking(*_arguments):
    raise LookupError("no licence")


class AllBut(Sampler):
    """Samples all spans but those of one name."""

    def __init__(self, name):
        self._name = name

    def should_sample(self, parent_context, trace_id, name, *_rest, **_options):
        return SamplingResult(Decision.DROP if name == self._name else Decision.RECORD_AND_SAMPLE)

    def get_description(self):
        return "AllBut"


class Counting(IdGenerator):
    """1, 2, 3 and so on."""

    last = 0

    def generate_span_id(self):
        Counting.last += 1
        return Counting.last

    generate_trace_id = generate_span_id


class Cloud(ResourceDetector):
    def detect(self):
        return Resource({"cloud.region": "here"})


class Mark(TextMapPropagator):
    fields = frozenset({"mark"})

    def extract(self, carrier, context=None, getter=None):
        return context

    def inject(self, carrier, context=None, setter=default_setter):
        setter.set(carrier, "mark", "made")


class Vendor(TracerProvider):
    pass


class Silent(ConsoleSpanExporter):
    def export(self, spans):
        print("taken", *(span.name for span in spans))
        return super().export(())


def quiet(scope):
    return _TracerConfig(is_enabled=scope.name != "application")


def session():
    made = requests.Session()
    made.headers["authorization"] = "of the session"
    return made


def channel():
    return grpc.ssl_channel_credentials(Path(os.environ["AUTHORITY"]).read_bytes())
