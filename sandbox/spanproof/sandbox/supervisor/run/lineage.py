"""Which step of a session began a thread or a process, and keeping all of them still between two steps.

In: the forks that a guest makes, each held by the kernel until it has been counted here. Out: the step of any
task by its number. The main thread acts for the step at hand; every other task for the step whose task made
it, however late it acts.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.reporter import STEPS_FD
from spanproof.sandbox.supervisor.namespaces.process_tree import (
    STARTED,
    STATE,
    SYSTEM_TICKS,
    USER_TICKS,
    Namespace,
    read_stat_fields,
)
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, NONE_YET, Answer, Notification
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch

BEFORE = -1
"""The step before the first one."""
_ROUNDS = 64  # Of stopping processes while others are born: a stopped one forks no more
_STILL_S = 1.0
# CPU time, in the kernel's ticks, after which a task has left the call by which it forked.
_TICKS = 2
# FUTEX_WAIT, FUTEX_WAIT_BITSET and FUTEX_WAIT_REQUEUE_PI, whose fourth argument is the time-out.
_FUTEX_WAITS = frozenset((0, 9, 11))
# Calls without a time-out: only another task, or a signal, ends them.
_WAITS_FOR_OTHERS = frozenset(("pause", "rt_sigsuspend", "wait4", "waitid"))

_READS = frozenset(("read", "readv"))
# What only another task makes readable; a socket may have a time-out of its own.
_FED_BY_OTHERS = ("pipe:", "anon_inode:[eventfd]")

_SIGNALS = re.compile(rb"^Sig(?:Blk|Cgt):\t(\w+)", re.MULTILINE)
_ALARM = 1 << (signal.SIGALRM - 1)
_TIMEOUT_AT = {
    "epoll_wait": 3,
    "epoll_pwait": 3,
    "poll": 2,
    "ppoll": 2,
    "select": 4,
    "pselect6": 4,
    "rt_sigtimedwait": 2,
}
_IN_MILLISECONDS = frozenset(("epoll_wait", "epoll_pwait", "poll"))


@dataclass(frozen=True, slots=True)
class _Fork:
    """A fork that was let go: the step it belongs to, and the CPU ticks its task had used before."""

    step: int
    ticks: int


class Lineage:
    """The tasks of one session."""

    def __init__(self, tree: Namespace, main: int, arch: Arch) -> None:
        """Begin before the first step; what lives now beside the main process is none of the session's."""
        self._tree = tree
        self._main = main
        self._names = {number: name for name, number in arch.numbers.items()}
        self._ours = frozenset(map(int, tree.pids())) - {main}
        self.step = BEFORE
        self._has_forked = False
        # Step by thread number, beside when the thread began: numbers come again.
        self._steps: dict[int, tuple[int, int]] = {}
        # The last fork of each task, as long as what it made may be unknown.
        self._forks: dict[int, _Fork] = {}

        self._deferred: list[Notification] = []
        self._stopped: list[int] = []

    def step_of(self, task: int) -> int:
        """Return the step that a task acts for."""
        if task == self._main:
            return self.step
        known = self._steps.get(task)
        if known is None or known[0] != _read_start_time(task):
            self._learn()
            known = self._steps.get(task)
        return self.step if known is None else known[1]

    def fork(self, call: Notification) -> Answer:
        """Let a fork go, unless tasks of two steps would fork at once: what each makes must be known."""
        self._has_forked = True
        if not self._may_fork(call.pid):
            self._deferred.append(call)
            return NONE_YET
        return GO_ON

    def release(self) -> list[Notification]:
        """Return the deferred forks that may go now."""
        waiting, self._deferred = self._deferred, []
        released: list[Notification] = []
        for call in waiting:
            if _read_state(call.pid) == "X":
                continue
            (released if self._may_fork(call.pid) else self._deferred).append(call)
        return released

    @property
    def is_deferring(self) -> bool:
        """Whether a fork waits to be let go."""
        return bool(self._deferred)

    def begin(self) -> None:
        """Turn to the next step, and let go on what was kept still."""
        if self._has_forked:
            self._retire()
        self.step += 1
        self.thaw()

    def freeze(self) -> None:
        """Stop every process; the main thread waits in a held call."""
        if not self._has_forked:
            return
        for _ in range(_ROUNDS):
            going = [
                pid
                for pid in self._list_processes()
                if pid not in self._stopped and _read_state(pid) not in "TZX"
            ]
            if not going:
                break
            for pid in going:
                self._stop(pid)
            self._stopped += going
        deadline = time.monotonic() + _STILL_S
        while any(_read_state(task) == "R" for task in self._iterate_tasks()) and time.monotonic() < deadline:
            time.sleep(0.0001)

    def _stop(self, pid: int) -> None:
        """Stop a process by a thread that is not the main one: in its held call that takes no signal."""
        try:
            threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - names only
        except OSError:
            return
        for thread in threads:
            if thread != self._main:
                with contextlib.suppress(ProcessLookupError):
                    kernel.send_thread_signal(pid, thread, signal.SIGSTOP)
                    return

    def thaw(self) -> None:
        """Let go on what `freeze` stopped."""
        for pid in self._stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._stopped.clear()

    def acting(self) -> set[int]:
        """Return the steps with tasks that may act by themselves, and do not just wait for others."""
        if not self._has_forked:
            return set()
        self._retire()
        unborn = {fork.step for fork in self._forks.values()}  # what was let go may not be born yet
        return unborn | {
            self.step_of(task) for task in self._iterate_tasks() if not self._waits_for_others(task)
        }

    def _may_fork(self, task: int) -> bool:
        step = self.step_of(task)
        if any(fork.step != step for fork in self._forks.values()):
            self._retire()
            if any(fork.step != step for fork in self._forks.values()):
                return False
        self._forks[task] = _Fork(step, _sum_ticks(_read_fields(task)))
        return True

    def _retire(self) -> None:
        """Forget the forks whose tasks are beyond the call, after what they made is known."""
        over = [task for task, fork in self._forks.items() if _is_beyond(task, fork)]
        self._learn()
        for task in over:
            del self._forks[task]

    def _learn(self) -> None:
        """Give the tasks not seen before the step of whom they can be from."""
        steps = {fork.step for fork in self._forks.values()}
        step = min(steps, default=self.step)
        found = {}
        for task in self._iterate_tasks():
            began = _read_start_time(task)
            known = self._steps.get(task)
            found[task] = known if known is not None and known[0] == began else (began, step)
        self._steps = found

    def _list_processes(self) -> list[int]:
        """Return all processes of the session; the main one where it has other threads."""
        return [pid for pid in map(int, self._tree.pids()) if pid not in self._ours]

    def _iterate_tasks(self) -> Iterator[int]:
        """Yield every thread that lives but the main one."""
        for pid in self._list_processes():
            try:
                names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names only
            except OSError:
                continue
            for task in map(int, names):
                if task != self._main and _read_state(task) not in "ZX":
                    yield task

    def _waits_for_others(self, task: int) -> bool:
        """Whether a task waits, without a time-out, for what only another one can do."""
        try:
            with open(f"/proc/{task}/syscall") as file:  # noqa: PTH123
                number, *arguments = file.read().split()
        except OSError:
            return False
        if not number.lstrip("-").isdigit() or len(arguments) < 6:
            return False  # it runs
        if _has_timer(task):
            return False
        name = self._names.get(int(number), "")
        values = [int(argument, 16) for argument in arguments]
        if name in ("futex", "futex_wait", "futex_waitv"):
            return name == "futex" and values[1] & 0x7F in _FUTEX_WAITS and values[3] == 0
        if name in _TIMEOUT_AT:
            timeout = values[_TIMEOUT_AT[name]]
            return bool(timeout & 0x80000000) if name in _IN_MILLISECONDS else timeout == 0
        if name in _READS:
            descriptor = values[0] & 0xFFFFFFFF
            return descriptor == STEPS_FD or _read_link(task, descriptor).startswith(_FED_BY_OTHERS)
        return name in _WAITS_FOR_OTHERS


