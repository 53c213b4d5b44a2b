"""The few system calls Python has no function for, by ctypes; each raises OSError as Python's own do.

It holds no state but the loaded C library.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

SECUREBITS_LOCKED = 0b11101111
"""NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE with their locks, and KEEP_CAPS locked off."""

RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH, RESOLVE_IN_ROOT = 1, 2, 4, 8, 16

_AT_FDCWD = -100
_CAPABILITY_VERSION = 0x20080522

_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_GET_ACTION_AVAIL = 2
SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 3
SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 1 << 5
SECCOMP_RET_USER_NOTIF = 0x7FC00000

# Calls only the supervisor makes; the same number on every architecture since 5.0, but `seccomp`.
_SYS_PIDFD_GETFD = 438
_SYS_OPEN_TREE = 428
_SYS_MOVE_MOUNT = 429
_SYS_OPENAT2 = 437
_SYS_MOUNT_SETATTR = 442
_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SYS_CLONE = {"x86_64": 56, "aarch64": 220}
_SYS_TGKILL = {"x86_64": 234, "aarch64": 131}
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_PRCTL = {"x86_64": 157, "aarch64": 167}
_SYS_PROCESS_VM = {"readv": {"x86_64": 310, "aarch64": 270}, "writev": {"x86_64": 311, "aarch64": 271}}

_MOUNT_ATTRIBUTES = struct.Struct("=4Q")  # `struct mount_attr`: to set, to clear, propagation, user namespace

_MACHINE = os.uname().machine
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
# Called without letting go of the interpreter lock, so that a fork inherits it held by its one thread.
_locked_libc = ctypes.PyDLL(None, use_errno=True)

_locked_libc.syscall.restype = ctypes.c_long
_fork = _locked_libc.fork


class _Iovec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _check(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call_kernel(what: str, number: int, *arguments: Any, libc: ctypes.CDLL = _libc) -> int:
    """Make a system call by its number; integers are passed as longs.

    Args:
        what: of it, in the error.
        number: of the call.
        arguments: integers, bytes, or what ctypes passes as it is.
        libc: the loaded library that makes it.
    """
    passed = (ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments)
    return _check(int(libc.syscall(ctypes.c_long(number), *passed)), what)


def unshare(flags: int) -> None:
    """Leave the namespaces the flags name for new ones."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def fork() -> int:
    """Fork without Python's own part in it, which costs more than all the rest of a fork.

    Only for a process with a single thread that uses no lock over a fork: what Python would do is make locks
    and thread tables anew, and seed `random`, which is done before it.
    """
    pid: int = _fork()
    return pid if pid >= 0 else _check(-1, "fork")


def fork_unwaited() -> int:
    """Fork a child that `wait` does not see unless it is named (`__WCLONE`): it sends no signal at its end.

    A child whose parent ends becomes an ordinary one of whatever process adopts it. As for `fork`, the caller
    has a single thread.
    """
    return call_kernel("clone", _number_here(_SYS_CLONE), 0, 0, 0, 0, 0, libc=_locked_libc)


def send_thread_signal(pid: int, thread: int, number: int) -> None:
    """Send a signal by way of one thread of a process."""
    call_kernel("tgkill", _number_here(_SYS_TGKILL), pid, thread, number)


def setns(fd: int, kind: int) -> None:
    """Enter the namespace that a descriptor refers to, or those of a process, by its descriptor."""
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount a file system, bind a directory, or change a mount's flags."""
    _check(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            data.encode() or None,
        ),
        f"mount {kind or source} on {target}",
    )


def umount(target: str, flags: int = MNT_DETACH) -> None:
    """umount2(2), by default without waiting for users."""
    _check(_libc.umount2(os.fsencode(target), ctypes.c_int(flags)), f"umount {target}")


def move_root_here() -> None:
    """Make the working directory the root and detach the old one."""
    call_kernel("pivot_root", _number_here(_SYS_PIVOT_ROOT), b".", b".")
    umount(".")
    os.chdir("/")


def open_tree(path: str) -> int:
    """Return a detached, recursive copy of the mounts under a path, as a descriptor."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | AT_RECURSIVE
    return call_kernel(f"open_tree {path}", _SYS_OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags)


def move_mount(tree: int, target: str) -> None:
    """Attach what `open_tree` gave."""
    target_arguments = (_AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)
    call_kernel(f"move_mount on {target}", _SYS_MOVE_MOUNT, tree, b"", *target_arguments)


def set_mount_attributes(path: str, attributes: int, *, recursive: bool = True) -> None:
    """mount_setattr(2): set attributes on a mount and, by default, all below it."""
    changes = _MOUNT_ATTRIBUTES.pack(attributes, 0, 0, 0)
    below = AT_RECURSIVE if recursive else 0
    what, target = f"mount_setattr {path}", os.fsencode(path)
    call_kernel(what, _SYS_MOUNT_SETATTR, _AT_FDCWD, target, below, changes, len(changes))


def openat2(directory: int, path: str, flags: int, mode: int = 0, resolve: int = 0) -> int:
    """Open a path, with bounds to where it may lead (`RESOLVE_…`); a descriptor, closed on exec."""
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, mode, resolve)
    return call_kernel(path, _SYS_OPENAT2, directory, os.fsencode(path), how, len(how))


def prctl(option: int, value: int = 0) -> int:
    """Set or query a property of this process; one argument."""
    return call_kernel(f"prctl {option}", _number_here(_SYS_PRCTL), option, value, 0, 0, 0)


def set_keep_capabilities() -> None:
    """Keep the permitted set over the next change of the user id."""
    prctl(PR_SET_KEEPCAPS, 1)


def raise_permitted() -> None:
    """Make the permitted set effective again, after the user id changed."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    _check(_libc.capget(header, data), "capget")
    data[0], data[3] = data[1], data[4]
    _check(_libc.capset(header, data), "capset")


