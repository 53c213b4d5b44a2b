"""Recorded calls by unmodified clients in each backend that has them; all others are recorded, and fail.

The jail's reduced tier has a run of its own: see test_reduced_tier.py.
"""

from __future__ import annotations

import pytest

from spanproof.sandbox import (
    Clock,
    Exchange,
    FailureClass,
    Fixtures,
    Sandbox,
    SessionSpec,
    UnsupportedFixtures,
)

from .recorded import (
    ITEMS,
    PAGE,
    calls,
    in_places,
    in_the_jail,
    no_tools,
    not_in_gvisor,
    run,
    with_any_clock,
)

CLIENTS = {
    "requests": "import requests\nprint(requests.get(URL).json()['n'])",
    "a requests session": "import requests\nwith requests.Session() as s: print(s.get(URL).json()['n'])",
    "urllib": "import json, urllib.request\nprint(json.load(urllib.request.urlopen(URL))['n'])",
    "httpx": "import httpx\nprint(httpx.get(URL).json()['n'])",
    "httpx, async": "import asyncio, httpx\nasync def main():\n    async with httpx.AsyncClient() as c:\n"
    "        print((await c.get(URL)).json()['n'])\nasyncio.run(main())",
    "a thread": "import requests, threading\n"
    "t = threading.Thread(target=lambda: print(requests.get(URL).json()['n']))\nt.start(); t.join()",
    "another process": "import subprocess, sys\nsys.stdout.flush()\n"
    "code = f'import requests; print(requests.get({URL!r}).json()[\"n\"])'\n"
    "subprocess.run([sys.executable, '-c', code])",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_unmodified_clients_are_served(taped: Sandbox, client: str) -> None:
    execution = run(taped, f"URL = {ITEMS!r}\n{CLIENTS[client]}", PAGE)
    assert execution.stdout == "1\n", execution.stderr
    assert execution.failure_class is FailureClass.OK
    assert calls(execution) == [(f"GET {ITEMS}", True)]


BUNDLES = {
    "certifi's own bundle": "import certifi, httpx, ssl\n"
    "print(httpx.get(URL, verify=ssl.create_default_context(cafile=certifi.where())).json()['n'])",
    "no environment": "import json, os, ssl, urllib.request\nos.environ.clear()\n"
    "context = ssl.create_default_context(cafile='/etc/ssl/certs/ca-certificates.crt')\n"
    "print(json.load(urllib.request.urlopen(URL, context=context))['n'])",
}
"""Clients that ask no variable."""


@not_in_gvisor
@pytest.mark.parametrize("client", BUNDLES)
def test_clients_with_a_bundle_of_their_own_are_served(taped: Sandbox, client: str) -> None:
    execution = run(taped, f"URL = {ITEMS!r}\n{BUNDLES[client]}", PAGE)
    assert execution.stdout == "1\n", execution.stderr
    assert calls(execution) == [(f"GET {ITEMS}", True)]


def test_curl_is_served(taped: Sandbox) -> None:
    source = f"curl -sS '{ITEMS}'; echo; curl -sS -o saved http://plain.example.org; cat saved"
    execution = run(
        taped, source, PAGE, Exchange("GET", "http://plain.example.org/", body=b"plain"), language="bash"
    )
    assert execution.stdout == '{"n": 1}\nplain', execution.stderr
    assert calls(execution) == [(f"GET {ITEMS}", True), ("GET http://plain.example.org/", True)]


@in_the_jail
def test_aiohttp_is_served(taped: Sandbox) -> None:
    source = f"""
import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as s:
        async with s.get({ITEMS!r}) as answer: print((await answer.json())["n"])
asyncio.run(main())
"""
    execution = run(taped, source, PAGE)
    assert execution.stdout == "1\n", execution.stderr
    assert calls(execution) == [(f"GET {ITEMS}", True)]


@in_the_jail
def test_node_is_served(taped: Sandbox) -> None:
    source = f"fetch({ITEMS!r}).then(answer => answer.json()).then(page => console.log(page.n))"
    execution = run(taped, source, PAGE, language="javascript")
    assert execution.stdout == "1\n", execution.stderr
    assert calls(execution) == [(f"GET {ITEMS}", True)]


def test_a_session_s_steps_share_the_tape_and_report_their_own_calls(taped: Sandbox) -> None:
    with taped.session(SessionSpec(fixtures=Fixtures(http=(PAGE,))), no_tools) as session:
        session.execute("import requests")
        first = session.execute(f"requests.get({ITEMS!r}).json()['n']")
        second = session.execute(f"requests.get({ITEMS!r})")
    assert first.result == 1
    assert calls(first) == [(f"GET {ITEMS}", True)]
    assert second.failure_class is FailureClass.PERMISSION_DENIED
    assert calls(second) == [(f"GET {ITEMS}", False)]


def test_the_same_call_is_answered_as_often_as_it_was_recorded_in_that_order(taped: Sandbox) -> None:
    source = f"""
import requests
for _ in range(3):
    print(requests.get({ITEMS!r}).text)
"""
    execution = run(taped, source, *(Exchange("GET", ITEMS, body=body) for body in (b"one", b"two")))
    assert execution.stdout == "one\ntwo\n"
    assert execution.failure_class is FailureClass.PERMISSION_DENIED
    assert calls(execution) == [(f"GET {ITEMS}", False)]


def test_what_is_sent_decides_where_it_is_recorded(taped: Sandbox) -> None:
    url = "https://api.example.com/search"
    tape = [Exchange("POST", url, 200, (), word, b'{"q": "%s"}' % word) for word in (b"first", b"second")]
    source = (
        f"import requests\nfor q in ('second', 'first'): print(requests.post({url!r}, json={{'q': q}}).text)"
    )
    assert run(taped, source, *tape).stdout == "second\nfirst\n"
    unknown = run(taped, f"import requests\nrequests.post({url!r}, json={{'q': 'third'}})", *tape)
    assert calls(unknown) == [(f"POST {url}", False)]


REFUSED = {
    "https://api.example.com/other": "GET https://api.example.com/other",
    "http://api.example.com/v1/items": "GET http://api.example.com/v1/items",
    "https://elsewhere.example.com/": "elsewhere.example.com:53",
    "http://8.8.8.8/": "8.8.8.8:80",
}


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.parametrize("client", ["requests.get", "httpx.get", "urllib.request.urlopen"])
def test_what_is_not_recorded_fails_as_a_connection_does_and_is_reported(
    taped: Sandbox, url: str, client: str
) -> None:
    execution = run(taped, f"import {client.rpartition('.')[0]}\n{client}({url!r})\nprint('data')", PAGE)
    assert execution.stdout == ""
    assert calls(execution) == [(REFUSED[url], False)]
    assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution.stderr


UNRECORDED_PORT = "import urllib.request\nurllib.request.urlopen('https://api.example.com:8443/')"


@not_in_gvisor
def test_another_port_of_a_recorded_host_is_refused_and_reported(taped: Sandbox) -> None:
    execution = run(taped, UNRECORDED_PORT, PAGE)
    assert calls(execution) == [("api.example.com:8443", False)]
    assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution.stderr


@in_places("gvisor")
def test_another_port_of_a_recorded_host_is_refused_in_gvisor_untold(taped: Sandbox) -> None:
    execution = run(taped, UNRECORDED_PORT, PAGE)
    assert calls(execution) == []
    assert execution.failure_class is FailureClass.EXCEPTION, execution.stderr


def test_a_recorded_name_does_not_open_another_address(taped: Sandbox) -> None:
    requested = "urllib.request.Request('http://8.8.8.8/a', headers={'Host': 'api.example.com'})"
    source = f"import urllib.request\nprint(urllib.request.urlopen({requested}).read())"
    execution = run(taped, source, Exchange("GET", "http://api.example.com/a", body=b"recorded"))
    assert execution.stdout == ""
    assert calls(execution) == [("8.8.8.8:80", False)]


@not_in_gvisor
@pytest.mark.parametrize("client", ["httpx.get", "urllib.request.urlopen"])
def test_an_address_of_ipv6_that_is_not_recorded_is_reported(taped: Sandbox, client: str) -> None:
    url = "http://[2001:db8::7]/"
    execution = run(taped, f"import {client.rpartition('.')[0]}\n{client}({url!r})", PAGE)
    assert calls(execution) == [("[2001:db8::7]:80", False)]


@in_the_jail
def test_requests_is_reported_that_there_is_ipv6(taped: Sandbox) -> None:
    execution = run(taped, "import requests\nrequests.get('http://[2001:db8::7]/')", PAGE)
    assert calls(execution) == [("[2001:db8::7]:80", False)]


def test_a_connection_says_of_itself_what_clients_ask(taped: Sandbox) -> None:
    source = """
import asyncio, socket
with socket.create_connection(("api.example.com", 443)) as s:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(*(s.getsockopt(socket.SOL_SOCKET, option) for option in (socket.SO_ERROR, socket.SO_TYPE)))
    print([len(name) for name in (s.getpeername(), s.getsockname())], s.getsockname() != s.getpeername())
    s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), len(s.getsockopt(6, socket.TCP_INFO, 104))
async def main():
    _, writer = await asyncio.open_connection("api.example.com", 80)
    print(*map(len, map(writer.get_extra_info, ("peername", "sockname"))))
asyncio.run(main())
"""
    execution = run(taped, source, PAGE)
    assert execution.stdout == "0 1\n[2, 2] True\n2 2\n", execution


def test_a_connection_that_does_not_wait_is_there_at_once(taped: Sandbox) -> None:
    source = """
import errno, select, socket
s = socket.socket()
s.setblocking(False)
print(s.connect_ex((socket.gethostbyname("api.example.com"), 80)) in (0, errno.EINPROGRESS), s.getblocking())
select.select([], [s], [])
s.sendall(b"GET /a HTTP/1.1\\r\\nHost: api.example.com\\r\\nConnection: close\\r\\n\\r\\n")
data = b""
while select.select([s], [], [])[0] and (piece := s.recv(4096)): data += piece
print(data.rpartition(b"\\n")[2])
"""
    execution = run(taped, source, Exchange("GET", "http://api.example.com/a", body=b"here"))
    assert execution.stdout == "True False\nb'here'\n", execution


QUERIES = """
import asyncio, select, socket, struct, threading
PLACE = ("127.0.0.1", 53)
def query(number, name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\\0" + struct.pack("!HH", 1, 1)
def told(answer, place):
    number, flags, _, found = struct.unpack_from("!4H", answer)
    return number, flags & 15, found and socket.inet_ntoa(answer[-4:]), place
ADDRESS = socket.gethostbyname("api.example.com")
WANTED = [(1, 0, ADDRESS, PLACE), (2, 3, 0, PLACE)]
ASKED = [query(1, "api.example.com"), query(2, "elsewhere.example")]
"""
UNCONNECTED = {
    "sendto and recvfrom": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for one in ASKED: assert s.sendto(one, PLACE) == len(one)\n"
    "print([told(*s.recvfrom(512)) for _ in range(2)] == WANTED)",
    "as musl does": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)\n"
    "s.bind(('', 0))\nfound = []\n"
    "for one in ASKED: s.sendto(one, PLACE)\n"
    "while len(found) < 2 and select.select([s], [], [], 60)[0]:\n"
    "    data, _, flags, place = s.recvmsg(512)\n    found.append(told(data, place))\n"
    "print(found == WANTED, flags)",
    "sendmsg": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for one in ASKED: assert s.sendmsg([one[:5], one[5:]], [], 0, PLACE) == len(one)\n"
    "first, second = bytearray(20), bytearray(492)\n"
    "length, _, _, place = s.recvmsg_into([first, second])\n"
    "print(told((first + second)[:length], place) == WANTED[0], told(*s.recvfrom(512)) == WANTED[1])",
    "asyncio": "class Asking(asyncio.DatagramProtocol):\n"
    "    def datagram_received(self, data, place):\n"
    "        found.append(told(data, place))\n        if len(found) == 2: done.set_result(None)\n"
    "async def main():\n    global done\n    done = asyncio.get_running_loop().create_future()\n"
    "    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(\n"
    "        Asking, local_addr=('0.0.0.0', 0))\n"
    "    for one in ASKED: transport.sendto(one, PLACE)\n    await asyncio.wait_for(done, 60)\n"
    "found = []\nasyncio.run(main())\nprint(found == WANTED)",
    "many sockets": "for _ in range(300):\n    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "    s.sendto(ASKED[0], PLACE)\n    assert told(*s.recvfrom(512)) == WANTED[0]\n"
    "many = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(30)]\n"
    "for s in many: s.sendto(ASKED[1], PLACE)\n"
    "print(all(told(*s.recvfrom(512)) == WANTED[1] for s in many))",
}


