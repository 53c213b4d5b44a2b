"""One hostile program, and how one is written."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import Any

CALL = """
    import ctypes, errno, os
    libc = ctypes.CDLL(None, use_errno=True)
    def call(number, *args):
        result = libc.syscall(ctypes.c_long(number), *[
            ctypes.c_long(a) if isinstance(a, int) else a for a in args])
        return result, ctypes.get_errno()
"""
"""What a program begins with that makes system calls by number: `call` gives the result and `errno`."""

_ENDLESS_S = 1.0
_HANGS_S = 120.0

Attempt = tuple[str, str]
"""What was tried: the kind of attempt, a part of its target."""


@dataclass(frozen=True)
class Hostile:
    """One program; see the package's text."""

    name: str
    source: str
    on_record: Attempt | None
    classes: frozenset[str]
    language: str
    timeout_s: float
    recorded: dict[str, Any] | None = None
    """Calls it finds answered, as a HAR document."""
    tests: str | None = None
    """Tests that it is judged by, and satisfies in no part."""


def hostile(
    name: str,
    source: str,
    on_record: Attempt | None = None,
    classes: str = "",
    language: str = "python",
    timeout_s: float | None = None,
    tests: str | None = None,
) -> Hostile:
    """A program, its failure classes with blanks between."""
    ends = frozenset(classes.split())
    if timeout_s is None:
        timeout_s = _ENDLESS_S if "timeout" in ends else _HANGS_S
    text = dedent(source).strip() + "\n"
    return Hostile(name, text, on_record, ends, language, timeout_s, tests=tests)


def system_call(name: str, number: int, args: str = "", on_record: Attempt | None = None) -> Hostile:
    """A program that makes one system call of x86-64, which must fail."""
    body = """
    result, error = call(@CALL)
    if result != -1: print("BREACH", result)
    raise OSError(error, "refused")
    """
    text = dedent(CALL) + dedent(body).replace("@CALL", f"{number}, {args}" if args else str(number))
    return hostile(name, text, on_record, "unsafe_operation" if on_record else "")