def forgo_capabilities() -> None:
    """Forgo, for this process and all it executes or becomes, every capability it has not."""
    _drop_bounding_set()
    prctl(PR_SET_SECUREBITS, SECUREBITS_LOCKED)


def _drop_bounding_set() -> None:
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return  # the first number the kernel does not know


def drop_capabilities() -> None:
    """Clear the effective, permitted and inheritable sets; the ambient set empties with them."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, data), "capset")


def install_filter(program: bytes, flags: int) -> int:
    """Install a seccomp program; with NEW_LISTENER returns the listener's descriptor."""
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = _SockFprog(len(program) // 8, ctypes.addressof(buffer))
    return call_kernel(
        "seccomp", _number_here(_SYS_SECCOMP), _SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(fprog)
    )


def has_user_notification() -> bool:
    """Whether the kernel knows SECCOMP_RET_USER_NOTIF."""
    action = struct.pack("=I", SECCOMP_RET_USER_NOTIF)
    number = _number_here(_SYS_SECCOMP)
    with contextlib.suppress(OSError):
        return call_kernel("seccomp", number, _SECCOMP_GET_ACTION_AVAIL, 0, action) == 0
    return False


def fetch_descriptor(pidfd: int, fd: int) -> int:
    """Fetch a copy of another process's descriptor: pidfd_getfd(2)."""
    return call_kernel("pidfd_getfd", _SYS_PIDFD_GETFD, pidfd, fd, 0)


class ProcessUnreadable(PermissionError):  # noqa: N818 - what a process is
    """A process may not be looked at: its program may be run, and not be read."""


def read_memory(pid: int, address: int, length: int) -> bytes:
    """Read bytes of another process's memory; fewer where a page is missing.

    Raises:
        ProcessUnreadable: the process may not be looked at.
        OSError: nothing could be read.
    """
    try:
        return _read_vectors(pid, address, length)
    except PermissionError:  # a container's own filter forbids the call, not the file
        with _open_memory(pid, os.O_RDONLY) as memory:
            return os.pread(memory, length, address)  # as far as pages are there


@contextlib.contextmanager
def _open_memory(pid: int, flags: int) -> Iterator[int]:
    try:
        memory = os.open(f"/proc/{pid}/mem", flags | os.O_CLOEXEC)
    except PermissionError as problem:
        raise ProcessUnreadable(*problem.args) from None
    try:
        yield memory
    except OverflowError:
        raise OSError(errno.EFAULT, "no address of a process") from None
    finally:
        os.close(memory)


def _read_vectors(pid: int, address: int, length: int) -> bytes:
    buffer = ctypes.create_string_buffer(length)
    # One remote piece per page: the call stops before the first missing page, and reports how far it came.
    pieces = []
    position = address
    while position < address + length:
        end = min((position | 0xFFF) + 1, address + length)
        pieces.append(_Iovec(position, end - position))
        position = end
    count = _move_memory("readv", pid, buffer, pieces)
    return buffer.raw[:count]


def _move_memory(direction: str, pid: int, buffer: ctypes.Array[ctypes.c_char], pieces: list[_Iovec]) -> int:
    """Read or write pieces of another process's memory; how many bytes."""
    local = _Iovec(ctypes.addressof(buffer), len(buffer))
    remote = (_Iovec * len(pieces))(*pieces)
    what = f"process_vm_{direction}"
    number = _number_here(_SYS_PROCESS_VM[direction])
    return call_kernel(what, number, pid, ctypes.byref(local), 1, remote, len(pieces), 0)


def write_memory(pid: int, address: int, data: bytes) -> int:
    """Put bytes into another process's memory, where it may write itself; how many.

    Raises:
        ProcessUnreadable: the process may not be looked at.
        OSError: nothing could be written.
    """
    buffer = ctypes.create_string_buffer(data, len(data))
    try:
        return _move_memory("writev", pid, buffer, [_Iovec(address, len(data))])
    except (
        PermissionError
    ):  # as in `read_memory`; this way takes a page that is read-only for the process too
        with _open_memory(pid, os.O_RDWR) as memory:
            return os.pwrite(memory, data, address)


def _number_here(numbers: dict[str, int]) -> int:
    """Return the number of a call on the running machine.

    Raises:
        OSError: the machine's architecture is not known.
    """
    if _MACHINE not in numbers:
        raise OSError(f"the jail has no system call table for {_MACHINE}")
    return numbers[_MACHINE]


def process_of(thread: int) -> int:
    """Return the process that a thread belongs to; its own number where that cannot be read."""
    try:
        with open(f"/proc/{thread}/status", "rb") as file:  # noqa: PTH123
            return int(file.read().partition(b"\nTgid:")[2].split(None, 1)[0])
    except (OSError, IndexError, ValueError):
        return thread
