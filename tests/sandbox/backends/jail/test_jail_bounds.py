"""What a run is bounded in that only the machine around it can bound: its memory, its processes."""

from __future__ import annotations

import os
import textwrap

import pytest
from control_groups import control_groups_of

from spanproof.sandbox import FailureClass, Limits, Program, Tier
from spanproof.sandbox.backends.jail.backend import JailSandbox

from .processes import HANGS_S, SETTLED, comes, descendants


def test_what_a_program_tried_is_reported_also_when_memory_runs_out() -> None:
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
        limits=Limits(wall_s=HANGS_S, cpu_s=HANGS_S, memory_bytes=2**27),
    )
    with JailSandbox() as sandbox:
        for _ in range(8):
            execution = sandbox.run(program)
            assert execution.failure_class is FailureClass.OUT_OF_MEMORY
            assert [one.target for one in execution.attempts] == ["192.0.2.1:443"]


def test_the_group_of_a_supervisor_bounds_its_processes_where_their_own_bound_is_higher() -> None:
    limits = Limits(wall_s=HANGS_S, cpu_s=HANGS_S, memory_bytes=2**33, processes=1_500)
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
        # The group counts the spawner, the supervisor, the zygote and the program's main process too.
        assert int(execution.stdout) == (1_024 - 4 if groups else 1_500 - 1)
        assert sandbox.run(Program("python", "import os\nif os.fork(): print(os.wait()[1])")).stdout == "0\n"
        assert comes(lambda: len(descendants(os.getpid(), but=before)) <= SETTLED)


@pytest.mark.parametrize("tier", Tier)
def test_a_program_has_sixteen_sessions_at_once_and_more_are_recorded(tier: Tier) -> None:
    source = """
        import os, signal
        born = [os.pipe() for _ in range(30)]
        for _, end in born:
            if os.fork() == 0:
                try:
                    os.setsid(); os.write(end, b"y")
                except PermissionError: os.write(end, b"n")
                signal.pause()
        print(sum(os.read(end, 1) == b"y" for end, _ in born))
    """
    with JailSandbox(tier=tier) as sandbox:
        for _ in range(2):
            execution = sandbox.run(Program("python", textwrap.dedent(source)))
            assert execution.stdout == "15\n", execution  # the main process has one
            assert [(one.kind, one.target, one.allowed) for one in execution.attempts] == [
                ("process", "setsid", False)
            ]


def test_a_program_has_as_many_processes_as_its_bound_and_none_more() -> None:
    source = """
        import os, signal
        count = 1
        try:
            while True:
                if os.fork() == 0: signal.pause()
                count += 1
        except BlockingIOError:
            print(count)
    """
    limits = Limits(wall_s=HANGS_S, cpu_s=HANGS_S, processes=10)
    with JailSandbox() as sandbox:
        for _ in range(2):
            assert sandbox.run(Program("python", textwrap.dedent(source), limits=limits)).stdout == "10\n"
