"""Functions that a program hands to a library, which calls them: at once, in a pipe, or at the end.

In: the call of the library, and the function. Out: what the function gives, where the library gives it.
"""

from __future__ import annotations

from typing import Final

from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.reader.effects import Call, Check
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import Ref, Value


def _run_callback(call: Call[Machine], value: Value) -> Value | None:
    """Call a function with the arguments behind it."""
    passed = call.arguments
    rest = Arguments(passed.positional[call.effect.position + 1 :], passed.named, passed.more)
    return call.m.evaluate_call(value, rest, call.node)


def _handle_pipe(call: Call[Machine], value: Value) -> Value | None:
    """Call a function as `frame.pipe(f, …)` does: `f(frame, …)`."""
    rest = call.arguments.positional[1:]
    frame = call.function.owner or Ref("pandas.DataFrame()")
    return call.m.evaluate_call(
        value, Arguments([frame, *rest], call.arguments.named, call.arguments.more), call.node
    )


def _handle_at_exit(call: Call[Machine], value: Value) -> Value | None:
    """Call a function as at the end of the program, which may come at once, and note it for the last end."""
    passed = call.arguments
    rest = Arguments(passed.positional[call.effect.position + 1 :], passed.named, passed.more)
    call.m.exit_handlers.append((value, rest, call.node))
    return call.m.evaluate_call(value, rest, call.node)


CHECKS: Final[dict[str, Check]] = {
    "callback": _run_callback,
    "exithandler": _handle_at_exit,
    "pipe": _handle_pipe,
}
"""What calls a function that is handed over."""
