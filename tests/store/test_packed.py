from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.test_codec import attribute_values, same

from spanproof.evaluators.model import Divergence, DivergenceReason, TraceEvaluation
from spanproof.store import StoreError
from spanproof.store.documents import DOCUMENT_FORMAT, read_document
from spanproof.trace import Event, Payload
from spanproof.trace.codec import MAX_DEPTH, MalformedDocument, encode_value
from spanproof.trace.packed import decode_packed, encode_packed

LONG = "a text that is longer than a reference to it, by far"
any_keys = st.sampled_from(["$text", "$object", "$dict", "$bytes", "$int", "root", "texts", LONG])


@given(st.dictionaries(any_keys, attribute_values | st.sampled_from([LONG, 2**70, 0]), max_size=4))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_attributes_of_any_kind_come_back_as_they_were(attributes):
    event = Event("e", 1, attributes)
    assert same(dict(decode_packed(Event, encode_packed(event)).attributes), attributes)


def test_a_whole_evaluation_comes_back_equal(evaluation):
    whole = evaluation(sub_score="compiles")
    assert decode_packed(TraceEvaluation, encode_packed(whole)) == whole


def test_a_document_of_the_format_before_is_read(evaluation):
    whole = evaluation(sub_score="compiles")
    assert decode_packed(TraceEvaluation, encode_value(whole)) == whole
    assert read_document("t", encode_value(whole), 1) == whole


def test_a_document_of_a_later_format_is_refused():
    with pytest.raises(StoreError, match="upgrade spanproof"):
        read_document("t", "{}", DOCUMENT_FORMAT + 1)


def test_a_long_text_is_written_once(evaluation):
    whole = evaluation()
    spans = tuple(
        replace(span, input=Payload(LONG, LONG), attributes={"input.value": LONG, LONG: 1, "list": [LONG]})
        for span in whole.trace.spans
    )
    document = encode_packed(replace(whole, trace=replace(whole.trace, spans=spans)))
    keys = len(spans)
    assert document.count(LONG) == 1 + keys
    assert decode_packed(TraceEvaluation, document).trace.spans == spans


def test_an_object_that_many_hold_is_written_once(evaluation):
    whole = evaluation()
    run = whole.runs[0]
    cohort = replace(run.run.cohort, agent="the only one")
    scores = tuple(replace(run.scores[0], name=f"s{number}", cohort=cohort) for number in range(20))
    changed = replace(whole, runs=(replace(run, scores=scores),))
    document = encode_packed(changed)
    assert document.count("the only one") == 1
    assert decode_packed(TraceEvaluation, document) == changed


def test_fields_with_their_default_are_left_out():
    written = json.loads(encode_packed(Payload("x", None)))
    assert written["root"] == {"text": "x", "value": None}


def test_values_that_nest_without_end_are_cut_and_the_rest_is_kept():
    deep: object = "bottom"
    for _ in range(3 * MAX_DEPTH):
        deep = [{"k": deep}]
    read = decode_packed(Payload, encode_packed(Payload(LONG, deep)))  # type: ignore[arg-type]
    assert read.text == LONG
    assert "nested deeper than" in repr(read.value)


@pytest.mark.parametrize(
    "root",
    ['{"$text":7}', '{"$object":0}', '{"$object":"x"}', '{"text":{"$text":0},"value":{"$object":{}}}'],
)
def test_a_reference_that_leads_nowhere_is_an_error(root):
    with pytest.raises(MalformedDocument, match="reference"):
        decode_packed(Payload, f'{{"root":{root},"texts":["a"],"objects":[{{"$object":0}}]}}')


def test_what_is_no_part_of_the_model_is_refused():
    with pytest.raises(TypeError, match="object is no part of the model"):
        encode_packed(Divergence("t", (object(),), {}, DivergenceReason.UNKNOWN_TOOL))  # type: ignore[arg-type]
