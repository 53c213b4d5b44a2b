"""Nothing stays of many runs, or of a closed sandbox: no process, descriptor, mount or control group."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from control_groups import control_groups_of

from spanproof.sandbox import FailureClass, Program, SessionSpec, ToolAnswer
from spanproof.sandbox.backends.jail.backend import JailSandbox

from .processes import SETTLED, comes, descendants, gone, open_descriptors

LEAKS = Path(__file__).parents[3] / "bench" / "leaks.py"


def test_three_hundred_runs_leave_nothing() -> None:
    """The leak check of tests/bench, a short one."""
    command = [sys.executable, str(LEAKS), "300", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout)
    assert counts["leaks"] == []
    # Two supervisors with their guests: after a run with tests one of them has a judge ready as well.
    assert counts["before"]["processes"] == counts["after"]["processes"] == 11
    assert counts["closed"]["processes"] == 0


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
    started = descendants(os.getpid(), but=before)
    assert len(started) > SETTLED
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
        assert comes(lambda: len(descendants(os.getpid(), but=before)) <= SETTLED)
        assert (
            sandbox.run(Program("python", "import os; print(len(os.listdir('/proc/self/fd')) < 8)")).stdout
            == "True\n"
        )
