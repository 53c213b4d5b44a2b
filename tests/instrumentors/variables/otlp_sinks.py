"""Real OTLP receivers on the loopback that keep what they are sent: over HTTP and gRPC, plain or with TLS."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import trustme
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)

_DECODERS = {"gzip": gzip.decompress, "deflate": zlib.decompress, None: bytes}


@dataclass
class Sink:
    """What arrived: each request's path and headers (gRPC: its metadata), and the spans of all."""

    endpoint: str
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    taken: list[ExportTraceServiceRequest] = field(default_factory=list)

    def take(self, path: str, headers: dict[str, str], request: ExportTraceServiceRequest) -> None:
        self.requests.append((path, headers))
        self.taken.append(request)

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.taken
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, str]:
        """The resource of the first request."""
        (resource, *_) = self.taken[0].resource_spans
        return {each.key: each.value.string_value for each in resource.resource.attributes}

    def named(self, name: str) -> Any:
        (span,) = [span for span in self.spans if span.name == name]
        return span


@dataclass
class Authority:
    """Files of a certificate authority of our own, of a server for 127.0.0.1 and of a client."""

    folder: Path
    made: trustme.CA = field(default_factory=trustme.CA)

    def __post_init__(self) -> None:
        self.made.cert_pem.write_to_path(self.certificate)
        for name in ("localhost", "client"):
            leaf = self.made.issue_cert(name, "127.0.0.1")
            leaf.private_key_pem.write_to_path(str(self.folder / f"{name}.key"))
            for place, blob in enumerate(leaf.cert_chain_pems):
                blob.write_to_path(str(self.folder / f"{name}.pem"), append=place > 0)

    @property
    def certificate(self) -> str:
        return str(self.folder / "authority.pem")

    @property
    def client(self) -> tuple[str, str]:
        """Certificate and key."""
        return str(self.folder / "client.pem"), str(self.folder / "client.key")


@contextmanager
def http_sink(tls: Authority | None = None, *, requests_client: bool = False) -> Iterator[Sink]:
    """A receiver over HTTP; with `requests_client` it accepts only clients that the authority signed."""

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            decoded = _DECODERS[headers.get("content-encoding")](body)
            sink.take(self.path, headers, ExportTraceServiceRequest.FromString(decoded))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        sink = Sink(f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}")
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls.folder / "localhost.pem", tls.folder / "localhost.key")
            if requests_client:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(tls.certificate)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        server.handle_error = lambda *_: None  # a refused handshake
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield sink
        server.shutdown()


@contextmanager
def grpc_sink(tls: Authority | None = None, *, requests_client: bool = False) -> Iterator[Sink]:
    """The same over gRPC."""

    class Taking(TraceServiceServicer):
        def Export(
            self, request: ExportTraceServiceRequest, context: grpc.ServicerContext
        ) -> ExportTraceServiceResponse:
            sink.take("", dict(context.invocation_metadata()), request)
            return ExportTraceServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(Taking(), server)
    if tls is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        pair = ((tls.folder / "localhost.key").read_bytes(), (tls.folder / "localhost.pem").read_bytes())
        authority = Path(tls.certificate).read_bytes() if requests_client else None
        credentials = grpc.ssl_server_credentials([pair], authority, requests_client)
        port = server.add_secure_port("127.0.0.1:0", credentials)
    sink = Sink(f"http{'s' if tls else ''}://127.0.0.1:{port}")
    server.start()
    try:
        yield sink
    finally:
        server.stop(None).wait()


@contextmanager
def counted(endpoint: str) -> Iterator[tuple[str, list[int]]]:
    """An endpoint before another, and the number of bytes in each piece that was sent through it."""
    sizes: list[int] = []
    host, port = endpoint.removeprefix("http://").split(":")

    def pump(source: socket.socket, target: socket.socket, sizes: list[int] | None) -> None:
        with suppress(OSError):  # the other side may have gone first
            while piece := source.recv(65_536):
                if sizes is not None:
                    sizes.append(len(piece))
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            server = socket.create_connection((host, int(port)))
            threading.Thread(target=pump, args=(client, server, sizes), daemon=True).start()
            threading.Thread(target=pump, args=(server, client, None), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", sizes
        listening.shutdown(socket.SHUT_RDWR)
