from __future__ import annotations

import gzip
import json
import socket
import threading
import zlib
from functools import partial

import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from spanproof.collector.receive.server import PortTaken
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Limits
from spanproof.trace.otlp import encode_json

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
post, get = partial(httpx.post, timeout=120), partial(httpx.get, timeout=120)


def status_of(response: httpx.Response) -> Status:
    assert response.headers["content-type"] == "application/x-protobuf"
    return Status.FromString(response.content)


@pytest.mark.parametrize("compression", ["none", "gzip", "deflate"])
def test_the_stock_exporter_is_understood(listen, compression) -> None:
    with listen() as listening:
        exporter = OTLPSpanExporter(listening.traces_url, compression=Compression(compression))
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with provider.get_tracer("t").start_as_current_span("hello"):
            pass
        provider.shutdown()
        assert listening.span_names() == ["hello"]


def test_protobuf_and_json_give_the_same_spans(listen, make_request) -> None:
    request = make_request((1, 1, None), (1, 2, 1))
    with listen() as listening:
        by_protobuf = post(listening.traces_url, content=request.SerializeToString(), headers=PROTOBUF)
        by_json = post(listening.traces_url, content=encode_json(request), headers=JSON)
        assert (by_protobuf.status_code, by_json.status_code) == (200, 200)
        assert not ExportTraceServiceResponse.FromString(by_protobuf.content).HasField("partial_success")
        assert by_json.json() == {}
        first, second = listening.accepted
        assert first.request == second.request


def test_the_answer_comes_only_once_the_bytes_are_in_the_log(listen, make_request, wal_directory) -> None:
    request = make_request((1, 1, None))
    with listen() as listening:
        body = gzip.compress(request.SerializeToString())
        post(listening.traces_url, content=body, headers=PROTOBUF | {"content-encoding": "gzip"})
        assert listening.wal.pending == 1
    again = Wal(wal_directory, segment_bytes=1 << 20)
    (record,) = again.iter_undone()
    again.close()
    assert gzip.decompress(record.payload) == request.SerializeToString()


def test_an_empty_request_is_fine(listen) -> None:
    with listen() as listening:
        response = post(listening.traces_url, content=b"", headers=PROTOBUF)
        assert (response.status_code, response.content) == (200, b"")
        assert listening.accepted == []


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param({}, b"\x0a\xff\x01cut", id="truncated protobuf"),
        pytest.param({"content-encoding": "gzip"}, b"not gzip at all", id="bad gzip"),
        pytest.param({"content-encoding": "gzip"}, gzip.compress(b"\x00" * 9000)[:-9], id="cut gzip"),
        pytest.param({"content-encoding": "gzip"}, gzip.compress(b"") + b"tail", id="garbage after gzip"),
        pytest.param({"content-encoding": "deflate"}, zlib.compress(b"\xff" * 100)[:-5], id="cut deflate"),
    ],
)
def test_damaged_bodies_are_answered_400_with_a_status_and_counted(listen, headers, body, caplog) -> None:
    with listen() as listening:
        response = post(listening.traces_url, content=body, headers=PROTOBUF | headers)
        assert response.status_code == 400
        status = status_of(response)
        assert (status.code, bool(status.message)) == (3, True)
        reason = "bad_compression" if headers else "malformed"
        assert listening.counted("spanproof_receive_requests_total", protocol="http", outcome=reason) == 1
        assert "retry-after" not in response.headers
    assert any("refused a request over http" in line.message for line in caplog.records)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{", id="cut"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b'{"resourceSpans": 3}', id="wrong type"),
        pytest.param(
            json.dumps(
                {
                    "resourceSpans": [
                        {
                            "scopeSpans": [
                                {"spans": [{"traceId": "W47/95gDgQPSaYZBgT/evw==", "spanId": "7uGbfsPBsXM="}]}
                            ]
                        }
                    ]
                }
            ).encode(),
            id="base64 ids",
        ),
    ],
)
def test_bad_json_is_answered_400_in_json(listen, body) -> None:
    with listen() as listening:
        response = post(listening.traces_url, content=body, headers=JSON)
        assert response.status_code == 400
        assert response.headers["content-type"] == "application/json"
        assert response.json()["code"] == 3
        assert listening.accepted == []


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": ""},
        PROTOBUF | {"content-encoding": "br"},
    ],
)
def test_other_content_types_and_encodings_are_answered_415(listen, headers) -> None:
    with listen() as listening:
        response = post(listening.traces_url, content=b"x", headers=headers)
        assert response.status_code == 415


