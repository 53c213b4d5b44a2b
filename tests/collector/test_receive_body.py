from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.receive.body import decode_body, decode_record, decode_request, parse_content_type
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.stages.fragments import build_index
from spanproof.collector.wal.file import Encoding, Record

ENCODINGS = ["", "identity", "gzip", "deflate", "zstd", "GZIP "]


def refusal_of(call, *arguments) -> Reason | None:
    try:
        call(*arguments)
    except Refused as refused:
        return refused.reason
    return None


@given(st.binary(max_size=2000), st.sampled_from(["", "gzip", "deflate", "zstd"]))
def test_what_is_packed_is_unpacked_up_to_the_limit_and_not_a_byte_beyond(content, encoding) -> None:
    pack = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstandard.compress}[encoding]
    packed = pack(content)
    assert decode_body(packed, encoding, len(content)) == content
    if content:
        assert refusal_of(decode_body, packed, encoding, len(content) - 1) is Reason.TOO_LARGE


@given(
    st.binary(max_size=500), st.sampled_from(ENCODINGS), st.sampled_from([Encoding.PROTOBUF, Encoding.JSON])
)
def test_any_bytes_are_a_request_or_a_refusal_and_nothing_else(body, encoding, form) -> None:
    try:
        request = decode_request(form, decode_body(body, encoding, 10_000))
    except Refused:
        return
    build_index(request, request.SerializeToString())


@given(data=st.data())
def test_a_damaged_request_is_a_request_or_a_refusal_and_nothing_else(data, a_request) -> None:
    body = bytearray(gzip.compress(a_request, mtime=0))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    del body[data.draw(st.integers(1, len(body))) :]
    try:
        request = decode_request(Encoding.PROTOBUF, decode_body(bytes(body), "gzip", 100_000))
    except Refused:
        return
    build_index(request, request.SerializeToString())


@pytest.fixture(scope="module")
def a_request() -> bytes:

    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name="a span")
    return request.SerializeToString()


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_a_bomb_costs_no_more_memory_than_the_limit(encoding, pack) -> None:
    bomb = pack(b"\x00" * 40_000_000)
    tracemalloc.start()
    assert refusal_of(decode_body, bomb, encoding, 1_000_000) is Reason.TOO_LARGE
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("content_type", "form"),
    [
        ("application/x-protobuf", Encoding.PROTOBUF),
        ("APPLICATION/JSON; charset=utf-8", Encoding.JSON),
        ("application/grpc", None),
        ("", None),
    ],
)
def test_the_form_follows_from_the_content_type(content_type, form) -> None:
    if form is None:
        assert refusal_of(parse_content_type, content_type) is Reason.UNSUPPORTED
    else:
        assert parse_content_type(content_type) is form


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        (Encoding.PROTOBUF, bytes),
        (Encoding.PROTOBUF_GZIP, gzip.compress),
        (Encoding.PROTOBUF_ZSTD, zstandard.compress),
        (Encoding.JSON, bytes),
        (Encoding.JSON_GZIP, gzip.compress),
    ],
)
def test_a_record_of_the_log_is_read_as_what_came(encoding, pack, a_request) -> None:
    form = Encoding.JSON if "JSON" in encoding.name else Encoding.PROTOBUF
    body = b'{"resourceSpans": []}' if form is Encoding.JSON else a_request
    assert decode_record(Record(1, encoding, pack(body), 1, 0)) == decode_request(form, body)
