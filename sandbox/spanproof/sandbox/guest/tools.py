"""Tool stubs: functions inside the session that call the host, one bounded JSON question at a time.

The host sees a tool's name and JSON arguments and nothing else: of what JSON cannot say, its text. The guest
takes only the answer to the question it sent. Whichever thread of the program calls a stub, the answers
come in the order of the questions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.raising import build_exception
from spanproof.sandbox.guest.reporter import Reporter
from spanproof.sandbox.guest.values import to_json_form

# Of the arguments of a call, as JSON: they have room in one frame.
_ARGUMENT_BYTES = 768 * 1024


class Toolbox:
    """Makes the stubs of one session."""

    def __init__(self, inbox: Inbox, reporter: Reporter) -> None:
        self._inbox = inbox
        self._reporter = reporter
        self._lock = threading.RLock()
        self._calls = 0

    def build_stub(self, name: str, parameters: list[str] | None) -> Callable[..., Any]:
        """Return a function that calls the host; with parameters known it takes what the real one would."""

        def tool(*args: Any, **kwargs: Any) -> Any:
            return self._send_call(name, *_build_arguments(name, parameters, args, kwargs))

        tool.__name__ = tool.__qualname__ = name
        tool.__module__ = "__main__"
        return tool

    def _send_call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        sent, fits = to_json_form([args, kwargs], _ARGUMENT_BYTES, texts=True)
        if not fits:
            raise ValueError(f"{name}(): the arguments take more than {_ARGUMENT_BYTES >> 10} KiB as JSON")
        with self._lock:
            self._calls += 1
            call = self._calls
            self._reporter.send("call", call=call, tool=name, args=sent[0], kwargs=sent[1])
            while True:
                answer, _parts = self._inbox.wait_for_message("answer")
                if answer.get("call") == call:
                    break
        if answer.get("error_type") is not None:
            raise build_exception(answer["error_type"], answer.get("error_message", ""))
        return answer.get("result")


def _build_arguments(
    name: str, parameters: list[str] | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    if parameters is None:
        return list(args), kwargs
    if len(args) > len(parameters):
        raise TypeError(f"{name}() takes {len(parameters)} positional arguments but {len(args)} were given")
    bound = dict(zip(parameters, args, strict=False))
    for key, value in kwargs.items():
        if key not in parameters:
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
        if key in bound:
            raise TypeError(f"{name}() got multiple values for argument {key!r}")
        bound[key] = value
    return [], bound
