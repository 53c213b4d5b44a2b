"""Answering the kernel's questions about a guest that no namespace holds.

As `watch.Watcher`, with one rule more: a call goes on only where Landlock, the kind of its descriptors, or
its registers alone bound it. All else is done by the supervisor in the guest's stead, or refused. Here are
its processes; its files are in `files`, its sockets in `sockets`.
"""

from __future__ import annotations

import errno
import os

from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub
from spanproof.sandbox.supervisor.reduced.box import Directory
from spanproof.sandbox.supervisor.reduced.files import FileWatcher
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
from spanproof.sandbox.supervisor.reduced.processes import ProcessWatcher
from spanproof.sandbox.supervisor.reduced.sockets import SocketWatcher
from spanproof.sandbox.supervisor.seccomp.notifications import EPERM, GO_ON, Answer, Notification
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch
from spanproof.sandbox.supervisor.seccomp.watcher import is_unreadable

_DONE = Answer(value=0)


class GuardedWatcher(FileWatcher, SocketWatcher, ProcessWatcher):
    """Serves the listener of one run after the other."""

    _tree: Descendants

    def __init__(
        self, arch: Arch, boundary: ReducedBoundary, tree: Descendants, box: Directory, dns_stub: DnsStub
    ) -> None:
        self._box = box
        super().__init__(arch, boundary, tree, dns_stub)

    def _handle_hiding(self, _name: str, _call: Notification) -> Answer:
        """Let it pass undone: no process may open another's memory here, and we must read it."""
        if not self.expects_judge:
            return EPERM
        self.expects_judge = False
        return _DONE

    def _handle_fork(self, name: str, call: Notification) -> Answer:
        if self._tree.counted or not self._tree.is_full():
            return super()._handle_fork(name, call)
        self.record.add_attempt("process", "fork", allowed=False)
        return Answer(errno.EAGAIN)

    def _handle_exec(self, name: str, call: Notification) -> Answer:
        path = self._find_program(name, call)
        if (
            path is not None
            and self.own_execs <= 0
            and os.path.exists(path)  # noqa: PTH110
            and not is_unreadable(path)
        ):
            resolved = self._boundary.get_resolved_path(path, call.pid)
            self.record.add_attempt("process", resolved, allowed=self._boundary.is_open(resolved))
            self._record_interpreters(path, call)
            return GO_ON
        return super()._handle_exec(name, call)
