"""Commands a program starts: argument lists and command lines, handed to the shell scanner as one text.

In: the call that starts them and its abstract arguments. Out: findings.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from typing import Final

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.python import payloads
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.targets import Call, Check
from spanproof.sandbox.scanners.python.values import (
    NAME,
    Const,
    Items,
    Mapping,
    Ref,
    Value,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)


def _shell(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        payloads.run_command(call.m, pieces_of(option), taint_of(option), call.name, call.node)
    return None


def _argv(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Items):
            _argv_list(call.m, option, call.arguments, call.function, call.node)
        else:
            payloads.run_command(call.m, pieces_of(option), taint_of(option), call.name, call.node)
    environment = call.arguments.named.get("env")
    if isinstance(environment, Ref) and environment.name == "os.environ":
        call.crossed(call.boundary.environment(""), "os.environ")
    return None


def _argv_list(m: Machine, value: Items, arguments: Arguments, function: Ref, node: ast.expr) -> None:
    shell = arguments.named.get("shell")
    if isinstance(shell, Const) and shell.value and value.items:
        payloads.run_command(m, pieces_of(value.items[0]), taint_of(value), function.name, node)
        return
    pieces: list[str | None] = []
    for index, item in enumerate(value.items):
        if index:
            pieces.append(" ")
        pieces.extend(_quoted(pieces_of(item)))
    if value.more:
        pieces.extend([" ", None] if pieces else [None])
    payloads.run_command(m, _compact(pieces), taint_of(value), function.name, node)


def _spawn_arguments(call: Call, value: Value) -> Value | None:
    # os.execl(path, arg0, arg1, …): the program's own name is given twice.
    rest = call.arguments.positional[call.effect.position + 2 :]
    rest = [one for one in rest if not isinstance(one, Mapping)]
    _argv_list(
        call.m, Items([value, *rest], more=call.arguments.more), Arguments([], {}), call.function, call.node
    )
    return None


def _spawn(call: Call, value: Value) -> Value | None:
    _argv_list(
        call.m,
        Items(call.arguments.positional[call.effect.position :], more=call.arguments.more),
        Arguments([], {}),
        call.function,
        call.node,
    )
    return None


def _quoted(pieces: Pieces) -> list[str | None]:
    return [piece if piece is None else shlex.quote(piece) for piece in pieces]


def _compact(pieces: Sequence[str | None]) -> Pieces:
    value = text_value(pieces, NAME)
    return pieces_of(value)


CHECKS: Final[dict[str, Check]] = {
    "shell": _shell,
    "argv": _argv,
    "spawnv": _spawn_arguments,
    "spawn": _spawn,
}
"""What judges each kind of start of a program."""
