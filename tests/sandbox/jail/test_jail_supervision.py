"""Whoever dies, nothing stays: processes, control groups, descriptors, mounts.

Of this process's descendants and descriptors only those count that came with the sandbox: a Docker daemon of
other tests may be its child. What is waited for comes, however busy the machine is; the limit is for a hang.
"""

from __future__ import annotations

import contextlib
import gc
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
from spanproof.sandbox import (
    FailureClass,
    Limits,
    Program,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)
from spanproof.sandbox.backend import Foreseen, Session
from spanproof.sandbox.jail.backend import JailSandbox
from spanproof.sandbox.jail.host import Master

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


_HANGS_S = 120.0
_SETTLED = 6
"""Processes of a jail: a launcher, the master, a keeper, its slot, its stem, and the guest that is armed."""
_NAMED = "import ctypes; ctypes.CDLL(None).prctl(15, b'{name}')\n"
"""A program's name, as everybody on the machine sees it."""


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


def comes(found: Callable[[], bool]) -> bool:
    """Whether something comes true."""
    deadline = time.monotonic() + _HANGS_S
    while not found():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(pids: set[int]) -> bool:
    """Whether all of them end; a zombie has ended."""
    return comes(lambda: not any(_lives(pid) for pid in pids))


def named(name: str) -> set[int]:
    """Those of our descendants that call themselves so."""
    found = set()
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text() == f"{name}\n":
                found.add(pid)
    return found


def open_descriptors() -> set[tuple[str, str]]:
    """Number and meaning of each, but for what is garbage, and the one that looks."""
    gc.collect()
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add((entry.name, str(entry.readlink())))
    return {(number, place) for number, place in found if not place.startswith("/proc/")}


def control_groups_of(pid: int) -> set[Path]:
    """Those this process's sandboxes hold, where there are any at all."""
    held = Path("/sys/fs/cgroup").rglob(f"spanproof-jail-*-{pid}")
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
        assert comes(lambda: len(descendants(host.pid)) > _SETTLED)  # the program, and its child
        started = descendants(host.pid)
        host.kill()
        host.wait()
        assert gone(started)
        assert not control_groups_of(host.pid)


def test_killing_the_master_ends_everything_and_the_next_run_starts_anew() -> None:
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        started = descendants(os.getpid()) - before
        top = [pid for pid in started if Path(f"/proc/{pid}/stat").read_text().split()[3] == str(os.getpid())]
        for pid in top:
            os.kill(pid, signal.SIGKILL)
        assert gone(started)
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def test_a_master_that_dies_under_a_session_is_replaced_at_once() -> None:
    """What waits for the master's end outlives it by a moment: who asks again meanwhile gets a slot.

    The kernel ends the master's namespace in its own time: a step that was quicker is answered.
    """
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        session = sandbox.session(SessionSpec(), lambda _call: ToolAnswer())
        started = {pid: _parent_of(pid) for pid in descendants(os.getpid()) - before}
        (top,) = [pid for pid, parent in started.items() if parent == os.getpid()]
        (master,) = [pid for pid, parent in started.items() if parent == top]
        os.kill(master, signal.SIGKILL)
        with pytest.raises(SandboxBroken):
            _ask_on(session)
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def _ask_on(session: Session) -> None:
    for _ in range(10_000):
        session.execute("1")


