"""Which task of a session may still act, while tasks begin, wake each other and end as they are looked at."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from spanproof.sandbox.supervisor.run import lineage
from spanproof.sandbox.supervisor.run.lineage import Lineage
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, NONE_YET, Notification
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch

from .begun import Alone

MAIN, FIRST, SECOND, LATER = 10, 11, 12, 13
LONG_S = 9.0
CLONE, CLONE_VM, CLONE_VFORK = "clone", 0x100, 0x4000


class Machine:
    """What /proc shows of the tasks of a session."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tasks = [MAIN, FIRST, SECOND]
        self.states = dict.fromkeys((MAIN, FIRST, SECOND, LATER), "S")
        self.calls: dict[int, tuple[str, int]] = {}
        self.switches = dict.fromkeys(self.states, 0)
        self.when_seen: dict[int, Callable[[], None]] = {}
        monkeypatch.setattr(lineage, "_read_fields", self._read_fields)
        monkeypatch.setattr(lineage, "_count_switches", lambda task: self.switches[task])
        monkeypatch.setattr(Lineage, "_list_processes", lambda _session: [MAIN])
        monkeypatch.setattr(Lineage, "_find_call", lambda _session, task: self._find_call(task))
        monkeypatch.setattr(Lineage, "_compute_wait_s", lambda _session, task, _passed_s: self._wait_s(task))
        monkeypatch.setattr(lineage.os, "listdir", lambda _path: [str(task) for task in self.tasks])

    def _read_fields(self, task: int) -> list[bytes]:
        fields = [self.states[task].encode(), *[b"1"] * lineage.STARTED]
        fields[lineage.THREADS] = b"%d" % sum(self.states[each] != "X" for each in self.tasks)
        return fields

    def _find_call(self, task: int) -> lineage._Call | None:
        if task not in self.calls:
            return None
        name, flags = self.calls[task]
        return lineage._Call(name, [flags], 1)

    def _wait_s(self, task: int) -> float:
        wait_s = 0.0 if self.states[task] == "R" else LONG_S
        self.when_seen.pop(task, lambda: None)()
        return wait_s

    def wake(self, task: int, state: str) -> None:
        self.states[task] = state
        self.switches[task] += 1


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.fixture
def session(machine: Machine) -> Lineage:
    session = Lineage(Alone(own_user=False), MAIN, get_arch())
    session.start_step()
    assert session.handle_fork(call_of(MAIN)) is GO_ON
    return session


def call_of(task: int) -> Notification:
    return Notification(task, task, 0, 0, (0,) * 6)


def test_tasks_that_wait_for_long_do_not_act(session: Lineage) -> None:
    assert not session.has_acting(0.4, 0.0)


def test_a_task_that_a_later_one_wakes_before_it_waits_itself_may_act(
    session: Lineage, machine: Machine
) -> None:
    machine.states[SECOND] = "R"

    def wake_first() -> None:
        machine.wake(FIRST, "R")
        machine.wake(SECOND, "S")

    machine.when_seen[FIRST] = wake_first
    assert session.has_acting(0.4, 0.0)


def test_a_task_that_runs_between_two_looks_may_act(session: Lineage, machine: Machine) -> None:
    machine.when_seen[SECOND] = lambda: machine.wake(FIRST, "S")
    assert session.has_acting(0.4, 0.0)


def test_a_task_that_was_stopped_may_act_until_it_has_gone_on(
    session: Lineage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "kill", lambda _pid, _signal: None)
    session._stopped.append(MAIN)
    assert session.has_acting(0.4, 0.0)
    session.run_thaw()
    assert not session.has_acting(0.4, 0.0)


@pytest.mark.parametrize(
    ("call", "acts"),
    [((CLONE, CLONE_VM), True), ((CLONE, CLONE_VM | CLONE_VFORK), False), (("futex", 0), False)],
)
def test_a_task_that_waits_in_its_fork_has_not_made_its_child_yet(
    session: Lineage, machine: Machine, call: tuple[str, int], acts: bool
) -> None:
    assert session.handle_fork(call_of(FIRST)) is GO_ON
    machine.states[FIRST] = "D"
    machine.calls[FIRST] = call
    assert session.has_acting(0.4, 0.0) == acts


@pytest.mark.parametrize("cut", [[MAIN, FIRST, SECOND], [MAIN, FIRST]])
def test_threads_are_listed_again_where_one_of_them_has_ended(
    session: Lineage, machine: Machine, monkeypatch: pytest.MonkeyPatch, cut: list[int]
) -> None:
    # The kernel ends the list at a thread that ends just then, before its name or after.
    machine.tasks = [MAIN, FIRST, SECOND, LATER]
    machine.states |= {SECOND: "X", LATER: "R"}
    lists = iter([cut])
    complete = [MAIN, FIRST, LATER]
    monkeypatch.setattr(lineage.os, "listdir", lambda _path: [str(task) for task in next(lists, complete)])
    assert set(lineage._read_threads(MAIN)) == {MAIN, FIRST, LATER}
    assert session.has_acting(0.4, 0.0)


def test_deferred_forks_of_two_steps_go_one_after_the_other(session: Lineage, machine: Machine) -> None:
    session._remove_retired()  # both are of the first step
    session.start_step()
    machine.tasks.append(LATER)
    assert session.handle_fork(call_of(FIRST)) is GO_ON
    machine.calls[FIRST] = CLONE, 0
    assert session.handle_fork(call_of(MAIN)) is NONE_YET
    assert list(session.iter_released()) == []
    del machine.calls[FIRST]
    assert [call.pid for call in session.iter_released()] == [MAIN]


def test_a_fork_ends_that_of_the_step_before_which_was_not_seen_to_end(
    session: Lineage, machine: Machine
) -> None:
    machine.states[MAIN] = "R"  # about to wait for the next step, without a processor
    session.start_step()
    machine.states[MAIN] = "D"
    machine.calls[MAIN] = CLONE, 0
    assert session.handle_fork(call_of(MAIN)) is GO_ON