@pytest.mark.parametrize("client", UNCONNECTED)
def test_names_are_reported_to_clients_that_do_not_connect(taped: Sandbox, client: str) -> None:
    execution = run(taped, QUERIES + UNCONNECTED[client], PAGE)
    assert set(execution.stdout.split()) <= {"True", "0"}, execution
    assert "True" in execution.stdout, execution
    assert calls(execution) == [("elsewhere.example:53", False)]


def test_answers_are_as_recorded(taped: Sandbox) -> None:
    tape = [
        Exchange("GET", "https://a.example/moved", 302, (("Location", "/here"), ("Set-Cookie", "a=1"))),
        Exchange(
            "GET", "https://a.example/here", 404, (("X-Kind", "naïve"), ("Content-Length", "7")), b"gone"
        ),
        Exchange("HEAD", "https://a.example/size", 200, (("Content-Length", "123456"),)),
        Exchange("DELETE", "https://a.example/one", 204),
        Exchange(
            "GET", "https://a.example/large", 200, (("Transfer-Encoding", "chunked"),), bytes(5_000_000)
        ),
    ]
    source = """
import requests
with requests.Session() as s:
    found = s.get("https://a.example/moved")
    print(found.status_code, found.headers["x-kind"], found.text, s.cookies["a"], len(found.history))
    print(s.head("https://a.example/size").headers["content-length"])
    print(s.delete("https://a.example/one").status_code)
    print(len(s.get("https://a.example/large").content))
"""
    execution = run(taped, source, *tape)
    assert execution.stdout == "404 naïve gone 1 1\n123456\n204\n5000000\n", execution.stderr


