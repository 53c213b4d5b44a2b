"""Runs a command as an unprivileged user who can reach the interpreter, wherever root keeps it.

Usage, as root: `python unprivileged.py COMMAND…`. In a mount namespace of its own, directories that others
may not enter are replaced by empty ones that hold the interpreter only.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from spanproof.sandbox import kernel

NOBODY = 65534


def _closed_ancestor(path: Path) -> Path | None:
    """The outermost directory above that others may not enter."""
    for parent in reversed(path.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            return parent
    return None


def open_interpreter() -> None:
    """Leave the mount namespace for one in which everybody can reach the interpreter."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    needed = {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve(), Path(__file__).parents[2]}
    closed = {prefix: ancestor for prefix in needed if (ancestor := _closed_ancestor(prefix))}
    # All are opened before the first is hidden: two of them may lie below one directory.
    trees = {prefix: kernel.open_tree(str(prefix)) for prefix in sorted(closed)}
    for ancestor in set(closed.values()):
        kernel.mount("open", str(ancestor), "tmpfs", 0, "mode=755")
    for prefix, tree in trees.items():
        prefix.mkdir(parents=True, exist_ok=True)
        kernel.move_mount(tree, str(prefix))


def main() -> None:
    open_interpreter()
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    os.chdir("/")
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
