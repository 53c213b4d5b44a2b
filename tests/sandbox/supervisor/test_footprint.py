"""What every guest writes to is copied by the fork, where it can be pinned; no guest holds the pins."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from spanproof.sandbox import Program, Sandbox, kernel
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.forkserver import footprint

_PINNED_IS_COPIED = """
import ctypes, mmap, os
from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.forkserver import footprint
memory = mmap.mmap(-1, 4 * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory[:] = b"x" * len(memory)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
ring = kernel.pin([(start + mmap.PAGESIZE, 2 * mmap.PAGESIZE)])
if os.fork() == 0:
    own = footprint.find_own_pages(os.getpid())
    print(*(number for number in range(4) if start // mmap.PAGESIZE + number in own), flush=True)
    os._exit(0)
os.wait()
"""

_DESCRIPTORS = """
import contextlib, os
for number in range(1024):
    with contextlib.suppress(OSError):
        print(os.readlink(f"/proc/self/fd/{number}"))
"""


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def can_pin() -> bool:
    """Whether this machine lets a process pin pages; where it does, a fork must copy them."""
    script = [sys.executable, "-c", _PINNED_IS_COPIED]
    shown = subprocess.run(script, capture_output=True, text=True, check=False)
    if shown.returncode == 0:
        assert shown.stdout == "1 2\n"
    else:
        assert "io_uring" in shown.stderr
    return shown.returncode == 0


def test_guests_are_born_with_copies_of_the_pages_they_write_to(jail: Sandbox, can_pin: bool) -> None:
    faults = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"
    found = [int(jail.run(Program("python", faults)).stdout) for _ in range(5)]
    assert min(found) < (100 if can_pin else 350)


def test_no_guest_holds_the_pins(jail: Sandbox) -> None:
    shown = jail.run(Program("python", _DESCRIPTORS)).stdout
    assert "pipe:" in shown
    assert "io_uring" not in shown


def test_where_nothing_can_be_pinned_no_range_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_ranges: object) -> int:
        raise PermissionError

    monkeypatch.setattr(kernel, "pin", refuse)
    assert footprint.pin(((4096, 4096),)) is None
    assert footprint.pin(()) is None