def test_what_clients_send_in_pieces_arrives_whole(taped: Sandbox) -> None:
    url, body = "https://up.example/file", b"x" * 3_000_000
    source = f"""
import httpx, requests, subprocess
body = b"x" * 3_000_000
def pieces():
    for start in range(0, len(body), 100_000): yield body[start:start + 100_000]
print(requests.post({url!r}, data=pieces()).text)
print(httpx.post({url!r}, content=pieces()).text)
open("file", "wb").write(body)
curl = ["curl", "-sS", "--data-binary", "@file", {url!r}]
print(subprocess.run(curl, capture_output=True, text=True).stdout)
"""
    execution = run(taped, source, *(Exchange("POST", url, 200, (), b"taken", body) for _ in range(3)))
    assert execution.stdout == "taken\ntaken\ntaken\n", execution.stderr


@not_in_gvisor
def test_addresses_and_ports_of_the_recording_are_served(taped: Sandbox) -> None:
    urls = [
        "http://10.1.2.3/a",
        "https://[2001:db8::5]/b",
        "http://a.example:8080/c",
        "http://localhost:9000/d",
    ]
    source = f"import httpx\nfor url in {urls!r}: print(httpx.get(url).text)"
    execution = run(taped, source, *(Exchange("GET", url, body=url[-1].encode()) for url in urls))
    assert execution.stdout == "a\nb\nc\nd\n", execution.stderr
    assert [target for target, allowed in calls(execution) if allowed and "GET" in target] == [
        f"GET {url}" for url in urls
    ]


