"""Whoever dies, nothing stays: processes, control groups, descriptors, mounts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import spanproof.sandbox
from spanproof.sandbox import FailureClass, Limits, Program, SandboxBroken, SessionSpec, ToolAnswer
from spanproof.sandbox.jail.backend import JailSandbox

HOST = textwrap.dedent(
    """
    import sys, threading
    from spanproof.sandbox import Program, Limits
    from spanproof.sandbox.registry import open_sandbox
    sandbox = open_sandbox()
    sandbox.run(Program("python", "pass"))
    print("ready", flush=True)
    sandbox.run(Program("python", "import os, time; os.fork(); time.sleep(60)", limits=Limits(wall_s=60)))
    """
)


def descendants(pid: int) -> set[int]:
    """Every live process under this one."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def gone(pids: set[int], within_s: float = 5.0) -> bool:
    """Whether all of them end in time; a zombie has ended."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(_lives(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def open_descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def control_groups_of(pid: int) -> set[Path]:
    """Those this process's sandboxes hold, where there are any at all."""
    held = Path("/sys/fs/cgroup").rglob(f"spanproof-jail-{pid}")
    return {group for base in held for group in (base, *base.rglob("*/"))}


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_killing_the_host_ends_everything() -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "ready\n"
        time.sleep(0.3)
        started = descendants(host.pid)
        assert len(started) >= 4
        host.kill()
        host.wait()
        assert gone(started)
        assert not control_groups_of(host.pid)


def test_killing_the_master_ends_everything_and_the_next_run_starts_anew() -> None:
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        started = descendants(os.getpid())
        top = [pid for pid in started if Path(f"/proc/{pid}/stat").read_text().split()[3] == str(os.getpid())]
        for pid in top:
            os.kill(pid, signal.SIGKILL)
        assert gone(started)
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def test_a_slot_that_dies_is_reported_and_replaced() -> None:
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(
                sandbox.run, Program("python", "import time; time.sleep(20)", limits=Limits(wall_s=20))
            )
            time.sleep(0.3)
            deepest = max(descendants(os.getpid()), key=_depth)
            os.kill(_parent(deepest), signal.SIGKILL)
            with pytest.raises(SandboxBroken):
                running.result()
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _depth(pid: int) -> int:
    depth = 0
    while pid > 1:
        pid, depth = _parent(pid), depth + 1
    return depth


def test_closing_leaves_nothing(mounts: Callable[[], frozenset[str]]) -> None:
    mounted = mounts()
    descriptors = open_descriptors()
    groups = control_groups_of(os.getpid())
    sandbox = JailSandbox(workers=2)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: sandbox.run(Program("python", "open('x', 'w')")), range(6)))
    session = sandbox.session(SessionSpec(), lambda request: ToolAnswer())
    session.execute("x = 1")
    started = descendants(os.getpid())
    sandbox.close()
    session.close()
    assert gone(started)
    assert mounts() == mounted
    assert open_descriptors() == descriptors
    assert control_groups_of(os.getpid()) == groups


def test_two_hundred_runs_leak_no_descriptor_and_no_process() -> None:
    with JailSandbox() as sandbox:
        program = Program("python", "import os\nif os.fork() == 0:\n    import time; time.sleep(9)")
        sandbox.run(program)
        descriptors = open_descriptors()
        settled = 6  # a launcher, the master, a keeper, its slot, its stem, and the guest that is armed
        for _ in range(200):
            assert sandbox.run(program).failure_class is FailureClass.OK
        assert len(open_descriptors()) == len(descriptors)
        assert len(descendants(os.getpid())) <= settled
        assert (
            sandbox.run(Program("python", "import os; print(len(os.listdir('/proc/self/fd')) < 8)")).stdout
            == "True\n"
        )


def test_an_interpreter_under_tmp_works_and_is_read_only(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    program = """
        from spanproof.sandbox import Program
        from spanproof.sandbox.registry import open_sandbox
        source = "import os, sys; open('/tmp/x', 'w').close(); print(os.path.exists(sys.executable))"
        with open_sandbox() as sandbox:
            for _ in range(2):
                print(sandbox.run(Program("python", source)).stdout, end="")
            refused = sandbox.run(Program("python", "import sys; open(sys.prefix + '/x', 'w')"))
            print(refused.failure_class, refused.attempts[0].allowed)
    """
    root = str(Path(spanproof.sandbox.__file__).parents[2])
    done = subprocess.run(
        [str(tmp_path / "venv/bin/python"), "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["True", "True", "permission_denied False"], done.stderr
