import json

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproof.trace.otlp import (
    Changes,
    ExportTraceServiceRequest,
    MalformedOtlp,
    build_any_value,
    decode_json,
    decode_protobuf,
    encode_json,
    encode_protobuf,
    get_attribute_value,
)


def _refusal(decode, body):
    """What the codec says against these bytes, None where it takes them; any other error is the test's."""
    try:
        decode(body)
    except MalformedOtlp as bad:
        return str(bad)
    return None


@given(data=st.data())
@settings(max_examples=100)
def test_protobuf_round_trips(any_request, data):
    request = data.draw(any_request)
    assert decode_protobuf(encode_protobuf(request)) == request


@given(data=st.data())
@settings(max_examples=100)
def test_json_round_trips(any_request, data):
    request = data.draw(any_request)
    assert decode_json(encode_json(request)) == request


@given(data=st.data())
def test_attribute_values_round_trip(any_attribute_value, data):
    value = data.draw(any_attribute_value)
    assert get_attribute_value(build_any_value(value)) == value


@given(body=st.binary(max_size=200))
@settings(max_examples=300)
def test_random_bytes_decode_or_name_what_is_wrong(body):
    for decode in (decode_protobuf, decode_json):
        refusal = _refusal(decode, body)
        assert refusal is None or len(refusal) > 10


def test_what_an_any_value_cannot_hold_becomes_text():
    assert get_attribute_value(build_any_value(2**80)) == str(2**80)
    assert get_attribute_value(build_any_value("a\ud800b")) == "a\ufffdb"


@pytest.mark.parametrize("decode", [decode_protobuf, lambda body: decode_json(body or b"{}")])
def test_the_empty_request_is_valid(decode):
    assert decode(b"") == ExportTraceServiceRequest()


def test_ids_are_hexadecimal_and_enums_integers_in_json(small_request):
    document = json.loads(encode_json(small_request))
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert span["traceId"] == "000102030405060708090a0b0c0d0e0f"
    assert span["parentSpanId"] == "08090a0b0c0d0e0f"
    assert span["links"][0]["spanId"] == "03" * 8
    assert span["kind"] == 1
    assert span["startTimeUnixNano"] == "1700000000000000001"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "SPAN_KIND_INTERNAL"),
        ("startTimeUnixNano", 1_700_000_000_000_000_001),
        ("start_time_unix_nano", "1700000000000000001"),
        ("traceId", "000102030405060708090A0B0C0D0E0F"),
    ],
)
def test_json_takes_what_other_exporters_write(small_request, field, value):
    document = json.loads(encode_json(small_request))
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    if field == "start_time_unix_nano":
        del span["startTimeUnixNano"]
    span[field] = value
    assert decode_json(orjson.dumps(document)) == small_request


def test_a_base64_id_is_an_error_that_names_the_place(small_request):
    document = json.loads(encode_json(small_request))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["spanId"] = "AAECAwQFBgc="
    with pytest.raises(MalformedOtlp, match=r"resourceSpans\[0\].scopeSpans\[0\].spans\[0\].spanId.*base64"):
        decode_json(orjson.dumps(document))


def test_a_base64_id_in_a_link_is_found_too(small_request):
    document = json.loads(encode_json(small_request))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["links"][0]["traceId"] = (
        "AgICAgICAgICAgICAgICAg=="
    )
    with pytest.raises(MalformedOtlp, match=r"links\[0\].traceId"):
        decode_json(orjson.dumps(document))


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"[]", "the request must be a JSON object"),
        (b'{"resourceSpans": {}}', "resourceSpans must be an array"),
        (b'{"resourceSpans": [7]}', r"resourceSpans\[0\] must be a JSON object"),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 5}]}]}]}',
            "traceId must be hexadecimal text",
        ),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "x"}]}]}]}',
            "startTimeUnixNano",
        ),
        (b'{"resourceSpans": [', "not JSON"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_malformed_json_names_the_place(body, place):
    with pytest.raises(MalformedOtlp, match=place):
        decode_json(body)


def test_lone_surrogates_in_json_do_not_lose_the_request():
    body = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a\\ud800b"}]}]}]}'
    assert decode_json(body).resource_spans[0].scope_spans[0].spans[0].name == "a\ufffdb"


def test_truncated_protobuf_names_the_field_that_breaks(small_request):
    body = encode_protobuf(small_request)
    with pytest.raises(MalformedOtlp, match=r"resource_spans\[0\].*only \d+ are left \(offset \d+\)"):
        decode_protobuf(body[:-3])


@given(cut=st.integers(1, 10_000))
def test_no_cut_of_a_request_raises_anything_else(small_request_bytes, cut):
    refusal = _refusal(decode_protobuf, small_request_bytes[: cut % len(small_request_bytes)])
    assert refusal is None or "not an OTLP trace request in protobuf" in refusal


@pytest.fixture(scope="module")
def small_request_bytes():
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(name="s", span_id=b"\1" * 8)
    span.attributes.add(key="k").value.string_value = "v" * 50
    return encode_protobuf(request)


def test_text_that_is_not_utf8_is_replaced_and_named_and_its_neighbours_are_kept(small_request):
    small_request.resource_spans[0].scope_spans[0].spans.add(name="A-B", span_id=b"\7" * 8)
    body = encode_protobuf(small_request).replace(b"A-B", b"A\xffB")
    changes = Changes()
    request = decode_protobuf(body, changes=changes)
    small_request.resource_spans[0].scope_spans[0].spans[-1].name = "A\ufffdB"
    assert request == small_request
    (reported,) = changes.list_changes()
    assert "U+FFFD: resource_spans[0].scope_spans[0].spans[" in reported
    assert reported.endswith(".name")


def test_text_of_json_that_is_not_utf8_is_replaced():
    changes = Changes()
    body = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"A\xffB"}]}]}]}'
    assert decode_json(body, changes=changes).resource_spans[0].scope_spans[0].spans[0].name == "A\ufffdB"
    assert changes.list_changes()