def test_a_name_s_address_is_a_public_one_and_has_no_other(taped: Sandbox) -> None:
    source = """
import ipaddress, socket
found = {info[4][0] for info in socket.getaddrinfo("api.example.com", 443)}
print(len(found), ipaddress.ip_address(found.pop()).is_global)
"""
    assert run(taped, source, PAGE).stdout == "1 True\n"


@with_any_clock
def test_the_tape_and_the_clock_go_together(taped: Sandbox) -> None:
    source = f"import datetime, requests\nprint(requests.get({ITEMS!r}).json()['n'], datetime.date.today())"
    execution = run(taped, source, PAGE, clock=Clock(1_262_304_000.0, 0), seed=1)
    assert execution.stdout == "1 2010-01-01\n", execution.stderr
    with pytest.raises(UnsupportedFixtures, match="2037"):
        run(taped, source, PAGE, clock=Clock(3_000_000_000.0))


def test_after_a_tape_there_is_no_network_again(taped: Sandbox) -> None:
    source = f"import os, requests\nprint(os.environ.get('SSL_CERT_FILE'))\nrequests.get({ITEMS!r})"
    assert run(taped, source, PAGE, PAGE).stdout.endswith("/code/authority.pem\n")
    after = run(taped, source)
    assert after.stdout == "None\n"
    assert after.failure_class is not FailureClass.OK
    assert calls(after) == ([("api.example.com:53", False)] if taped.name != "e2b" else [])


@not_in_gvisor
def test_the_authority_is_read_in_the_place_of_a_bundle_for_one_run(taped: Sandbox) -> None:
    read = "import certifi; print(open(certifi.where()).read().count('BEGIN CERTIFICATE') > 50)"
    assert run(taped, read, PAGE).stdout == "False\n"
    assert run(taped, read).stdout == "True\n"
