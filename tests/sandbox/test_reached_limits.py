"""Which limit a program reached, of programs in the jail; and that the limit can be raised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from spanproof.sandbox import FailureClass, Limits, Program, Sandbox
from spanproof.sandbox.limits import find_reached_limit
from spanproof.sandbox.registry import open_sandbox

HUNDRED_THREADS = """\
import threading
gate = threading.Event()
threads = [threading.Thread(target=gate.wait) for _ in range(100)]
try:
    for thread in threads:
        thread.start()
finally:
    gate.set()
print(len(threads))
"""

LOW = Limits(
    wall_s=0.5,
    cpu_s=0.5,
    memory_bytes=64 * 2**20,
    processes=8,
    output_bytes=100,
    output_kill_bytes=100_000,
    disk_bytes=2**20,
    open_files=64,
)


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("wall_s", "while True: pass"),
        ("memory_bytes", "x = bytearray(10**9)"),
        ("processes", HUNDRED_THREADS),
        ("output_bytes", "print('x' * 1000)"),
        ("output_kill_bytes", "while True: print('x' * 1000)"),
        ("disk_bytes", "open('a', 'wb').write(bytes(5 * 10**6))"),
        ("open_files", "files = [open('/dev/null') for _ in range(200)]"),
    ],
)
def test_a_reached_limit_is_named(jail: Sandbox, name: str, source: str) -> None:
    roomy = replace(Limits(), **{name: getattr(LOW, name)})
    reached = find_reached_limit(jail.run(Program("python", source, limits=roomy)), roomy)
    assert reached is not None
    assert (reached.name, reached.value) == (name, getattr(LOW, name))


def test_a_program_within_its_limits_reaches_none(jail: Sandbox) -> None:
    for source in ("print(1)", "raise ValueError('[Errno x] no')", "raise OSError(2, 'no such file')"):
        assert find_reached_limit(jail.run(Program("python", source)), Limits()) is None


def test_a_hundred_threads_run_where_the_limit_is_raised(jail: Sandbox) -> None:
    execution = jail.run(Program("python", HUNDRED_THREADS, limits=Limits(processes=150)))
    assert (execution.failure_class, execution.stdout) == (FailureClass.OK, "100\n")
