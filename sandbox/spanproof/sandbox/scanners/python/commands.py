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
from spanproof.sandbox.scanners.python.machine import Arguments, Check, Machine
from spanproof.sandbox.scanners.python.sinks import Effect
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


def _shell(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        payloads.run_command(m, pieces_of(option), taint_of(option), function.name, node)
    return None


def _argv(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Items):
            _argv_list(m, option, arguments, function, node)
        else:
            payloads.run_command(m, pieces_of(option), taint_of(option), function.name, node)
    environment = arguments.named.get("env")
    if isinstance(environment, Ref) and environment.name == "os.environ":
        m.context.crossed("python", m.context.boundary.environment(""), m.place(node), "os.environ:")
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


def _spawn_arguments(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    # os.execl(path, arg0, arg1, …): the program's own name is given twice.
    rest = arguments.positional[effect.position + 2 :]
    rest = [one for one in rest if not isinstance(one, Mapping)]
    _argv_list(m, Items([value, *rest], more=arguments.more), Arguments([], {}), function, node)
    return None


def _spawn(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    _argv_list(
        m,
        Items(arguments.positional[effect.position :], more=arguments.more),
        Arguments([], {}),
        function,
        node,
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