def _has_timer(task: int) -> bool:
    """Whether a timer may wake a task: it handles or takes alarms, or its process has another timer."""
    try:
        with open(f"/proc/{task}/status", "rb") as file:  # noqa: PTH123
            signals = _SIGNALS.findall(file.read())
        with open(f"/proc/{task}/timers", "rb") as file:  # noqa: PTH123
            timers = file.read(1)
        descriptors = os.listdir(f"/proc/{task}/fd")  # noqa: PTH208 - names only
    except OSError:
        return True
    alarmed = any(int(mask, 16) & _ALARM for mask in signals)
    return (
        alarmed or bool(timers) or any(_read_link(task, fd) == "anon_inode:[timerfd]" for fd in descriptors)
    )


def _read_link(task: int, descriptor: int | str) -> str:
    try:
        return os.readlink(f"/proc/{task}/fd/{descriptor}")  # noqa: PTH115
    except OSError:
        return ""


def _is_beyond(task: int, fork: _Fork) -> bool:
    """Whether a task has left the call by which it forked: it sleeps, or has run long since."""
    fields = _read_fields(task)
    return fields[STATE] != b"R" or _sum_ticks(fields) >= fork.ticks + _TICKS


def _sum_ticks(fields: list[bytes]) -> int:
    return int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])


def _read_start_time(task: int) -> int:
    return int(_read_fields(task)[STARTED])


def _read_state(task: int) -> str:
    return _read_fields(task)[STATE].decode()


def _read_fields(task: int) -> list[bytes]:
    """Return what `read_stat_fields` gives of a thread; where it is gone, that it is dead alone."""
    try:
        return read_stat_fields(task)
    except OSError:
        return [b"X", *[b"0"] * STARTED]
