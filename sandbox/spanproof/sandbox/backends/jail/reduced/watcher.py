"""Answering the kernel's questions about a guest that no namespace holds.

As `watch.Watcher`, with one rule more: a call goes on only where Landlock, the kind of its descriptors, or
its registers alone bound it. All else is done by the supervisor in the guest's stead, or refused. Here are
its processes; its files are in `files`, its sockets in `sockets`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from spanproof.sandbox.backends.jail.namespaces.dns_stub import DnsStub
from spanproof.sandbox.backends.jail.reduced.box import Directory
from spanproof.sandbox.backends.jail.reduced.files import FileWatcher
from spanproof.sandbox.backends.jail.reduced.paths import ReducedBoundary
from spanproof.sandbox.backends.jail.reduced.process_tree import Descendants
from spanproof.sandbox.backends.jail.reduced.sockets import SocketWatcher
from spanproof.sandbox.backends.jail.seccomp.conditions import OUTWARD_FLAGS
from spanproof.sandbox.backends.jail.seccomp.notifications import EPERM, GO_ON, Answer, Notification, signed
from spanproof.sandbox.backends.jail.seccomp.syscalls import Arch

_DONE = Answer(value=0)
_NO_PROCESS = Answer(errno.ESRCH)
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
_ON_A_PROCESS = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")


class GuardedWatcher(FileWatcher, SocketWatcher):
    """Serves the listener of one run after the other."""

    def __init__(
        self, arch: Arch, boundary: ReducedBoundary, tree: Descendants, box: Directory, dns_stub: DnsStub
    ) -> None:
        self._tree = tree
        self._box = box
        super().__init__(arch, boundary, dns_stub)

    def _table(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table = super()._table()
        table.update(dict.fromkeys(_SIGNALS, self._signal))
        table.update(dict.fromkeys(_ON_A_PROCESS, self._on_a_process))
        table.update(setpriority=self._on_another, ioprio_set=self._on_another)
        table.update(dict.fromkeys(("fork", "vfork", "clone"), self._spawn))
        return table

    def _hide(self, _name: str, _call: Notification) -> Answer:
        """No process may open another's memory here, and we must read it: so nothing is to be done."""
        if self.own_hides <= 0:
            return EPERM
        self.own_hides -= 1
        return _DONE

    # The arguments are registers, which no one changes behind our back.

    def _signal(self, name: str, call: Notification) -> Answer:
        target = signed(call.args[0])
        if name == "kill" and target == -1:
            self._tree.signal_all(call.args[1] & 0x7F, but=call.pid)
            return _DONE
        if name == "kill" and target < -1:
            return GO_ON if self._tree.holds_group(-target) else _NO_PROCESS
        return self._aimed_at(target, name, call)

    def _on_a_process(self, name: str, call: Notification) -> Answer:
        return self._aimed_at(signed(call.args[0]), name, call)

    def _aimed_at(self, target: int, name: str, call: Notification) -> Answer:
        if self._tree.holds(target):
            return GO_ON
        return self._refuse(name, call) if os.path.exists(f"/proc/{target}") else _NO_PROCESS  # noqa: PTH110

    def _on_another(self, name: str, call: Notification) -> Answer:
        """Priorities: of one of its own processes; groups and users would take others in."""
        one = 0 if name == "setpriority" else 1
        held = call.args[0] == one and self._tree.holds(signed(call.args[1]))
        return GO_ON if held else self._refuse(name, call)

    def _spawn(self, name: str, call: Notification) -> Answer:
        if name == "clone" and call.args[0] & OUTWARD_FLAGS:
            return self._refuse(name, call)
        if not self._tree.full():
            return GO_ON
        self.record.note("process", "fork", allowed=False)
        return Answer(errno.EAGAIN)

    def _exec(self, name: str, call: Notification) -> Answer:
        path = self._path(call, 0 if name == "execveat" else None, 1 if name == "execveat" else 0)
        if path is not None and self.own_execs <= 0 and os.path.exists(path):  # noqa: PTH110
            resolved = os.path.realpath(path)
            self.record.note("process", resolved, allowed=self._boundary.is_open(resolved))
            return GO_ON
        return super()._exec(name, call)
