"""Which step of a session began a thread or a process, and keeping all of them still between two steps.

In: the forks that a guest makes, each held by the kernel until it has been counted here. Out: the step of any
task by its number. The main thread acts for the step at hand; every other task for the step whose task made
it, however late it acts.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.reporter import STEPS_FD
from spanproof.sandbox.supervisor.namespaces.process_tree import (
    STARTED,
    STATE,
    SYSTEM_TICKS,
    THREADS,
    USER_TICKS,
    Namespace,
    read_stat_fields,
)
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, NONE_YET, Answer, Notification, to_int
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch

BEFORE = -1
"""The step before the first one."""
_ROUNDS = 64  # Of stopping processes while others are born: a stopped one forks no more
# Of listing the threads of a process while some of them end.
_LISTINGS = 64
_STILL_S = 1.0
# CPU time, in the kernel's ticks, after which a task has left the call by which it forked.
_TICKS = 2
# FUTEX_WAIT, FUTEX_WAIT_BITSET and FUTEX_WAIT_REQUEUE_PI, whose fourth argument is the time-out: of the first
# one a length of time, of the others a moment.
_FUTEX_WAIT, _FUTEX_WAITS = 0, frozenset((0, 9, 11))
_FUTEX_OPERATION, _FUTEX_CLOCK_REALTIME = 0x7F, 0x100
_TIMER_ABSTIME = 1
_ARGUMENTS = 6  # Of a call, in /proc/TASK/syscall; of a task that runs there are none
# `struct timespec`, and `struct timeval`, whose fraction is in other units.
_TIMEOUT = struct.Struct("=qq")
_NANO_S, _MICRO_S = 1e-9, 1e-6
# Calls without a time-out: only another task, or a signal, ends them.
_WAITS_FOR_OTHERS = frozenset(("pause", "rt_sigsuspend", "wait4", "waitid"))

_READS = frozenset(("read", "readv", "accept", "accept4", "recvfrom", "recvmsg", "recvmmsg"))
# What only another task makes readable; a socket may have a time-out of its own.
_FED_BY_OTHERS = ("pipe:", "anon_inode:[eventfd]")

_SIGNALS = re.compile(rb"^Sig(?:Blk|Cgt):\t(\w+)", re.MULTILINE)
_ALARM = 1 << (signal.SIGALRM - 1)
_SWITCHES = re.compile(rb"^(?:non)?voluntary_ctxt_switches:\t(\d+)", re.MULTILINE)
_FORKS = frozenset(("clone", "fork"))  # Not `vfork`: who waits in it has made its child
_CLONE_VFORK = 0x4000
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


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that a task waits in: its arguments, and when the task began, as numbers of tasks come again."""

    name: str
    arguments: list[int]
    task_began: int


