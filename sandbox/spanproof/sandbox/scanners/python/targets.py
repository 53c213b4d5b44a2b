"""Targets held against the boundary: paths, hosts and what flows to them.

In: an abstract value that is a path or a host, and the call it reached. Out: findings.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.boundary import Action, Boundary, Crossing
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.sinks import Effect
from spanproof.sandbox.scanners.python.values import (
    NAME,
    Const,
    Items,
    OneOf,
    Ref,
    Value,
    options_of,
    pieces_of,
    taint_of,
)
from spanproof.sandbox.scanners.sql import without_database
from spanproof.sandbox.words import words

_BUFFERS = tuple(words("io. open() requests. urllib. tempfile. sys. gzip. zipfile. httpx. sqlite3."))

NETWORK: Final = frozenset({"network"})
"""The taint of what came over the network."""


class Call(NamedTuple):
    """One call of something outside the program, and the effect that is judged."""

    m: Machine
    function: Ref
    effect: Effect
    arguments: Arguments
    node: ast.expr

    @property
    def name(self) -> str:
        """The resolved name of what is called."""
        return self.function.name

    @property
    def boundary(self) -> Boundary:
        """What its arguments are held against."""
        return self.m.context.boundary

    def add(self, rule: str, message: str) -> None:
        """Report one finding; `rule` without the language."""
        self.m.add(rule, self.node, message)

    def crossed(self, crossing: Crossing | None, who: str = "") -> bool:
        """Report a crossing of the boundary, if it is one."""
        who = who or plain_name(self.name)
        return self.m.context.crossed("python", crossing, self.m.place(self.node), f"{who}:")

    def judge_path(self, action: Action, value: Value) -> None:
        """Hold a path against the boundary."""
        judge_path(self.m, action, value, self.name, self.node)

    def judge_host(self, value: Value, port: Value | None) -> None:
        """Hold a host against the boundary."""
        judge_host(self.m, value, port, self.name, self.node)


Check = Callable[[Call, Value], Value | None]
"""Judges one effect of a call by its argument; gives the call's result where the effect decides it."""


def judge_path(m: Machine, action: Action, value: Value, who: str, node: ast.expr) -> None:
    """Hold a path, in each of its alternatives, against the boundary; of a container each item once."""
    pending, seen = [*options_of(value)], set[int]()
    while pending:
        option = pending.pop()
        if id(option) in seen or (isinstance(option, Const) and not isinstance(option.value, str | bytes)):
            continue
        seen.add(id(option))
        if isinstance(option, Items | OneOf):
            pending.extend(option.items if isinstance(option, Items) else option.options)
            continue
        if isinstance(option, Ref) and _is_buffer(option):
            continue
        pieces = pieces_of(option)
        crossing = m.context.boundary.path(action, pieces, holes_are_names=taint_of(option) == NAME)
        m.context.crossed("python", crossing, m.place(node), f"{plain_name(who)}:")


def _is_buffer(value: Ref) -> bool:
    return value.name.startswith(_BUFFERS) and not value.name.startswith("sys.argv")


def judge_flow(m: Machine, arguments: Arguments, node: ast.expr, who: str) -> None:
    """A network call may carry what was read from a secret or a file."""
    taint = (
        frozenset().union(*[taint_of(value) for value in arguments.all()]) if arguments.all() else frozenset()
    )
    if taint & {"environment", "secret"}:
        m.add(
            "flow.secret-to-network",
            node,
            f"{plain_name(who)} sends what was read from the environment or a secret",
        )
    elif "file" in taint:
        m.add("flow.file-to-network", node, f"{plain_name(who)} sends what was read from a file")


def judge_host(m: Machine, value: Value, port: Value | None, who: str, node: ast.expr) -> None:
    """Hold a host, in each of its alternatives, against the boundary."""
    number = port.value if isinstance(port, Const) and isinstance(port.value, int) else None
    for option in options_of(value):
        pieces = pieces_of(option)
        if isinstance(option, Items) and option.items:
            judge_host(m, option.items[0], port, who, node)
            continue
        crossing = m.context.boundary.host_in_pieces(pieces, number)
        m.context.crossed("python", crossing, m.place(node), f"{plain_name(who)}:")


def plain_name(name: str) -> str:
    """A resolved name as people write it."""
    return without_database(name).replace("()", "").removeprefix("?.")