def test_a_charset_beside_the_content_type_does_not_matter(listen, make_request) -> None:
    with listen() as listening:
        headers = {"content-type": "Application/JSON; charset=utf-8"}
        body = encode_json(make_request((1, 1, None)))
        assert post(listening.traces_url, content=body, headers=headers).status_code == 200


def test_a_body_over_the_limit_is_answered_413_even_when_it_is_small_on_the_wire(listen) -> None:
    with listen(limits=Limits(max_body_bytes=100_000)) as listening:
        plain = post(listening.traces_url, content=b"\x00" * 200_000, headers=PROTOBUF)
        bomb = gzip.compress(b"\x00" * 5_000_000)
        assert len(bomb) < 100_000
        packed = post(listening.traces_url, content=bomb, headers=PROTOBUF | {"content-encoding": "gzip"})
        assert (plain.status_code, packed.status_code) == (413, 413)
        assert status_of(packed).code == 8
        assert "retry-after" not in packed.headers
        outcome = {"protocol": "http", "outcome": "too_large"}
        assert listening.counted("spanproof_receive_requests_total", **outcome) == 2


def test_several_gzip_members_are_one_body(listen, make_request) -> None:
    first, second = make_request((1, 1, None)), make_request((1, 2, 1))
    body = gzip.compress(first.SerializeToString()) + gzip.compress(second.SerializeToString())
    with listen() as listening:
        headers = PROTOBUF | {"content-encoding": "gzip"}
        assert post(listening.traces_url, content=body, headers=headers).status_code == 200
        assert listening.span_names() == ["span 1", "span 2"]


def test_spans_with_bad_ids_are_refused_and_the_rest_is_kept(listen, make_request) -> None:
    request = make_request((1, 1, None), (1, 2, 1), (1, 3, 1))
    spans = request.resource_spans[0].scope_spans[0].spans
    spans[0].trace_id = b"short"
    spans[1].span_id = bytes(8)
    with listen() as listening:
        response = post(listening.traces_url, content=request.SerializeToString(), headers=PROTOBUF)
        partial = ExportTraceServiceResponse.FromString(response.content).partial_success
        assert response.status_code == 200
        assert partial.rejected_spans == 2
        assert "16 bytes" in partial.error_message
        assert listening.span_names() == ["span 3"]
        assert listening.counted("spanproof_receive_spans_refused_total", reason="bad_ids") == 2


def test_without_its_token_a_request_is_answered_401(listen, make_request) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen(tokens=("first", "second")) as listening:
        for headers, expected in [
            ({}, 401),
            ({"authorization": "Bearer wrong"}, 401),
            ({"authorization": "Basic second"}, 401),
            ({"authorization": "bearer second"}, 200),
        ]:
            response = post(listening.traces_url, content=body, headers=PROTOBUF | headers)
            assert response.status_code == expected
        assert len(listening.accepted) == 1


def test_a_full_backlog_is_answered_429_with_a_short_wait(listen, make_request) -> None:
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        body = make_request((1, 1, None)).SerializeToString()
        response = post(listening.traces_url, content=body, headers=PROTOBUF)
        assert response.status_code == 429
        assert 0 < int(response.headers["retry-after"]) <= 5
        listening.backlog.remove(10)
        assert post(listening.traces_url, content=body, headers=PROTOBUF).status_code == 200


def test_the_stock_exporter_comes_again_after_429_and_loses_nothing(listen) -> None:
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(listening.traces_url, timeout=60)))
        threading.Timer(1.5, listening.backlog.remove, (10,)).start()
        with provider.get_tracer("t").start_as_current_span("patient"):
            pass
        provider.shutdown()
        assert listening.span_names() == ["patient"]


def test_a_client_that_goes_away_leaves_nothing_behind(listen) -> None:
    with listen() as listening:
        host, port = listening.endpoints.http.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(
                b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\n"
                b"content-length: 1000\r\n\r\nhalf"
            )
        assert get(f"{listening.endpoints.http}/readyz").status_code == 200
        assert listening.accepted == []


