"""Where packets on a run's loopback go, read from bytes that a hostile program may have made."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox.backends.remote.guest.overheard import find_target

SYN, SYN_ACK, ACK = 0x02, 0x12, 0x10


def tcp(port: int, flags: int) -> bytes:
    return struct.pack("!HHIIBBHHH", 40000, port, 0, 0, 5 << 4, flags, 1024, 0, 0)


def ipv4(address: str, protocol: int, inner: bytes, options: int = 0) -> bytes:
    length = 5 + options
    head = struct.pack("!BBHHHBBH", 4 << 4 | length, 0, 20 + len(inner), 0, 0, 64, protocol, 0)
    return head + bytes(4) + socket.inet_aton(address) + bytes(4 * options) + inner


def ipv6(address: str, protocol: int, inner: bytes) -> bytes:
    head = struct.pack("!IHBB", 6 << 28, len(inner), protocol, 64)
    return head + bytes(16) + socket.inet_pton(socket.AF_INET6, address) + inner


@pytest.mark.parametrize(
    ("packet", "text"),
    [
        (ipv4("8.8.8.8", 6, tcp(443, SYN)), "8.8.8.8:443"),
        (ipv4("8.8.8.8", 6, tcp(443, SYN), options=3), "8.8.8.8:443"),
        (ipv4("8.8.8.8", 17, struct.pack("!HHHH", 1, 53, 8, 0)), "8.8.8.8:53"),
        (ipv6("2001:db8::7", 6, tcp(80, SYN)), "[2001:db8::7]:80"),
        (ipv4("8.8.8.8", 6, tcp(443, SYN_ACK)), None),
        (ipv4("8.8.8.8", 6, tcp(443, ACK)), None),
        (ipv4("8.8.8.8", 1, b"echo, echo"), None),
        (b"", None),
    ],
)
def test_a_packet_that_begins_something_names_its_target(packet: bytes, text: str | None) -> None:
    found = find_target(packet)
    assert (None if found is None else found.text) == text


@given(st.binary(max_size=128))
def test_any_bytes_are_read_or_left(packet: bytes) -> None:
    find_target(packet)