class Lineage:
    """The tasks of one session."""

    def __init__(self, tree: Namespace, main: int, arch: Arch) -> None:
        """Begin before the first step; what lives now beside the main process is none of the session's."""
        self._tree = tree
        self._main = main
        self._names = {number: name for name, number in arch.numbers.items()}
        self._ours = frozenset(map(int, tree.list_pids())) - {main}
        self.step = BEFORE
        self._has_forked = False
        # Step by thread number, beside when the thread began: numbers come again.
        self._steps: dict[int, tuple[int, int]] = {}
        # The last fork of each task, as long as what it made may be unknown.
        self._forks: dict[int, _Fork] = {}

        # What each task waited in when it was stopped last.
        self._calls: dict[int, _Call | None] = {}

        self._deferred: list[Notification] = []
        self._stopped: list[int] = []

    def get_step(self, task: int) -> int:
        """Return the step that a task acts for."""
        if task == self._main:
            return self.step
        entry = self._steps.get(task)
        if entry is None or entry[0] != _read_start_time(task):
            self._update_steps()
            entry = self._steps.get(task)
        return self.step if entry is None else entry[1]

    def handle_fork(self, call: Notification) -> Answer:
        """Let a fork go, unless tasks of two steps would fork at once: what each makes must be known."""
        self._has_forked = True
        earlier = self._forks.get(call.pid)
        if earlier is not None and earlier.step != self.get_step(call.pid):
            self._remove_forks([call.pid])  # who forks anew has left the call of its last fork
        if not self._may_fork(call.pid):
            self._deferred.append(call)
            return NONE_YET
        return GO_ON

    def iter_released(self) -> Iterator[Notification]:
        """Yield the deferred forks that may go now; each has gone when the next one is decided on."""
        waiting, self._deferred = self._deferred, []
        for call in waiting:
            if _read_state(call.pid) == "X":
                continue
            if self._may_fork(call.pid):
                yield call
            else:
                self._deferred.append(call)

    @property
    def is_deferring(self) -> bool:
        """Whether a fork waits to be let go."""
        return bool(self._deferred)

    def start_step(self) -> None:
        """Turn to the next step, and let go on what was kept still."""
        if self._has_forked:
            self._remove_retired()
        self.step += 1
        self.run_thaw()

    def run_freeze(self) -> None:
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
                self._send_stop(pid)
            self._stopped += going
        deadline = time.monotonic() + _STILL_S
        while any(_read_state(task) == "R" for task in self._iter_tasks()) and time.monotonic() < deadline:
            time.sleep(0.0001)
        self._calls = {task: self._find_call(task) for task in self._iter_tasks()}

    def _send_stop(self, pid: int) -> None:
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

    def run_thaw(self) -> None:
        """Let go on what `freeze` stopped."""
        for pid in self._stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._stopped.clear()

    def has_acting(self, within_s: float, passed_s: float) -> bool:
        """Whether a task may act by itself so soon: it runs, or what it waits for comes by then.

        One after the other is looked at, and one that is seen to wait may be woken by one that is seen later
        to do so. So all are looked at twice, and none may have run meanwhile.

        Args:
            within_s: from now on.
            passed_s: since the tasks were let go; by so much a wait of a certain length is shorter.
        """
        if not self._has_forked:
            return False
        if self._stopped:
            return True  # the call of a task that was stopped may be over: it shows when it goes on
        self._remove_retired()
        if self._forks:
            return True  # what was let go may not be born yet
        before = self._count_switches()
        for _ in range(2):
            if any(self._compute_wait_s(task, passed_s) < within_s for task in self._iter_tasks()):
                return True
        return self._count_switches() != before

    def _count_switches(self) -> dict[int, int]:
        """Return how often each task but the main one has begun or ceased to run."""
        return {task: _count_switches(task) for task in self._iter_tasks()}

    def compute_delays_s(self) -> dict[int, float]:
        """Return how long each task but the main thread has waited for a processor, since it began.

        This process is among them: the others' calls wait for its answers.
        """
        return {task: _read_delay_s(task) for task in (os.getpid(), *self._iter_tasks())}

    def list_left(self) -> list[tuple[int, str]]:
        """Return what lives beside the main thread: the step that began it, and whether it is a process."""
        if not self._has_forked:
            return []
        found: list[tuple[int, str]] = []
        for pid in self._list_processes():
            tasks = [task for task in self._iter_tasks_of(pid) if task != self._main]
            named = [(self.get_step(task), "thread") for task in tasks]
            found += named if pid == self._main else [(step, "process") for step, _kind in named[:1]]
        return found

    def _may_fork(self, task: int) -> bool:
        step = self.get_step(task)
        if any(fork.step != step for fork in self._forks.values()):
            self._remove_retired()
            if any(fork.step != step for fork in self._forks.values()):
                return False
        self._forks[task] = _Fork(step, _compute_ticks(_read_fields(task)))
        return True

    def _remove_retired(self) -> None:
        """Forget the forks whose tasks are beyond the call, after what they made is known."""
        self._remove_forks([task for task, fork in self._forks.items() if self._is_beyond(task, fork)])

    def _remove_forks(self, tasks: list[int]) -> None:
        """Forget the forks of tasks that are beyond the call, after what they made is known."""
        self._update_steps()
        for task in tasks:
            del self._forks[task]

    def _is_beyond(self, task: int, fork: _Fork) -> bool:
        """Whether a task has left the call by which it forked: it sleeps elsewhere, or has run long since."""
        fields = _read_fields(task)
        if fields[STATE] == b"R":
            return _compute_ticks(fields) >= fork.ticks + _TICKS
        call = self._find_call(task)
        # The kernel waits in a fork too: for the memory map, which another thread may change.
        return call is None or call.name not in _FORKS or bool(call.arguments[0] & _CLONE_VFORK)

    def _update_steps(self) -> None:
        """Give the tasks not seen before the step of whom they can be from."""
        steps = {fork.step for fork in self._forks.values()}
        step = min(steps, default=self.step)
        found = {}
        for task in self._iter_tasks():
            began = _read_start_time(task)
            entry = self._steps.get(task)
            found[task] = entry if entry is not None and entry[0] == began else (began, step)
        self._steps = found

    def _list_processes(self) -> list[int]:
        """Return all processes of the session; the main one where it has other threads."""
        return [pid for pid in map(int, self._tree.list_pids()) if pid not in self._ours]

    def _iter_tasks(self) -> Iterator[int]:
        """Yield every thread that lives but the main one."""
        for pid in self._list_processes():
            for task in self._iter_tasks_of(pid):
                if task != self._main:
                    yield task

    def _iter_tasks_of(self, pid: int) -> Iterator[int]:
        """Yield every thread of a process that lives."""
        for task, state in _read_threads(pid).items():
            if state not in "ZX":
                yield task

    def _compute_wait_s(self, task: int, passed_s: float) -> float:
        """Return how long a task still waits by itself: without an end where only another one can wake it.

        Zero is for one that runs, or of which it is not known.
        """
        call = self._find_call(task)
        if call is None or _has_timer(task):
            return 0.0
        try:
            return _compute_call_wait_s(call.name, call.arguments, task, passed_s)
        except (OSError, struct.error, kernel.ProcessUnreadable):
            return 0.0

    def _find_call(self, task: int) -> _Call | None:
        """Return the call that a task waits in; None where it runs, or cannot be looked into.

        A call with a time-out goes on as `restart_syscall` after a stop, without its arguments.
        """
        try:
            with open(f"/proc/{task}/syscall") as file:  # noqa: PTH123
                number, *arguments = file.read().split()
        except OSError:
            return None
        if not number.lstrip("-").isdigit() or len(arguments) < _ARGUMENTS:
            return None
        began = _read_start_time(task)
        name = self._names.get(int(number), "")
        if name == "restart_syscall":
            call = self._calls.get(task)
            return call if call is not None and call.task_began == began else None
        return _Call(name, [int(argument, 16) for argument in arguments], began)


