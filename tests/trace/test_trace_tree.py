import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.trace import Defect, Span, SpanKind, trace_of


def test_spans_in_any_order_make_the_same_tree(make_span):
    root, a, b = make_span("r"), make_span("a", "r", 1), make_span("b", "r", 2)
    assert trace_of([b, a, root]) == trace_of([root, a, b])
    trace = trace_of([b, root, a])
    assert [span.span_id for span in trace.children("r")] == ["a", "b"]
    assert trace.roots == (root,)
    assert trace.defects == frozenset()


def test_a_parent_comes_before_its_child_that_starts_with_it(make_span):
    trace = trace_of([make_span("child", "p", 0, 5), make_span("p", None, 0, 10)])
    assert [span.span_id for span in trace.spans] == ["p", "child"]


def test_descendants_and_ancestors_walk_the_tree(make_span):
    spans = [make_span("r"), make_span("a", "r", 1), make_span("b", "a", 2), make_span("c", "r", 3)]
    trace = trace_of(spans)
    assert [span.span_id for span in trace.descendants("r")] == ["a", "b", "c"]
    assert [span.span_id for span in trace.ancestors("b")] == ["a", "r"]


def test_a_missing_parent_makes_a_further_root(make_span):
    trace = trace_of([make_span("r"), make_span("orphan", "gone", 5)])
    assert {span.span_id for span in trace.roots} == {"r", "orphan"}
    assert trace.defects == {Defect.MISSING_PARENT, Defect.SEVERAL_ROOTS}


def test_two_roots_are_a_defect(make_span):
    assert trace_of([make_span("a"), make_span("b")]).defects == {Defect.SEVERAL_ROOTS}


def test_a_cycle_is_cut_at_its_earliest_span(make_span):
    trace = trace_of([make_span("a", "c", 3), make_span("b", "a", 1), make_span("c", "b", 2)])
    assert [span.span_id for span in trace.roots] == ["b"]
    assert trace.defects == {Defect.PARENT_CYCLE, Defect.NO_ROOT}


def test_a_span_that_is_its_own_parent_is_a_root(make_span):
    trace = trace_of([make_span("a", "a")])
    assert [span.span_id for span in trace.roots] == ["a"]
    assert Defect.PARENT_CYCLE in trace.defects


def test_of_two_spans_with_one_id_the_later_ended_is_kept(make_span):
    trace = trace_of([make_span("a", end=10, name="finished"), make_span("a", end=5, name="unfinished")])
    assert [span.name for span in trace.spans] == ["finished"]
    assert trace.defects == {Defect.DUPLICATE_SPAN_IDS}


def test_the_same_span_twice_is_no_defect(make_span):
    assert trace_of([make_span("a"), make_span("a")]).defects == frozenset()


def test_dropped_attributes_are_a_defect(make_span):
    assert trace_of([make_span("a", dropped_attributes=3)]).defects == {Defect.DROPPED_ATTRIBUTES}


def test_spans_of_several_traces_are_refused(make_span):
    with pytest.raises(ValueError, match="one trace id"):
        trace_of([make_span("a"), make_span("b", trace_id="u")])
    with pytest.raises(ValueError, match="one trace id"):
        trace_of([])


_IDS = st.sampled_from("abcdef")
_SHAPES = st.lists(
    st.tuples(_IDS, st.none() | _IDS, st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8
)


@given(shape=_SHAPES)
def test_any_shape_becomes_a_forest_with_every_span_in_it(shape):
    spans = [
        Span("t", span_id, parent, f"{index}", SpanKind.OTHER, start, end)
        for index, (span_id, parent, start, end) in enumerate(shape)
    ]
    trace = trace_of(spans)
    below = [span.span_id for span in trace.descendants(None)]
    assert sorted(below) == sorted({span.span_id for span in spans})
    for span_id in below:
        assert span_id not in {span.span_id for span in trace.ancestors(span_id)}
