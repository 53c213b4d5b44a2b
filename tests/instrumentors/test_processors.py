"""Processors are called for fast spans as for the SDK's own."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import (
    ConcurrentMultiSpanProcessor,
    SpanProcessor,
    SynchronousMultiSpanProcessor,
)

from spanproof.instrumentors.spans.fast_span import set_attributes

from .fast_spans import Provided

ENDING = hasattr(SpanProcessor, "_on_ending")


class Noting(SpanProcessor):
    """Notes down what it hears."""

    def __init__(self):
        self.heard = []

    def on_start(self, span, parent_context=None):
        above = trace.get_current_span(parent_context)
        self.heard.append(("start", span.name, span.end_time is None, getattr(above, "name", None)))

    def _on_ending(self, span):
        self.heard.append(("ending", span.name))

    def on_end(self, span):
        self.heard.append(("end", span.name, span.end_time is None))


class OfEnds(SpanProcessor):
    """Hears of ends alone, like one that exports."""

    def __init__(self):
        self.heard = []

    def on_end(self, span):
        self.heard.append(span.name)


def taught():
    """One of the SDK's own that a test or an application has taught to listen."""
    processor = SpanProcessor()
    processor.heard = []
    processor.on_start = lambda span, parent_context=None: processor.heard.append(span.name)
    return processor


def finished(span):
    set_attributes(span, {"b": 2})
    span.end()


@pytest.mark.parametrize("end", [finished, lambda span: span.end()])
@pytest.mark.parametrize("reporting", [SynchronousMultiSpanProcessor, ConcurrentMultiSpanProcessor])
def test_all_that_listen_hear_the_same_of_both_kinds_of_spans(reporting, end):
    found = []
    for light in (True, False):
        listening = [Noting(), OfEnds(), taught()]
        provided = Provided(light=light, reporting=reporting(), processors=listening)
        first = provided.begin("first")
        late = Noting()
        provided.provider.add_span_processor(late)
        end(first)
        end(provided.begin("second"))
        found.append([each.heard for each in (*listening, late)])
    assert found[0] == found[1]
    assert ("start", "second", True, "root") in found[0][3]
    assert (("ending", "first") in found[0][3]) is ENDING


def test_one_that_is_added_before_a_span_ends_hears_of_its_end():
    provided = Provided(light=True)
    span = provided.begin("span")
    late = Noting()
    provided.provider.add_span_processor(late)
    finished(span)
    assert [each[0] for each in late.heard] == [*["ending"] * ENDING, "end"]


class Standing:
    """Replaces another processor, as a proxy does: its class has none of the methods."""

    def __init__(self, processor):
        self._processor = processor

    def __getattr__(self, name):
        return getattr(self._processor, name)


def test_one_that_another_is_in_for_hears_of_spans():
    noting = Noting()
    provided = Provided(light=True, processors=[Standing(noting)])
    finished(provided.begin("span"))
    assert [each[:2] for each in noting.heard if each[1] == "span"] == [
        ("start", "span"),
        *[("ending", "span")] * ENDING,
        ("end", "span"),
    ]