def _parent_of(pid: int) -> int:
    """Nobody's, of a guest that is gone meanwhile: it was answered before it was."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_a_slot_that_dies_is_reported_and_replaced() -> None:
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        with ThreadPoolExecutor(1) as pool:
            source = _NAMED.format(name="a-guest") + "import time; time.sleep(3600)"
            running = pool.submit(sandbox.run, Program("python", source, limits=Limits(wall_s=120)))
            assert comes(lambda: bool(named("a-guest")))
            os.kill(_slot_of(*named("a-guest")), signal.SIGKILL)
            with pytest.raises(SandboxBroken):
                running.result()
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


@pytest.mark.parametrize("foreseen", [False, True])
def test_a_call_that_a_kept_slot_sees_past_the_deadline_is_not_late(foreseen: bool) -> None:
    spec = SessionSpec(tools=(ToolStub("t", ("key",)),), limits=Limits(wall_s=2, cpu_s=2))
    source = _NAMED.format(name="a-caller") + "import time\ntime.sleep(1)\nx = t(1)\ntime.sleep(0.2)\nx"
    call = (ToolRequest("t", (), {"key": 1}), ToolAnswer(result="told"))
    with JailSandbox() as sandbox, sandbox.session(spec, lambda _: call[1]) as session:
        if foreseen:
            session.foresee([Foreseen(source, (call,))])
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(session.execute, source)
            assert comes(lambda: bool(named("a-caller")))
            slot = _slot_of(*named("a-caller"))
            os.kill(slot, signal.SIGSTOP)
            time.sleep(2.5)
            os.kill(slot, signal.SIGCONT)
            assert (running.result().failure_class, running.result().result) == (FailureClass.OK, "told")
            assert session.execute("while True: t(1)").failure_class is FailureClass.TIMEOUT


def test_a_slot_whose_stem_dies_while_it_makes_a_guest_ends_and_is_replaced() -> None:
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        # What lies in the box takes a while to be taken away, and only then is the next guest asked for.
        source = "for number in range(1_000): open(f'{number}', 'w').write('x' * 30_000)"
        source += "\nimport sys; sys.stdout.write('done')"
        sandbox.run(Program("python", "pass"))
        (stem,) = [pid for pid in descendants(os.getpid()) - before if _is_stem(pid)]
        slot = _slot_beside(stem)
        assert sandbox.run(Program("python", source, limits=Limits(wall_s=_HANGS_S))).stdout == "done"
        os.kill(stem, signal.SIGSTOP)
        time.sleep(0.5)  # for the slot to ask it; one that has not yet done so is told the same
        os.kill(stem, signal.SIGKILL)
        assert gone({slot})
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def _is_stem(pid: int) -> bool:
    """Whether it is filtered, and sees its guests from outside."""
    status = _status(pid)
    return "Seccomp:\t2" in status and len(_numbers(pid)) == len(_numbers(_parent_of(pid)))


def _slot_beside(stem: int) -> int:
    """The slot that a stem's keeper keeps: process 1 of the namespace of the stem's guests."""
    keeper, depth = _parent_of(stem), len(_numbers(stem))
    (slot,) = [
        pid for pid in descendants(keeper) if _parent_of(pid) == keeper and _numbers(pid)[depth:] == ["1"]
    ]
    return slot


def test_what_a_program_tried_is_told_also_when_memory_runs_out() -> None:
    """Shared pages outlive their owner a little, and meanwhile the kernel looks for somebody else to kill."""
    program = Program(
        "python",
        """
        import mmap, socket
        try: socket.create_connection(("192.0.2.1", 443))
        except OSError: pass
        shared = [mmap.mmap(-1, 50_000_000) for _ in range(100)]
        for one in shared: one.write(b"x" * 50_000_000)
        """.replace("\n        ", "\n"),
        limits=Limits(memory_bytes=2**27),
    )
    with JailSandbox() as sandbox:
        for _ in range(8):
            execution = sandbox.run(program)
            assert execution.failure_class is FailureClass.OUT_OF_MEMORY
            assert [one.target for one in execution.attempts] == ["192.0.2.1:443"]


def test_a_stem_that_is_killed_for_want_of_memory_takes_nothing_along() -> None:
    """Here before its guest, whose limit the kernel reaches mostly before the meter looks."""
    source = _NAMED.format(name="a-hog") + textwrap.dedent(
        """
        import mmap, time
        while open("/proc/self/oom_score_adj").read() != "0\\n": time.sleep(0.01)
        shared = [mmap.mmap(-1, 50_000_000) for _ in range(100)]
        for one in shared: one.write(b"x" * 50_000_000)
        """
    )
    program = Program("python", source, limits=Limits(memory_bytes=2**28, disk_bytes=2**16))
    with JailSandbox() as sandbox, ThreadPoolExecutor(1) as pool:
        for _ in range(4):
            running = pool.submit(sandbox.run, program)
            assert comes(lambda: bool(named("a-hog")))
            (guest,) = named("a-hog")
            Path(f"/proc/{_parent_of(guest)}/oom_score_adj").write_text("1000")
            Path(f"/proc/{guest}/oom_score_adj").write_text("0")
            assert running.result().failure_class is FailureClass.OUT_OF_MEMORY
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def _slot_of(guest: int) -> int:
    """The process 1 of a guest's process namespace, in its sandbox: a pytest may have others open."""
    depth, keeper = len(_numbers(guest)), _parent_of(_parent_of(guest))
    first = [pid for pid in descendants(os.getpid()) if _numbers(pid)[depth - 1 :] == ["1"]]
    (slot,) = [pid for pid in first if _parent_of(pid) == keeper]
    return slot


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""


def _numbers(pid: int) -> list[str]:
    """A process's number in each process namespace, from ours inwards."""
    for line in _status(pid).splitlines():
        if line.startswith("NSpid:"):
            return line.split()[1:]
    return []


def _stem_at_rest(sandbox: JailSandbox, others: set[int]) -> int:
    """The stem of a sandbox that has none but one slot, when its guest is one that has not run anything."""
    sandbox.run(Program("python", _NAMED.format(name="has-run")))
    (stem,) = [pid for pid in descendants(os.getpid()) - others if _is_stem(pid)]
    assert comes(lambda: bool(descendants(stem)) and not named("has-run"))
    return stem


