"""Answering the kernel's questions about a guest that no namespace holds.

As `watch.Watcher`, with one rule more: a call goes on only where Landlock, the kind of its descriptors, or
its registers alone bound it. All else is done by the slot in the guest's stead, or refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import socket
import stat
import struct
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from spanproof.sandbox.jail import addresses, kernel, paths, root, watch
from spanproof.sandbox.jail.arch import Arch
from spanproof.sandbox.jail.filter import NAMESPACE_FLAGS, PLAIN_PROTOCOLS, PLAIN_TYPES
from spanproof.sandbox.jail.reduced import calls
from spanproof.sandbox.jail.reduced.box import Directory
from spanproof.sandbox.jail.reduced.fence import Fence
from spanproof.sandbox.jail.reduced.tree import Descendants
from spanproof.sandbox.jail.watch import EPERM, GO_ON, Answer, Notification

_DONE = Answer(value=0)
_NO_PROCESS = Answer(errno.ESRCH)
_ACCESS = Answer(errno.EACCES)
_MAKERS = frozenset("mkdir mkdirat link linkat symlink symlinkat".split())  # noqa: SIM905
_MODES = {"chmod": (None, 0, 1), "fchmodat": (0, 1, 2), "fchmodat2": (0, 1, 2), "fchmod": (None, None, 1)}
_OWNERS = {"chown": (None, 0, 1), "lchown": (None, 0, 1), "fchownat": (0, 1, 2), "fchown": (None, None, 1)}
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
_ON_A_PROCESS = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
_AT_FDCWD = -100
_SHARED_MEMORY = re.compile(r"/dev/shm/([^/\0]+)")  # noqa: S108 - as a program names it
_SHARED_CHANGES: dict[str, tuple[tuple[int | None, int], ...]] = {
    "unlink": ((None, 0),),
    "unlinkat": ((0, 1),),
    "link": ((None, 0), (None, 1)),
    "linkat": ((0, 1), (2, 3)),
}
_UTIME_NOW, _UTIME_OMIT = 0x3FFFFFFF, 0x3FFFFFFE


class Ear:
    """Hears the names a guest looks up: its resolver's sockets lead here. See `Resolver`."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._links: dict[int, socket.socket] = {}

    def fileno(self) -> int:
        """For polling."""
        return self._poll.fileno()

    def listen(self, link: socket.socket) -> None:
        """Take one end of a pair; a program that makes too many is not heard any more."""
        if len(self._links) < 64:
            self._links[link.fileno()] = link
            self._poll.register(link, select.EPOLLIN)
        else:
            link.close()

    def serve(self) -> list[str]:
        """See `Resolver`: hearing ends with the first query, and so does the guest's hope of an answer."""
        names = []
        for fd, _events in self._poll.poll(0):
            link = self._links.pop(fd)
            self._poll.unregister(fd)
            with link, contextlib.suppress(OSError):
                if (name := addresses.queried_name(link.recv(512, socket.MSG_DONTWAIT))) is not None:
                    names.append(name)
        return names

    def close(self) -> None:
        """Forget what is open."""
        for link in self._links.values():
            link.close()
        self._links.clear()


class NoNetwork:
    """See `Network`."""

    def __init__(self) -> None:
        self.resolver = Ear()

    def lead(self, names: Mapping[str, str]) -> None:
        """See `Network`.

        Raises:
            OSError: always; the host asks for it of the full tier only.
        """
        raise OSError("the reduced tier has no network of its own to lead anywhere")

    def renew(self) -> None:
        """See `Network`."""
        self.resolver.close()


