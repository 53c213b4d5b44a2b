"""How the guest talks to its supervisor: frames on one descriptor, each bearing the run's token.

Functions of the standard library are bound here before any program runs, because a program may replace
them. What a program writes to the descriptor itself lacks the token and is dropped by the supervisor.
"""

from __future__ import annotations

import contextlib
import json
import opcode
import os
import struct
from typing import Any

CONTROL_FD = 900
"""Out of the way of programs that close what they know or count descriptors."""

STEPS_FD = 0x7FFFFFF0
"""A number that no descriptor can have: a supervisor that holds calls answers reads and writes of it."""

# How Python words that a module is there and the name is not: no package is missing then.
_NO_NAME = "cannot import name "

_MESSAGE_CHARACTERS = 4096
_CHAIN = 16
_CLIENTS = frozenset(("aiohttp", "http", "httpcore", "httpx", "requests", "urllib", "urllib3"))
_RAISE = bytes((opcode.opmap["RAISE_VARARGS"],))


_write = os.write
_pack = struct.Struct("!II").pack
_encode = json.JSONEncoder(allow_nan=False).encode


class Reporter:
    """Sends and receives frames; see `spanproof.sandbox.guest.wire`, whose decoder reads them."""

    __slots__ = ("_encode", "_fd", "_pack", "_write", "token")

    def __init__(self, fd: int, token: str) -> None:
        """Take the descriptor, -1 for one that says nothing, and the run's token."""
        self._fd = fd
        self.token = token
        self._write, self._pack, self._encode = _write, _pack, _encode

    def send(self, kind: str, **fields: Any) -> None:
        """Send one frame; a program that closed the descriptor loses its report, nothing else."""
        if fields:
            text = self._encode({"kind": kind, "token": self.token, **fields, "parts": []})
        else:  # what almost every run ends with, and nothing in it needs to be escaped
            text = f'{{"kind": "{kind}", "token": "{self.token}", "parts": []}}'
        data = self._pack(len(text), 0) + text.encode("ascii")
        try:
            while data and self._fd >= 0:
                data = data[self._write(self._fd, data) :]
        except OSError:
            return


def encode_exception(exception: BaseException, filename: str) -> dict[str, Any]:
    """Return an exception in bounded JSON: what it is, what is behind it, where in the program it arose.

    One whose own attributes raise is an exception of no known kind.
    """
    try:
        return _encode_exception(exception, filename)
    except BaseException as failure:  # noqa: BLE001 - a program's properties may do anything
        text = f"<it cannot be described: {type(failure).__name__}>"
        return {"type": "BaseException", "message": text, "chain": [], "line": None}


def _encode_exception(exception: BaseException, filename: str) -> dict[str, Any]:
    causes = _list_causes(exception)
    reply = (exception, *causes)
    is_missing = isinstance(exception, ImportError) and not _format_message(exception).startswith(_NO_NAME)

    def has_kind(kind: type[BaseException]) -> bool:
        return any(isinstance(other, kind) for other in reply)

    return {
        "type": _format_type_name(exception),
        "message": _format_message(exception),
        "chain": [*map(_format_type_name, causes)],
        "line": _find_line(exception, filename),
        "assertion": isinstance(exception, AssertionError),
        "missing": is_missing,
        "memory": has_kind(MemoryError),
        "refused": any(map(_is_allocation_failure, reply)),
        "os": has_kind(OSError),
        "permission": has_kind(PermissionError),
        "path": next(filter(None, map(_find_path, reply)), None),
        "client": any(map(_is_of_a_client, reply)),
        "process": "CalledProcessError" in map(_format_type_name, reply),
    }


def _list_causes(exception: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    seen = {id(exception)}
    waiting = [exception]
    while waiting and len(found) < _CHAIN:
        current = waiting.pop(0)
        nearer = [current.__cause__] if current.__cause__ else []
        if current.__context__ and not current.__suppress_context__:
            nearer.append(current.__context__)
        if isinstance(current, BaseExceptionGroup):
            nearer.extend(current.exceptions)
        for other in nearer:
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                found.append(other)
                waiting.append(other)
    return found[:_CHAIN]


def _is_allocation_failure(exception: BaseException) -> bool:
    """Whether an allocation raised a MemoryError, and no `raise`: all there is where no kernel reports it."""
    trace = exception.__traceback__ if isinstance(exception, MemoryError) else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    at = trace.tb_lasti
    return trace.tb_frame.f_code.co_code[at : at + 1] != _RAISE


def _find_path(exception: BaseException) -> str | None:
    """Return the file an operating system error is about."""
    name = exception.filename if isinstance(exception, OSError) else None
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if not isinstance(name, str):
        return None
    for resolve in (os.path.realpath, os.path.abspath):  # a link may not be one that can be read
        with contextlib.suppress(OSError, ValueError):  # nor the directory one that is there
            return resolve(name)[:_MESSAGE_CHARACTERS]
    return None


def _is_of_a_client(exception: BaseException) -> bool:
    """Whether it is a network client's own: some hide the error of the operating system."""
    return str(type(exception).__module__).partition(".")[0] in _CLIENTS


def _format_type_name(exception: BaseException) -> str:
    return str(type(exception).__name__)[:200]


def _format_message(exception: BaseException) -> str:
    try:
        return str(exception)[:_MESSAGE_CHARACTERS]
    except BaseException as failure:  # noqa: BLE001 - a program's __str__ may do anything
        return f"<str() raised {_format_type_name(failure)}>"


def _find_line(exception: BaseException, filename: str) -> int | None:
    if isinstance(exception, SyntaxError) and exception.filename == filename:
        return exception.lineno if isinstance(exception.lineno, int) else None
    line = None
    trace = exception.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