@pytest.mark.parametrize(("end", "code"), [("", 0), ("raise SystemExit(7)", 7), ("1/0", 1)])
def test_a_program_is_answered_before_the_kernel_has_ended_it(end: str, code: int) -> None:
    """Its one process, held at its end, runs no more: here nobody can reap it when it is told."""
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        stem = _stem_at_rest(sandbox, before)
        guest = descendants(stem)
        os.kill(stem, signal.SIGSTOP)
        execution = sandbox.run(Program("python", f"open('left', 'w').write('x'); print(1)\n{end}"))
        assert (execution.stdout, execution.exit_code, execution.files) == ("1\n", code, {"left": 1})
        os.kill(stem, signal.SIGCONT)
        assert gone(guest)
        assert sandbox.run(Program("python", "import os; print(os.listdir())")).stdout == "[]\n"


@pytest.mark.parametrize(
    "beside",
    [
        "import threading; threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()",
        "if os.fork() == 0: time.sleep(3600)",
        "if os.fork() == 0:\n    if os.fork() == 0: time.sleep(3600)\n    os._exit(0)\nos.wait()",
        "if os.fork() == 0: os._exit(0)\nos.wait()",
    ],
)
def test_a_program_that_was_not_alone_is_answered_when_it_has_ended(beside: str) -> None:
    """So that what another thread or process of it does at last is part of what is told."""
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        stem = _stem_at_rest(sandbox, before)
        (guest,) = descendants(stem)
        with ThreadPoolExecutor(1) as pool:
            source = _NAMED.format(name="in-company") + f"import os, time\n{beside}\nos._exit(3)"
            os.kill(stem, signal.SIGSTOP)
            running = pool.submit(sandbox.run, Program("python", source, limits=Limits(wall_s=_HANGS_S)))
            assert comes(lambda: not _lives(guest))  # a zombie: its stem cannot reap it
            time.sleep(0.2)
            assert not running.done()
            os.kill(stem, signal.SIGCONT)
            assert running.result().exit_code == 3
        assert gone(named("in-company"))


def test_a_program_has_no_child_whom_its_slot_cannot_reap() -> None:
    source = """
        import ctypes, time
        CLONE_PARENT, SIGCHLD = 0x8000, 17
        number = {"x86_64": 56, "aarch64": 220}[__import__("os").uname().machine]
        if ctypes.CDLL(None).syscall(number, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0:
            time.sleep(3600)
    """
    with JailSandbox() as sandbox:
        execution = sandbox.run(Program("python", textwrap.dedent(source)))
        assert execution.failure_class is FailureClass.UNSAFE_OPERATION
        assert [(one.target, one.allowed) for one in execution.attempts] == [("clone", False)]
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def test_a_slot_that_cannot_be_started_leaves_no_descriptor() -> None:
    others = descendants(os.getpid())
    master = Master()
    try:
        before = open_descriptors()
        started = descendants(os.getpid()) - others
        (launcher,) = [pid for pid in started if _parent_of(pid) == os.getpid()]
        os.kill(launcher, signal.SIGKILL)
        assert gone({launcher})
        with pytest.raises(SandboxBroken) as kept:  # with all that its frames hold
            master.slot()
        assert open_descriptors() <= before, kept
    finally:
        master.close()


def test_the_group_of_a_slot_bounds_its_processes_where_their_own_bound_is_higher() -> None:
    limits = Limits(wall_s=_HANGS_S, cpu_s=_HANGS_S, memory_bytes=2**33, processes=1_500)
    source = """
        import os, signal
        count = 0
        try:
            while True:
                if os.fork() == 0: signal.pause()
                count += 1
        except BlockingIOError:
            print(count)
    """
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        groups = control_groups_of(os.getpid())
        execution = sandbox.run(Program("python", textwrap.dedent(source), limits=limits))
        assert execution.exit_code == 0, execution
        # The group counts the keeper, the slot, the stem and the program's main process too.
        assert int(execution.stdout) == (1_024 - 4 if groups else 1_500 - 1)
        assert sandbox.run(Program("python", "import os\nif os.fork(): print(os.wait()[1])")).stdout == "0\n"
        assert comes(lambda: len(descendants(os.getpid()) - before) <= _SETTLED)


def test_closing_leaves_nothing(mounts: Callable[[], frozenset[str]]) -> None:
    mounted = mounts()
    descriptors = open_descriptors()
    groups = control_groups_of(os.getpid())
    before = descendants(os.getpid())
    sandbox = JailSandbox(workers=2)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: sandbox.run(Program("python", "open('x', 'w')")), range(6)))
    session = sandbox.session(SessionSpec(), lambda request: ToolAnswer())
    session.execute("x = 1")
    started = descendants(os.getpid()) - before
    assert len(started) > _SETTLED
    sandbox.close()
    session.close()
    assert gone(started)
    assert mounts() <= mounted
    assert open_descriptors() <= descriptors
    assert control_groups_of(os.getpid()) <= groups


def test_two_hundred_runs_leak_no_descriptor_and_no_process() -> None:
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        program = Program("python", "import os\nif os.fork() == 0:\n    import time; time.sleep(3600)")
        sandbox.run(program)
        descriptors = open_descriptors()
        for _ in range(200):
            assert sandbox.run(program).failure_class is FailureClass.OK
        assert len(open_descriptors()) <= len(descriptors)
        assert len(descendants(os.getpid()) - before) <= _SETTLED
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
