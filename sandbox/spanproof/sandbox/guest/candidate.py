"""The program's side of its tests: carries out what the tests request of the program, one question at a time.

In: questions on one socket, from the process that holds the tests. Out: answers in JSON. It knows no test, no
expected value and no verdict: code that takes this process over can answer wrongly, and nothing more.
"""

from __future__ import annotations

import builtins
import json
import operator
import socket
import struct
import types
from collections.abc import Callable
from typing import Any

from spanproof.sandbox.guest.crossing import (
    decode_form,
    encode_exception,
    encode_exception_class,
    encode_value,
    to_plain_value,
)

LENGTH = struct.Struct("!I")
LONGEST_BYTES = 64 * 1024 * 1024

_LISTED_ITEMS = 100_000


def _load_module(name: str, names: list[str]) -> Any:
    return builtins.__import__(name, {}, {}, names, 0)


def _find_items(value: Any) -> list[Any] | None:
    """Return what a value yields, where it can yield that again; None of others, and of very many."""
    if not hasattr(type(value), "__iter__") or iter(value) is value:
        return None
    items: list[Any] = []
    for item in value:
        items.append(item)
        if len(items) > _LISTED_ITEMS:
            return None
    return items


def _to_number(value: Any) -> Any:
    """Return the number that a value converts to; None where it converts to none."""
    if hasattr(type(value), "__index__"):
        return operator.index(value)
    return float(value) if hasattr(type(value), "__float__") else None


class _Loop:
    """The one event loop that all of the program's coroutines run in."""

    def __init__(self) -> None:
        self._runner: Any = None

    def run(self, awaitable: Any) -> Any:
        if self._runner is None:
            import asyncio  # 30 ms, which few programs need

            self._runner = asyncio.Runner()
        return self._runner.run(_wait_for(awaitable))


async def _wait_for(awaitable: Any) -> Any:
    return await awaitable


_run_async = _Loop().run

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
    **{
        deed.__name__: deed
        for deed in (len, iter, next, repr, hash, abs, callable, complex, isinstance, issubclass, round, type)
    },
    "plain": to_plain_value,
    "number": _to_number,
    "items": _find_items,
    "import": _load_module,
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "enter": lambda manager: manager.__enter__(),
    "exit": lambda manager, *details: manager.__exit__(*details),
    "await": _run_async,
    "aenter": lambda manager: _run_async(manager.__aenter__()),
    "aexit": lambda manager, *details: _run_async(manager.__aexit__(*details)),
    "aiter": lambda iterable: iterable.__aiter__(),
    "anext": lambda iterator: _run_async(iterator.__anext__()),
    "call": lambda function, args, kwargs: function(*args, **kwargs),
}
_dumps, _loads = json.JSONEncoder().encode, json.loads


def send_message(stream: socket.socket, message: Any) -> None:
    """Send one message."""
    text = _dumps(message).encode("ascii")
    stream.sendall(LENGTH.pack(len(text)) + text)


def wait_for_message(stream: socket.socket) -> Any:
    """Wait for one message.

    Raises:
        EOFError: the other side is gone.
        ValueError: what came is no message, or a longer one than may be.
    """
    length = LENGTH.unpack(_wait_for_bytes(stream, LENGTH.size))[0]
    if length > LONGEST_BYTES:
        raise ValueError(f"a message of {length} bytes is over its bound")
    return _loads(_wait_for_bytes(stream, length))


def _wait_for_bytes(stream: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = stream.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


class MovedInside(BaseException):
    """The tests are handed over, to share the interpreter."""

    def __init__(self, tests: str) -> None:
        super().__init__()
        self.tests = tests


class Candidate:
    """A program that has run, open to questions."""

    def __init__(self, namespace: dict[str, Any], stream: socket.socket) -> None:
        self._namespace = namespace
        self._stream = stream
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}
        # Functions, classes and modules that the tests have seen, by name.
        self._shown: dict[str, Any] = {}
        self._moved: MovedInside | None = None

    def run_until_done(self) -> int:
        """Answer until the tests are done; returns the exit code they request.

        Raises:
            MovedInside: the tests hold an object that the program must have itself.
        """
        while True:
            question = wait_for_message(self._stream)
            if question[0] == "done":
                return int(question[1])
            if question[0] == "inside":
                raise MovedInside(question[1])
            answer = self._handle_question(question)
            if self._moved is not None:
                raise self._moved
            send_message(self._stream, answer)

    def _handle_question(self, question: list[Any]) -> list[Any]:
        args: list[Any] = []
        try:
            if question[0] == "name":
                if question[1] not in self._namespace:
                    return ["missing"]
                value = self._namespace[question[1]]
                origin = _find_origin(value)
                if origin is not None:
                    self._shown[question[1]] = value
                return ["value", encode_value(value, self._add_kept), origin]
            args += [decode_form(form, self._get_value) for form in question[2]]
            value = DEEDS[question[1]](*args)
            return [
                "value",
                encode_value(value, self._add_kept),
                self._encode_arguments(question[1], args),
                self._list_rebound_names(),
            ]
        except BaseException as exception:  # noqa: BLE001 - reported to the tests, whatever it is
            return [
                "raised",
                encode_exception(exception, self._add_kept),
                self._encode_arguments(question[1], args),
                self._list_rebound_names(),
            ]

    def _list_rebound_names(self) -> list[str]:
        """Return names of functions, classes and modules that the tests have seen and the program rebound."""
        names = [name for name, value in self._shown.items() if self._namespace.get(name) is not value]
        for name in names:
            del self._shown[name]
        return names

    def _encode_arguments(self, deed: str, args: list[Any]) -> list[Any]:
        """Return what a call left of its arguments, by position and then by name: part of what it did."""
        if deed != "call" or not args:
            return []
        return [encode_value(arg, self._add_kept) for arg in (*args[1], *args[2].values())]

    def _add_kept(self, value: Any) -> list[Any]:
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        kind = "kind" if isinstance(value, type) else "object"
        if kind == "kind" and issubclass(value, BaseException):
            return ["error", encode_exception_class(value)]
        return [kind, number]

    def _get_value(self, tag: str, number: Any) -> Any:
        if tag == "back":
            return lambda *args, **kwargs: self._run_test_function(number, args, kwargs)
        if tag == "error":
            return self._get_exception_class(number)
        return self._kept[number]

    def _get_exception_class(self, name: str) -> type[BaseException]:
        own = self._namespace.get(name, getattr(builtins, name, Exception))
        return own if isinstance(own, type) and issubclass(own, BaseException) else Exception

    def _run_test_function(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the tests, which waits for our answer meanwhile."""
        send_message(
            self._stream,
            ["back", number, encode_value(args, self._add_kept), encode_value(kwargs, self._add_kept)],
        )
        while True:
            message = wait_for_message(self._stream)
            if message[0] == "value":
                return decode_form(message[1], self._get_value)
            if message[0] == "raised":
                raise self._get_exception_class(message[1])(message[2])
            if message[0] == "inside":
                self._moved = MovedInside(message[1])
                raise self._moved
            send_message(self._stream, self._handle_question(message))


def _find_origin(value: Any) -> list[str] | None:
    """Return the module, and the name in it, of a library's module or function; None of other values."""
    if isinstance(value, types.ModuleType):
        return [value.__name__, ""]
    module = getattr(value, "__module__", None)
    if not isinstance(value, types.FunctionType | types.BuiltinFunctionType | type) or not module:
        return None
    return [str(module), str(getattr(value, "__name__", ""))]
