"""A light span is told from the SDK's own by nothing: what is done to both leaves the same bytes."""

import json
import logging
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import count
from threading import Thread
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import Span, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
)
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from spanproof.instrumentors import light_spans
from spanproof.instrumentors.beginning import beginning_with
from spanproof.instrumentors.light_spans import LightSpan
from spanproof.instrumentors.starts import Start

_ELSEWHERE = SpanContext(7, 7, is_remote=True, trace_flags=TraceFlags(1))
_FAILED = ValueError("too late")


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
    """Decides on children as it is told; keeps what it was asked."""

    def __init__(self, result):
        self._result = result
        self.asked = []

    def should_sample(
        self, parent_context, trace_id, name, kind=None, attributes=None, links=None, trace_state=None
    ):
        if name == "root":
            return SamplingResult(Decision.RECORD_AND_SAMPLE)
        self.asked.append((trace_id, name, kind, dict(attributes), tuple(links or ())))
        return self._result

    def get_description(self):
        return "as told"


class AlwaysRecording(Sampler):
    """Records everything for processors, and samples nothing."""

    def should_sample(self, *_, **__):
        return SamplingResult(Decision.RECORD_ONLY)

    def get_description(self):
        return "records"


class Said(logging.Handler):
    """What the SDK's loggers say."""

    def __init__(self):
        super().__init__()
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


@contextmanager
def said():
    handler, logger = Said(), logging.getLogger("opentelemetry")
    logger.addHandler(handler)
    propagated, logger.propagate = logger.propagate, False
    try:
        yield handler.messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


@contextmanager
def clocks_stand_still():
    with patch("opentelemetry.sdk.trace.time_ns", lambda: 7), patch.object(light_spans, "time_ns", lambda: 7):
        yield


def started_by(begin):
    """As the API's `start_span`."""

    def start(name, context, kind, attributes, links=(), start_time=None):
        return begin(Start(name, kind, attributes), context, links, start_time)

    return start


class Provided:
    """A provider with a root span, and what begins children of it: as ours do, or as the SDK does."""

    def __init__(self, *, light, limits=None, sampler=ALWAYS_ON, processors=(), ids=None):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(
            sampler=sampler, span_limits=limits, id_generator=ids or Counting(), shutdown_on_exit=False
        )
        for each in processors:
            self.provider.add_span_processor(each)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("scope", "1.0", attributes={"of.scope": True})
        self.root = self.tracer.start_span("root", start_time=1)
        self.context = trace.set_span_in_context(self.root, Context())
        self.start = started_by(beginning_with(self.tracer)) if light else self.tracer.start_span

    def begin(self, name="child", **options):
        given = {"kind": SpanKind.CLIENT, "attributes": {"at.start": 1}, "start_time": 2, **options}
        return self.start(name, self.context, **given)

    def exported(self):
        return [encode_spans([span]).SerializeToString() for span in self.exporter.get_finished_spans()]


def bytes_of(what, **options):
    """What is exported, and what is said, as `what` is done to a span of each."""
    found = []
    for light in (True, False):
        provided = Provided(light=light, **options)
        with said() as messages, clocks_stand_still():
            span = provided.begin()
            assert (type(span) is LightSpan) is light
            what(span)
            span.end(9)
            # Of attributes the SDK says it once they are read, not as they are set.
            found.append((provided.exported(), sorted(messages)))
    return found


_scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.floats(allow_nan=False),
)
_values = st.one_of(
    _scalars, st.lists(_scalars, max_size=3), st.none(), st.just(object), st.binary(max_size=3)
)
_names = st.one_of(st.sampled_from(["a", "b", "c", "at.start"]), st.text("xyz", max_size=2))
_attributes = st.dictionaries(_names, _values, max_size=4)
_ours = st.dictionaries(
    _names.filter(bool), st.one_of(_scalars, st.tuples(st.text("xyz", max_size=2))), max_size=4
)
_operations = st.one_of(
    st.tuples(st.just("take"), _ours),
    st.tuples(st.just("finish"), _ours),
    st.tuples(st.just("set_attribute"), st.one_of(_names, st.just(7)), _values),
    st.tuples(st.just("set_attributes"), _attributes),
    st.tuples(st.just("add_event"), _names, _attributes, st.integers(3, 8)),
    st.tuples(st.just("add_link"), st.just(_ELSEWHERE), _attributes),
    st.tuples(st.just("record_exception"), st.just(_FAILED), _attributes, st.integers(3, 8)),
    st.tuples(st.just("update_name"), _names),
    st.tuples(st.just("set_status"), st.sampled_from([*StatusCode, Status(StatusCode.ERROR, "why")])),
    st.tuples(st.just("end"), st.integers(3, 8)),
)
_limits = st.builds(
    SpanLimits,
    max_span_attributes=st.sampled_from([None, 0, 1, 2, 3, SpanLimits.UNSET]),
    max_events=st.sampled_from([None, 1]),
    max_links=st.sampled_from([None, 1]),
    max_event_attributes=st.sampled_from([None, 1]),
)


@example([("end", 5), ("set_attributes", {"a": 1}), ("set_attribute", "b", 2), ("end", 6)], SpanLimits())
@example([("take", {"a": 1, "b": 2}), ("take", {"a": 3}), ("set_attribute", "c", 4)], SpanLimits())
@example([("take", {"a": 1, "b": 2}), ("take", {"a": 3, "c": 4})], SpanLimits(max_span_attributes=3))
@example([("finish", {"a": 1, "at.start": 2}), ("take", {"b": 1}), ("finish", {"c": 1})], SpanLimits())
@example([("set_attribute", "a", [1]), ("finish", {"a": 2})], SpanLimits(max_span_attributes=1))
@example([("set_attributes", {"a": [1]}), ("take", {"a": 2}), ("end", 5), ("take", {"b": 1})], SpanLimits())
@example([("set_attribute", "", 1), ("set_attributes", {"": 2, "a": 3})], SpanLimits())
@example([("set_attribute", "a", ("x", object))], SpanLimits())
@example(
    [("set_attribute", name, 1) for name in ("b", "at.start", "c", "d")],
    SpanLimits(max_span_attributes=3),  # of these `b` is the oldest
)
@given(st.lists(_operations, min_size=2, max_size=10), _limits)
@settings(max_examples=400)
def test_whatever_is_done_to_it_it_is_exported_as_the_sdks_own_and_the_sdk_says_the_same(operations, limits):
    def do(span):
        for method, *arguments in operations:
            if method == "finish" and type(span) is not LightSpan:
                if arguments != [{}]:
                    span.set_attributes(*arguments)
                span.end()
            else:
                getattr(span, method, span.set_attributes)(*arguments)
            assert span.is_recording() is (span.end_time is None)

    light, own = bytes_of(do, limits=limits)
    assert light == own


def test_it_fails_and_ends_with_its_block_as_the_sdks_own():
    def fail(span):
        with pytest.raises(ValueError, match="too late"), trace.use_span(span), span:
            raise _FAILED

    # The time of the event is that of the clock, the stack trace that of the test.
    found = []
    for light in (True, False):
        provided = Provided(light=light)
        fail(provided.begin())
        (span,) = provided.exporter.get_finished_spans()
        found.append((span.status.description, [event.attributes["exception.type"] for event in span.events]))
        assert span.status.status_code is StatusCode.ERROR
    assert found[0] == found[1]


def test_a_sampler_may_change_what_it_gave():
    given = {"of.sampler": ["x"]}
    provided = Provided(light=True, sampler=Deciding(SamplingResult(Decision.RECORD_AND_SAMPLE, given)))
    span = provided.begin()
    given["of.sampler"].append("y")
    given["more"] = 1
    assert span.attributes == {"of.sampler": ("x",)}


def test_what_is_taken_is_taken_as_it_is():
    provided = Provided(light=True)
    span = provided.begin(attributes={"a": 1})
    span.take({"b": 2})
    assert "_attributes" not in vars(span)
    assert span.attributes == {"a": 1, "b": 2}
    span.take({"a": 3})
    assert dict(span.attributes) == {"b": 2, "a": 3}


