"""Answering the kernel's questions about a guest: what it attempted, and whether that goes through.

In: one seccomp notification at a time. Out: the kernel's answer, and attempts in order, each distinct one
once. A call is let through only where the namespaces bound it anyway, so a guest that rewrites its memory
after we looked can falsify this record of it, never the wall. Runs in the supervisor; never opens a guest's
path.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Callable
from functools import partial
from typing import Protocol

from spanproof.sandbox import kernel
from spanproof.sandbox.places import is_sensitive
from spanproof.sandbox.supervisor.fixtures.machine import MachineTexts
from spanproof.sandbox.supervisor.fixtures.run_fixtures import RunFixtures
from spanproof.sandbox.supervisor.namespaces.process_tree import PARENT, Namespace, read_stat_fields
from spanproof.sandbox.supervisor.record import Record
from spanproof.sandbox.supervisor.seccomp import addresses, paths
from spanproof.sandbox.supervisor.seccomp.conditions import OUTWARD_FLAGS
from spanproof.sandbox.supervisor.seccomp.notifications import (
    EPERM,
    GO_ON,
    NONE_YET,
    Answer,
    Notification,
    fetch_notification,
    send_answer,
    to_int,
)
from spanproof.sandbox.supervisor.seccomp.path_arguments import (
    BY_DESCRIPTOR,
    MUTATORS,
    NOFOLLOW_FLAGS,
    NOT_FOLLOWED,
    OPENS,
)
from spanproof.sandbox.supervisor.seccomp.resolve import TooManyLinks, get_path_in_root
from spanproof.sandbox.supervisor.seccomp.rules import FORKS, REFUSED
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch
from spanproof.sandbox.supervisor.tape.target import Target

# How many scripts the kernel goes through to a program, and how much of each it reads.
_INTERPRETERS, _FIRST_LINE_BYTES = 5, 256

_OPEN_HOW = struct.Struct("=QQQ")
# Of a `msghdr`: where the address is, and how long.
_MESSAGE_HEAD = struct.Struct("=QI")
# Of an `mmsghdr`.
_MESSAGE_BYTES = 64
_MESSAGES = 64  # Of one call, whose addresses are read
_PATH_BYTES, _SHORT_BYTES = 4096, 3000
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_SYMLINK_NOFOLLOW = 0x100
_AT_SYMLINK_FOLLOW = 0x400
_DELETED = " (deleted)"
# At most at once: where the kernel shares out processors by session, each has as much as the supervisor.
_SESSIONS = 16
# A link to the caller's own, which a /proc of processes alone lacks.
_MOUNTS = "/proc/mounts"


class Steps(Protocol):
    """A session, as the watcher of its guest needs it."""

    def get_record(self, name: str, task: int) -> Record:
        """Return the record that a call of a task is an attempt in."""

    def handle_fork(self, call: Notification) -> Answer:
        """Count a fork."""

    def handle_transfer(self, name: str, call: Notification) -> Answer:
        """Take or give a message by a read or a write of the session's channel."""


