# ruff: noqa: PTH102, PTH123, PTH211 - a program
"""The program that makes hostile system calls, as a sandbox runs it; `fuzz_calls.py` puts its plan in.

Children make the calls, a few hundred each, so that a call which kills or blocks its caller ends one of them
only. What the program prints is how many calls were made.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import signal
import struct
import time
from contextlib import suppress
from typing import Any

PLAN: dict[str, Any] = {}
"""`calls`: rows of name, number and the kinds of the arguments; `seed`; `count`."""

BATCH, BATCH_S = 250, 4.0
LIBC = ctypes.CDLL(None, use_errno=True)
WORDS = (0, 1, 2, 3, 4, 7, 16, 64, 255, 4095, 4096, 65536, 1 << 20, 1 << 31, (1 << 31) - 1, (1 << 32) - 1)
WORDS += (1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 100, (1 << 64) - 4096)
DESCRIPTORS = (*range(-3, 24), -100, 63, 900, 1023, 1 << 20, 0x7FFFFFF0, (1 << 31) - 1, 1 << 32, 1 << 63)
NAMES = (
    b"",
    b".",
    b"..",
    b"/",
    b"a",
    b"l",
    b"d",
    b"d/..",
    b"l/../x",
    b"fifo",
    b"/etc/passwd",
    b"/etc/shadow",
)
NAMES += (
    b"/proc/self/root/etc",
    b"/proc/self/fd/3/..",
    b"/proc/self/exe",
    b"/proc/self/task/1/cwd/..",
    b"/dev/null",
)
NAMES += (
    b"/proc/thread-self/fd/0",
    b"/proc/1/root",
    b"/dev/shm/x",
    b"/tmp/x",
    b"/dev/urandom",
    b"\xff\xfe/\x80",
)
NAMES += (
    b"/proc/self/mem",
    b"/usr/bin/env",
    b"//etc//../etc/./passwd",
    b"/box/work/a",
    b"itself",
    b"of-a-link",
    b"a" * 255,
    b"a" * 256,
)
NAMES += (b"/" * 4095, b"a/" * 2047, b"../" * 1300, b"x" * 4096, b"/proc/self/map_files/..", b"/sys/kernel")
ADDRESSES = (
    b"",
    b"\2",
    struct.pack("=H", 1) + b"a",
    struct.pack("=H", 1) + b"\0abstract",
    struct.pack("=H", 1) + b"/etc/passwd\0",
    struct.pack("=H", 1) + b"x" * 108,
    struct.pack("=H", 2) + struct.pack("!H", 53) + bytes((127, 0, 0, 1)) + bytes(8),
    struct.pack("=H", 2) + struct.pack("!H", 80) + bytes((11, 0, 0, 1)) + bytes(8),
    struct.pack("=H", 2) + struct.pack("!H", 443) + bytes((192, 0, 2, 1)) + bytes(8),
    struct.pack("=H", 2) + struct.pack("!H", 0) + bytes(12),
    struct.pack("=H", 10) + struct.pack("!HI", 80, 0) + bytes(15) + b"\1" + bytes(4),
    struct.pack("=H", 10) + struct.pack("!HI", 80, 7) + bytes(10) + b"\xff\xff\xc0\0\2\1" + b"\xff" * 4,
    struct.pack("=H", 10) + bytes(3),
    struct.pack("=H", 16) + bytes(10),
    b"\xff" * 128,
)


class Grammar:
    """Draws arguments; what they point to lives as long as this does."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._pages = mmap.mmap(-1, 8 * mmap.PAGESIZE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        # The last page cannot be read: what begins before it ends where memory does.
        LIBC.mprotect(ctypes.c_void_p(self._start + 7 * mmap.PAGESIZE), mmap.PAGESIZE, 0)

    def arguments(self, kinds: str) -> list[int]:
        """Draw the arguments of a call, and now and then one of another kind."""
        drawn = []
        for kind in kinds.ljust(6, "?"):
            other = self._draw.random() < 0.08
            drawn.append(self._argument(self._draw.choice("pfwxamnh") if other else kind))
        return drawn

    def _argument(self, kind: str) -> int:
        match kind:
            case "p":
                return self._place(self._draw.choice(NAMES) + b"\0")
            case "f":
                return self._draw.choice(DESCRIPTORS)
            case "a":
                return self._place(self._draw.choice(ADDRESSES))
            case "m":
                return self._place(b"".join(self._message() for _ in range(self._draw.choice((1, 1, 2, 70)))))
            case "h":
                flags, mode = (self._argument("w") & (1 << 64) - 1 for _ in range(2))
                return self._place(struct.pack("=QQQ", flags, mode, self._draw.choice((0, 4, 8, 16, 16, 24))))
            case "n":
                return self._draw.choice((0, 1, 2, os.getpid(), -os.getpid(), 1 << 22, 1 << 31))
            case "x":
                return self._draw.choice((0, 1, self._start, self._end(), 1 << 47, 1 << 63, (1 << 64) - 8))
            case "s":
                return self._draw.randrange(66)
            case _:
                bits = self._draw.randrange(65)
                return self._draw.choice(WORDS) if bits > 32 else self._draw.getrandbits(bits)

    def _message(self) -> bytes:
        name, address = (
            self._draw.choice(ADDRESSES),
            self._draw.choice((0, self._start, self._end(), 1 << 63)),
        )
        if address == self._start:
            self._pages[: len(name)] = name
        length = self._draw.choice((len(name), 0, 128, 1 << 31))
        return struct.pack("=QIIQQQQQQ", address, length, 0, self._start, 1, 0, 0, 0, 0)

    def _end(self) -> int:
        return self._start + 7 * mmap.PAGESIZE - self._draw.randrange(9)

    def _place(self, content: bytes) -> int:
        """Write something into a page, or up to where memory ends, and return where it is."""
        room = 7 * mmap.PAGESIZE
        content = content[:room]
        at = room - len(content) if self._draw.random() < 0.2 else self._draw.randrange(64)
        if self._draw.random() < 0.1:
            at = min(at + self._draw.randrange(3), room - 1)  # cut off by the end of memory
        content = content[: room - at]
        self._pages[at : at + len(content)] = content
        return self._start + at


