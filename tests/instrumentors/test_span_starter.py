"""Spans start as fast ones where they export the same, and as the SDK's own everywhere else."""

from types import SimpleNamespace

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanLimits
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    Decision,
    ParentBased,
    SamplingResult,
)
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceState

from spanproof.instrumentors.spans.fast_span import FastSpan, build_span_starter

from .fast_spans import ELSEWHERE, AlwaysRecording, Counting, Deciding, Provided, started_by


def test_a_sampler_may_change_what_it_gave():
    given = {"of.sampler": ["x"]}
    provided = Provided(light=True, sampler=Deciding(SamplingResult(Decision.RECORD_AND_SAMPLE, given)))
    span = provided.begin()
    given["of.sampler"].append("y")
    given["more"] = 1
    assert span.attributes == {"of.sampler": ("x",)}


@pytest.mark.parametrize("decision", Decision)
def test_the_sampler_is_requested_once_and_its_word_holds(decision):
    result = SamplingResult(decision, {"of.sampler": ["x"], "at.start": 2}, TraceState([("vendor", "1")]))
    found = []
    for light in (True, False):
        sampler = Deciding(result)
        provided = Provided(light=light, sampler=sampler)
        span = provided.begin()
        found.append((sampler.queried, span.is_recording(), span.get_span_context()))
        if span.is_recording():
            found[-1] += (dict(span.attributes),)
        span.end(9)
    assert found[0] == found[1]
    assert len(found[0][0]) == 1
    assert provided.root.get_span_context().trace_flags.sampled


@pytest.mark.parametrize(
    ("sampler", "kept"),
    [
        (ParentBased(ALWAYS_ON), True),
        (ParentBased(ALWAYS_ON, local_parent_sampled=ALWAYS_OFF), False),
        (ParentBased(AlwaysRecording()), False),
        (ParentBased(AlwaysRecording(), local_parent_not_sampled=AlwaysRecording()), True),
    ],
)
def test_what_the_parent_decides_is_decided_for_its_children(sampler, kept):
    light, own = (Provided(light=light, sampler=sampler).begin() for light in (True, False))
    assert light.get_span_context() == own.get_span_context()
    assert light.is_recording() is own.is_recording() is kept


def test_a_generator_of_random_ids_that_was_taught_otherwise_is_requested(monkeypatch):
    monkeypatch.setattr(RandomIdGenerator, "generate_span_id", lambda _: 5)
    provided = Provided(light=True, ids=RandomIdGenerator())
    assert provided.begin().get_span_context().span_id == 5


def test_ids_come_from_the_generator_in_use():
    provided = Provided(light=True, ids=RandomIdGenerator())
    provided.tracer.id_generator = Counting()
    assert provided.begin().get_span_context().span_id == Counting().generate_span_id()
    taught = RandomIdGenerator()
    taught.generate_span_id = lambda: 6
    assert Provided(light=True, ids=taught).begin().get_span_context().span_id == 6


def test_children_of_light_spans_are_light_too():
    provided = Provided(light=True)
    parent = provided.begin("parent")
    child = provided.start("child", trace.set_span_in_context(parent), SpanKind.INTERNAL, {})
    assert isinstance(child, FastSpan)
    assert child.parent == parent.get_span_context()
    grandchild = provided.tracer.start_span("an application's", trace.set_span_in_context(child))
    assert grandchild.parent == child.get_span_context()


def _remote(provided):
    return {"context": trace.set_span_in_context(trace.NonRecordingSpan(ELSEWHERE), Context())}


def _linked(provided):
    return {"context": provided.context, "links": [Link(ELSEWHERE)]}


def _invalid(provided):
    provided.root._context = SpanContext(0, 0, is_remote=False)
    return {"context": provided.context}


@pytest.mark.parametrize("where", [lambda _: {"context": Context()}, _remote, _linked, _invalid])
def test_roots_and_spans_with_links_are_the_sdks(where):
    provided = Provided(light=True)
    span = provided.start("span", kind=SpanKind.INTERNAL, attributes={}, **where(provided))
    assert not isinstance(span, FastSpan)
    assert span.is_recording()


def test_where_values_are_cut_spans_are_the_sdks():
    provided = Provided(light=True, limits=SpanLimits(max_attribute_length=3))
    span = provided.begin(attributes={"a": "abcdef"})
    assert not isinstance(span, FastSpan)
    assert span.attributes["a"] == "abc"


class Further(trace.Tracer):
    """A tracer of another vendor's."""

    def start_span(self, *args, **kwargs):
        self.queried = args
        return trace.INVALID_SPAN

    def start_as_current_span(self, *args, **kwargs):
        raise NotImplementedError


def test_another_tracer_and_one_with_more_to_it_begin_their_own():
    given = (Context(), SpanKind.CLIENT, {"a": 1}, [Link(ELSEWHERE)])
    other = Further()
    assert started_by(build_span_starter(other))("span", *given) is trace.INVALID_SPAN
    assert other.queried == ("span", *given)
    counting = SimpleNamespace(start_span=lambda *_: lambda: None)
    for has in ({"_of_a_later_release": True}, {"_tracer_metrics": counting}):
        provided = Provided(light=False)
        vars(provided.tracer).update(has)
        provided.start = started_by(build_span_starter(provided.tracer))
        assert type(provided.begin()) is type(provided.root)


@pytest.mark.parametrize("links", [[], [Link(ELSEWHERE)]])
def test_what_spans_begin_with_stays_as_it_is_whatever_a_sampler_does_to_it(links):
    class Changing(Deciding):
        def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, *rest, **named):
            (attributes or {}).clear()
            return super().should_sample(parent_context, trace_id, name, kind, attributes, *rest, **named)

    provided = Provided(light=True, sampler=Changing(SamplingResult(Decision.RECORD_AND_SAMPLE, {"b": 1})))
    begins_with = {"a": 1}
    span = provided.begin(attributes=begins_with, links=links)
    assert span.is_recording()
    assert begins_with == {"a": 1}


def test_spans_of_a_release_that_gives_them_more_are_the_sdks(monkeypatch):
    constructed = Span.__init__

    def construct(span, *given, **named):
        constructed(span, *given, **named)
        span._of_a_later_release = True

    monkeypatch.setattr(Span, "__init__", construct)
    assert not isinstance(Provided(light=True).begin(), FastSpan)


def test_a_tracer_that_is_switched_off_is_requested_itself():
    provided = Provided(light=True)
    provided.tracer._tracer_config = SimpleNamespace(is_enabled=False)
    assert not isinstance(provided.begin(), FastSpan)
