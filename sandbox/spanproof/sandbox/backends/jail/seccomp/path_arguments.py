"""Which arguments of a call name files, for the calls that open files and those that change them.

An argument is named by its number. A path that is not absolute starts at a directory: at the one that another
argument holds open, or at the caller's own where there is no such argument.
"""

from __future__ import annotations

from collections.abc import Mapping

MUTATORS: Mapping[str, tuple[tuple[int | None, int | None], ...]] = {
    "unlink": ((None, 0),),
    "unlinkat": ((0, 1),),
    "rmdir": ((None, 0),),
    "mkdir": ((None, 0),),
    "mkdirat": ((0, 1),),
    "chmod": ((None, 0),),
    "fchmod": ((0, None),),
    "fchmodat": ((0, 1),),
    "fchmodat2": ((0, 1),),
    "chown": ((None, 0),),
    "lchown": ((None, 0),),
    "fchown": ((0, None),),
    "fchownat": ((0, 1),),
    "truncate": ((None, 0),),
    "utime": ((None, 0),),
    "utimes": ((None, 0),),
    "futimesat": ((0, 1),),
    "utimensat": ((0, 1),),
    "setxattr": ((None, 0),),
    "lsetxattr": ((None, 0),),
    "removexattr": ((None, 0),),
    "lremovexattr": ((None, 0),),
    "rename": ((None, 0), (None, 1)),
    "renameat": ((0, 1), (2, 3)),
    "renameat2": ((0, 1), (2, 3)),
    "link": ((None, 0), (None, 1)),
    "linkat": ((0, 1), (2, 3)),
    "symlink": ((None, 1),),
    "symlinkat": ((1, 2),),
    "mknod": ((None, 0),),
    "mknodat": ((0, 1),),
}
"""Of each path: the directory and the path. Calls with two are judged by both; one without a path changes
what the descriptor itself is of."""

BY_DESCRIPTOR = frozenset(("fchmod", "fchmodat2", "fchown", "fchownat", "linkat", "utimensat"))
"""Calls that may change what a descriptor is of, where the path is missing or empty."""

NOT_FOLLOWED = frozenset(
    """
    unlink unlinkat rmdir mkdir mkdirat rename renameat renameat2 link linkat symlink symlinkat lchown
    lsetxattr lremovexattr mknod mknodat
    """.split()  # noqa: SIM905 - a table
)
"""Calls that change a link at the end of a path, not what it leads to."""

NOFOLLOW_FLAGS: Mapping[str, int] = {"fchownat": 4, "fchmodat2": 3, "utimensat": 3}
"""The argument that may hold AT_SYMLINK_NOFOLLOW."""

OPENS: Mapping[str, tuple[int | None, int, int | None]] = {
    "open": (None, 0, 1),
    "creat": (None, 0, None),
    "openat": (0, 1, 2),
    "openat2": (0, 1, None),
}
"""The directory, the path and the flags, where an argument holds them."""
