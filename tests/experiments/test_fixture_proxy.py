"""The proxy of a case's recorded HTTP: recorded hosts are answered from the record, others are reached."""

from __future__ import annotations

import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from spanproof.experiments.fixture_proxy import FixtureProxy
from spanproof.sandbox import Exchange

ORDERS = "https://api.example.com/orders"
PLAIN = "http://shop.example.com:8080/orders?id=1"


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"elsewhere {self.path.rpartition('/')[2]}".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_message: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[int]:
    """The port of a server that no case has recorded."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[FixtureProxy]:
    recorded = [Exchange("GET", ORDERS, body=b"one"), Exchange("GET", ORDERS, body=b"two")]
    with FixtureProxy([*recorded, Exchange("GET", PLAIN, body=b"plain")], tmp_path) as opened:
        yield opened


def get(proxy: FixtureProxy, url: str) -> str:
    address = proxy.environment["http_proxy"]
    trusted = ssl.create_default_context(cafile=proxy.environment["SSL_CERT_FILE"])
    handlers = [urllib.request.ProxyHandler({"http": address, "https": address})]
    opener = urllib.request.build_opener(*handlers, urllib.request.HTTPSHandler(context=trusted))
    with opener.open(url, timeout=20) as response:
        return str(response.read().decode())


def test_recorded_calls_are_answered_in_their_order_and_no_more_of_them(proxy):
    assert [get(proxy, ORDERS), get(proxy, PLAIN), get(proxy, ORDERS)] == ["one", "plain", "two"]
    for url in (ORDERS, "https://api.example.com/other"):
        with pytest.raises(OSError):
            get(proxy, url)
    assert proxy.refused == [f"GET {ORDERS}", "GET https://api.example.com/other"]


def test_other_hosts_are_reached_plainly_and_through_a_tunnel(proxy, elsewhere):
    assert get(proxy, f"http://127.0.0.1:{elsewhere}/plain") == "elsewhere plain"
    port = int(proxy.environment["http_proxy"].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 20) as stream:
        stream.sendall(f"CONNECT 127.0.0.1:{elsewhere} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert stream.recv(1024).startswith(b"HTTP/1.1 200")
        stream.sendall(b"GET /tunnel HTTP/1.0\r\n\r\n")
        stream.shutdown(socket.SHUT_WR)
        with stream.makefile("rb") as answer:
            assert answer.read().endswith(b"elsewhere tunnel")
    assert proxy.refused == []


def test_a_host_that_is_not_there_is_a_bad_gateway(proxy):
    with pytest.raises(urllib.error.HTTPError, match="502"):
        get(proxy, "http://127.0.0.1:1/")


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\r\n", b"CONNECT \r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_what_is_no_request_to_a_proxy_is_closed(proxy, sent):
    port = int(proxy.environment["http_proxy"].rpartition(":")[2])
    stream = socket.create_connection(("127.0.0.1", port), 20)
    with stream, suppress(OSError):  # it may be reset before all of this is done
        stream.sendall(sent)
        stream.shutdown(socket.SHUT_WR)
        assert stream.recv(1024) == b""
    assert get(proxy, PLAIN) == "plain"