class Watcher:
    """Serves the listener of one run after the other."""

    def __init__(self, arch: Arch, boundary: paths.Boundary, tree: Namespace) -> None:
        self.start_run(-1)
        self._arch = arch
        self._boundary = boundary
        self._tree = tree
        self._machine = MachineTexts()
        self._names = {number: name for name, number in arch.numbers.items()}
        self._handlers = self._build_handlers()

    def start_run(self, listener: int) -> None:
        """Turn to a new run, with a clean record."""
        self.listener = listener
        self._handed = -1
        self.record = Record()
        self.memory_bytes = 1 << 62
        # How many programs the guest's own start takes: they are no attempts of the program.
        self.own_execs = 0
        # Whether a process that ends, by its number and its exit code, stays as it is until it is killed.
        self.is_held_at_end: Callable[[int, int], bool] = _holds_none
        # What this run finds fixed.
        self.fixtures: RunFixtures | None = None
        # The session whose steps are held calls, where this is one.
        self.steps: Steps | None = None
        # Whether the next process to close its memory may: that of the tests, where there are any.
        self.expects_judge = False
        # The one that has: it runs no code of the program's.
        self.judge: int | None = None
        # Who read how names are looked up: its next look at the accounts is libc's, and they are ours.
        self._looking_up: set[int] = set()

    def handle_notification(self) -> None:
        """Take one notification and answer it; returns quietly when the caller is gone meanwhile.

        What is handed over is the guest's alone then.
        """
        call = fetch_notification(self.listener)
        if call is None:
            return
        answer = self._handle_call(call)
        if answer is NONE_YET:
            return
        send_answer(self.listener, call.id, answer)
        if self._handed >= 0:
            os.close(self._handed)
            self._handed = -1

    def _handle_opened(self, fd: int, flags: int) -> Answer:
        """Give the caller a descriptor of ours as what it opened."""
        self._handed = fd
        return Answer(descriptor=fd, flags=flags)

    def _handle_call(self, call: Notification) -> Answer:
        if call.arch != self._arch.audit or call.number >= 0x40000000:
            self.record.add_attempt(
                "privilege", f"foreign system call {call.number & 0x3FFFFFFF}", allowed=False
            )
            return Answer(errno.ENOSYS)
        try:
            return self._handle_named_call(self._names.get(call.number, f"syscall {call.number}"), call)
        except kernel.ProcessUnreadable:
            if call.pid == self.judge:
                return GO_ON
            self.record.unjudged += 1
            return EPERM
        except OSError:
            # The caller's memory cannot be read: the kernel would fail the call with EFAULT. The process of
            # the tests has closed its own, and the namespaces hold it.
            if call.pid == self.judge:
                return GO_ON
            return Answer(errno.EFAULT)
        except (OverflowError, ValueError):
            return Answer(errno.EINVAL)  # an argument that no such call can have
        except Exception:  # noqa: BLE001 - whatever hostile arguments find, the call is answered
            self.record.unjudged += 1
            return EPERM

    def _handle_named_call(self, name: str, call: Notification) -> Answer:
        if self.steps is not None:
            self.record = self.steps.get_record(name, call.pid)
        if self.fixtures is not None:
            self.fixtures.handle_call(name, call.pid)
        return self._handlers.get(name, self._handle_refused)(name, call)

    def _build_handlers(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table: dict[str, Callable[[str, Notification], Answer]] = dict.fromkeys(REFUSED, self._handle_refused)
        table.update(dict.fromkeys(OPENS, self._open))
        table.update(dict.fromkeys(MUTATORS, self._handle_mutation))
        table.update(execve=self._handle_exec, execveat=self._handle_exec)
        table.update(connect=self._handle_address, bind=self._handle_address, sendto=self._handle_address)
        table.update(sendmsg=self._handle_message, sendmmsg=self._handle_message)
        table.update(
            mmap=self._handle_mapping,
            mremap=self._handle_mapping,
            socket=self._handle_socket,
            prctl=self._handle_hiding,
        )
        table.update(uname=self._handle_system_name)
        table.update(getrandom=self._handle_random, getppid=self._handle_parent, exit_group=self._handle_exit)
        table.update(
            flock=self._handle_lock,
            ioctl=self._handle_lock,
            mknod=self._handle_node,
            mknodat=self._handle_node,
        )
        table.update(setsid=self._handle_setsid)
        table.update(
            dict.fromkeys(FORKS, self._handle_fork), read=self._handle_transfer, write=self._handle_transfer
        )
        return table

    def _handle_refused(self, name: str, call: Notification) -> Answer:
        self.record.add_attempt("privilege", name, allowed=False)
        return EPERM

    def _handle_socket(self, _name: str, call: Notification) -> Answer:
        self.record.add_attempt("privilege", addresses.format_socket_call(call.args), allowed=False)
        return EPERM

    def _handle_hiding(self, _name: str, call: Notification) -> Answer:
        """Let the process of the tests alone close its memory to others, which closes it to us too."""
        if not self.expects_judge:
            return EPERM
        self.expects_judge = False
        self.judge = call.pid
        return GO_ON

    def _handle_fork(self, name: str, call: Notification) -> Answer:
        """Count one process or thread more; of the step its task is of."""
        if name == "clone" and call.args[0] & OUTWARD_FLAGS:
            return self._handle_refused(name, call)
        if self.steps is None:
            return GO_ON
        return self.steps.handle_fork(call)

    def _handle_setsid(self, name: str, call: Notification) -> Answer:
        if self._tree.has_room_for_session(call.pid, _SESSIONS):
            return GO_ON
        self.record.add_attempt("process", name, allowed=False)
        return EPERM

    def _handle_transfer(self, name: str, call: Notification) -> Answer:
        """Read or write what only a session has; the kernel refuses it elsewhere."""
        if self.steps is None:
            return GO_ON
        return self.steps.handle_transfer(name, call)

    def _handle_random(self, _name: str, call: Notification) -> Answer:
        """Give the kernel's, unless the run has a seed."""
        if self.fixtures is None or not self.fixtures.has_seed:
            return GO_ON
        data = self.fixtures.read_random_bytes(call.pid, call.args[1])
        return Answer(value=kernel.write_memory(call.pid, call.args[0], data) if data else 0)

    def _handle_parent(self, _name: str, call: Notification) -> Answer:
        """Return the parent: to children of one outside the process namespace, it is this process."""
        return Answer(value=int(read_stat_fields(call.pid)[PARENT]) or os.getpid())

    def _handle_exit(self, _name: str, call: Notification) -> Answer:
        if self.is_held_at_end(call.pid, call.args[0] & 0xFF):
            return NONE_YET
        return GO_ON

    def _handle_mapping(self, name: str, call: Notification) -> Answer:
        length = call.args[1 if name == "mmap" else 2]
        if length <= self.memory_bytes:
            return GO_ON
        self.record.memory_refused = max(self.record.memory_refused, length)
        return Answer(errno.ENOMEM)

    def _open(self, name: str, call: Notification) -> Answer:
        path, flags = self._read_open_arguments(name, call)
        if path is None:
            return GO_ON
        if self.fixtures is not None:
            resolved = self._boundary.get_resolved_path(path, call.pid)
            substitute = self.fixtures.find_substitute(resolved, writes=bool(flags & WRITE_FLAGS))
            if substitute is not None:
                return self._handle_opened(substitute, flags)
        return self._handle_open(path, flags, call)

    def _handle_open(self, path: str, flags: int, call: Notification) -> Answer:
        writes = bool(flags & WRITE_FLAGS)
        judged, resolved = self._boundary.judge(
            path, call.pid, writes=writes, follows=not flags & os.O_NOFOLLOW
        )
        text = None if writes else self._find_machine_text(resolved, call.pid)
        if text is not None:
            return self._handle_opened(text, flags)
        return self._handle_judged_file(judged, resolved, call.pid, writes=writes)

    def _find_machine_text(self, resolved: str, thread: int) -> int | None:
        """Return a descriptor of what is reported of the machine at a path; None where nothing is."""
        if not resolved.startswith(("/proc/", "/sys/")):
            return None
        if resolved == _MOUNTS and not os.path.lexists(_MOUNTS):
            return os.open(f"/proc/{thread}/mounts", os.O_RDONLY | os.O_CLOEXEC)
        has_seed = self.fixtures is not None and self.fixtures.has_seed
        draw = (
            partial(self.fixtures.read_random_bytes, thread)
            if self.fixtures is not None and has_seed
            else os.urandom
        )
        return self._machine.find_text_descriptor(resolved, draw)

    def _handle_system_name(self, _name: str, call: Notification) -> Answer:
        """Give the name of the machine that `MachineTexts` describes."""
        kernel.write_memory(call.pid, call.args[0], self._machine.system_name)
        return Answer(value=0)

    def _read_open_arguments(self, name: str, call: Notification) -> tuple[str | None, int]:
        """Return the path and the flags of a call that opens."""
        directory, path_at, flags_at = OPENS[name]
        flags = call.args[flags_at] if flags_at is not None else 0
        if name == "creat":
            flags = os.O_WRONLY | os.O_CREAT
        elif name == "openat2":
            how = kernel.read_memory(call.pid, call.args[2], _OPEN_HOW.size)
            if len(how) < _OPEN_HOW.size:
                raise OSError(errno.EFAULT, "it begins at the end of a page, and the next one is missing")
            flags, _mode, resolve = _OPEN_HOW.unpack(how)
            if resolve & kernel.RESOLVE_IN_ROOT:
                return self._find_path_in_root(call, flags), flags
        return self._find_path(call, directory, path_at), flags

    def _find_path_in_root(self, call: Notification, flags: int) -> str | None:
        """Return the absolute path that `openat2` opens with its directory as the root; None if none."""
        text = self._find_text(call, 1)
        directory = self._build_absolute(".", call.pid, to_int(call.args[0]))
        try:
            return text and get_path_in_root(text, directory, call.pid, follows=not flags & os.O_NOFOLLOW)
        except TooManyLinks:  # nor does the kernel follow it
            return None

    def _handle_mutation(self, name: str, call: Notification) -> Answer:
        for directory, path_at in MUTATORS[name]:
            path = None if path_at is None else self._find_path(call, directory, path_at)
            if path is None and directory is not None and name in BY_DESCRIPTOR:
                path = f"/proc/{call.pid}/fd/{to_int(call.args[directory])}"
            if path is not None:
                answer = self._evaluate_file(path, call.pid, writes=True, follows=follows_link(name, call))
                if answer.error:
                    return answer
        return GO_ON

    def _evaluate_file(self, path: str, pid: int, *, writes: bool, follows: bool = True) -> Answer:
        judged, resolved = self._boundary.judge(path, pid, writes=writes, follows=follows)
        return self._handle_judged_file(judged, resolved, pid, writes=writes)

    def _handle_judged_file(self, judged: paths.Judged, resolved: str, pid: int, *, writes: bool) -> Answer:
        """Answer for a file that was judged, and record it where it is not the program's own."""
        if resolved == paths.NAME_SERVICES:
            self._looking_up.add(pid)
        if judged is paths.Judged.INSIDE or (
            resolved in paths.ACCOUNTS and pid in self._looking_up and not writes
        ):
            return GO_ON
        self._record_file(judged, resolved, writes=writes)
        if judged is paths.Judged.FORBIDDEN:
            return Answer(errno.EACCES)
        return GO_ON

    def _record_file(self, judged: paths.Judged, resolved: str, *, writes: bool) -> None:
        """Record an attempt at a file, or a look at what is not there and is in no sensitive tree."""
        missing = not writes and is_missing(judged, resolved)
        if missing and not is_sensitive(resolved):
            self.record.record_look(resolved)
        else:
            self.record.add_attempt("file", resolved, allowed=False, missing=missing)

    def _handle_node(self, name: str, call: Notification) -> Answer:
        """Allow a file, a pipe or a socket in the program's own directories; never a device."""
        kind = stat.S_IFMT(call.args[1 if name == "mknod" else 2])
        if kind in (stat.S_IFCHR, stat.S_IFBLK):
            return self._handle_refused(name, call)
        return self._handle_mutation(name, call)

    def _handle_lock(self, _name: str, call: Notification) -> Answer:
        """Refuse a lock on a file of others, who see it and may have to wait; so for its attributes."""
        path = f"/proc/{call.pid}/fd/{to_int(call.args[0])}"
        try:
            os.lstat(path)
        except PermissionError as problem:
            raise kernel.ProcessUnreadable(*problem.args) from None
        except OSError:
            return GO_ON  # no descriptor: the kernel refuses
        judged, resolved = self._boundary.judge(path, call.pid, writes=True)
        if judged is paths.Judged.INSIDE:
            return GO_ON
        self.record.add_attempt("file", resolved, allowed=False)
        return Answer(errno.EACCES)

    def _handle_exec(self, name: str, call: Notification) -> Answer:
        path = self._find_program(name, call)
        if path is None:
            return GO_ON
        if self.own_execs > 0:
            self.own_execs -= 1
            return GO_ON
        if is_unreadable(path):
            self.record.add_attempt("process", self._describe_program(path, call), allowed=False)
            return Answer(errno.EACCES)
        if os.path.lexists(path):
            self.record.add_attempt("process", self._describe_program(path, call), allowed=True)
            self._record_interpreters(path, call)
        elif not self._is_step_of_search(path, call.pid):
            self.record.add_attempt("process", os.path.normpath(path), allowed=False)
        return GO_ON

    def _is_step_of_search(self, path: str, pid: int) -> bool:
        """Whether a program that is not there was sought where the program may look."""
        if self._boundary.is_program_directory(os.path.dirname(path)):  # noqa: PTH120 - text only
            return True
        judged, _resolved = self._boundary.judge(path, pid, writes=False)
        return judged is paths.Judged.INSIDE

    def _record_interpreters(self, path: str, call: Notification) -> None:
        """Record what the kernel starts for a script of the program's own, whose name says nothing."""
        for _ in range(_INTERPRETERS):
            resolved = self._boundary.get_resolved_path(path, call.pid)
            if not self._boundary.is_own(resolved):
                return
            # A descriptor's file may be removed by now.
            named = find_interpreter(path if path.startswith(f"/proc/{call.pid}/fd/") else resolved)
            if named is None:
                return
            path = self._build_absolute(named, call.pid)
            self.record.add_attempt(
                "process", self._describe_program(path, call), allowed=os.path.lexists(path)
            )

    def _find_program(self, name: str, call: Notification) -> str | None:
        """Return the absolute path of what a call executes; a descriptor's own where it names no path."""
        if name == "execve":
            return self._find_path(call, None, 0)
        path = self._find_path(call, 0, 1)
        if path is None and call.args[4] & _AT_EMPTY_PATH:
            return f"/proc/{call.pid}/fd/{to_int(call.args[0])}"
        return path

    def _describe_program(self, path: str, call: Notification) -> str:
        """Return a program's path for the record: as it was named, or where that is no name, as it leads."""
        if "/.." not in path and not path.startswith("/proc/"):
            return os.path.normpath(path)
        return self._boundary.get_resolved_path(path, call.pid)

    def _handle_address(self, name: str, call: Notification) -> Answer:
        pointer, length = (call.args[4], call.args[5]) if name == "sendto" else (call.args[1], call.args[2])
        return self._evaluate_destination(name, pointer, length, call)

    def _handle_message(self, name: str, call: Notification) -> Answer:
        """Answer for the first message of `sendmsg` and `sendmmsg`; a connected socket's has no address."""
        head = kernel.read_memory(call.pid, call.args[1], _MESSAGE_HEAD.size)
        if len(head) < _MESSAGE_HEAD.size:
            return Answer(errno.EFAULT)  # it begins at the end of a page, and the next one is missing
        pointer, length = _MESSAGE_HEAD.unpack(head)
        if name == "sendmmsg":
            self._record_further(call)
        return self._evaluate_destination(name, pointer, length, call)

    def _record_further(self, call: Notification) -> None:
        """Record where the messages of `sendmmsg` behind the first one go; each has an address of its own."""
        count = call.args[2] & 0xFFFFFFFF
        for number in range(1, min(count, _MESSAGES)):
            head = kernel.read_memory(call.pid, call.args[1] + number * _MESSAGE_BYTES, _MESSAGE_HEAD.size)
            if len(head) < _MESSAGE_HEAD.size:
                return
            pointer, length = _MESSAGE_HEAD.unpack(head)
            raw = kernel.read_memory(call.pid, pointer, min(length, 128)) if pointer and length else b""
            target = addresses.find_address(raw, sends=True)
            if target is None or target.path is not None or target.goes_nowhere:
                continue
            text, served = self._get_target(target)
            if not served:
                self.record.add_attempt("network", text, allowed=target.loopback)
        if count > _MESSAGES:
            self.record.unjudged += count - _MESSAGES

    def _evaluate_destination(self, name: str, pointer: int, length: int, call: Notification) -> Answer:
        pid = call.pid
        raw = kernel.read_memory(pid, pointer, min(length, 128)) if pointer and length else b""
        target = addresses.find_address(raw, sends=name.startswith("send"))
        if target is None:
            return GO_ON
        if target.path is not None:
            return self._evaluate_unix(name, target, pid)
        if name == "bind":
            self.record.network_used = True
            return GO_ON
        if target.loopback and target.port == addresses.DNS_PORT:
            self.record.network_used = True
            return self._handle_resolver_query(name, call)
        text, served = self._get_target(target)
        self.record.network_used |= served or target.loopback  # what is refused leaves nothing behind
        if served:  # the call itself will be reported
            if name == "connect" and target.port:
                return self._handle_tape_connect(call, text, raw)
            return GO_ON
        if not target.goes_nowhere:
            self.record.add_attempt("network", text, allowed=target.loopback)
        if target.loopback:
            return GO_ON
        return Answer(errno.ENETUNREACH)

    def _evaluate_unix(self, name: str, target: Target, pid: int) -> Answer:
        """Judge one; abstract ones are bounded by the network namespace: one not there is outside."""
        if target.path:
            return self._evaluate_file(self._build_absolute(target.path, pid), pid, writes=name == "bind")
        if target.text and name != "bind" and target.text not in _list_abstract_sockets():
            self.record.add_attempt("network", target.text, allowed=False)
        return GO_ON

    def _handle_resolver_query(self, _name: str, _call: Notification) -> Answer:
        """Let a query arrive at the supervisor's own resolver, which reports the name that is requested."""
        return GO_ON

    def _get_target(self, target: Target) -> tuple[str, bool]:
        """Return the text to record of a place, and whether the tape serves there."""
        if self.fixtures is None:
            return (target.text, False)
        return self.fixtures.get_destination(target)

    def _handle_tape_connect(self, _call: Notification, _text: str, _address: bytes) -> Answer:
        """Let a connection arrive at the tape: every address of the namespace leads there."""
        return GO_ON

    def _find_path(self, call: Notification, directory: int | None, at: int) -> str | None:
        """Return the absolute path an argument names, None where it is empty (a descriptor is meant)."""
        text = self._find_text(call, at)
        if not text:
            return None
        base = _AT_FDCWD if directory is None else to_int(call.args[directory])
        return self._build_absolute(text, call.pid, base)

    def _find_text(self, call: Notification, at: int) -> str | None:
        """Return the path an argument points to; None where there is none."""
        if not call.args[at]:
            return None
        raw = kernel.read_memory(call.pid, call.args[at], _PATH_BYTES)
        return os.fsdecode(raw.split(b"\0", 1)[0]) or None

    def _build_absolute(self, path: str, pid: int, directory: int = _AT_FDCWD) -> str:
        if path.startswith("/"):
            return path
        link = f"/proc/{pid}/cwd" if directory == _AT_FDCWD else f"/proc/{pid}/fd/{directory}"
        try:
            text = os.readlink(link)  # noqa: PTH115 - in the path of every open
        except OSError as problem:
            if problem.errno == errno.ENAMETOOLONG:
                return f"{link}/{path}"
            return f"/{path}"
        # The name of a removed directory may be another's by now, and too long a path is none.
        unnamed = text.endswith(_DELETED) or len(text) + len(path) >= _SHORT_BYTES
        return f"{link}/{path}" if unnamed else f"{text}/{path}"


def _holds_none(_pid: int, _code: int) -> bool:
    return False


def _list_abstract_sockets() -> set[str]:
    """Return the names of the abstract sockets in this network namespace, as `addresses` writes them."""
    with open("/proc/self/net/unix", "rb") as file:  # noqa: PTH123
        rows = [row.split(None, 7) for row in file.read().splitlines()]
    return {
        addresses.format_abstract_name(row[7][1:])
        for row in rows
        if len(row) == 8 and row[7].startswith(b"@")
    }


def is_unreadable(program: str) -> bool:
    """Return whether a program may be run and not read: the kernel lets none look into such a process."""
    return os.access(program, os.X_OK) and not os.access(program, os.R_OK)


def find_interpreter(script: str) -> str | None:
    """Return the program that the first line of a script names; None of what is no script."""
    try:
        fd = os.open(script, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        head = os.pread(fd, _FIRST_LINE_BYTES, 0) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)
    words = head.partition(b"\n")[0].removeprefix(b"#!").split(None, 1)
    return os.fsdecode(words[0].partition(b"\0")[0]) if head.startswith(b"#!") and words else None


def follows_link(name: str, call: Notification) -> bool:
    """Return whether a call that changes a file follows a link at the end of its path."""
    if name == "linkat":
        return bool(call.args[4] & _AT_SYMLINK_FOLLOW)
    if name in NOT_FOLLOWED:
        return False
    flags = NOFOLLOW_FLAGS.get(name)
    return flags is None or not call.args[flags] & _AT_SYMLINK_NOFOLLOW


def is_missing(judged: paths.Judged, resolved: str) -> bool:
    """Whether nothing of that name is in sight, as far as this process sees."""
    return judged is paths.Judged.OUTSIDE and not os.path.lexists(resolved)
