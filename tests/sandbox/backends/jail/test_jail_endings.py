"""When a program is reported to have ended, and as what."""

from __future__ import annotations

import os
import signal
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spanproof.sandbox import FailureClass, Limits, Program, SessionSpec, ToolAnswer, ToolStub
from spanproof.sandbox.backends.jail.backend import JailSandbox

from .processes import HANGS_S, NAMED, comes, descendants, gone, is_zygote, lives, named, supervisor_of


def _zygote_at_rest(sandbox: JailSandbox, others: set[int]) -> int:
    """The zygote of a sandbox that has none but one supervisor, when its guest is one that has not run
    anything.

    First the one that has run must be gone, which is a process of the zygote's as well.
    """
    sandbox.run(Program("python", NAMED.format(name="has-run")))
    (zygote,) = [pid for pid in descendants(os.getpid(), but=others) if is_zygote(pid)]
    assert comes(lambda: not named("has-run") and bool(descendants(zygote)))
    return zygote


@pytest.mark.parametrize(("end", "code"), [("", 0), ("raise SystemExit(7)", 7), ("1/0", 1)])
def test_a_program_is_answered_before_the_kernel_has_ended_it(end: str, code: int) -> None:
    """Its one process, held at its end, runs no more: here no process can reap it when it is reported."""
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        zygote = _zygote_at_rest(sandbox, before)
        guest = descendants(zygote)
        os.kill(zygote, signal.SIGSTOP)
        execution = sandbox.run(Program("python", f"open('left', 'w').write('x'); print(1)\n{end}"))
        assert (execution.stdout, execution.exit_code, execution.files) == ("1\n", code, {"left": 1})
        os.kill(zygote, signal.SIGCONT)
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
    """So that what another thread or process of it does at last is part of what is reported."""
    before = descendants(os.getpid())
    with JailSandbox() as sandbox:
        zygote = _zygote_at_rest(sandbox, before)
        (guest,) = descendants(zygote)
        with ThreadPoolExecutor(1) as pool:
            source = NAMED.format(name="in-company") + f"import os, time\n{beside}\nos._exit(3)"
            os.kill(zygote, signal.SIGSTOP)
            running = pool.submit(sandbox.run, Program("python", source, limits=Limits(wall_s=HANGS_S)))
            assert comes(lambda: not lives(guest))  # a zombie: its zygote cannot reap it
            time.sleep(0.2)
            assert not running.done()
            os.kill(zygote, signal.SIGCONT)
            assert running.result().exit_code == 3
        assert gone(named("in-company"))


def test_a_program_has_no_child_whom_its_supervisor_cannot_reap() -> None:
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


def test_a_call_that_a_kept_supervisor_sees_past_the_deadline_is_not_late() -> None:
    spec = SessionSpec(tools=(ToolStub("t", ("key",)),), limits=Limits(wall_s=3, cpu_s=3))
    # It calls when it is ordered to, by a file that is open: to open one it would need its supervisor.
    source = "import os, time\nsign = os.open('/proc/self/oom_score_adj', os.O_RDONLY)\n"
    source += NAMED.format(name="a-caller") + "while os.pread(sign, 9, 0) != b'0\\n': time.sleep(0.01)\n"
    source += "x = t(1)\ntime.sleep(0.2)\nx"
    with (
        JailSandbox() as sandbox,
        sandbox.session(spec, lambda _: ToolAnswer(result="told")) as session,
        ThreadPoolExecutor(1) as pool,
    ):
        running = pool.submit(session.execute, source)
        assert comes(lambda: bool(named("a-caller")))
        (guest,) = named("a-caller")
        supervisor = supervisor_of(guest)
        os.kill(supervisor, signal.SIGSTOP)
        Path(f"/proc/{guest}/oom_score_adj").write_text("0")
        time.sleep(3.5)
        os.kill(supervisor, signal.SIGCONT)
        assert (running.result().failure_class, running.result().result) == (FailureClass.OK, "told")
        assert session.execute("while True: t(1)").failure_class is FailureClass.TIMEOUT