def write_script(name: str, first_line: str) -> None:
    """Write a script that starts nothing, however it is started: the kernel goes through five at most."""
    with open(name, "w") as script:
        script.write(first_line)
        os.fchmod(script.fileno(), 0o755)


def prepare() -> None:
    """Make what the names lead to, once."""
    for action in (
        lambda: os.mkdir("d"),
        lambda: os.symlink("/etc/ssl", "l"),
        lambda: os.mkfifo("fifo"),
        lambda: open("a", "w").close(),
        lambda: write_script("itself", "#!./itself"),
        lambda: write_script("of-a-link", "#! l/../../d/../of-a-link " + "x" * 300),
    ):
        with suppress(OSError):
            action()
    # A pipe that is open for both ends keeps no one waiting who opens it.
    for path, flags in (
        (".", os.O_RDONLY),
        ("/", os.O_PATH),
        ("a", os.O_RDWR),
        ("/usr/bin", os.O_PATH),
        ("fifo", os.O_RDWR | os.O_NONBLOCK),
    ):
        with suppress(OSError):
            os.open(path, flags)
    LIBC.socket(2, 2 | 2048, 0)
    LIBC.socket(2, 1 | 2048, 0)
    LIBC.socket(1, 1 | 2048, 0)


def make_calls(seed: str, count: int, done: mmap.mmap) -> None:
    """Make hostile calls, and count those that were begun."""
    draw = random.Random(seed)
    grammar = Grammar(draw)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    os.setsid()  # a signal to its process group is for this batch alone
    me = os.getpid()
    prepare()
    for number in range(count):
        if number % 16 == 0:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
        _name, call, kinds = draw.choice(PLAN["calls"])
        arguments = [ctypes.c_ulong(value & (1 << 64) - 1) for value in grammar.arguments(kinds)]
        done[:8] = struct.pack("=Q", number + 1)
        LIBC.syscall(ctypes.c_long(call), *arguments)
        if os.getpid() != me:  # the copy that a fork of the grammar's has made
            os._exit(0)


def run_batch(seed: str, count: int) -> int:
    """Have a child make calls; return how many it made, however it ended."""
    done = mmap.mmap(-1, 8)
    child = os.fork()
    if child == 0:
        try:
            make_calls(seed, count, done)
        finally:
            os._exit(0)
    deadline = time.monotonic() + BATCH_S
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    return int(struct.unpack("=Q", done[:8])[0])


def main() -> None:
    """Make as many calls as are planned; say so after each batch, as a call may end all of it."""
    left, batch = PLAN["count"], 0
    while left > 0:
        made = run_batch(f"{PLAN['seed']} {batch}", min(BATCH, left))
        left -= max(made, 1)
        batch += 1
        print(f"\ncalls {made}", flush=True)
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


main()
