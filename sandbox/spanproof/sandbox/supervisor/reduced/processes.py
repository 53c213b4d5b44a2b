"""Answering what a guest does to processes where others of its user are in sight: to its own, and no other.

The zygote that guests are forked from is one of the others.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from spanproof.sandbox.supervisor.reduced.process_tree import Spared
from spanproof.sandbox.supervisor.run.proxied_sockets import ProxyingWatcher
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, Answer, Notification, to_int

_DONE = Answer(value=0)
_NO_PROCESS = Answer(errno.ESRCH)
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
_ON_A_PROCESS = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
_PRIORITIES = ("setpriority", "ioprio_set")
SHOWN = frozenset((*_SIGNALS, *_ON_A_PROCESS, *_PRIORITIES))
"""Calls that it must be shown."""


class ProcessWatcher(ProxyingWatcher):
    """The part of a watcher that answers for processes."""

    _tree: Spared

    def _build_handlers(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table = super()._build_handlers()
        table.update(dict.fromkeys(_SIGNALS, self._handle_signal))
        table.update(dict.fromkeys(_ON_A_PROCESS, self._on_a_process))
        table.update(dict.fromkeys(_PRIORITIES, self._on_another))
        return table

    # The arguments are registers, which no one changes behind our back.

    def _handle_signal(self, name: str, call: Notification) -> Answer:
        target = to_int(call.args[0])
        if target == 0:
            return GO_ON  # the caller's own process group
        if name == "kill" and target == -1:
            self._tree.send_signal(call.args[1] & 0x7F, but=call.pid)
            return _DONE
        if name == "kill" and target < -1:
            if self._tree.holds_group(-target):
                return GO_ON
            return _NO_PROCESS
        return self._handle_held_process(target, name, call)

    def _on_a_process(self, name: str, call: Notification) -> Answer:
        target = to_int(call.args[0])
        if target == 0:
            return GO_ON
        return self._handle_held_process(target, name, call)

    def _handle_held_process(self, target: int, name: str, call: Notification) -> Answer:
        if self._tree.holds(target):
            return GO_ON
        return self._handle_refused(name, call) if os.path.exists(f"/proc/{target}") else _NO_PROCESS  # noqa: PTH110

    def _on_another(self, name: str, call: Notification) -> Answer:
        """Answer for priorities: of one of its own processes; groups and users would take others in."""
        one = 0 if name == "setpriority" else 1
        target = to_int(call.args[1])
        held = call.args[0] == one and (target == 0 or self._tree.holds(target))
        if held:
            return GO_ON
        return self._handle_refused(name, call)
