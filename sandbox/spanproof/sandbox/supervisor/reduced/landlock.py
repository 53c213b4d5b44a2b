"""Landlock: which files a process and its descendants may reach, held by the kernel.

In: readable places and the one that is writable. Out: nothing; the calling thread is inside. What this kernel
does not know of it is left out, and `list_missing` says what.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from spanproof.sandbox import kernel

# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
# All of ABI 1; moving between directories; truncating; ioctl on devices.
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}

_TCP_ABI, _TCP = 4, 0b11
_SCOPE_ABI, _SCOPES = 6, 0b11

_LATER = ((2, "moves between directories"), (3, "truncation"), (_TCP_ABI, "TCP"), (_SCOPE_ABI, "signals"))


def get_abi() -> int:
    """Return the kernel's version of it, 0 where there is none."""
    try:
        return kernel.call_kernel("landlock", _CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def list_missing(version: int) -> tuple[str, ...]:
    """Return what a newer kernel would bound as well; other walls are there in its place."""
    return tuple(name for since, name in _LATER if version < since)


@dataclass(frozen=True, slots=True)
class Walls:
    """What may be reached; nothing else may.

    Attributes:
        readable: files, and directories with all below them: to read and to run.
        writable: directories below which everything may be done.
        devices: files to read and to write.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    devices: tuple[str, ...]


def add_walls(walls: Walls) -> None:
    """Put them up around this thread and all it starts, for ever; needs `no_new_privs`.

    Raises:
        OSError: the kernel has no Landlock, or refused it.
    """
    rules = _build_ruleset(walls, get_abi())
    try:
        kernel.call_kernel("landlock", _RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _build_ruleset(walls: Walls, version: int) -> int:
    handled = sum(rights for since, rights in _RIGHTS_BY_ABI.items() if version >= since)
    words = [handled]
    if version >= _TCP_ABI:
        words.append(_TCP)
    if version >= _SCOPE_ABI:
        words.append(_SCOPES)
    attributes = struct.pack(f"={len(words)}Q", *words)
    rules = kernel.call_kernel("landlock", _CREATE_RULESET, attributes, len(attributes), 0)
    for path in walls.readable:
        rights = _EXECUTE | _READ_FILE | (_READ_DIR if Path(path).is_dir() else 0)
        _add_rule(rules, path, rights & handled)
    for path in walls.devices:
        _add_rule(rules, path, (_READ_FILE | _WRITE_FILE) & handled)
    for path in walls.writable:
        _add_rule(rules, path, handled & ~(_MAKE_CHAR | _MAKE_BLOCK))
    return rules


def _add_rule(rules: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, fd)
        kernel.call_kernel("landlock", _ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
