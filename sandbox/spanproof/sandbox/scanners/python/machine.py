"""The state of one reading of a program: scopes, budgets, the current place, and the two operations.

`evaluate` gives the abstract value of an expression, `execute` reads statements in order; both dispatch by
node class over the tables of `expressions` and `statements`. Nothing of the program is ever run. The budgets
bound unrolling and inlining, so that the time of a scan is linear in the size of the source.
"""

# ruff: noqa: ARG001 - models share one signature

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.python.parse import column_of
from spanproof.sandbox.scanners.python.values import (
    ANY,
    UNKNOWN,
    Function,
    Instance,
    Items,
    Klass,
    Mapping,
    Ref,
    Scope,
    Unknown,
    Value,
    covers_all,
    join,
    join_all,
    taint_of,
)
from spanproof.sandbox.scanners.source import Place
from spanproof.sandbox.scanners.sql import Connection

Flow: TypeAlias = str | None
"""How a block ended when it did not run to its end: `return`, `raise`, `break`, `continue`."""

Evaluator = Callable[["Machine", Any], Value]
"""Takes the node class its table names, which a type cannot say."""

Executor = Callable[["Machine", Any], Flow]
Caller = Callable[["Machine", Value, "Arguments", ast.expr], Value]
Model = Callable[["Machine", Ref, "Arguments", ast.expr], Value | None]
"""What a call outside the program gives; None where it is like any other."""

FREE_STEPS = 4_000
"""Nodes that unrolled loops and inlined calls may read beyond the source's own."""

DECODING_STEPS = 60_000
"""The same for loops that put a text together, which is how payloads hide."""

CALL_STEPS = 40_000
"""The same for calls, which are followed for longer than loops."""

MAX_CALL_DEPTH = 12
_CHECK_EVERY = 64
"""Steps between two checks of the clock; one step may fold a text of many characters."""


@dataclass(slots=True)
class Arguments:
    """The arguments of a call; `more` when some are not known (`*unknown`)."""

    positional: list[Value]
    named: dict[str, Value]
    more: bool = False

    def get(self, index: int, name: str = "") -> Value | None:
        """The argument at a position or by a name; None where it is not given."""
        if name and name in self.named:
            return self.named[name]
        if 0 <= index < len(self.positional):
            return self.positional[index]
        return UNKNOWN if self.more else None

    def all(self) -> list[Value]:
        """Every argument."""
        return [*self.positional, *self.named.values()]


@dataclass(slots=True)
class Frame:
    """One call of a function of the program that is being read."""

    node: ast.AST
    given: dict[str, Value]
    written: int
    """Stores before it, in `Machine.written`."""
    returned: list[Value] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)


@dataclass(slots=True)
class Tables:
    """What the machine dispatches over; handed in so that modules need not import one another."""

    expressions: dict[type, Evaluator]
    statements: dict[type, Executor]
    call: Caller
    set_attribute: Callable[[Machine, Ref, str, Value, ast.expr], None]
    """Judges what an attribute of something outside the program is set to."""


