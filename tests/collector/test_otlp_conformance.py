"""The MUST and SHOULD lines of the OTLP specification for servers, a test each; docstrings cite them.

What concerns clients is tested with `forward` and with the exporters of others; what other files test is not
repeated here.
"""

from __future__ import annotations

import gzip
import json
from functools import partial

import grpc
import httpx
import pytest
from google.protobuf import json_format
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from spanproof.collector.receive.signals import SHAPES, Signal
from spanproof.config.model import Limits
from spanproof.trace.otlp import encode_json

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
FORMS = pytest.mark.parametrize("headers", [PROTOBUF, JSON], ids=["protobuf", "json"])
SIGNALS = pytest.mark.parametrize("signal", list(Signal))
post = partial(httpx.post, timeout=120)


def empty(signal: Signal, headers: dict[str, str]) -> bytes:
    return b"{}" if headers is JSON else SHAPES[signal].request().SerializeToString()


def url_of(listening, signal: Signal) -> str:
    return f"{listening.endpoints.http}/v1/{signal.value}"


def send_spans(listening, request) -> httpx.Response:
    return post(url_of(listening, Signal.TRACES), content=request.SerializeToString(), headers=PROTOBUF)


def call(listening, signal: Signal, body: bytes) -> bytes:
    with grpc.insecure_channel(listening.endpoints.grpc) as channel:
        return channel.unary_unary(f"/{SHAPES[signal].service}/Export")(body, timeout=60)


@SIGNALS
def test_an_empty_request_over_grpc_is_a_success(listen, signal) -> None:
    """The client MUST NOT send an empty request; the server, when it gets one, "SHOULD respond with
    success"."""
    with listen() as listening:
        assert call(listening, signal, b"") == b""


@SIGNALS
@FORMS
def test_an_empty_request_over_http_is_a_success(listen, signal, headers) -> None:
    """ "If the request is empty ... the server SHOULD respond with success."."""
    with listen() as listening:
        response = post(url_of(listening, signal), content=empty(signal, headers), headers=headers)
        assert response.status_code == 200


@SIGNALS
@FORMS
def test_full_success_leaves_partial_success_unset(listen, signal, headers) -> None:
    """ "On success, the server response MUST be ... the partial_success field MUST be left unset"."""
    with listen() as listening:
        response = post(url_of(listening, signal), content=empty(signal, headers), headers=headers)
        answer = SHAPES[signal].response()
        if headers is JSON:
            json_format.Parse(response.content, answer)
        else:
            answer.ParseFromString(response.content)
        assert not answer.HasField("partial_success")


def test_partial_success_counts_what_was_rejected_and_says_why(listen, make_request) -> None:
    """ "the server MUST initialize the partial_success field, and it MUST set the respective
    rejected_<signal> field with the number of items it rejected. The server SHOULD populate
    error_message with a human-readable error message in English."."""
    request = make_request((1, 1, None), (1, 2, 1))
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b"short"
    with listen() as listening:
        response = post(
            url_of(listening, Signal.TRACES), content=request.SerializeToString(), headers=PROTOBUF
        )
        partial_success = ExportTraceServiceResponse.FromString(response.content).partial_success
        assert (response.status_code, partial_success.rejected_spans) == (200, 1)
        assert partial_success.error_message


def test_a_warning_has_no_rejected_items(listen, make_request) -> None:
    """ "Servers MAY also use the partial_success field to convey warnings/suggestions ... In such
    cases, the rejected_<signal> field MUST have a value of 0 and the error_message field MUST be non-
    empty."."""
    request = make_request((1, 1, None))
    request.resource_spans[0].scope_spans[0].spans[0].start_time_unix_nano = 0
    with listen() as listening:
        response = post(
            url_of(listening, Signal.TRACES), content=request.SerializeToString(), headers=PROTOBUF
        )
        partial_success = ExportTraceServiceResponse.FromString(response.content).partial_success
        assert (partial_success.rejected_spans, bool(partial_success.error_message)) == (0, True)


@SIGNALS
@FORMS
def test_the_answer_has_the_content_type_of_the_request(listen, signal, headers) -> None:
    """ "The server MUST use the same "Content-Type" in the response as it received in the request."."""
    with listen() as listening:
        for content in (empty(signal, headers), b"\xff{"):
            response = post(url_of(listening, signal), content=content, headers=headers)
            assert response.headers["content-type"] == headers["content-type"]


@SIGNALS
@FORMS
def test_the_body_of_an_error_is_a_status(listen, signal, headers) -> None:
    """ "The response body for all HTTP 4xx and HTTP 5xx responses MUST be a Protobuf-encoded Status
    message"."""
    with listen() as listening:
        response = post(url_of(listening, signal), content=b"\xff{", headers=headers)
        assert response.status_code == 400
        status = Status()
        if headers is JSON:
            json_format.Parse(response.content, status)
        else:
            status.ParseFromString(response.content)
        assert status.message


