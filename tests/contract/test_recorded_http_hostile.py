"""Recorded calls that cannot be served are refused, and a hostile client gains nothing by the tape."""

from __future__ import annotations

import json
import sys

import pytest

from spanproof.sandbox import (
    Exchange,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    SessionSpec,
    UnsupportedFixtures,
)

from .recorded import ITEMS, PAGE, calls, no_tools, not_in_gvisor, run


@pytest.mark.parametrize(
    ("exchange", "reported"),
    [
        (Exchange("GET", "ftp://a.example/"), "no absolute http"),
        (Exchange("GET", "/relative"), "no absolute http"),
        (Exchange("GET", "http://a.example:99999/"), "no valid port"),
        (Exchange("GE T", "http://a.example/"), "method"),
        (Exchange("GET", "http://a.example/", 99), "status 99"),
        (Exchange("GET", "http://a.example/", 200, (("X", "a\r\nSet-Cookie: b"),)), "header 'X'"),
    ],
)
def test_a_call_that_cannot_be_served_is_refused_before_anything_runs(
    taped: Sandbox, exchange: Exchange, reported: str
) -> None:
    with pytest.raises(UnsupportedFixtures, match=f"recorded call 1.*{reported}"):
        run(taped, "pass", PAGE, exchange)
    with pytest.raises(UnsupportedFixtures, match="recorded call 0"):
        taped.session(SessionSpec(fixtures=Fixtures(http=(exchange,))), no_tools)


@pytest.mark.parametrize(
    ("urls", "reported"),
    [
        (["https://a_b.example/"], "no certificate"),
        ([f"http://a.example:{port}/" for port in range(1000, 1065)], "65 ports"),
        ([f"https://h{number}.example/" for number in range(1001)], "1001 https hosts"),
    ],
)
def test_a_tape_too_wide_is_refused(taped: Sandbox, urls: list[str], reported: str) -> None:
    with pytest.raises(UnsupportedFixtures, match=reported):
        run(taped, "pass", *(Exchange("GET", url) for url in urls))


HOSTILE = {
    "heads without end": "s = plain()\nfor _ in range(2000): s.sendall(b'X-Y: ' + b'z' * 1000 + b'\\r\\n')",
    "a body without end": "s = plain()\ns.sendall(b'POST / HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: "
    "chunked\\r\\n\\r\\n')\nwhile True: s.sendall(b'10000\\r\\n' + b'z' * 65536 + b'\\r\\n')",
    "a length that lies": "s = plain()\ns.sendall(b'POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: "
    "99999999999\\r\\n\\r\\n')",
    "two lengths": "s = plain()\ns.sendall(b'POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\n"
    "Content-Length: 2\\r\\n\\r\\n')",
    "smuggling": "s = plain()\ns.sendall(b'POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\n"
    "Transfer-Encoding: chunked\\r\\n\\r\\n')",
    "no HTTP": "s = plain()\ns.sendall(os.urandom(100000))",
    "no TLS": "s = plain(443)\ns.sendall(b'\\x16\\x03\\x01\\x01\\x00\\xff' + bytes(5000))",
    "many bodies at once": "many = [plain() for _ in range(60)]\nfor s in many:\n"
    "    s.sendall(b'POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 8000000\\r\\n\\r\\n')\n"
    "for _ in range(120):\n    for s in many: s.sendall(b'z' * 65536)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_reset_and_reported_and_the_next_client_is_served(
    taped: Sandbox, name: str
) -> None:
    source = f"""
import os, requests, socket
def plain(port=80): return socket.create_connection(("api.example.com", port))
try:
{"".join(f"    {line}" for line in HOSTILE[name].splitlines(keepends=True))}
    while s.recv(4096): pass  # an alert of TLS, at most
    raise ConnectionResetError
except (ConnectionResetError, BrokenPipeError) as e: print("reset")
print(requests.get({ITEMS!r}).json()["n"])
"""
    execution = run(taped, source, PAGE)
    assert execution.stdout == "reset\n1\n", execution.stderr
    assert next(target for target, allowed in calls(execution) if not allowed).startswith("api.example.com:")


def test_thousands_of_connections_and_slow_ones_hold_up_no_one(taped: Sandbox) -> None:
    source = f"""
import requests, socket
slow = []
for _ in range(200):
    s = socket.create_connection(("api.example.com", 443)); s.sendall(b"\\x16"); slow.append(s)
place = socket.gethostbyname("api.example.com"), 80
for _ in range(3_000): socket.create_connection(place).close()
print(requests.get({ITEMS!r}).json()["n"])
"""
    # Processor time is the limit: other work on the machine may hold up 3,000 connections for minutes.
    limits = Limits(wall_s=600, cpu_s=60)
    execution = taped.run(Program("python", source, limits=limits, fixtures=Fixtures(http=(PAGE,))))
    assert execution.stdout == "1\n", execution.stderr


def test_a_program_cannot_write_into_the_account_of_its_calls(taped: Sandbox) -> None:
    source = """
import socket
for line in (b"GET /\\nGET\\thttps://bank.example/ HTTP/1.1", b"GET https://bank.example/?\\x1b[2J HTTP/1.1",
             b"GET https://bank.example/paid HTTP/1.1"):
    with socket.create_connection(("api.example.com", 80)) as s:
        s.sendall(line + b"\\r\\nHost: api.example.com\\r\\n\\r\\n")
        try: s.recv(1)
        except ConnectionResetError: pass
"""
    assert calls(run(taped, source, PAGE)) == [
        ("api.example.com:80", False),
        ("GET https://bank.example/paid", False),
    ]


@not_in_gvisor  # whose /proc shows PID 1's addresses and variables: see the tests of docker
def test_no_key_is_within_reach(taped: Sandbox) -> None:
    source = """
import glob, os
for base in ("/box", "/etc/ssl", "/tmp", "/dev/shm"):
    for directory, folders, names in os.walk(base):
        if os.path.realpath(directory) == os.path.realpath("@PREFIX"):  # libraries, of a checkout below /tmp
            folders.clear()
            continue
        for name in names:
            try: text = open(os.path.join(directory, name), "rb").read()
            except OSError: continue
            if b"PRIVATE KEY" in text: print(directory, name)
for place in ("/proc/1/mem", "/proc/1/maps", "/proc/1/environ", "/proc/1/fd/3", "/proc/1/root"):
    try: print(place, open(place, "rb").read(1))
    except OSError: pass
"""
    execution = run(taped, source.replace("@PREFIX", sys.prefix), PAGE)
    assert execution.stdout == ""


def test_a_tape_of_many_calls_in_many_hosts(taped: Sandbox) -> None:
    tape = [Exchange("GET", f"https://h{n}.example.com/{n}", body=json.dumps(n).encode()) for n in range(300)]
    source = """
import requests
print(sum(requests.get(f"https://h{n}.example.com/{n}").json() for n in range(0, 300, 10)))
"""
    assert run(taped, source, *tape).stdout == f"{sum(range(0, 300, 10))}\n"
