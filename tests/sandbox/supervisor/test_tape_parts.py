"""The parts of the tape without a jail: URLs, requests in any pieces, matching, names, answers."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox import Exchange
from spanproof.sandbox.supervisor.namespaces.network import _build_answer, _build_refusal
from spanproof.sandbox.supervisor.reduced.network import NoNetwork
from spanproof.sandbox.supervisor.run.proxied_sockets import build_loopback_pair
from spanproof.sandbox.supervisor.tape.http1 import (
    BODY_BYTES,
    BadRequest,
    Request,
    RequestReader,
    encode_answer,
)
from spanproof.sandbox.supervisor.tape.recording import Recording, decode_recording, encode_recording
from spanproof.sandbox.supervisor.tape.sealed_files import SealedText
from spanproof.sandbox.supervisor.tape.tape import build_addresses
from spanproof.sandbox.supervisor.tape.trust import build_identity
from spanproof.sandbox.supervisor.tape.urls import read_url


@pytest.mark.parametrize(
    ("written", "spelling"),
    [
        ("HTTP://User:pw@Example.COM:80", "http://example.com/"),
        ("https://example.com:443/a?b=2&a=1#here", "https://example.com/a?b=2&a=1"),
        ("https://example.com:8443?q", "https://example.com:8443/?q"),
        ("https://example.com./%7euser/%e9%2F", "https://example.com/~user/%E9%2F"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        ("http://a.example/ ", "http://a.example/"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
    ],
)
def test_a_url_has_one_spelling(written: str, spelling: str) -> None:
    assert str(read_url(written)) == spelling
    assert str(read_url(spelling)) == spelling


@given(st.text(max_size=40) | st.text(max_size=30).map("https://a.example/{}".format))
def test_any_text_is_a_url_or_refused_and_spelled_once(text: str) -> None:
    try:
        spelling = str(read_url(text))
    except ValueError:
        return
    assert str(read_url(spelling)) == spelling
    assert spelling.isascii()
    assert spelling.isprintable()


def test_calls_are_given_once_in_order_and_by_body() -> None:
    url = "http://a.example/"
    tape = [Exchange("POST", url, 200 + n, (), b"", body) for n, body in enumerate([None, b"x", None])]
    recording = Recording(decode_recording(encode_recording(tape, {}))[0])
    found = [recording.find_exchange("POST", read_url(url), body) for body in (b"x", b"x", b"y", b"x")]
    assert [one.status if one else None for one in found] == [200, 201, 202, None]
    assert recording.find_exchange("GET", read_url(url), b"") is None


def test_what_is_packed_is_unpacked() -> None:
    tape = [Exchange("GET", "http://a/", 201, (("A", "é"),), b"\x00", b""), Exchange("PUT", "https://b/")]
    assert decode_recording(encode_recording(tape, {"authority": "PEM"})) == (tape, {"authority": "PEM"})


def query(name: bytes, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label for label in name.split(b"."))
    return struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)


def test_names_are_looked_up_over_a_pair_where_there_is_no_network() -> None:
    network = NoNetwork()
    assert tuple(network.add_names({"api.example.com": "11.0.0.1"}, {80})) == ()
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    network.resolver.add_connection(ours)
    with theirs:
        for question in (
            query(b"API.example.com"),
            b"garbage",
            query(b"api.example.com", 28),
            query(b"other"),
        ):
            theirs.send(question)
        assert network.resolver.handle_queries() == ["(no name)", "other"]
        answers = [theirs.recv(512) for _ in range(3)]
        assert [one[3] & 0xF for one in answers] == [0, 0, 3]  # found, none of that kind, no such name
        assert answers[0].endswith(socket.inet_aton("11.0.0.1"))
        theirs.send(query(b"last"))
    assert network.resolver.handle_queries() == ["last"]  # looked up by a client that has hung up meanwhile
    network.remove_names()
    assert network.resolver.names == {}


def test_who_holds_many_links_to_the_resolver_or_does_not_read_holds_up_no_other() -> None:
    network = NoNetwork()
    held = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(70)]
    for _theirs, ours in held:
        network.resolver.add_connection(ours)
    deaf = held[0][0]
    deaf.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            deaf.send(query(b"x"))
    for _ in range(100):
        network.resolver.handle_queries()
    held[1][0].send(query(b"y"))
    assert "y" in network.resolver.handle_queries()
    assert held[-1][0].recv(1) == b""
    network.remove_names()


def test_a_sealed_text_is_read_anew_each_time_and_written_by_no_program() -> None:
    text = SealedText("hosts", "127.0.0.1 localhost\n")
    for _ in range(2):
        with open(text.open_descriptor()) as file:  # noqa: PTH123
            assert file.read() == "127.0.0.1 localhost\n"
    given = text.open_descriptor()
    again = os.open(f"/proc/self/fd/{given}", os.O_RDWR)
    for change in (lambda: os.write(again, b"evil"), lambda: os.ftruncate(again, 0)):
        with pytest.raises(PermissionError):
            change()
    for descriptor in (given, again):
        os.close(descriptor)
    text.close()


def test_two_ends_of_a_connection_are_one_another_s_whatever_else_connects() -> None:
    ours, theirs = build_loopback_pair()
    with ours, theirs:
        theirs.sendall(b"call")
        assert ours.recv(4) == b"call"
        assert ours.getpeername() == theirs.getsockname()


def test_each_run_has_keys_of_its_own() -> None:
    hosts = frozenset(("a.example",))
    first, second = build_identity(hosts), build_identity(hosts)
    assert "PRIVATE KEY" in first["server"]
    assert "PRIVATE KEY" not in first["authority"]
    assert set(first.values()).isdisjoint(second.values())


CHUNKED = b"POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED += b"3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n"
PLAIN = b"GET /?q HTTP/1.1\r\nhost:a.example\r\n\r\n"
SIZED = b"PUT http://b/x HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi"
REQUESTS = [
    Request("POST", "/c", "a", b"abc0123456789", keeps=True),
    Request("GET", "/?q", "a.example", b"", keeps=True),
    Request("PUT", "http://b/x", "", b"hi", keeps=False),
]


@given(st.lists(st.integers(0, len(CHUNKED + PLAIN + SIZED)), max_size=8))
def test_requests_are_read_in_whatever_pieces_they_come(cuts: list[int]) -> None:
    data, reader, found = CHUNKED + PLAIN + SIZED, RequestReader(), []
    edges = [0, *sorted(cuts), len(data)]
    for start, end in pairwise(edges):
        reader.add_bytes(data[start:end])
        while (request := reader.find_request()) is not None:
            found.append(request)
    assert found == REQUESTS
    assert reader.held == 0


@given(
    st.lists(
        st.binary(max_size=40) | st.sampled_from([CHUNKED[:30], PLAIN[:18], b"\r\n", b"\r\n\r\n"]), max_size=9
    )
)
def test_any_bytes_are_requests_or_refused(pieces: list[bytes]) -> None:
    reader = RequestReader()
    try:
        for piece in pieces:
            reader.add_bytes(piece)
            while reader.find_request() is not None:
                continue
    except BadRequest:
        return
    assert reader.held <= sum(map(len, pieces))


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/2\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: b\x00\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (BODY_BYTES + 1),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        b"x" * 65536,
    ],
)
def test_what_is_no_request_is_refused_at_once(data: bytes) -> None:
    reader = RequestReader()
    reader.add_bytes(data)
    with pytest.raises(BadRequest):
        reader.find_request()


def test_a_client_that_waits_is_ordered_to_go_on_once() -> None:
    reader = RequestReader()
    reader.add_bytes(b"PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
    assert reader.find_request() is None
    assert [reader.waits_for_leave() for _ in range(2)] == [True, False]
    reader.add_bytes(b"x")
    assert reader.find_request() == Request("PUT", "/", "", b"x", keeps=True)


def test_answers_have_a_length_of_their_own() -> None:
    headers = (
        ("Content-Length", "9"),
        ("Transfer-Encoding", "chunked"),
        ("X", "é"),
        ("Connection", "upgrade"),
    )
    sent = encode_answer(Exchange("GET", "http://a/", 299, headers, b"hi"), "GET", keeps=True)
    assert sent == "HTTP/1.1 299 \r\nX: é\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi".encode(
        "latin-1"
    )
    head = encode_answer(Exchange("HEAD", "http://a/", 200, headers, b"hi"), "HEAD", keeps=False)
    assert head.endswith(b"Content-Length: 9\r\nConnection: close\r\n\r\n")
    none = encode_answer(Exchange("GET", "http://a/", 304, (), b"hi"), "GET", keeps=True)
    assert none == b"HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\n\r\n"


def _query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def test_a_known_name_has_one_address_and_no_other_kind() -> None:
    answer = _build_answer(_query("a.example"), "11.0.0.1")
    assert struct.unpack_from("!6H", answer) == (7, 0x8500, 1, 1, 0, 0)
    assert answer.endswith(b"\x00\x04\x0b\x00\x00\x01")
    assert struct.unpack_from("!6H", _build_answer(_query("a.example", kind=28), "11.0.0.1"))[3] == 0
    assert _build_answer(_query("a.example")[:-3], "11.0.0.1")[3] & 0xF == 3
    assert _build_refusal(_query("b.example"), is_valid=False)[3] & 0xF == 5


def test_each_host_has_an_address_of_its_own() -> None:
    urls = [
        read_url(url) for url in ("http://a/", "http://b/", "https://a/", "http://10.0.0.9/", "http://[::7]/")
    ]
    assert build_addresses(urls) == {"a": "11.0.0.1", "b": "11.0.0.2", "10.0.0.9": "10.0.0.9", "::7": "::7"}
