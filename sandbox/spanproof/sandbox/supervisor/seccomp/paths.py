"""Which paths are a program's own, and which cross its boundary.

In: an absolute path a guest named, and whether it wants to write. Out: inside, outside (the kernel's own
refusal reports the program), or forbidden (refused by the supervisor, because the path exists in the jail and
still says something about the machine). Looks at names and links only; never opens anything.
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from spanproof.sandbox.places import PROBED, TERMINALS, is_sensitive
from spanproof.sandbox.supervisor.seccomp.resolve import TooLong, TooManyLinks, get_resolved_path

_WRITABLE = ("/box", "/tmp", "/var/tmp", "/run", "/dev/shm", "/proc/self/fd", "/dev/fd")  # noqa: S108
_DEVICES = frozenset(
    ("null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr", "shm", "fd", "ptmx")
)
# Where the link /run leads in the box.
_SERVICES = "/box/run/"
NAME_SERVICES = "/etc/nsswitch.conf"
ACCOUNTS = frozenset(("/etc/passwd", "/etc/group"))
# Directories that exist in the jail only because something lies below them: who lists them looks for more.
_BARE = frozenset(("/root", "/home", "/var", "/etc", "/.bind"))
_CREDENTIALS = ACCOUNTS | {"/etc/shadow", "/etc/gshadow", "/etc/sudoers"}


# What an import opens below a folder that it searches: packages, modules, and an installation's own account.
_IMPORTED = re.compile(
    r"\.py|(/\w+)*(/\w+(\.[\w-]+)*\.(py|pyc|pyi|so)|/[\w.-]+\.(dist|egg)-info(/\w+(\.txt)?)?)?", re.ASCII
)


class Judged(enum.Enum):
    """How a path relates to the boundary."""

    INSIDE = enum.auto()
    OUTSIDE = enum.auto()
    FORBIDDEN = enum.auto()


class Boundary:
    """One root's boundary."""

    def __init__(self, roots: Iterable[str], program_path: str, import_folders: Iterable[str] = ()) -> None:
        """Draw it.

        Args:
            roots: directories that the program may read.
            program_path: where programs are searched.
            import_folders: where the interpreter searches modules by its configuration, as an editable
                installation sets it, whether the program may read them or not.
        """
        named = tuple(roots)
        self._import_folders = tuple(folder.rstrip("/") for folder in import_folders)
        # An interpreter under /tmp is seen by its resolved path, inside the box.
        self._roots = (*named, *map(os.path.realpath, named))
        parents = {str(parent) for root in named for parent in PurePosixPath(root).parents} - {"/"}
        # Those of an interpreter under /tmp are in the box, where the program makes directories itself.
        self._bare = _BARE | {parent for parent in parents if not is_within(parent, _WRITABLE)}
        self._programs = frozenset(program_path.split(":"))

    def is_own(self, resolved: str) -> bool:
        """Whether a resolved path lies where the program may write."""
        return is_within(resolved, _WRITABLE)

    def is_program_directory(self, directory: str) -> bool:
        """Whether programs are searched there: a miss is a step of the search, no attempt."""
        return directory in self._programs

    def is_import(self, resolved: str) -> bool:
        """Whether the interpreter may look there by itself, for a module that is not there for it."""
        return any(
            resolved.startswith(folder) and _IMPORTED.fullmatch(resolved, len(folder))
            for folder in self._import_folders
        )

    def judge(self, path: str, pid: int, *, writes: bool, follows: bool = True) -> tuple[Judged, str]:
        """Judge the object that an absolute path leads a guest's thread to; return its path too.

        A path that takes more work than is done for one is forbidden; one that the kernel does not follow to
        its end opens nothing, so that it is inside.
        """
        try:
            resolved = get_resolved_path(path, pid, follows=follows)
        except TooManyLinks:
            return Judged.INSIDE, path
        except TooLong:
            return Judged.FORBIDDEN, path
        if resolved.startswith(_SERVICES):
            resolved = resolved.removeprefix("/box")
        return self._classify_path(resolved, writes=writes), resolved

    def get_resolved_path(self, path: str, pid: int) -> str:
        """Return the path of the object that an absolute path leads a guest's thread to; see `judge`."""
        return self.judge(path, pid, writes=False)[1]

    def _classify_path(self, resolved: str, *, writes: bool) -> Judged:
        if resolved in _CREDENTIALS:
            return Judged.FORBIDDEN
        if is_within(resolved, self._roots):
            return Judged.OUTSIDE if writes else Judged.INSIDE
        if not writes and self.is_import(resolved):
            return Judged.INSIDE
        if resolved in self._bare:
            return Judged.FORBIDDEN
        if resolved.startswith("/run/") and not writes and _is_missing_service(resolved):
            return Judged.OUTSIDE
        if is_within(resolved, _WRITABLE) or self._is_device(resolved):
            return Judged.INSIDE
        if resolved.startswith("/proc/"):
            return self._evaluate_process(resolved, writes=writes)
        if not writes and _is_readable(resolved):
            return Judged.INSIDE
        return Judged.OUTSIDE

    def _evaluate_process(self, resolved: str, *, writes: bool) -> Judged:
        if resolved.startswith("/proc/self/"):
            if writes and "/fd/" not in resolved:
                return Judged.FORBIDDEN
            return Judged.INSIDE
        if re.match(r"/proc/1(/|$)", resolved):
            return Judged.FORBIDDEN
        if re.match(r"/proc/\d+(/|$)", resolved) or PROBED.fullmatch(resolved):
            return Judged.OUTSIDE if writes else Judged.INSIDE
        return Judged.OUTSIDE

    def _is_device(self, resolved: str) -> bool:
        if not resolved.startswith("/dev/"):
            return False
        is_no_terminal = TERMINALS.fullmatch(resolved) is not None and not os.path.lexists(resolved)
        return is_no_terminal or resolved.split("/")[2] in _DEVICES


def _is_readable(resolved: str) -> bool:
    """Whether a path is there, or libraries look for it by themselves."""
    return resolved == "/" or PROBED.fullmatch(resolved) is not None or os.path.lexists(resolved)


def _is_missing_service(resolved: str) -> bool:
    """Whether a path names what a machine keeps below /run, and the program has put nothing there."""
    is_probed = PROBED.fullmatch(resolved) is not None
    return is_sensitive(resolved) and not is_probed and not os.path.lexists(resolved)


def is_within(resolved: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of these directories, or lies below one."""
    return any(resolved == root or resolved.startswith(f"{root}/") for root in roots)
