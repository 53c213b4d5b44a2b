"""The box as a plain directory: emptied between runs, its size watched.

In: a directory that only the guest's user may enter. The bounds of one file are the kernel's (RLIMIT_FSIZE);
those of all files together are counted, every few hundredths of a second, and then no file may grow.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import secrets
import stat
import time

from spanproof.sandbox.supervisor.namespaces import root
from spanproof.sandbox.supervisor.namespaces.kernel_memory import list_descriptor_links
from spanproof.sandbox.supervisor.namespaces.process_tree import Namespace
from spanproof.sandbox.supervisor.reduced import calls

_LEAST_NAMES = 1024
# Of the room: a name costs a disk more than a tmpfs, when it is removed.
_BYTES_A_NAME = 16384
# Much may be written between two looks by the clock: each of the first names is looked at too, then every so
# many.
_LOOK_EACH_NAMES = 32
_OFTEN = 10  # A walk through the box is made again when ten times what the last one took is past
_BEYOND_BEARING = 2
# Node.js looks for one in each directory from a script's up, and would otherwise leave the box for it.
_MANIFEST, _EMPTY_MANIFEST = "package.json", b"{}\n"


class Directory:
    """See `Box`."""

    def __init__(self, path: str, tree: Namespace, packages: str | None = None) -> None:
        """Take the directory of a supervisor.

        Args:
            path: the directory.
            tree: whose files it holds.
            packages: where Node.js finds those of a package set; it looks beside the work directory last.
        """
        self.path = path
        self._packages = packages
        self.work, self.code, self.tmp, self.shm = (
            f"{path}/{name}" for name in ("work", "code", "tmp", "shm")
        )
        self._tree = tree
        self._modes: list[int] = []
        self._most_bytes = 0
        self._names_made = 0
        self._next_walk = 0.0
        self._closed = False

    def start_empty(self, size_bytes: int) -> None:
        """See `Box`."""
        for name, mode in root.BOX_DIRECTORIES:
            os.mkdir(f"{self.path}/{name}", mode)  # noqa: PTH102 - in the path of every run
            os.chmod(f"{self.path}/{name}", mode)  # noqa: PTH101 - the umask took bits
        if self._packages is not None:
            os.symlink(self._packages, f"{self.path}/node_modules")  # noqa: PTH211
        with open(f"{self.path}/{_MANIFEST}", "xb") as file:  # noqa: PTH123
            file.write(_EMPTY_MANIFEST)
        self._modes = self._read_state()
        self._closed = False
        self._names_made = 0
        self.update_size(size_bytes)

    def update_size(self, size_bytes: int) -> None:
        """See `Box`."""
        self._most_bytes = size_bytes

    def has_changed(self) -> bool:
        """See `Box`."""
        return (
            self._closed
            or self._names_made > 0
            or self._modes != self._read_state()
            or not self._has_empty_manifest()
        )

    def _has_empty_manifest(self) -> bool:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            fd = os.open(f"{self.path}/{_MANIFEST}", flags)
            try:
                return os.read(fd, len(_EMPTY_MANIFEST) + 1) == _EMPTY_MANIFEST
            finally:
                os.close(fd)
        except OSError:  # gone, or a link or a directory by now
            return False

    def _read_state(self) -> list[int]:
        """Return modes and lengths of its directories and of itself; -1 for one that is gone or closed."""
        found = []
        for name in (*(name for name, _mode in root.BOX_DIRECTORIES), ""):
            try:
                found += [os.lstat(f"{self.path}/{name}").st_mode, len(os.listdir(f"{self.path}/{name}"))]  # noqa: PTH208
            except OSError:
                found.append(-1)
        return found

    def remove(self) -> None:
        """See `Box`."""
        remove_closed_entries(self.path)

    def read_files_left(self) -> dict[str, int]:
        """See `Box`."""
        # A program may have put a link in its place, and the supervisor is behind no wall.
        return {} if os.path.islink(self.work) else root.read_regular_files(self.work)  # noqa: PTH114

    def count_memory_bytes(self) -> int:
        """Return 0: its files lie on a disk; on a tmpfs, the disk's bound is that of the memory too."""
        return 0

    def takes_room_for_name(self) -> bool:
        """Count a name that is about to be made; False where there is no room for one more."""
        self._names_made += 1
        most = max(_LEAST_NAMES, self._most_bytes // _BYTES_A_NAME)
        early = self._names_made <= _LOOK_EACH_NAMES
        if early or self._names_made > most or self._names_made % _LOOK_EACH_NAMES == 0:
            used, names = self._count_usage()
            if used > self._most_bytes:
                self._update_file_size_limit()
            if self._names_made > most:
                self._names_made = names + 1  # what was removed counts no more
        return self._names_made <= most and not self._closed

    def find_exceeded_limit(self) -> str | None:
        """See `Box`."""
        started = time.monotonic()
        if started < self._next_walk:
            return None
        used, _names = self._count_usage()
        used += self._count_unnamed_bytes()
        self._next_walk = started + _OFTEN * (time.monotonic() - started)
        if used > _BEYOND_BEARING * self._most_bytes:
            return "disk"
        if used > self._most_bytes:
            self._update_file_size_limit()
        return None

    def _update_file_size_limit(self) -> None:
        """Let no file grow any more: a write fails as on a full disk, or nearly (EFBIG)."""
        self._closed = True
        for pid in self._tree.list_pids():
            with contextlib.suppress(OSError):
                resource.prlimit(int(pid), resource.RLIMIT_FSIZE, (0, 0))

    def _count_usage(self) -> tuple[int, int]:
        """Return bytes on the disk, and how many names."""
        used = names = 0
        waiting = [self.path]
        while waiting:
            for entry in self._list_entries(waiting.pop()):
                names += 1
                with contextlib.suppress(OSError):
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        return used, names

    def _list_entries(self, path: str) -> list[os.DirEntry[str]]:
        """List what lies in a directory; one that its program has closed is opened, so that it counts."""
        with contextlib.suppress(OSError):
            try:
                return list(os.scandir(path))
            except PermissionError:
                parent, name = os.path.split(path)
                if path == self.path:
                    os.close(_open_to_owner(path))
                else:
                    below = os.path.relpath(parent, self.path)
                    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
                    directory = calls.open_beneath(self.path, below, flags, links=False)
                    try:
                        os.close(_open_to_owner(name, directory))
                    finally:
                        os.close(directory)
                return list(os.scandir(path))
        return []

    def _count_unnamed_bytes(self) -> int:
        """Return the bytes of files that were removed and are still open."""
        found = {}
        for pid in self._tree.seen:
            for number, _target in list_descriptor_links(pid):
                with contextlib.suppress(OSError):
                    state = os.stat(f"/proc/{pid}/fd/{number}")  # noqa: PTH116
                    if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
                        found[state.st_dev, state.st_ino] = state.st_blocks * 512
        return sum(found.values())


def remove_entries(path: str) -> None:
    """Remove all that lies below a directory, however deep, through descriptors: a link is never followed.

    Directories found below are moved up before they are emptied, so that no path grows long. The mode of the
    directory itself stays as it is: programs of another user are to use it again.
    """
    top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        while names := os.listdir(top):  # noqa: PTH208 - by descriptor
            for name in names:
                if not _removes_entry(name, top):
                    _remove_contents(name, top)
    finally:
        os.close(top)


def remove_closed_entries(path: str) -> None:
    """Remove all that lies below a directory that its program owns, and may have closed."""
    os.close(_open_to_owner(path))
    remove_entries(path)


def _open_to_owner(name: str, directory: int | None = None) -> int:
    """Open a directory whose program may have closed it to its owner, and give the owner its rights back.

    Raises:
        OSError: there is none, but a link maybe.
    """
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        opened = os.open(name, os.O_RDONLY | flags, dir_fd=directory)
    except PermissionError:
        named = os.open(name, os.O_PATH | flags, dir_fd=directory)
        try:
            os.chmod(f"/proc/self/fd/{named}", 0o700)  # noqa: PTH101 - of the object, not of a name
            return os.open(f"/proc/self/fd/{named}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(named)
    with contextlib.suppress(PermissionError):  # a container's root may empty it as it is
        os.fchmod(opened, 0o700)
    return opened


def _removes_entry(name: str, directory: int) -> bool:
    """Remove a file, or a directory if it is empty."""
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            os.rmdir(name, dir_fd=directory)
        else:
            os.unlink(name, dir_fd=directory)
    except OSError as problem:
        if problem.errno != errno.ENOTEMPTY:
            raise
        return False
    return True


def _remove_contents(name: str, top: int) -> None:
    """Clear a directory: what cannot be removed is moved up beside it."""
    below = _open_to_owner(name, top)
    try:
        for inner in os.listdir(below):  # noqa: PTH208 - by descriptor
            if not _removes_entry(inner, below):
                os.close(_open_to_owner(inner, below))  # a directory that moves is written to
                os.rename(inner, secrets.token_hex(8), src_dir_fd=below, dst_dir_fd=top)
    finally:
        os.close(below)
