"""A guest's files where it sees the machine's: the supervisor does what Landlock does not bound.

Landlock bounds what is opened, made, moved and removed. Modes, owners, times and attributes it does not
know: the supervisor changes them, by a descriptor, so of the file it has judged. Texts of `/etc` that say
something of the machine are given as the other tier has them.
"""

from __future__ import annotations

import errno
import os
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.places import WRITABLE
from spanproof.sandbox.supervisor.namespaces import root
from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub
from spanproof.sandbox.supervisor.reduced import calls
from spanproof.sandbox.supervisor.reduced.box import Directory
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.reduced.process_tree import Spared
from spanproof.sandbox.supervisor.run.proxied_sockets import ProxyingWatcher
from spanproof.sandbox.supervisor.seccomp import paths
from spanproof.sandbox.supervisor.seccomp import watcher as watch
from spanproof.sandbox.supervisor.seccomp.notifications import EPERM, GO_ON, Answer, Notification, to_int
from spanproof.sandbox.supervisor.seccomp.path_arguments import MUTATORS
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch
from spanproof.sandbox.supervisor.tape.sealed_files import SealedText

_DONE = Answer(value=0)
_ACCESS = Answer(errno.EACCES)
_MAKERS = frozenset("mkdir mkdirat mknod mknodat link linkat symlink symlinkat".split())  # noqa: SIM905
_MODES = {"chmod": (None, 0, 1), "fchmodat": (0, 1, 2), "fchmodat2": (0, 1, 2), "fchmod": (None, None, 1)}
_OWNERS = {"chown": (None, 0, 1), "lchown": (None, 0, 1), "fchownat": (0, 1, 2), "fchown": (None, None, 1)}
_ATTRIBUTES = ("setxattr", "lsetxattr", "removexattr", "lremovexattr")
_SHARED_MEMORY = re.compile(r"/dev/shm/([^/\0]+)")  # noqa: S108 - as a program names it
_SHARED_CHANGES = frozenset("unlink unlinkat link linkat".split())  # noqa: SIM905
_TWO_TIMES = struct.Struct("=4q")
_UTIME_NOW, _UTIME_OMIT = 0x3FFFFFFF, 0x3FFFFFFE


