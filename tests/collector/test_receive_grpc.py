from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from waiting import wait_until

from spanproof.config.model import Limits

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def export(listening, body: bytes, *, metadata=(), compression=None) -> ExportTraceServiceResponse:
    options = [("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(listening.endpoints.grpc, options=options, compression=compression) as channel:
        call = channel.unary_unary(EXPORT)
        return ExportTraceServiceResponse.FromString(call(body, metadata=metadata, timeout=60))


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip])
def test_the_stock_exporter_is_understood(listen, compression) -> None:
    with listen() as listening:
        exporter = OTLPSpanExporter(listening.endpoints.grpc, insecure=True, compression=compression)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with provider.get_tracer("t").start_as_current_span("hello"):
            pass
        provider.shutdown()
        assert listening.span_names() == ["hello"]
        assert listening.wal.pending == 1


def test_a_truncated_message_is_an_invalid_argument_and_counted(listen) -> None:
    with listen() as listening:
        with pytest.raises(grpc.RpcError) as refused:
            export(listening, b"\x0a\xff\x01cut")
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        outcome = {"protocol": "grpc", "outcome": "malformed"}
        assert listening.counted("spanproof_receive_requests_total", **outcome) == 1


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip])
def test_a_message_over_the_limit_is_refused_even_when_it_is_small_on_the_wire(listen, compression) -> None:
    with listen(limits=Limits(max_body_bytes=100_000)) as listening:
        with pytest.raises(grpc.RpcError) as refused:
            export(listening, b"\x00" * 5_000_000, compression=compression)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        trailing = dict(refused.value.trailing_metadata() or ())
        assert "google.rpc.retryinfo-bin" not in trailing
        outcome = {"protocol": "grpc", "outcome": "too_large"}
        # grpc answers by itself, so the client may know before we count.
        wait_until(
            lambda: listening.counted("spanproof_receive_requests_total", **outcome), "the refusal is counted"
        )


def test_calls_that_grpc_answers_itself_leave_no_stack_in_the_log(listen, caplog) -> None:
    """A client could fill the log with them: the line of a refusal is one a second."""
    calls, threads = 5, 4

    def send() -> None:
        for _ in range(calls):
            with pytest.raises(grpc.RpcError):
                export(listening, b"\x00" * 5_000_000, compression=grpc.Compression.Gzip)

    with listen(limits=Limits(max_body_bytes=100_000)) as listening:
        with ThreadPoolExecutor(threads) as pool:
            for sent in [pool.submit(send) for _ in range(threads)]:
                sent.result()
        outcome = {"protocol": "grpc", "outcome": "too_large"}
        wait_until(
            lambda: listening.counted("spanproof_receive_requests_total", **outcome) == calls * threads,
            "each is counted",
        )
    assert not [record for record in caplog.records if record.exc_info]


def test_other_services_are_unimplemented(listen) -> None:
    with listen() as listening, grpc.insecure_channel(listening.endpoints.grpc) as channel:
        with pytest.raises(grpc.RpcError) as refused:
            channel.unary_unary(
                "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
            )(b"", timeout=60)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_full_backlog_is_unavailable_with_the_wait_in_both_places_clients_look(
    listen, make_request
) -> None:
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        with pytest.raises(grpc.RpcError) as refused:
            export(listening, make_request((1, 1, None)).SerializeToString())
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        trailing = dict(refused.value.trailing_metadata())
        assert 0 < RetryInfo.FromString(trailing["google.rpc.retryinfo-bin"]).retry_delay.seconds <= 5
        details = Status.FromString(trailing["grpc-status-details-bin"]).details
        assert details[0].Is(RetryInfo.DESCRIPTOR)


def test_the_token_travels_as_metadata(listen, make_request) -> None:
    body = make_request((1, 1, None)).SerializeToString()
    with listen(tokens=("secret",)) as listening:
        with pytest.raises(grpc.RpcError) as refused:
            export(listening, body)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        export(listening, body, metadata=(("authorization", "Bearer secret"),))
        assert len(listening.accepted) == 1


def test_spans_with_bad_ids_are_refused_and_the_rest_is_kept(listen, make_request) -> None:
    request = make_request((1, 1, None), (1, 2, 1))
    request.resource_spans[0].scope_spans[0].spans[0].span_id = b""
    with listen() as listening:
        response = export(listening, request.SerializeToString())
        assert response.partial_success.rejected_spans == 1
        assert listening.span_names() == ["span 2"]


def test_the_stock_exporter_comes_again_when_there_is_room_and_loses_nothing(listen) -> None:
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        exporter = OTLPSpanExporter(listening.endpoints.grpc, insecure=True, timeout=60)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        threading.Timer(1.5, listening.backlog.remove, (10,)).start()
        with provider.get_tracer("t").start_as_current_span("patient"):
            pass
        provider.shutdown()
        assert listening.span_names() == ["patient"]


def test_a_client_that_gives_up_leaves_nothing_behind(listen, make_request) -> None:
    with listen(limits=Limits(max_backlog_bytes=10)) as listening:
        listening.backlog.add(10)
        with grpc.insecure_channel(listening.endpoints.grpc) as channel, pytest.raises(grpc.RpcError):
            channel.unary_unary(EXPORT)(make_request((1, 1, None)).SerializeToString(), timeout=0.2)
        listening.backlog.remove(10)
        export(listening, make_request((2, 2, None)).SerializeToString())
        assert listening.span_names()[-1] == "span 2"  # the first too, had it come only when there was room
