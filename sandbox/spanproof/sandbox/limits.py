"""Which of its limits a program reached.

In: an `Execution` and its `Limits`. Out: the name of the limit, as `Limits` has it, with its value. Standard
library only.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.model import Execution, FailureClass, Limits

_BY_CLASS: Final = {
    FailureClass.TIMEOUT: "wall_s",
    FailureClass.OUT_OF_MEMORY: "memory_bytes",
    FailureClass.OUTPUT_LIMIT: "output_kill_bytes",
}

# How Python writes the number of a system's error, and which limit each number is of.
_ERROR_NUMBER: Final = re.compile(r"\[Errno (\d+)\]")
_BY_NUMBER: Final = {
    errno.EAGAIN: "processes",
    errno.EMFILE: "open_files",
    errno.ENOSPC: "disk_bytes",
    errno.EFBIG: "disk_bytes",
}

# CPython gives this failure neither a type nor a number of its own (Modules/_threadmodule.c).
_NO_THREAD: Final = ("RuntimeError", "can't start new thread")


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    """A limit that a program reached.

    Attributes:
        name: of the field of `Limits`.
        value: that it had, in the unit of the field.
    """

    name: str
    value: float


def find_reached_limit(execution: Execution, limits: Limits) -> ReachedLimit | None:
    """Return the limit that ended a program or cut its output; None where it reached none that is known."""
    name = _BY_CLASS.get(execution.failure_class) or _find_refused(execution)
    if name is None and (execution.stdout_cut or execution.stderr_cut):
        name = "output_bytes"
    if name is None:
        return None
    return ReachedLimit(name, getattr(limits, name))


def _find_refused(execution: Execution) -> str | None:
    """Return the limit by which the exception was raised that ended the program."""
    raised = execution.raised
    if raised is None:
        return None
    if (raised.type, raised.message) == _NO_THREAD:
        return "processes"
    number = _ERROR_NUMBER.match(raised.message)
    return _BY_NUMBER.get(int(number[1])) if number else None
