"""The program's side of its tests: carries out what the tests request of the program, one question at a time.

In: questions on one socket, from the process that holds the tests. Out: answers in JSON. It knows no test, no
expected value and no verdict: code that takes this process over can answer wrongly, and nothing more.
"""

from __future__ import annotations

import json
import operator
import socket
import struct
from collections.abc import Callable
from typing import Any

from spanproof.sandbox.guest.crossing import decode, encode, encode_exception, to_plain_value

LENGTH = struct.Struct("!I")
LONGEST_BYTES = 64 * 1024 * 1024

DEEDS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(operator, name)
        for name in [
            "add",
            "sub",
            "mul",
            "truediv",
            "floordiv",
            "mod",
            "pow",
            "lshift",
            "rshift",
            "and_",
            "or_",
            "xor",
            "matmul",
            "neg",
            "pos",
            "invert",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "getitem",
            "setitem",
            "delitem",
            "contains",
            "index",
        ]
    },
    **{kind.__name__: kind for kind in (bool, str, float, int, bytes)},
    **{deed.__name__: deed for deed in (len, iter, next, repr, hash, abs, isinstance, issubclass, round)},
    "plain": to_plain_value,
    "getattr": getattr,
    "setattr": setattr,
    "call": lambda function, args, kwargs: function(*args, **kwargs),
}
_dumps, _loads = json.JSONEncoder().encode, json.loads


def send(stream: socket.socket, message: Any) -> None:
    """Send one message."""
    text = _dumps(message).encode("ascii")
    stream.sendall(LENGTH.pack(len(text)) + text)


def receive(stream: socket.socket) -> Any:
    """Wait for one message.

    Raises:
        EOFError: the other side is gone.
        ValueError: what came is no message, or a longer one than may be.
    """
    length = LENGTH.unpack(_receive_exactly(stream, LENGTH.size))[0]
    if length > LONGEST_BYTES:
        raise ValueError(f"a message of {length} bytes is over its bound")
    return _loads(_receive_exactly(stream, length))


def _receive_exactly(stream: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = stream.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


class Candidate:
    """A program that has run, open to questions."""

    def __init__(self, namespace: dict[str, Any], stream: socket.socket) -> None:
        self._namespace = namespace
        self._stream = stream
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}

    def serve(self) -> int:
        """Answer until the tests are done; returns the exit code they request."""
        while True:
            question = receive(self._stream)
            if question[0] == "done":
                return int(question[1])
            send(self._stream, self._answer_question(question))

    def _answer_question(self, question: list[Any]) -> list[Any]:
        args: list[Any] = []
        try:
            if question[0] == "name":
                if question[1] not in self._namespace:
                    return ["missing"]
                return ["value", encode(self._namespace[question[1]], self._keep), []]
            args += [decode(form, self._resolve_handle) for form in question[2]]
            value = DEEDS[question[1]](*args)
            return ["value", encode(value, self._keep), self._encode_arguments(question[1], args)]
        except BaseException as exception:  # noqa: BLE001 - reported to the tests, whatever it is
            return [
                "raised",
                encode_exception(exception, self._keep),
                self._encode_arguments(question[1], args),
            ]

    def _encode_arguments(self, deed: str, args: list[Any]) -> list[Any]:
        """Return what a call left of its arguments, by position and then by name: part of what it did."""
        if deed != "call" or not args:
            return []
        return [encode(arg, self._keep) for arg in (*args[1], *args[2].values())]

    def _keep(self, value: Any) -> list[Any]:
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        kind = "kind" if isinstance(value, type) else "object"
        if kind == "kind" and issubclass(value, BaseException):
            base = next(name.__name__ for name in value.__mro__ if name.__module__ == "builtins")
            return ["error", [value.__name__, base]]
        return [kind, number]

    def _resolve_handle(self, tag: str, number: Any) -> Any:
        if tag == "back":
            return lambda *args, **kwargs: self._call_test_function(number, args, kwargs)
        return self._kept[number]

    def _call_test_function(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the tests, which waits for our answer meanwhile."""
        send(self._stream, ["back", number, encode(args, self._keep), encode(kwargs, self._keep)])
        while True:
            message = receive(self._stream)
            if message[0] == "value":
                return decode(message[1], self._resolve_handle)
            if message[0] == "raised":
                raise RuntimeError(message[1])
            send(self._stream, self._answer_question(message))