def _compute_call_wait_s(name: str, values: list[int], task: int, passed_s: float) -> float:
    """Return how long a call that waits still does, by its arguments.

    Raises:
        OSError, struct.error: its time-out cannot be read.
    """
    if name == "futex":
        return _compute_futex_wait_s(values, task, passed_s)
    if name == "nanosleep":
        return _read_time_s(task, values[0]) - passed_s
    if name == "clock_nanosleep":
        is_moment = values[1] & _TIMER_ABSTIME
        return _read_time_s(task, values[2]) - (time.clock_gettime(values[0]) if is_moment else passed_s)
    if name in _IN_MILLISECONDS:
        timeout = to_int(values[_TIMEOUT_AT[name]])
        if timeout < 0:
            return math.inf
        return timeout / 1000 - passed_s
    if name in _TIMEOUT_AT:
        fraction_s = _MICRO_S if name == "select" else _NANO_S
        return _read_time_s(task, values[_TIMEOUT_AT[name]], fraction_s) - passed_s
    if name in _READS:
        return _compute_read_wait_s(values[0] & 0xFFFFFFFF, task, passed_s)
    return math.inf if name in _WAITS_FOR_OTHERS else 0.0


def _compute_futex_wait_s(values: list[int], task: int, passed_s: float) -> float:
    """Return how long a futex call that waits still does; see `_compute_call_wait_s`."""
    operation = values[1] & _FUTEX_OPERATION
    if operation not in _FUTEX_WAITS:
        return 0.0
    length_s = _read_time_s(task, values[3])
    if operation == _FUTEX_WAIT:
        return length_s - passed_s
    is_real = values[1] & _FUTEX_CLOCK_REALTIME
    return length_s - time.clock_gettime(time.CLOCK_REALTIME if is_real else time.CLOCK_MONOTONIC)