class Machine:
    """Reads one program."""

    __slots__ = (
        "_lines", "_next_check", "call_limit", "called", "changes", "classes", "connections",
        "context", "frames", "functions", "hard_limit", "imported_all", "overrides", "parse",
        "raised", "scope", "soft_limit", "steps", "tables", "text", "uncertain", "visited_dead",
        "written",
    )  # fmt: skip  # fmt: skip

    def __init__(
        self, context: Context, tables: Tables, text: str, parse: Callable[[str], ast.Module | None]
    ) -> None:
        self.context = context
        self.tables = tables
        self.parse = parse
        self.text = text
        self.connections: dict[str, set[Connection]] = {}
        """The databases that each driver's function was called for."""
        self.raised: list[Value] = []
        """What the program raises, which a handler may get."""
        self.scope = Scope()
        self.frames: list[Frame] = []
        self.functions: list[Function] = []
        self.classes: list[Klass] = []
        self.called: set[int] = set()
        self.overrides: dict[str, Value] = {}
        self.imported_all: list[str] = []
        self.visited_dead: set[int] = set()
        self.uncertain = 0
        """How many branches and loops are being read that may not run, or run more than once."""
        self.changes = 0
        self.written: list[Callable[[], None]] = []
        """For each store into an object, what widens the value there to one that is not known."""
        self.steps = 0
        self.soft_limit = FREE_STEPS + len(text) // 2
        self.hard_limit = DECODING_STEPS + len(text) // 2
        self.call_limit = CALL_STEPS + 2 * len(text)
        self._next_check = _CHECK_EVERY
        self._lines = () if text.isascii() else text.split("\n")

    def evaluate(self, node: ast.expr) -> Value:
        """The abstract value of an expression."""
        self.steps += 1
        if self.steps > self._next_check:
            self._next_check = self.steps + _CHECK_EVERY
            self.context.check_time()
        evaluator = self.tables.expressions.get(node.__class__)
        return evaluator(self, node) if evaluator is not None else self._newer_syntax(node)

    def execute(self, block: Sequence[ast.stmt]) -> Flow:
        """Read statements in order; returns how the block ended early, if that is certain."""
        statements = self.tables.statements
        for statement in block:
            self.steps += 1
            if self.steps > self._next_check:
                self._next_check = self.steps + _CHECK_EVERY
                self.context.check_time()
            executor = statements.get(statement.__class__)
            if executor is None:
                self._newer_syntax(statement)
                continue
            flow = executor(self, statement)
            if flow is not None:
                return flow
        return None

    def call(self, function: Value, arguments: Arguments, node: ast.expr) -> Value:
        """What calling a value gives."""
        return self.tables.call(self, function, arguments, node)

    @contextmanager
    def patience(self, *, decoding: bool) -> Iterator[None]:
        """Read what is inside with the larger budget, if it decodes."""
        before, started = self.soft_limit, self.steps
        outermost = decoding and before < self.hard_limit
        if outermost:
            self.soft_limit = self.hard_limit
        try:
            yield
        finally:
            if outermost:
                self.soft_limit = before + (self.steps - started)

    @property
    def exhausted(self) -> bool:
        """Whether the steps for unrolling and inlining are spent."""
        return self.steps > self.soft_limit

    @property
    def overspent(self) -> bool:
        """Whether functions that were read before are not read again, and are reviewed instead."""
        return self.steps > self.call_limit

    def store(self, table: dict[Any, Value], key: object, value: Value, scope: Scope | None = None) -> None:
        """Put a value into the table of an object or a scope.

        In what may not run, the value before stays possible.
        """
        if self.frames or self.uncertain:
            self.written.append(lambda: _widen_entry(table if scope is None else scope.names, key))
        before = table.get(key)
        if before is not None and self.uncertain:
            if covers_all(before, value):
                return
            value = join(before, value)
        table[key] = value
        self.changes += 1

    def store_anywhere(self, owner: Mapping, value: Value) -> None:
        """Put a value under a key that is not known: under any of those there are, or another one."""
        if not any(covers_all(one, value) for one in owner.rest):
            owner.rest.append(value)
            self.changes += 1
        if self.frames or self.uncertain:
            self.written.append(lambda: owner.rest.append(UNKNOWN) if UNKNOWN not in owner.rest else None)

    def change_items(self, owner: Items, added: Sequence[Value]) -> None:
        """Note that a list changes; its order is no longer known in what may run more than once."""
        if self.uncertain:
            if not owner.more or not all(covers_all(join_all(owner.items), one) for one in added):
                self.changes += 1
            owner.more = True
        if self.frames or self.uncertain:
            self.written.append(lambda: _widen_items(owner))

    def repeat(self, read: Callable[[], Flow], node: ast.AST, since: int | None = None) -> Flow:
        """Read what may run any number of times, until no object changes by reading it once more.

        Where that takes long, each location that was stored to `since` then may hold anything the last time.
        """
        start = len(self.written) if since is None else since
        self.uncertain += 1
        try:
            for _ in range(2):
                changes = self.changes
                flow = read()
                if self.changes == changes:
                    return flow
            if self.overspent:
                self.add("too-complex", node, "is read more often than is followed")
                return flow
            for widen_location in self.written[start:]:
                widen_location()
            return read()
        finally:
            self.uncertain -= 1

    def place(self, node: ast.AST) -> Place:
        """The place of a node, in characters."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None) or column
        return Place(
            line,
            column_of(self._lines, line, column),
            end_line,
            column_of(self._lines, end_line, end_column),
        )

    def add(self, rule: str, node: ast.AST, message: str, verdict: Verdict | None = None) -> None:
        """Report one finding; `rule` without the language."""
        self.context.add(f"python.{rule}", self.place(node), message, verdict)

    def new_instance(self, klass: Klass) -> Instance:
        """An object of a class of the program, before its `__init__`."""
        return Instance(klass)

    def _newer_syntax(self, node: ast.AST) -> Value:
        """A node of a Python newer than the tables: what is inside it is read all the same."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
            elif isinstance(child, ast.stmt):
                self.execute([child])
            else:
                self._newer_syntax(child)
        return UNKNOWN


def _widen_entry(table: dict[Any, Value], key: object) -> None:
    value = table.get(key)
    if value is not None:
        table[key] = join(value, Unknown(taint_of(value) | ANY))


def _widen_items(owner: Items) -> None:
    owner.more = True
    if not any(one.__class__ is Unknown and one.taint >= ANY for one in owner.items):
        owner.items.append(Unknown(taint_of(owner) | ANY))


def passes_on(*keywords: str) -> Model:
    """A model that gives its first argument, by whichever of these names it is given."""

    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        given = (arguments.get(0, keyword) for keyword in keywords)
        return next((one for one in given if one is not None), None)

    return model


def gives(value: Value) -> Model:
    """A model that gives the same whatever the arguments."""

    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        return value

    return model