@pytest.mark.parametrize("levels", [60, 400])
def test_a_value_that_is_nested_too_deeply_is_cut_and_its_neighbours_are_kept(levels):
    inner = build_any_value("leaf").SerializeToString()
    for _ in range(levels):
        array = b"\x0a" + varint(len(inner)) + inner
        inner = b"\x2a" + varint(len(array)) + array
    pair = b"\x0a\x01k" + b"\x12" + varint(len(inner)) + inner
    span = b"\x2a\x03one" + b"\x4a" + varint(len(pair)) + pair
    scope_spans = b"\x12" + varint(len(span)) + span + b"\x12\x05\x2a\x03two"
    resource_spans = b"\x12" + varint(len(scope_spans)) + scope_spans
    changes = Changes()
    request = decode_protobuf(b"\x0a" + varint(len(resource_spans)) + resource_spans, changes=changes)
    spans = request.resource_spans[0].scope_spans[0].spans
    assert [each.name for each in spans] == ["one", "two"]
    assert changes.list_changes() == ["1 values nested too deeply were cut"]


def varint(value):
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(made + bytes([value]))


@pytest.mark.parametrize("levels", [60, 2_000])
def test_a_value_of_json_that_is_nested_too_deeply_is_cut(levels):
    value = '{"arrayValue":{"values":[' * levels + '{"stringValue":"leaf"}' + "]}}" * levels
    attribute = f'{{"key":"k","value":{value}}}'
    spans = f'[{{"name":"one","attributes":[{attribute}]}},{{"name":"two"}}]'
    changes = Changes()
    body = f'{{"resourceSpans":[{{"scopeSpans":[{{"spans":{spans}}}]}}]}}'
    request = decode_json(body.encode(), changes=changes)
    assert [each.name for each in request.resource_spans[0].scope_spans[0].spans] == ["one", "two"]
    assert changes.list_changes() == ["1 values nested too deeply were cut"]


def test_unknown_json_fields_are_kept_at_every_depth_also_through_protobuf():
    attribute = {"key": "a", "value": {"stringValue": "b", "newKind": [1]}, "hint": {"x": None}}
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "2", "attributes": [attribute], "mood": "good"}
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span], "later": 1}]}], "version": {"major": 9}}
    request = decode_json(orjson.dumps(document))
    for same in (request, decode_protobuf(encode_protobuf(request))):
        assert orjson.loads(encode_json(same)) == document


@pytest.mark.parametrize("junk", [b"[1]", b"\xff\xfe", b""])
def test_a_sender_that_uses_our_number_for_something_else_breaks_nothing(small_request, junk):
    number = b"\x82\xc7\xff\xff\x0f"  # field 536,870,000, length-delimited
    odd = decode_protobuf(encode_protobuf(small_request) + number + bytes([len(junk)]) + junk)
    assert orjson.loads(encode_json(odd)) == orjson.loads(encode_json(small_request))


def test_unknown_protobuf_fields_are_kept(small_request):
    unknown = b"\xf2\x3f\x03abc"  # field 1022, three bytes
    body = encode_protobuf(small_request) + unknown
    assert encode_protobuf(decode_protobuf(body)) == body