@pytest.mark.parametrize("decision", Decision)
def test_the_sampler_is_asked_once_and_its_word_holds(decision):
    result = SamplingResult(decision, {"of.sampler": ["x"], "at.start": 2}, TraceState([("vendor", "1")]))
    found = []
    for light in (True, False):
        sampler = Deciding(result)
        provided = Provided(light=light, sampler=sampler)
        span = provided.begin()
        found.append((sampler.asked, span.is_recording(), span.get_span_context()))
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


class Noting:
    """A processor that keeps what it is told, and puts its own onto what begins."""

    def __init__(self):
        self.told = []

    def on_start(self, span, parent_context=None):
        if span.parent is not None:
            assert isinstance(span, Span)
            span.set_attribute("of.processor", ("a", "list"))
            self.told.append(("start", span.name, trace.get_current_span(parent_context).name))

    def _on_ending(self, span):
        self.told.append(("ending", span.name, span.end_time))

    def on_end(self, span):
        span._resource = span.resource.merge(span.resource)  # as some do, to tell where it comes from
        self.told.append(("end", span.name, dict(span.attributes), span.to_json()))

    def shutdown(self):
        pass

    def force_flush(self, timeout_millis=0):
        return True


def test_processors_are_told_the_same_in_the_same_order():
    found = []
    for light in (True, False):
        noting = Noting()
        provided = Provided(light=light, processors=[noting])
        provided.begin().end(9)
        found.append((noting.told, provided.exported()))
    assert found[0] == found[1]
    assert json.loads(found[0][0][-1][-1])["attributes"]["of.processor"] == ["a", "list"]


@pytest.mark.parametrize("drawn", [(7,), (0, 8), (0, 0, 9)])
def test_random_ids_are_drawn_as_the_sdk_draws_them(monkeypatch, drawn):
    found = []
    for light in (True, False):
        provided = Provided(light=light, ids=RandomIdGenerator())
        provided.root._context = _ELSEWHERE
        left = [*drawn]
        with monkeypatch.context() as drawing:
            for module in ("random", "spanproof.instrumentors.beginning"):
                drawing.setattr(f"{module}.getrandbits", lambda bits, left=left: left.pop(0))
            found.append((tuple(provided.begin().get_span_context()), left))
    assert found[0] == found[1]
    assert found[0][1] == []


def test_a_generator_of_random_ids_that_was_taught_otherwise_is_asked(monkeypatch):
    monkeypatch.setattr(RandomIdGenerator, "generate_span_id", lambda _: 5)
    provided = Provided(light=True, ids=RandomIdGenerator())
    assert provided.begin().get_span_context().span_id == 5


def test_it_has_everything_that_the_sdks_own_has():
    provided = Provided(light=True)
    light, own = provided.begin(), provided.tracer.start_span("own", provided.context)
    for name in vars(own).keys() - {"_attributes", "_record_end_metrics"}:
        assert type(getattr(light, name)) is type(getattr(own, name)), name


def test_children_of_light_spans_are_light_too():
    provided = Provided(light=True)
    parent = provided.begin("parent")
    child = provided.start("child", trace.set_span_in_context(parent), SpanKind.INTERNAL, {})
    assert type(child) is LightSpan
    assert child.parent == parent.get_span_context()
    grandchild = provided.tracer.start_span("an application's", trace.set_span_in_context(child))
    assert grandchild.parent == child.get_span_context()


def test_whoever_reads_what_has_ended_cannot_change_it():
    provided = Provided(light=True)
    provided.begin().end()
    (span,) = provided.exporter.get_finished_spans()
    with pytest.raises(TypeError):
        span.attributes["more"] = 1
    with said() as messages:
        span.set_attribute("more", 1)
        span.end()
    assert "more" not in span.attributes
    assert messages == ["Setting attribute on ended span.", "Calling end() on an ended span."]