def test_paths_and_methods_that_are_not_there_carry_a_status_too(listen) -> None:
    with listen() as listening:
        elsewhere = post(f"{listening.endpoints.http}/v1/profiles", content=b"", headers=PROTOBUF)
        wrong_way = get(listening.traces_url)
        assert (elsewhere.status_code, wrong_way.status_code) == (404, 405)
        assert status_of(elsewhere).code == 12


def test_health_and_metrics_are_there(listen, make_request) -> None:
    with listen() as listening:
        body = make_request((1, 1, None), (1, 2, 1)).SerializeToString()
        post(listening.traces_url, content=body, headers=PROTOBUF)
        assert get(f"{listening.endpoints.http}/readyz").json() == {"status": "ok"}
        metrics = get(f"{listening.endpoints.http}/metrics").text
        assert "spanproof_receive_spans_total 2.0" in metrics
        assert 'spanproof_receive_requests_total{outcome="accepted",protocol="http"} 1.0' in metrics


def test_a_taken_port_is_replaced_and_said(listen, taken_port) -> None:
    with listen(http={"port": taken_port}, grpc={"port": taken_port}) as listening:
        assert len(listening.endpoints.moved) == 2
        assert all(f"port {taken_port} is taken" in sentence for sentence in listening.endpoints.moved)
        assert get(f"{listening.endpoints.http}/readyz").status_code == 200


def test_without_fallback_a_taken_port_is_an_error_that_names_the_key(listen, taken_port) -> None:
    with (
        pytest.raises(PortTaken, match=r"receivers\.http\.port"),
        listen(http={"port": taken_port}, fallback_port=False),
    ):
        pass


def test_a_body_that_does_not_come_is_answered_408(listen) -> None:
    with listen(limits=Limits(body_timeout_s=0.3)) as listening:
        host, port = listening.endpoints.http.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client:
            client.sendall(
                b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\n"
                b"content-length: 1000\r\n\r\nhalf"
            )
            assert client.recv(100).startswith(b"HTTP/1.1 408")


def test_too_many_bytes_at_once_are_answered_429(listen) -> None:
    with listen(limits=Limits.model_construct(max_in_flight_bytes=1000)) as listening:
        response = post(listening.traces_url, content=b"\x00" * 5000, headers=PROTOBUF)
        assert response.status_code == 429


def test_a_client_that_errs_all_the_time_does_not_fill_the_log(listen, caplog) -> None:
    with listen() as listening, httpx.Client(timeout=120) as client:
        for _ in range(50):
            client.post(listening.traces_url, content=b"\xff", headers=PROTOBUF)
        outcome = {"protocol": "http", "outcome": "malformed"}
        assert listening.counted("spanproof_receive_requests_total", **outcome) == 50
    assert len([line for line in caplog.records if "refused a request" in line.message]) < 10


def test_what_is_no_http_does_not_fill_the_log(listen, caplog) -> None:
    """Such as a client with TLS, which comes again and again."""
    with listen() as listening:
        where = httpx.URL(listening.endpoints.http)
        for _ in range(50):
            with socket.create_connection((where.host, where.port), timeout=60) as connection:
                connection.sendall(b"\x16\x03\x01\x02\x00")
                assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")
    assert len([line for line in caplog.records if line.name == "uvicorn.error"]) < 40


def test_when_the_log_takes_nothing_the_answer_is_503_and_nothing_was_taken(listen, make_request) -> None:
    with listen() as listening:
        listening.wal.close()
        body = make_request((1, 1, None)).SerializeToString()
        response = post(listening.traces_url, content=body, headers=PROTOBUF)
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) > 0
        assert listening.accepted == []


def test_a_body_in_chunks_is_one_body(listen, make_request) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen() as listening:
        chunks = (body[position : position + 7] for position in range(0, len(body), 7))
        assert post(listening.traces_url, content=chunks, headers=PROTOBUF).status_code == 200
        assert listening.span_names() == ["span 1"]


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_addresses_are_listened_on(listen, make_request) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with listen(http={"host": "::1", "port": 0}, grpc={"host": "::1", "port": 0}) as listening:
        assert listening.endpoints.grpc.startswith("[::1]:")
        body = make_request((1, 1, None)).SerializeToString()
        assert post(listening.traces_url, content=body, headers=PROTOBUF).status_code == 200