class FileWatcher(ProxyingWatcher):
    """The part of a `GuardedWatcher` that answers for files."""

    _boundary: ReducedBoundary
    _box: Directory

    def __init__(self, arch: Arch, boundary: ReducedBoundary, tree: Spared, dns_stub: DnsStub) -> None:
        super().__init__(arch, boundary, tree, dns_stub)
        # Files of /etc that the guest reads in the place of the machine's.
        self._texts = {f"/{name}": SealedText(name, text) for name, text in _build_etc_files().items()}
        self._texts |= {path: SealedText("pth", text) for path, text in boundary.read_search_paths().items()}

    def _build_handlers(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table = super()._build_handlers()
        table.update(dict.fromkeys(_MODES, self._handle_chmod), **dict.fromkeys(_OWNERS, self._handle_chown))
        table.update(dict.fromkeys(("utime", "utimes", "futimesat"), self._handle_old_times))
        table.update(utimensat=self._handle_utimensat, truncate=self._handle_truncate)
        table.update(dict.fromkeys(_ATTRIBUTES, self._handle_attribute))
        return table

    def _handle_open(self, path: str, flags: int, call: Notification) -> Answer:
        if shared := _SHARED_MEMORY.fullmatch(path):
            return self._open_shared(shared[1], flags)
        writes = bool(flags & watch.WRITE_FLAGS)
        follows = not flags & os.O_NOFOLLOW
        judged, resolved = self._boundary.judge(path, call.pid, writes=writes, follows=follows)
        if resolved == paths.NAME_SERVICES:
            self._looking_up.add(call.pid)
        text = None if writes else self._find_text_descriptor(resolved, call.pid)
        if text is not None:
            return self._handle_opened(text, flags)
        if writes and paths.is_within(resolved, WRITABLE):
            return Answer(errno.EROFS)
        if judged is not paths.Judged.INSIDE:
            self._record_file(judged, resolved, writes=writes)
            if judged is paths.Judged.FORBIDDEN:
                return _ACCESS
            return GO_ON
        return self._open_inside(resolved, flags, call)

    def _find_text_descriptor(self, resolved: str, thread: int) -> int | None:
        """Return a descriptor of what is read in place of a file of the machine; None where nothing is."""
        own = self._texts.get(resolved)
        if own is not None and (resolved not in paths.ACCOUNTS or thread in self._looking_up):
            return own.open_descriptor()
        return self._find_machine_text(resolved, thread)

    def _open_inside(self, resolved: str, flags: int, call: Notification) -> Answer:
        """Answer for a file that may be opened, as far as Landlock or the box does not."""
        if resolved.startswith("/proc/"):
            return self._open_kernel_file(resolved, flags, call)
        looks = resolved.startswith("/etc/") or self._boundary.is_import(resolved)
        if looks and not self._boundary.is_open(resolved):
            return Answer(errno.ENOENT)  # what programs look for by themselves, and cannot have here
        if flags & os.O_CREAT and self._boundary.is_own(resolved) and not self._box.takes_room_for_name():
            return Answer(errno.ENOSPC)
        return GO_ON

    def _open_shared(self, name: str, flags: int) -> Answer:
        """Open what libc makes semaphores and shared memory of: it lies in the box, whatever its name."""
        making = bool(flags & os.O_CREAT)
        if making and not self._box.takes_room_for_name():
            return Answer(errno.ENOSPC)
        kept = flags & (os.O_ACCMODE | os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_NONBLOCK)
        mode = 0o600 if making else 0
        try:
            fd = calls.open_beneath(self._box.path, f"shm/{name}", kept, mode, links=False)
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        return self._handle_opened(fd, flags)

    def _handle_shared_change(self, name: str, call: Notification) -> Answer | None:
        """Link and unlink there; None where that is not what is requested."""
        named = MUTATORS[name] if name in _SHARED_CHANGES else ()
        paths_in = [self._find_path(call, directory, at) or "" for directory, at in named if at is not None]
        found = [match[1] for path in paths_in if (match := _SHARED_MEMORY.fullmatch(path))]
        if not found or len(found) < len(paths_in):
            return None
        try:
            shared = calls.open_beneath(self._box.path, "shm", os.O_PATH | os.O_DIRECTORY, links=False)
            try:
                if len(found) == 1:
                    os.unlink(found[0], dir_fd=shared)
                else:
                    os.link(*found, src_dir_fd=shared, dst_dir_fd=shared, follow_symlinks=False)
            finally:
                os.close(shared)
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        return _DONE

    def _open_kernel_file(self, resolved: str, flags: int, call: Notification) -> Answer:
        """Open a file of /proc about the caller; Landlock lets none through.

        One about no process is the machine's: what a program may know of it are the texts that it is given.
        """
        if not resolved.startswith("/proc/self/"):
            return Answer(errno.ENOENT)
        path = resolved.removeprefix("/proc/self/")
        try:
            fd = calls.open_beneath(
                f"/proc/{call.pid}", path, flags & (os.O_DIRECTORY | os.O_NOFOLLOW), links=False
            )
        except OSError as problem:
            # A link leads to a file of its own, which Landlock judges.
            if problem.errno in (errno.ELOOP, errno.EXDEV):
                return GO_ON
            return Answer(problem.errno or errno.EACCES)
        return self._handle_opened(fd, flags)

    def _handle_judged_file(self, judged: paths.Judged, resolved: str, pid: int, *, writes: bool) -> Answer:
        if writes and paths.is_within(resolved, WRITABLE):
            return Answer(errno.EROFS)  # the machine's, in which libraries do without
        return super()._handle_judged_file(judged, resolved, pid, writes=writes)

    def _handle_mutation(self, name: str, call: Notification) -> Answer:
        if (done := self._handle_shared_change(name, call)) is not None:
            return done
        answer = super()._handle_mutation(name, call)
        if not answer.error and name in _MAKERS and not self._box.takes_room_for_name():
            return Answer(errno.ENOSPC)
        return answer

    def _handle_chmod(self, name: str, call: Notification) -> Answer:
        directory, path, mode = _MODES[name]
        return self._handle_file_change(
            call, directory, path, lambda own: Path(own).chmod(call.args[mode] & 0o7777)
        )

    def _handle_chown(self, name: str, call: Notification) -> Answer:
        directory, path, first = _OWNERS[name]
        same = {0xFFFFFFFF}
        kept = (call.args[first] & 0xFFFFFFFF) in same | {os.getuid()}
        kept = kept and (call.args[first + 1] & 0xFFFFFFFF) in same | {os.getgid()}
        answer = self._handle_file_change(call, directory, path, lambda _own: None)
        return answer if kept or answer.error else EPERM

    def _handle_utimensat(self, _name: str, call: Notification) -> Answer:
        moments = None
        if call.args[2]:
            reply = kernel.read_memory(call.pid, call.args[2], _TWO_TIMES.size)
            if len(reply) < _TWO_TIMES.size:
                return Answer(errno.EFAULT)  # they begin where its memory ends
            words = _TWO_TIMES.unpack(reply)
            moments = (words[:2], words[2:])
        return self._handle_file_change(
            call, 0, 1 if call.args[1] else None, lambda own: _write_times(own, moments)
        )

    def _handle_old_times(self, name: str, call: Notification) -> Answer:
        """Refuse calls that `utimensat` has replaced: on record, and as on a kernel without them."""
        self._handle_mutation(name, call)
        return Answer(errno.ENOSYS)

    def _handle_truncate(self, _name: str, call: Notification) -> Answer:
        return self._handle_file_change(call, None, 0, lambda own: os.truncate(own, call.args[1]))

    def _handle_attribute(self, _name: str, call: Notification) -> Answer:
        answer = self._handle_file_change(call, None, 0, lambda _own: None)
        if answer.error:
            return answer
        return Answer(errno.EOPNOTSUPP)

    def _handle_file_change(
        self, call: Notification, directory: int | None, at: int | None, act: Callable[[str], None]
    ) -> Answer:
        """Apply what the guest requests to a file of the box: by a descriptor, so to the file we judged."""
        try:
            fd = self._open_own_file(call, directory, at)
        except _NotOwn as problem:
            return Answer(problem.errno)
        except kernel.ProcessUnreadable:
            raise
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        try:
            act(f"/proc/self/fd/{fd}")
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        finally:
            os.close(fd)
        return _DONE

    def _open_own_file(self, call: Notification, directory: int | None, at: int | None) -> int:
        """Open the file a call names by path or by descriptor, if it lies in the box.

        Raises:
            _NotOwn: it does not.
            ProcessUnreadable: it cannot be looked for.
            OSError: it cannot be found.
        """
        path = None if at is None else self._find_path(call, directory, at)
        if path is None:
            number = to_int(call.args[directory or 0])
            try:
                fd = os.open(f"/proc/{call.pid}/fd/{number}", os.O_PATH | os.O_CLOEXEC)
            except PermissionError as problem:
                raise kernel.ProcessUnreadable(*problem.args) from None
            resolved = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
            if self._boundary.is_own(resolved) or not resolved.startswith("/"):
                return fd
            os.close(fd)
        else:
            judged, resolved = self._boundary.judge(path, call.pid, writes=True)
            if self._boundary.is_own(resolved):
                return self._boundary.open_own_path(resolved)
            if judged is paths.Judged.INSIDE:
                raise _NotOwn(errno.EPERM)
        if paths.is_within(resolved, WRITABLE):
            raise _NotOwn(errno.EROFS)
        self.record.add_attempt("file", resolved, allowed=False)
        raise _NotOwn(errno.EACCES)


class _NotOwn(Exception):  # noqa: N818 - what a file is
    """A file lies outside of the box; `errno` is what the call fails with."""

    def __init__(self, errno_: int) -> None:
        self.errno = errno_


def _build_etc_files() -> dict[str, str]:
    user = f"agent:x:{os.getuid()}:{os.getgid()}:agent:{os.environ['HOME']}:/bin/bash\n"
    group = f"agent:x:{os.getgid()}:\n"
    texts = {name: text for name, text in root.FILES.items() if name.startswith("etc/")}
    # git looks first whether it may read the machine's, and ends where it then cannot.
    return texts | {"etc/passwd": user, "etc/group": group, "etc/gitconfig": ""}


def _write_times(path: str, moments: tuple[tuple[int, ...], tuple[int, ...]] | None) -> None:
    if moments is None:
        os.utime(path)
        return
    state = os.stat(path)  # noqa: PTH116
    now = None
    chosen = []
    for (seconds, nanos), kept in zip(moments, (state.st_atime_ns, state.st_mtime_ns), strict=True):
        if nanos == _UTIME_NOW:
            now = now or time.time_ns()
            chosen.append(now)
        else:
            chosen.append(kept if nanos == _UTIME_OMIT else seconds * 1_000_000_000 + nanos)
    os.utime(path, ns=(chosen[0], chosen[1]))