@SIGNALS
def test_bad_data_is_not_to_be_repeated(listen, signal) -> None:
    """ "If the processing of the request fails because the request contains data that cannot be decoded
    ... the server MUST respond with HTTP 400 Bad Request"; over gRPC a non-retryable code such as
    INVALID_ARGUMENT."""
    with listen() as listening:
        response = post(url_of(listening, signal), content=b"\xff", headers=PROTOBUF)
        assert (response.status_code, "retry-after" in response.headers) == (400, False)
        with pytest.raises(grpc.RpcError) as refused:
            call(listening, signal, b"\xff")
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@SIGNALS
def test_overload_says_when_to_come_again(listen, signal) -> None:
    """ "If the server is overloaded ... it SHOULD respond with HTTP 429 Too Many Requests or HTTP 503
    ... and MAY include "Retry-After""; over gRPC "the server SHOULD return an error with code
    Unavailable and MAY supply RetryInfo"."""
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        response = post(url_of(listening, signal), content=b"", headers=PROTOBUF)
        assert response.status_code in {429, 503}
        assert int(response.headers["retry-after"]) > 0
        with pytest.raises(grpc.RpcError) as refused:
            call(listening, signal, b"")
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "google.rpc.retryinfo-bin" in dict(refused.value.trailing_metadata())


@SIGNALS
@FORMS
def test_gzip_is_taken(listen, signal, headers) -> None:
    """ "The client MAY gzip the content and in that case MUST include "Content-Encoding: gzip""; "All
    server components MUST support ... Gzip compression"."""
    with listen() as listening:
        body = gzip.compress(empty(signal, headers))
        response = post(
            url_of(listening, signal), content=body, headers=headers | {"content-encoding": "gzip"}
        )
        assert response.status_code == 200


@SIGNALS
def test_both_transports_and_none_compression_are_taken(listen, signal) -> None:
    """ "All server components MUST support the following transport compression options: No compression,
    Gzip."."""
    with listen() as listening, grpc.insecure_channel(listening.endpoints.grpc) as channel:
        export = channel.unary_unary(f"/{SHAPES[signal].service}/Export")
        for compression in (grpc.Compression.NoCompression, grpc.Compression.Gzip):
            assert export(b"", timeout=60, compression=compression) == b""


def test_the_limit_holds_after_decompression(listen) -> None:
    """ "servers SHOULD limit the size of the request body, also after decompression, and answer
    413"."""
    with listen(limits=Limits(max_body_bytes=1000)) as listening:
        body = gzip.compress(b"\x00" * 100_000)
        headers = PROTOBUF | {"content-encoding": "gzip"}
        response = post(url_of(listening, Signal.TRACES), content=body, headers=headers)
        assert (response.status_code, "retry-after" in response.headers) == (413, False)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace(f"{1:032x}", f"{1:032X}"), id="hex in upper case"),
        pytest.param(
            lambda text: text.replace('"span 1"', '"span 1","newField":{"a":[1]}'), id="unknown field"
        ),
        pytest.param(lambda text: text.replace('"kind":0', '"kind":1'), id="integer enum"),
    ],
)
def test_json_is_read_as_the_specification_has_it(listen, make_request, change) -> None:
    """ "The traceId and spanId byte arrays are represented as case-insensitive hex-encoded strings";
    "Values of enum fields MUST be encoded as integer values"; "OTLP/JSON receivers MUST ignore message
    fields with unknown names"."""
    body = change(encode_json(make_request((1, 1, None))).decode()).encode()
    with listen() as listening:
        assert post(url_of(listening, Signal.TRACES), content=body, headers=JSON).status_code == 200
        assert listening.span_names() == ["span 1"]


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "number"])
def test_64_bit_integers_are_taken_as_text_and_as_number(listen, make_request, as_text) -> None:
    """Protobuf's JSON mapping, which OTLP/JSON follows: 64-bit integers are decimal strings, and
    "either numbers or strings are accepted"."""
    document = json.loads(encode_json(make_request((1, 1, None))))
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    start_ns = int(span["startTimeUnixNano"])
    span["startTimeUnixNano"] = str(start_ns) if as_text else start_ns
    with listen() as listening:
        response = post(url_of(listening, Signal.TRACES), content=json.dumps(document), headers=JSON)
        assert response.status_code == 200
        spans = listening.accepted[0].request.resource_spans[0].scope_spans[0].spans
        assert spans[0].start_time_unix_nano == start_ns


@SIGNALS
def test_the_default_paths(listen, signal) -> None:
    """ "The default URL path for requests that carry trace data is /v1/traces ... /v1/metrics ...
    /v1/logs"."""
    with listen() as listening:
        response = post(f"{listening.endpoints.http}/v1/{signal.value}", content=b"", headers=PROTOBUF)
        assert response.status_code == 200


def test_connections_are_kept(listen) -> None:
    """ "the server ... SHOULD use ... keep-alive connections": one connection carries several
    requests."""
    with listen() as listening, httpx.Client(timeout=60) as client:
        ports = set()
        for _ in range(3):
            response = client.post(url_of(listening, Signal.TRACES), content=b"", headers=PROTOBUF)
            ports.add(response.extensions["network_stream"].get_extra_info("client_addr"))
        assert len(ports) == 1
