"""Any process may die or be killed: nothing of it stays, and the next run finds another in its place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from control_groups import control_groups_of

from spanproof.sandbox import FailureClass, Limits, Program, SandboxBroken, SessionSpec, ToolAnswer
from spanproof.sandbox.backend import Session
from spanproof.sandbox.backends.jail.backend import JailSandbox
from spanproof.sandbox.supervisor.forkserver.host import Master

from .processes import (
    HANGS_S,
    NAMED,
    SETTLED,
    comes,
    descendants,
    gone,
    is_zygote,
    named,
    open_descriptors,
    parent_of,
    supervisor_beside,
    supervisor_of,
)

ROUNDS = 50
"""Within which a zygote is stopped before it has made the next guest."""
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


def test_killing_the_host_ends_everything() -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "ready\n"
        assert comes(lambda: len(descendants(host.pid)) > SETTLED)  # the program, and its child
        started = descendants(host.pid)
        host.kill()
        host.wait()
        assert gone(started)
        assert not control_groups_of(host.pid)


def test_killing_the_master_ends_everything_and_the_next_run_starts_anew() -> None:
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        started = descendants(os.getpid(), but=before)
        top = [pid for pid in started if parent_of(pid) == os.getpid()]
        for pid in top:
            os.kill(pid, signal.SIGKILL)
        assert gone(started)
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def test_a_master_that_dies_under_a_session_is_replaced_at_once() -> None:
    """What waits for the master's end outlives it by a moment: a caller meanwhile gets a supervisor.

    The kernel ends the master's namespace in its own time: a step that was quicker is answered.
    """
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        session = sandbox.session(SessionSpec(), lambda _call: ToolAnswer())
        started = {pid: parent_of(pid) for pid in descendants(os.getpid(), but=before)}
        (top,) = [pid for pid, parent in started.items() if parent == os.getpid()]
        (master,) = [pid for pid, parent in started.items() if parent == top]
        os.kill(master, signal.SIGKILL)
        with pytest.raises(SandboxBroken):
            _ask_on(session)
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def _ask_on(session: Session) -> None:
    for _ in range(10_000):
        session.execute("1")


def test_a_supervisor_that_dies_is_reported_and_replaced() -> None:
    with JailSandbox() as sandbox:
        sandbox.run(Program("python", "pass"))
        with ThreadPoolExecutor(1) as pool:
            source = NAMED.format(name="a-guest") + "import time; time.sleep(3600)"
            running = pool.submit(sandbox.run, Program("python", source, limits=Limits(wall_s=120)))
            assert comes(lambda: bool(named("a-guest")))
            os.kill(supervisor_of(*named("a-guest")), signal.SIGKILL)
            with pytest.raises(SandboxBroken):
                running.result()
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


def test_a_supervisor_that_cannot_be_started_leaves_no_descriptor() -> None:
    others = descendants(os.getpid())
    master = Master()
    try:
        before = open_descriptors()
        started = descendants(os.getpid(), but=others)
        (launcher,) = [pid for pid in started if parent_of(pid) == os.getpid()]
        os.kill(launcher, signal.SIGKILL)
        assert gone({launcher})
        with pytest.raises(SandboxBroken) as kept:  # with all that its frames hold
            master.start_supervisor()
        assert open_descriptors() <= before, kept
    finally:
        master.close()


def test_a_supervisor_whose_zygote_dies_while_it_makes_a_guest_ends_and_is_replaced() -> None:
    with JailSandbox() as sandbox:
        zygote, supervisor = _stop_zygote_between_runs(sandbox)
        time.sleep(0.5)  # for the supervisor to ask it; one that has not yet done so gets the same answer
        os.kill(zygote, signal.SIGKILL)
        assert gone({supervisor})
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"


@pytest.mark.parametrize("killed", ["zygote", "supervisor"])
def test_a_program_given_to_a_supervisor_that_ends_before_it_begins_is_run_by_another(killed: str) -> None:
    with JailSandbox() as sandbox, ThreadPoolExecutor(1) as pool:
        zygote, supervisor = _stop_zygote_between_runs(sandbox)
        waiting = pool.submit(sandbox.run, Program("python", "print(1)"))
        time.sleep(0.5)  # for the program to be sent; one that was not is run by another supervisor too
        os.kill(zygote if killed == "zygote" else supervisor, signal.SIGKILL)
        assert waiting.result().stdout == "1\n"
        with suppress(ProcessLookupError):
            os.kill(zygote, signal.SIGCONT)  # it is stopped, and its supervisor is reaped after it
        assert gone({supervisor})


def test_a_session_given_to_a_supervisor_that_ends_before_it_begins_is_held_by_another() -> None:
    with JailSandbox() as sandbox, ThreadPoolExecutor(1) as pool:
        zygote, supervisor = _stop_zygote_between_runs(sandbox)
        waiting = pool.submit(sandbox.session, SessionSpec(), lambda _call: ToolAnswer())
        time.sleep(0.5)
        os.kill(zygote, signal.SIGKILL)
        session = waiting.result()
        assert session.execute("print(1)").stdout == "1\n"
        session.close()
        assert gone({supervisor})


def _stop_zygote_between_runs(sandbox: JailSandbox) -> tuple[int, int]:
    """Run a program, and stop the zygote before it has made the next guest; it and its supervisor."""
    before = descendants(os.getpid())
    # What lies in the box takes a while to be taken away, and only then is the next guest requested.
    source = "for number in range(1_000): open(f'{number}', 'w').write('x' * 30_000)"
    source += "\nimport sys; sys.stdout.write('done')"
    sandbox.run(Program("python", "pass"))
    (zygote,) = [pid for pid in descendants(os.getpid(), but=before) if is_zygote(pid)]
    supervisor = supervisor_beside(zygote)
    for _ in range(ROUNDS):
        assert sandbox.run(Program("python", source, limits=Limits(wall_s=HANGS_S))).stdout == "done"
        os.kill(zygote, signal.SIGSTOP)
        assert comes(lambda: Path(f"/proc/{zygote}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        if not descendants(zygote):
            break
        os.kill(zygote, signal.SIGCONT)  # it was quicker: the next guest is there
    return zygote, supervisor


def test_a_zygote_that_is_killed_for_want_of_memory_takes_nothing_along() -> None:
    """Here before its guest, whose limit the kernel reaches mostly before the meter looks."""
    source = NAMED.format(name="a-hog") + textwrap.dedent(
        """
        import mmap, time
        while open("/proc/self/oom_score_adj").read() != "0\\n": time.sleep(0.01)
        shared = [mmap.mmap(-1, 50_000_000) for _ in range(100)]
        for one in shared: one.write(b"x" * 50_000_000)
        """
    )
    limits = Limits(wall_s=HANGS_S, cpu_s=HANGS_S, memory_bytes=2**28, disk_bytes=2**16)
    program = Program("python", source, limits=limits)
    with JailSandbox() as sandbox, ThreadPoolExecutor(1) as pool:
        for _ in range(4):
            running = pool.submit(sandbox.run, program)
            assert comes(lambda: bool(named("a-hog")))
            (guest,) = named("a-hog")
            Path(f"/proc/{parent_of(guest)}/oom_score_adj").write_text("1000")
            Path(f"/proc/{guest}/oom_score_adj").write_text("0")
            assert running.result().failure_class is FailureClass.OUT_OF_MEMORY
        assert sandbox.run(Program("python", "print(1)")).stdout == "1\n"
