"""A provider whose spans are begun as ours do it or as the SDK does, the same but for that."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count
from unittest.mock import patch

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_ON,
    Decision,
    Sampler,
    SamplingResult,
)
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags

from spanproof.instrumentors.spans.fast_span import build_span_starter
from spanproof.instrumentors.spans.span_start import SpanStart

ELSEWHERE = SpanContext(7, 7, is_remote=True, trace_flags=TraceFlags(1))


class Counting(IdGenerator):
    """The same ids in the same order, in every provider."""

    def __init__(self):
        self._ids = count(1)

    def generate_span_id(self):
        return next(self._ids)

    def generate_trace_id(self):
        return next(self._ids)

    def is_trace_id_random(self):
        return True


class Deciding(Sampler):
    """Decides on children as configured; keeps its queries."""

    def __init__(self, result):
        self._result = result
        self.queried = []

    def should_sample(
        self, parent_context, trace_id, name, kind=None, attributes=None, links=None, trace_state=None
    ):
        if name == "root":
            return SamplingResult(Decision.RECORD_AND_SAMPLE)
        self.queried.append((trace_id, name, kind, dict(attributes), tuple(links or ())))
        return self._result

    def get_description(self):
        return "as told"


class AlwaysRecording(Sampler):
    """Records everything for processors, and samples nothing."""

    def should_sample(self, *_, **__):
        return SamplingResult(Decision.RECORD_ONLY)

    def get_description(self):
        return "records"


def started_by(begin):
    """As the API's `start_span`, which takes the time."""

    def start(name, context, kind, attributes, links=(), start_time=None):
        clocks = ("opentelemetry.sdk.trace.time_ns", "spanproof.instrumentors.spans.fast_span.time_ns")
        with ExitStack() as stopped:
            for clock in clocks if start_time is not None else ():
                stopped.enter_context(patch(clock, lambda: start_time))
            return begin(SpanStart(name, kind, attributes), context, links)

    return start


class Provided:
    """A provider with a root span, and what begins children of it: as ours do, or as the SDK does."""

    def __init__(self, *, light, limits=None, sampler=ALWAYS_ON, processors=(), ids=None, reporting=None):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(
            sampler=sampler,
            span_limits=limits,
            id_generator=ids or Counting(),
            active_span_processor=reporting,
            shutdown_on_exit=False,
        )
        for each in processors:
            self.provider.add_span_processor(each)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("scope", "1.0", attributes={"of.scope": True})
        self.root = self.tracer.start_span("root", start_time=1)
        self.context = trace.set_span_in_context(self.root, Context())
        self.start = started_by(build_span_starter(self.tracer)) if light else self.tracer.start_span

    def begin(self, name="child", **options):
        given = {"kind": SpanKind.CLIENT, "attributes": {"at.start": 1}, "start_time": 2, **options}
        return self.start(name, self.context, **given)

    def exported(self):
        return [encode_spans([span]).SerializeToString() for span in self.exporter.get_finished_spans()]
