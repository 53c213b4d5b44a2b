from __future__ import annotations

import math
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.evaluators.model import Divergence, DivergenceReason, RunEvaluation, TraceEvaluation
from spanproof.trace import Errored, Event, Label, Outcome, Payload, Score, Scored, Skipped, Span, SpanKind
from spanproof.trace.codec import (
    MAX_DEPTH,
    MalformedDocument,
    decode_value,
    encode_value,
    from_plain,
    to_plain,
)

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), any_text, st.binary(max_size=4))
attribute_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
keys = any_text | st.sampled_from(["$bytes", "$int", "$float", "$dict"])


def same(one: object, other: object) -> bool:
    """Equality by which NaN is itself and 1 is not True."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return type(one) is type(other) and one == other


@given(st.dictionaries(keys, attribute_values, max_size=4))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_attributes_of_any_kind_come_back_as_they_were(attributes):
    event = Event("e", 1, attributes)
    assert same(dict(decode_value(Event, encode_value(event)).attributes), attributes)


@given(st.dictionaries(keys, st.dictionaries(keys, attribute_values, max_size=2), max_size=2))
def test_open_values_that_look_like_our_escapes_come_back_as_they_were(value):
    payload = Payload("", value)
    assert same(decode_value(Payload, encode_value(payload)).value, value)


def test_a_whole_evaluation_comes_back_equal(evaluation):
    whole = evaluation(sub_score="compiles")
    assert decode_value(TraceEvaluation, encode_value(whole)) == whole


def test_what_an_evaluation_holds_is_all_written(evaluation):
    plain = to_plain(evaluation())
    run = plain["runs"][0]
    assert run.keys() == {field.name for field in fields(RunEvaluation)}
    assert run["scores"][0].keys() == {field.name for field in fields(Score)}


@pytest.mark.parametrize("outcome", [Scored(0.5, Label.FAIL, "x"), Skipped("y"), Errored("z", "w")])
def test_outcomes_are_reported_apart_by_their_fields(outcome):
    from spanproof.trace.codec import _build_decoder

    assert _build_decoder(Outcome)(to_plain(outcome)) == outcome


def test_a_document_of_a_newer_writer_is_read_without_what_is_new():
    plain = to_plain(Span("t", "s", None, "n", SpanKind.LLM, 1, 2))
    assert from_plain(Span, {**plain, "invented_later": {"x": 1}}).kind is SpanKind.LLM


def test_a_document_of_an_older_writer_is_read_with_defaults():
    assert from_plain(Payload, {"text": "a", "value": 1}) == Payload("a", 1, typed=False)


@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: {"k": inner}, lambda inner: [{"k": inner}]]
)
def test_values_that_nest_without_end_are_cut_and_the_rest_is_kept(wrap):
    deep: object = "bottom"
    for _ in range(3 * MAX_DEPTH):
        deep = wrap(deep)
    read = decode_value(Payload, encode_value(Payload("verbatim", deep)))
    assert read.text == "verbatim"
    assert "nested deeper than" in repr(read.value)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (Payload, "{", "not JSON"),
        (Payload, "[]", "expected Payload, got list"),
        (Payload, '{"text":"x"}', "Payload: no field 'value'"),
        (Payload, '{"text":1,"value":1}', "Payload.text: expected str, got int"),
        (Payload, '{"text":"x","value":{"$bytes":"%%"}}', "Payload.value: $bytes"),
        (Scored, '{"value":7,"label":null,"explanation":""}', "a score is within 0..1, got 7.0"),
        (Scored, '{"value":1,"label":"meh","explanation":""}', "Scored.label: 'meh' is not a valid Label"),
        (
            TraceEvaluation,
            '{"trace":{"spans":[{}]},"runs":[],"code_bearing_span_ids":[]}',
            "TraceEvaluation.trace: Span: no field 'end_ns'",
        ),
    ],
)
def test_a_document_that_is_none_is_an_error_that_names_the_place(kind, text, words):
    with pytest.raises(MalformedDocument) as caught:
        decode_value(kind, text)
    assert words in str(caught.value)


def test_what_is_no_part_of_the_model_is_refused():
    with pytest.raises(TypeError, match="object is no part of the model"):
        encode_value(Divergence("t", (object(),), {}, DivergenceReason.UNKNOWN_TOOL))  # type: ignore[arg-type]
