"""One peer cannot stop the others: slow senders, many connections, bombs, memory, impossible times."""

from __future__ import annotations

import gzip
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import grpc
import httpx
import plain_http
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from waiting import wait_until

from spanproof.collector.receive.admission import Admission, Backlog, read_resident_bytes
from spanproof.collector.receive.body import decode_body
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.times import clamp_times
from spanproof.config.model import Limits

PROTOBUF = {"content-type": "application/x-protobuf"}
HEAD = (
    b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\n"
    b"content-length: 1000\r\n\r\n"
)
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
DAY_NS = 86_400 * 10**9
post = partial(httpx.post, timeout=120)


@contextmanager
def connections(listening, count: int, first: bytes) -> Iterator[list[socket.socket]]:
    """Open connections, each of which sends a little and then nothing."""
    host, port = listening.endpoints.http.removeprefix("http://").split(":")
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            one.sendall(first)
            opened.append(one)
        yield opened


@pytest.mark.parametrize(
    "first", [pytest.param(b"PO", id="headers"), pytest.param(HEAD + b"xx", id="bodies")]
)
def test_three_hundred_connections_of_two_bytes_refuse_no_other_request(listen, make_request, first) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen(limits=Limits(max_in_flight_requests=8)) as listening, connections(listening, 300, first):
        assert post(listening.traces_url, content=body, headers=PROTOBUF).status_code == 200