def _compute_read_wait_s(descriptor: int, task: int, passed_s: float) -> float:
    """Return how long a read of a descriptor that waits still does; see `_compute_call_wait_s`."""
    link = _read_link(task, descriptor)
    if link.startswith("socket:"):
        return _read_socket_wait_s(task, descriptor) - passed_s
    if descriptor == STEPS_FD or link.startswith(_FED_BY_OTHERS):
        return math.inf
    return 0.0


def _read_socket_wait_s(task: int, descriptor: int) -> float:
    """Return how long a socket waits for what comes; zero for one that the supervisor may answer itself.

    Raises:
        OSError: it cannot be looked at.
    """
    process = os.pidfd_open(kernel.process_of(task))
    try:
        fd = kernel.fetch_descriptor(process, descriptor)
    finally:
        os.close(process)
    with socket.socket(fileno=fd) as own:
        waits_for_own = own.family == socket.AF_UNIX or own.getsockopt(
            socket.SOL_SOCKET, socket.SO_ACCEPTCONN
        )
        timeout = own.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEOUT.size)
    seconds, micros = _TIMEOUT.unpack(timeout)
    if seconds or micros:
        return float(seconds + micros * _MICRO_S)
    return math.inf if waits_for_own else 0.0


def _read_time_s(task: int, pointer: int, fraction_s: float = _NANO_S) -> float:
    """Return a moment or a length of time in a task's memory; without an end where there is none.

    Args:
        task: whose memory it is in.
        pointer: where; 0 is none.
        fraction_s: the unit of its second word.
    """
    if not pointer:
        return math.inf
    seconds, fraction = _TIMEOUT.unpack(kernel.read_memory(task, pointer, _TIMEOUT.size))
    return float(seconds + fraction * fraction_s)


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


def _read_threads(pid: int) -> dict[int, str]:
    """Return the threads of a process with their states; none where it is gone.

    The kernel ends a list at a thread that ends while it is read, before its name or after: then the list is
    read again. Of 671,000 lists of a process whose threads come and go, 7 lacked one that lived.
    """
    states: dict[int, str] = {}
    for _ in range(_LISTINGS):
        try:
            names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names only
        except OSError:
            return {}
        # In this order: a listed thread that ends before it is counted is dead when its state is read.
        count = int(_read_fields(pid)[THREADS])
        states = {task: _read_state(task) for task in map(int, names)}
        if "X" not in states.values() and len(names) >= count:
            break
    return states


def _compute_ticks(fields: list[bytes]) -> int:
    return int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])


def _read_start_time(task: int) -> int:
    return int(_read_fields(task)[STARTED])


def _count_switches(task: int) -> int:
    """Return how often a task has begun or ceased to run; -1 where it is gone."""
    try:
        with open(f"/proc/{task}/status", "rb") as file:  # noqa: PTH123
            return sum(map(int, _SWITCHES.findall(file.read())))
    except OSError:
        return -1


def _read_delay_s(task: int) -> float:
    """Return how long a task has waited for a processor; zero where the kernel does not count it."""
    try:
        with open(f"/proc/{task}/schedstat") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * _NANO_S
    except (OSError, ValueError, IndexError):
        return 0.0


def _read_state(task: int) -> str:
    return _read_fields(task)[STATE].decode()


def _read_fields(task: int) -> list[bytes]:
    """Return what `read_stat_fields` gives of a thread; where it is gone, that it is dead alone."""
    try:
        return read_stat_fields(task)
    except OSError:
        return [b"X", *[b"0"] * STARTED]
