"""What the kernel holds for a program counts as the program's memory: bounded, and reported."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

import pytest

from spanproof.sandbox import FailureClass, Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

from .processes import HANGS_S

MIB = 1 << 20
SMALL = Limits(wall_s=HANGS_S, cpu_s=HANGS_S, memory_bytes=128 * MIB)

_MANY_PAIRS = """
import os, socket, time
for _ in range(20):
    if os.fork() == 0:
        held = [socket.socketpair() for _ in range(100)]
        for pair in held:
            for one in pair:
                one.setblocking(False)
                try:
                    while True: one.send(bytes(4096))
                except BlockingIOError: pass
        time.sleep(1000)
time.sleep(1000)
"""
_PAGE_TABLES = """
import ctypes, time
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
size = 1 << 40
at = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, 0)
libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 15)
for offset in range(0, size, 1 << 21): ctypes.c_ubyte.from_address(at + offset).value
time.sleep(1000)
"""
_LOOPBACK = """
import socket, time
server = socket.create_server(("127.0.0.1", 0), backlog=64)
held, sent = [], 0
while sent < 60_000_000:
    one = socket.create_connection(server.getsockname()); held.append((one, server.accept()[0]))
    one.setblocking(False)
    try:
        while True: sent += one.send(bytes(1 << 16))
    except BlockingIOError: pass
time.sleep(0.5)
"""


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("source", [_MANY_PAIRS, _PAGE_TABLES], ids=["unix sockets", "page tables"])
def test_it_counts_against_the_limit(jail: Sandbox, source: str) -> None:
    done = jail.run(Program("python", source, limits=SMALL))
    assert done.failure_class is FailureClass.OUT_OF_MEMORY


def test_buffers_of_the_loopback_are_memory_that_is_reported(jail: Sandbox) -> None:
    done = jail.run(Program("python", _LOOPBACK))
    assert done.failure_class is FailureClass.OK
    assert done.peak_memory_bytes > 30 * MIB


_INOTIFY = """
import ctypes, os
if ctypes.CDLL(None, use_errno=True).inotify_init1(0) < 0: raise OSError(ctypes.get_errno(), "refused")
"""
_REFUSED = {
    "a larger pipe": "import fcntl, os; fcntl.fcntl(os.pipe()[1], 1031, 1 << 20)",
    "news of a directory": "import fcntl, os; fcntl.fcntl(os.open('/usr', 0), 1026, 1)",
    "inotify": _INOTIFY,
    "a lock on a file of the machine": "import fcntl, os; fcntl.flock(os.open(os.__file__, 0), 1)",
}


@pytest.mark.parametrize("source", _REFUSED.values(), ids=_REFUSED)
def test_what_could_not_be_bounded_or_reaches_the_machine_is_refused(jail: Sandbox, source: str) -> None:
    done = jail.run(Program("python", source))
    assert done.failure_class in (FailureClass.EXCEPTION, FailureClass.PERMISSION_DENIED), done


def test_locks_and_buffers_of_its_own_are_a_program_s_to_have(jail: Sandbox) -> None:
    source = """
        import fcntl, os, socket, tempfile
        with open("own", "w") as file, tempfile.TemporaryFile() as other:
            for one in (file, other):
                for how in (fcntl.LOCK_EX, fcntl.LOCK_UN): fcntl.flock(one, how); fcntl.lockf(one, how)
        socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    """
    done = jail.run(Program("python", dedent(source)))
    assert (done.failure_class, done.attempts) == (FailureClass.OK, ()), done