def test_three_hundred_calls_without_a_message_refuse_no_other_call(listen, make_request) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen(limits=Limits(max_in_flight_requests=8)) as listening, ExitStack() as stack:
        slow = stack.enter_context(grpc.insecure_channel(listening.endpoints.grpc))
        held = [slow.stream_unary(EXPORT).future(iter(_never()), timeout=120) for _ in range(300)]
        stack.callback(lambda: [call.cancel() for call in held])
        with grpc.insecure_channel(
            listening.endpoints.grpc, options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            channel.unary_unary(EXPORT)(body, timeout=60)
        assert listening.span_names() == ["span 1"]


def _never() -> Iterator[bytes]:
    time.sleep(30)
    yield b""


def test_headers_that_do_not_come_end_the_connection(listen) -> None:
    with (
        listen(limits=Limits(header_timeout_s=0.3)) as listening,
        connections(listening, 1, b"POST /v1") as (one,),
    ):
        assert one.recv(200).startswith(b"HTTP/1.1 408")
        assert one.recv(200) == b""


def test_a_kept_connection_is_bounded_at_its_next_request_too(listen) -> None:
    with listen(limits=Limits(header_timeout_s=0.3)) as listening:
        with connections(listening, 1, b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\nGET /liv") as (one,):
            answers = b""
            while part := one.recv(1000):
                answers += part
        assert b"HTTP/1.1 200" in answers
        assert b"HTTP/1.1 408" in answers


def test_headers_without_end_are_refused(listen) -> None:
    with listen() as listening, connections(listening, 1, b"GET / HTTP/1.1\r\n") as (one,):
        for _ in range(66):
            one.sendall(b"x-more: " + b"y" * 1000 + b"\r\n")
        assert one.recv(100).startswith(b"HTTP/1.1 431")


def test_a_peer_has_a_bounded_number_of_connections(listen) -> None:
    with listen(limits=Limits(max_connections_per_peer=3)) as listening:
        with connections(listening, 3, b""):
            wait_until(lambda: _is_refused(listening), "the fourth connection is refused")
        wait_until(lambda: not _is_refused(listening), "connections are given back")


def _is_refused(listening) -> bool:
    try:
        return plain_http.get(f"{listening.endpoints.http}/livez", timeout=60).status_code == 429
    except httpx.TransportError:
        return True


def test_a_body_below_the_rate_is_refused(listen, monkeypatch) -> None:
    monkeypatch.setattr("spanproof.collector.receive.read_body._GRACE_S", 0.2)
    limits = Limits(min_body_bytes_per_s=1000)
    with listen(limits=limits) as listening, connections(listening, 1, HEAD + b"slow") as (one,):
        assert one.recv(200).startswith(b"HTTP/1.1 408")


def test_inflated_bytes_count_while_they_inflate() -> None:
    limits = Limits(max_in_flight_bytes=32 << 20, max_body_bytes=16 << 20)
    admission = Admission(limits, Backlog(limits.max_backlog_bytes))
    bomb = gzip.compress(b"\x00" * (12 << 20))
    with admission.received("one") as first, admission.received("two") as second:
        first.add_bytes(22 << 20)
        grown: list[int] = []

        def grow(size: int) -> None:
            second.add_bytes(size)
            grown.append(size)

        with pytest.raises(Refused) as full:
            decode_body(bomb, "gzip", limits.max_body_bytes, grow)
        assert full.value.reason is Reason.FULL
        assert max(grown) <= 1 << 20
        assert sum(grown) <= 10 << 20


def test_one_peer_may_have_half_of_the_bytes() -> None:
    limits = Limits(max_in_flight_bytes=1000, max_body_bytes=100)
    admission = Admission(limits, Backlog(limits.max_backlog_bytes))
    with admission.received("one") as one, admission.received("two") as two:
        one.add_bytes(500)
        with pytest.raises(Refused):
            one.add_bytes(1)
        two.add_bytes(500)


def test_above_the_memory_limit_nothing_is_let_in_until_it_falls(listen, make_request) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen(limits=Limits(max_resident_bytes=1)) as listening:
        refused = post(listening.traces_url, content=body, headers=PROTOBUF)
        assert refused.status_code == 429
        assert plain_http.get(f"{listening.endpoints.http}/readyz", timeout=60).status_code == 503
        assert plain_http.get(f"{listening.endpoints.http}/livez", timeout=60).status_code == 200
    with listen(limits=Limits(max_resident_bytes=read_resident_bytes() + (1 << 30))) as listening:
        assert post(listening.traces_url, content=body, headers=PROTOBUF).status_code == 200


def test_times_that_cannot_be_are_corrected_and_reported(listen, make_request) -> None:
    request = make_request((1, 1, None), (1, 2, 1), (1, 3, 1))
    first, second, _ = request.resource_spans[0].scope_spans[0].spans
    first.start_time_unix_nano, first.end_time_unix_nano = 0, 5
    second.start_time_unix_nano, second.end_time_unix_nano = 1 << 63, (1 << 63) + 7
    began_ns = time.time_ns()
    with listen() as listening:
        response = post(listening.traces_url, content=request.SerializeToString(), headers=PROTOBUF)
        partial_success = ExportTraceServiceResponse.FromString(response.content).partial_success
        assert (response.status_code, partial_success.rejected_spans) == (200, 0)
        assert "2 spans have a time that cannot be" in partial_success.error_message
        assert listening.counted("spanproof_receive_spans_clamped_total") == 2
        spans = listening.accepted[0].request.resource_spans[0].scope_spans[0].spans
        assert all(began_ns <= span.start_time_unix_nano <= time.time_ns() for span in spans[:2])
        assert spans[1].end_time_unix_nano - spans[1].start_time_unix_nano == 7


def test_five_thousand_days_in_one_request_become_a_bounded_number(make_request) -> None:
    now_ns = time.time_ns()
    request = make_request(*((1, number, None) for number in range(1, 5001)))
    spans = request.resource_spans[0].scope_spans[0].spans
    for number, span in enumerate(spans):
        span.start_time_unix_nano = span.end_time_unix_nano = now_ns - number * DAY_NS
    assert clamp_times(request, now_ns, 3650) > 4000
    assert len({span.start_time_unix_nano // DAY_NS for span in spans}) <= 401


def test_a_collector_whose_clock_is_not_set_changes_no_time(make_request) -> None:
    assert clamp_times(make_request((1, 1, None)), 3 * DAY_NS, 3650) == 0


def test_a_span_without_fault_keeps_its_times(make_request) -> None:
    request = make_request((1, 1, None))
    before = request.SerializeToString()
    assert clamp_times(request, time.time_ns(), 3650) == 0
    assert request.SerializeToString() == before
