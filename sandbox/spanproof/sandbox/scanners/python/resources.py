"""What the calls of Python programs take of the machine: memory for one value, processes without end.

In: a call and its argument. Out: findings. The sandbox bounds memory and time, so such a program is reviewed,
not denied.
"""

from __future__ import annotations

from typing import Final

from spanproof.sandbox.scanners.python.growth import is_too_large
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.reader.effects import Call, Check
from spanproof.sandbox.scanners.reader.values import Function, Value


def _handle_thread(call: Call[Machine], value: Value) -> Value | None:
    """Judge a function that starts itself in another process, whatever it is given: each does the same."""
    keys = [frame.key for frame in call.m.frames]
    if not call.name.endswith("Process") or not isinstance(value, Function) or id(value.node) not in keys:
        return None
    since = call.m.frames[keys.index(id(value.node)) :]
    is_certain = call.m.uncertain == since[0].uncertain and not any(one.may_have_ended for one in since)
    if is_certain:
        call.add("resource.endless", "starts itself in more processes, each of which does the same")
    return None


def _handle_sizes(call: Call[Machine], value: Value) -> Value | None:
    """Judge the sizes of an array or buffer that is made: one value, or all that is given by position."""
    sizes = call.arguments.positional if call.effect.kind == "sizes" else [value]
    if is_too_large(sizes):
        call.add("resource.endless", f"{call.who} makes a value that is larger than a machine's memory")
    return None


CHECKS: Final[dict[str, Check]] = {"size": _handle_sizes, "sizes": _handle_sizes, "thread": _handle_thread}
"""What judges each kind of effect of this module."""