class GuardedWatcher(watch.Watcher):
    """Serves the listener of one run after the other."""

    _boundary: Fence

    def __init__(self, arch: Arch, fence: Fence, tree: Descendants, box: Directory, ear: Ear) -> None:
        super().__init__(arch, fence)
        self._tree = tree
        self._box = box
        self._ear = ear
        self._handed = -1
        self._texts = {f"/{name}": _text_file(name, text) for name, text in _texts().items()}
        """Files of /etc that the guest reads in the place of the machine's."""

    def _table(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table = super()._table()
        table.update(dict.fromkeys(_SIGNALS, self._signal))
        table.update(dict.fromkeys(_ON_A_PROCESS, self._on_a_process))
        table.update(setpriority=self._on_another, ioprio_set=self._on_another)
        table.update(dict.fromkeys(("fork", "vfork", "clone"), self._spawn))
        table.update(dict.fromkeys(_MODES, self._mode), **dict.fromkeys(_OWNERS, self._owner))
        table.update(
            dict.fromkeys(("utime", "utimes", "futimesat"), lambda _name, _call: Answer(errno.ENOSYS))
        )
        table.update(mknod=self._node, mknodat=self._node)
        table.update(utimensat=self._times, truncate=self._truncate)
        table.update(dict.fromkeys(("setxattr", "lsetxattr", "removexattr", "lremovexattr"), self._attribute))
        return table

    def serve(self) -> None:
        """See `Watcher`; what was handed over is the guest's alone now."""
        super().serve()
        if self._handed >= 0:
            os.close(self._handed)
            self._handed = -1

    def _hand_over(self, fd: int, flags: int) -> Answer:
        self._handed = fd
        return Answer(descriptor=fd, flags=flags)

    def _hide(self, _name: str, _call: Notification) -> Answer:
        """No process may open another's memory here, and we must read it: so nothing is to be done."""
        if self.own_hides <= 0:
            return EPERM
        self.own_hides -= 1
        return _DONE

    # Processes: the arguments are registers, which nobody changes behind our back.

    def _signal(self, name: str, call: Notification) -> Answer:
        target = watch.signed(call.args[0])
        if name == "kill" and target == -1:
            self._tree.signal_all(call.args[1] & 0x7F, but=call.pid)
            return _DONE
        if name == "kill" and target < -1:
            return GO_ON if self._tree.holds_group(-target) else _NO_PROCESS
        return self._aimed_at(target, name, call)

    def _on_a_process(self, name: str, call: Notification) -> Answer:
        return self._aimed_at(watch.signed(call.args[0]), name, call)

    def _aimed_at(self, target: int, name: str, call: Notification) -> Answer:
        if self._tree.holds(target):
            return GO_ON
        return self._refuse(name, call) if os.path.exists(f"/proc/{target}") else _NO_PROCESS  # noqa: PTH110

    def _on_another(self, name: str, call: Notification) -> Answer:
        """Priorities: of one of its own processes; groups and users would take others in."""
        one = 0 if name == "setpriority" else 1
        held = call.args[0] == one and self._tree.holds(watch.signed(call.args[1]))
        return GO_ON if held else self._refuse(name, call)

    def _spawn(self, name: str, call: Notification) -> Answer:
        if name == "clone" and call.args[0] & NAMESPACE_FLAGS:
            return self._refuse(name, call)
        if not self._tree.full():
            return GO_ON
        self.record.note("process", "fork", allowed=False)
        return Answer(errno.EAGAIN)

    # Files: Landlock bounds what is opened, made, moved and removed; the rest is done here.

    def _opened(self, path: str, flags: int, call: Notification) -> Answer:
        if shared := _SHARED_MEMORY.fullmatch(path):
            return self._open_shared(shared[1], flags)
        writes = bool(flags & watch.WRITE_FLAGS)
        judged, place = self._boundary.judge(path, call.pid, writes=writes)
        if place == paths.NAME_SERVICES:
            self._looking_up.add(call.pid)
        if (
            place in self._texts
            and not writes
            and (place not in paths.ACCOUNTS or call.pid in self._looking_up)
        ):
            return self._hand_over(os.open(f"/proc/self/fd/{self._texts[place]}", os.O_RDONLY), flags)
        if judged is not paths.Judged.INSIDE:
            self.record.note("file", place, allowed=False)
            return _ACCESS if judged is paths.Judged.FORBIDDEN else GO_ON
        if place.startswith("/proc/"):
            return self._give_kernel_s(place, flags, call)
        if flags & os.O_CREAT and self._boundary.is_own(place) and not self._box.name_made():
            return Answer(errno.ENOSPC)
        return GO_ON

    def _open_shared(self, name: str, flags: int) -> Answer:
        """What libc's semaphores and shared memory are made of: it lies in the box, whatever it is called."""
        making = bool(flags & os.O_CREAT)
        if making and not self._box.name_made():
            return Answer(errno.ENOSPC)
        kept = flags & (os.O_ACCMODE | os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_NONBLOCK)
        mode = 0o600 if making else 0
        try:
            fd = calls.open_beneath(self._box.path, f"shm/{name}", kept, mode, links=False)
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        return self._hand_over(fd, flags)

    def _change_shared(self, name: str, call: Notification) -> Answer | None:
        """Linking and unlinking there; None where that is not what is asked for."""
        named = _SHARED_CHANGES.get(name, ())
        asked = [self._path(call, directory, at) or "" for directory, at in named]
        found = [match[1] for path in asked if (match := _SHARED_MEMORY.fullmatch(path))]
        if not found or len(found) < len(asked):
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

    def _give_kernel_s(self, place: str, flags: int, call: Notification) -> Answer:
        """A file of /proc about the caller or about nobody; Landlock lets none through."""
        own = place.removeprefix("/proc/self/")
        inside, path = ("/proc", place[6:]) if own == place else (f"/proc/{call.pid}", own)
        try:
            fd = calls.open_beneath(inside, path, flags & (os.O_DIRECTORY | os.O_NOFOLLOW), links=False)
        except OSError as problem:
            # A link leads to a file of its own, which Landlock judges.
            return (
                GO_ON
                if problem.errno in (errno.ELOOP, errno.EXDEV)
                else Answer(problem.errno or errno.EACCES)
            )
        return self._hand_over(fd, flags)

    def _mutate(self, name: str, call: Notification) -> Answer:
        if (done := self._change_shared(name, call)) is not None:
            return done
        answer = super()._mutate(name, call)
        if not answer.error and name in _MAKERS and not self._box.name_made():
            return Answer(errno.ENOSPC)
        return answer

    def _node(self, name: str, call: Notification) -> Answer:
        mode = call.args[1 if name == "mknod" else 2]
        if stat.S_IFMT(mode) in (stat.S_IFCHR, stat.S_IFBLK):
            return self._refuse(name, call)
        return GO_ON if self._box.name_made() else Answer(errno.ENOSPC)

    def _mode(self, name: str, call: Notification) -> Answer:
        directory, path, mode = _MODES[name]
        return self._do(call, directory, path, lambda own: Path(own).chmod(call.args[mode] & 0o7777))

    def _owner(self, name: str, call: Notification) -> Answer:
        directory, path, first = _OWNERS[name]
        same = {0xFFFFFFFF}
        kept = (call.args[first] & 0xFFFFFFFF) in same | {os.getuid()}
        kept = kept and (call.args[first + 1] & 0xFFFFFFFF) in same | {os.getgid()}
        answer = self._do(call, directory, path, lambda _own: None)
        return answer if kept or answer.error else EPERM

    def _times(self, _name: str, call: Notification) -> Answer:
        moments = None
        if call.args[2]:
            words = struct.unpack("=4q", kernel.read_memory(call.pid, call.args[2], 32))
            moments = (words[:2], words[2:])
        return self._do(call, 0, 1 if call.args[1] else None, lambda own: _set_times(own, moments))

    def _truncate(self, _name: str, call: Notification) -> Answer:
        return self._do(call, None, 0, lambda own: os.truncate(own, call.args[1]))

    def _attribute(self, _name: str, call: Notification) -> Answer:
        answer = self._do(call, None, 0, lambda _own: None)
        return answer if answer.error else Answer(errno.EOPNOTSUPP)

    def _do(
        self, call: Notification, directory: int | None, at: int | None, act: Callable[[str], None]
    ) -> Answer:
        """Do to a file of the box what the guest asks for: by a descriptor, so to the file we judged."""
        try:
            fd = self._file_of(call, directory, at)
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        try:
            act(f"/proc/self/fd/{fd}")
        except OSError as problem:
            return Answer(problem.errno or errno.EACCES)
        finally:
            os.close(fd)
        return _DONE

    def _file_of(self, call: Notification, directory: int | None, at: int | None) -> int:
        """The file a call names by path or by descriptor, if it lies in the box.

        Raises:
            OSError: it does not, or cannot be found.
        """
        path = None if at is None else self._path(call, directory, at)
        if path is None:
            number = watch.signed(call.args[directory or 0])
            fd = os.open(f"/proc/{call.pid}/fd/{number}", os.O_PATH | os.O_CLOEXEC)
            place = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115
            if self._boundary.is_own(place) or not place.startswith("/"):
                return fd
            os.close(fd)
        else:
            judged, place = self._boundary.judge(path, call.pid, writes=True)
            if self._boundary.is_own(place):
                return self._opened_as_own(place)
            if judged is paths.Judged.INSIDE:
                raise PermissionError(errno.EPERM, "not the program's own")
        self.record.note("file", place, allowed=False)
        raise PermissionError(errno.EACCES, "outside")

    def _opened_as_own(self, place: str) -> int:
        home = self._boundary.home_of(place)
        assert home is not None
        return calls.open_beneath(home, place[len(home) + 1 :], os.O_PATH)

    def _exec(self, name: str, call: Notification) -> Answer:
        path = self._path(call, 0 if name == "execveat" else None, 1 if name == "execveat" else 0)
        if path is not None and self.own_execs <= 0 and os.path.exists(path):  # noqa: PTH110
            place = os.path.realpath(path)
            self.record.note("process", place, allowed=self._boundary.is_open(place))
            return GO_ON
        return super()._exec(name, call)

    # Network: no socket of the guest's leads out of it, whatever it is called.

    def _socket(self, name: str, call: Notification) -> Answer:
        """In the place of an internet socket, one that leads nowhere."""
        family, kind, protocol = (value & 0xFFFFFFFF for value in call.args[:3])
        plain = (kind & 0xF) in PLAIN_TYPES and protocol in PLAIN_PROTOCOLS
        if family not in (socket.AF_INET, socket.AF_INET6) or not plain:
            return super()._socket(name, call)
        stand_in = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stand_in.setblocking(not kind & socket.SOCK_NONBLOCK)
        return self._hand_over(stand_in.detach(), kind)  # SOCK_CLOEXEC is O_CLOEXEC

    def _network(self, name: str, pointer: int, length: int, call: Notification) -> Answer:
        raw = kernel.read_memory(call.pid, pointer, min(length, 128)) if pointer and length else b""
        target = addresses.parse(raw)
        if target is None:
            # No address: what is sent stays on a pair, because no socket here can be sent elsewhere.
            return Answer(errno.EISCONN) if name == "connect" else GO_ON
        if target.path is not None:
            return self._unix(name, target.path, call)
        if target.loopback and target.port == addresses.DNS_PORT and name != "bind":
            return self._lookup(name, call)
        self.record.note("network", target.text, allowed=False)
        if name == "bind":
            return _ACCESS
        return Answer(errno.ECONNREFUSED if target.loopback else errno.ENETUNREACH)

    def _unix(self, name: str, path: str, call: Notification) -> Answer:
        if not path:  # unnamed, or abstract: nobody of the program's own can have such a name
            return EPERM if name == "bind" else Answer(errno.ECONNREFUSED)
        judged, place = self._boundary.judge(
            self._absolute(path, call.pid, _AT_FDCWD), call.pid, writes=False
        )
        if not self._boundary.is_own(place):
            if judged is paths.Judged.INSIDE:
                return Answer(errno.ENOENT)  # what libc asks for by itself
            self.record.note("file", place, allowed=False)
            return _ACCESS
        if name == "bind":
            return GO_ON  # making it is Landlock's to allow
        return self._connect_inside(place, call) if name == "connect" else Answer(errno.EISCONN)

    def _connect_inside(self, place: str, call: Notification) -> Answer:
        """To a listener of the program's own: by a socket of ours, put in the place of the guest's."""
        try:
            fd = self._opened_as_own(place)
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as ours:
                    ours.setblocking(False)  # noqa: FBT003
                    ours.connect(f"/proc/self/fd/{fd}")
                    self._put_in_place(ours, call)
            finally:
                os.close(fd)
        except OSError as problem:
            return Answer(problem.errno or errno.ECONNREFUSED)
        return _DONE

    def _lookup(self, name: str, call: Notification) -> Answer:
        """A question to a resolver: we hear the name, and nobody answers."""
        if name == "sendto":
            payload = kernel.read_memory(call.pid, call.args[1], min(call.args[2], 512))
            if (asked := addresses.queried_name(payload)) is not None:
                self.record.note("network", f"{asked}:53", allowed=False)
        if name != "connect":
            return Answer(errno.ECONNREFUSED)
        self.record.network_used = True
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            theirs.setblocking(False)  # noqa: FBT003
            try:
                self._put_in_place(theirs, call)
            except OSError as problem:
                ours.close()
                return Answer(problem.errno or errno.ENETUNREACH)
        self._ear.listen(ours)
        return _DONE

    def _put_in_place(self, ours: socket.socket, call: Notification) -> None:
        number = watch.signed(call.args[0])
        flags = _descriptor_flags(call.pid, number)
        ours.setblocking(not flags & os.O_NONBLOCK)
        calls.replace(self.listener, call.id, ours.fileno(), number, close_on_exec=bool(flags & os.O_CLOEXEC))


def _texts() -> dict[str, str]:
    user = f"agent:x:{os.getuid()}:{os.getgid()}:agent:{os.environ['HOME']}:/bin/bash\n"
    group = f"agent:x:{os.getgid()}:\n"
    texts = {name: text for name, text in root.FILES.items() if name.startswith("etc/")}
    return texts | {"etc/passwd": user, "etc/group": group}


def _text_file(name: str, text: str) -> int:
    fd = os.memfd_create(name)
    os.write(fd, text.encode())
    return fd


def _descriptor_flags(pid: int, number: int) -> int:
    found = re.search(r"flags:\s+(\d+)", Path(f"/proc/{pid}/fdinfo/{number}").read_text())
    return int(found[1], 8) if found else 0


def _set_times(path: str, moments: tuple[tuple[int, ...], tuple[int, ...]] | None) -> None:
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