@pytest.mark.parametrize("copied", [copy, deepcopy])
def test_what_has_ended_is_copied_as_the_sdks_own(copied):
    found = []
    for light in (True, False):
        provided = Provided(light=light)
        span = provided.begin(attributes={"a": ("b", "c")})
        span.add_event("e", {"f": 1}, 3)
        span.end(9)
        (ended,) = provided.exporter.get_finished_spans()
        try:
            found.append((encode_spans([copied(ended)]).SerializeToString(), type(copied(ended))))
        except TypeError as refused:  # by a lock that old releases do not leave out
            found.append(refused.args)
    assert found[0] == found[1]


def test_many_threads_may_write_to_one_span():
    provided = Provided(light=True)
    span = provided.begin()

    def write(number):
        for step in range(20):
            span.set_attribute(f"{number}.{step}", [step] if step == number else step)
            span.add_event("e", {}, 3)

    writers = [Thread(target=write, args=(number,)) for number in range(6)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    span.end()
    assert len(span.attributes) == 6 * 20 + 1
    assert len(span.events) == 6 * 20


def _remote(provided):
    return {"context": trace.set_span_in_context(trace.NonRecordingSpan(_ELSEWHERE), Context())}


def _linked(provided):
    return {"context": provided.context, "links": [Link(_ELSEWHERE)]}


def _invalid(provided):
    provided.root._context = SpanContext(0, 0, is_remote=False)
    return {"context": provided.context}


@pytest.mark.parametrize("where", [lambda _: {"context": Context()}, _remote, _linked, _invalid])
def test_roots_and_spans_with_links_are_the_sdks(where):
    provided = Provided(light=True)
    span = provided.start("span", kind=SpanKind.INTERNAL, attributes={}, **where(provided))
    assert type(span) is not LightSpan
    assert span.is_recording()


def test_where_values_are_cut_spans_are_the_sdks():
    provided = Provided(light=True, limits=SpanLimits(max_attribute_length=3))
    span = provided.begin(attributes={"a": "abcdef"})
    assert type(span) is not LightSpan
    assert span.attributes["a"] == "abc"


class Further(trace.Tracer):
    """A tracer of another vendor's."""

    def start_span(self, *args, **kwargs):
        self.asked = args
        return trace.INVALID_SPAN

    def start_as_current_span(self, *args, **kwargs):
        raise NotImplementedError


def test_another_tracer_and_one_with_more_to_it_begin_their_own():
    given = (Context(), SpanKind.CLIENT, {"a": 1}, [Link(_ELSEWHERE)], 5)
    other = Further()
    assert started_by(beginning_with(other))("span", *given) is trace.INVALID_SPAN
    assert other.asked == ("span", *given)
    counting = SimpleNamespace(start_span=lambda *_: lambda: None)
    for has in ({"_of_a_later_release": True}, {"_tracer_metrics": counting}):
        provided = Provided(light=False)
        vars(provided.tracer).update(has)
        provided.start = started_by(beginning_with(provided.tracer))
        assert type(provided.begin()) is type(provided.root)


@pytest.mark.parametrize("known", [True, False])
def test_what_spans_begin_with_stays_as_it_is_whatever_a_sampler_does_to_it(known):
    class Changing(Deciding):
        def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, *rest, **named):
            (attributes or {}).clear()
            return super().should_sample(parent_context, trace_id, name, kind, attributes, *rest, **named)

    provided = Provided(light=True, sampler=Changing(SamplingResult(Decision.RECORD_AND_SAMPLE, {"b": 1})))
    begins_with = {"a": 1}
    span = provided.begin(attributes=begins_with, **({} if known else {"links": [Link(_ELSEWHERE)]}))
    assert (type(span) is LightSpan) is known
    assert begins_with == {"a": 1}


def test_spans_of_a_release_that_gives_them_more_are_the_sdks(monkeypatch):
    constructed = Span.__init__

    def construct(span, *given, **named):
        constructed(span, *given, **named)
        span._of_a_later_release = True

    monkeypatch.setattr(Span, "__init__", construct)
    assert type(Provided(light=True).begin()) is not LightSpan


def test_a_tracer_that_is_switched_off_is_asked_itself():
    provided = Provided(light=True)
    provided.tracer._tracer_config = SimpleNamespace(is_enabled=False)
    assert type(provided.begin()) is not LightSpan
