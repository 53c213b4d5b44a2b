"""What a snippet of Python is made of: one parse per snippet, kept by content.

In: source code, or a node of its tree. Out: `PythonFacts`: its imports, the names it binds, reads and calls,
its literals, its prints, and what its handlers do with an exception. Nothing is run.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

MAX_CHARS: Final = 100_000
"""Longer code is not parsed."""

_KEPT_SNIPPETS: Final = 256
_ADMITS = re.compile(r"\b(?:error|exception|fail\w*|unable|could ?n[o']t|cannot|can't)\b", re.IGNORECASE)
_SHORTEST_TEXT: Final = 2
_NAME = re.compile(r"[^\W\d]\w*")
_AT_LINE = re.compile(r"failed at line ['\"](.{1,400}?)['\"] due to", re.DOTALL)
_NUMBERED = re.compile(r"\bline (\d{1,5})\b")
_DIVIDES = re.compile(r"[/%]")

BUILTIN_NAMES: Final = frozenset(dir(builtins))


@dataclass(frozen=True)
class Handler:
    """What an `except` clause does.

    Attributes:
        name: of the exception, None where it binds none.
        texts: written down in it.
        raises: it raises.
        continues: it goes on to the next turn of a loop.
        calls: what it calls.
        has_own_value: for each assignment and `return` of it, whether that gives a value of its own.
        patterns: what it prints about the exception, as regular expressions.
    """

    name: str | None
    texts: tuple[str, ...]
    raises: bool
    continues: bool
    calls: frozenset[str]
    has_own_value: tuple[bool, ...]
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Guarded:
    """Statements whose exceptions the code catches.

    Attributes:
        names: that they bind and call.
        handlers: of their exceptions; none for `contextlib.suppress`.
    """

    names: frozenset[str]
    handlers: tuple[Handler, ...]


class PythonFacts:
    """The facts of one snippet; each is worked out when it is first read."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def imports(self) -> Mapping[str, str]:
        """The names that imports bind, with the top module of each."""
        found = {}
        for node in self.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if isinstance(node, ast.ImportFrom):
                        module = node.module or ""
                    else:
                        module = alias.name
                    found[(alias.asname or alias.name).partition(".")[0]] = module.partition(".")[0]
        return found

    @cached_property
    def called_names(self) -> frozenset[str]:
        """The functions and methods that are called."""
        return list_called_names(self.tree)

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """The names that are bound; those of a comprehension are gone with it."""
        return list_bound_names(self.tree)

    @cached_property
    def stored_names(self) -> frozenset[str]:
        """All names that are stored to, parameters, imports and handlers among them."""
        own = set(self.bound_names) | set(self.imports)
        for node in self.nodes:
            if isinstance(node, ast.arg):
                own.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                own.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
        return frozenset(own)

    @cached_property
    def used_names(self) -> frozenset[str]:
        """All names of variables, functions and modules."""
        return frozenset(node.id for node in self.nodes if isinstance(node, ast.Name))

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names after a dot."""
        return frozenset(node.attr for node in self.nodes if isinstance(node, ast.Attribute))

    @cached_property
    def filled_names(self) -> frozenset[str]:
        """The names that code goes on to fill: by a loop, a method, an item, by adding to them."""
        return frozenset(_iter_filled_names(self.nodes))

    @cached_property
    def literal_names(self) -> frozenset[str]:
        """The names that are only bound to literals: what code starts from."""
        assigned = [node for node in self.nodes if isinstance(node, ast.Assign)]
        literal = [list_bound_names(node) for node in assigned if is_literal(node.value)]
        other = [list_bound_names(node) for node in assigned if not is_literal(node.value)]
        return frozenset[str]().union(*literal) - frozenset[str]().union(*other)

    @cached_property
    def guarded(self) -> tuple[Guarded, ...]:
        """The blocks whose exceptions are caught and not raised again."""
        return tuple(_iter_guarded(self.nodes))

    @cached_property
    def handlers(self) -> tuple[Handler, ...]:
        """All `except` clauses."""
        return tuple(_read_handler(node) for node in self.nodes if isinstance(node, ast.ExceptHandler))

    @property
    def shows_value(self) -> bool:
        """Whether code prints something, or ends with a value: a call alone may give nothing by nature."""
        last = self.tree.body[-1] if self.tree.body else None
        ends_with_value = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call)
        return ends_with_value or "print" in self.called_names

    def find_printed_exception(self, printed: str) -> str | None:
        """Return the last line that was printed where a handler of the code printed it, None otherwise.

        Code that reports a failure and then prints a result got over it by itself.
        """
        lines = [line.strip() for line in printed.splitlines() if line.strip()]
        if not lines:
            return None
        patterns = (pattern for handler in self.handlers for pattern in handler.patterns)
        is_reported = any(re.fullmatch(pattern, lines[-1], re.DOTALL) for pattern in patterns)
        return lines[-1] if is_reported else None


@lru_cache(maxsize=_KEPT_SNIPPETS)
def find_python_facts(source: str) -> PythonFacts | None:
    """Return the facts of a snippet, None where it is no Python that can be parsed."""
    if len(source) > MAX_CHARS:
        return None
    try:
        return PythonFacts(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def list_called_names(tree: ast.AST) -> frozenset[str]:
    """Return the names of the functions and methods that code calls."""
    functions = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(name for func in functions if (name := get_function_name(func)))


def get_function_name(function: ast.expr) -> str:
    """Return the name of what is called, without the object it is of; empty where it has none."""
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def list_bound_names(tree: ast.AST) -> frozenset[str]:
    """Return the names that code binds; those of a comprehension are gone with it."""
    found = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.comprehension):
            waiting += (node.iter, *node.ifs)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        waiting += ast.iter_child_nodes(node)
    return frozenset(found)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a value written down."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def list_texts(node: ast.AST) -> tuple[str, ...]:
    """Return the texts that an expression or a statement writes down."""
    return tuple(
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _iter_filled_names(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.For):
            yield from list_bound_names(node.target)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in {"append", "extend", "add", "update", "insert", "setdefault"}:
                yield node.value.id
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield from (part.id for part in ast.walk(node.value) if isinstance(part, ast.Name))


def _iter_guarded(nodes: tuple[ast.AST, ...]) -> Iterator[Guarded]:
    for node in nodes:
        if isinstance(node, ast.With):
            if not any("suppress" in list_called_names(item.context_expr) for item in node.items):
                continue
            handlers: tuple[Handler, ...] = ()
        elif isinstance(node, ast.Try) and node.handlers:
            handlers = tuple(map(_read_handler, node.handlers))
            if any(handler.raises for handler in handlers):
                continue
        else:
            continue
        names = frozenset(
            name for part in node.body for name in list_bound_names(part) | list_called_names(part)
        )
        yield Guarded(names, handlers)


def _read_handler(node: ast.ExceptHandler) -> Handler:
    parts = [part for statement in node.body for part in ast.walk(statement)]
    values = [part.value for part in parts if isinstance(part, ast.Assign | ast.Return | ast.AugAssign)]
    texts = [text for statement in node.body for text in list_texts(statement)]
    return Handler(
        node.name,
        tuple(texts),
        any(isinstance(part, ast.Raise) for part in parts),
        any(isinstance(part, ast.Continue) for part in parts),
        list_called_names(node),
        tuple(_has_own_value(value) for value in values if value is not None),
        tuple(_iter_printed_patterns(node.name, parts)),
    )


def _has_own_value(value: ast.expr) -> bool:
    """Whether an expression is a name, or has a text or a number that says something."""
    return isinstance(value, ast.Name) or any(map(_is_value, ast.walk(value)))


def _is_value(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant) or node.value is None or isinstance(node.value, bool):
        return False
    return not isinstance(node.value, str) or len(node.value.strip()) >= _SHORTEST_TEXT


def _iter_printed_patterns(name: str | None, parts: list[ast.AST]) -> Iterator[str]:
    """Yield what a handler prints about its exception, as regular expressions."""
    for call in parts:
        if not isinstance(call, ast.Call) or get_function_name(call.func) != "print" or not call.args:
            continue
        inner = [node for argument in call.args for node in ast.walk(argument)]
        named = {node.id for node in inner if isinstance(node, ast.Name)}
        texts = " ".join(text for argument in call.args for text in list_texts(argument))
        if (name is not None and name in named) or _ADMITS.search(texts):
            yield r"\s*".join(map(_build_pattern, call.args))


def _build_pattern(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value).strip())
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _build_pattern(part) if isinstance(part, ast.Constant) else ".*" for part in node.values
        )
    return ".*"


def find_failing_statement(
    tree: ast.Module, source: str, error: str, cause: frozenset[str]
) -> ast.stmt | None:
    """Return the statement that raised, as far as the error has its line or names a part of it."""
    lines = source.splitlines()
    quoted = _AT_LINE.search(error)
    if quoted:
        first = quoted[1].strip().splitlines()[0].strip()
        numbers = [number for number, line in enumerate(lines, 1) if first and first in line]
    else:
        numbers = [
            int(found) for found in _NUMBERED.findall(error[-4_000:]) if 1 <= int(found) <= len(lines)
        ][-1:]
    if not numbers and cause:
        numbers = [number for number, line in enumerate(lines, 1) if cause & set(_NAME.findall(line))][:1]
    if not numbers and "ZeroDivision" in error:
        numbers = [number for number, line in enumerate(lines, 1) if _DIVIDES.search(line)][:1]
    if not numbers:
        return None
    found = [part for part in tree.body if part.lineno <= numbers[0] <= (part.end_lineno or part.lineno)]
    return found[0] if found else None


def has_only_literals(tree: ast.Module, printers: Collection[str]) -> bool:
    """Whether code does nothing but write down: it binds and prints literals and works nothing out."""
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and is_literal(statement.value):
            names |= list_bound_names(statement)
        elif not _prints_literals(statement, names, printers):
            return False
    return True


def _prints_literals(statement: ast.stmt, names: set[str], printers: Collection[str]) -> bool:
    if not isinstance(statement, ast.Expr):
        return isinstance(statement, ast.Pass)
    value = statement.value
    if isinstance(value, ast.Constant):
        return True
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    if value.func.id not in printers:
        return False
    arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
    return all(_is_written(part, names) for part in arguments)


def _is_written(part: ast.expr, names: set[str]) -> bool:
    """Whether an expression is a literal, a name of one, or words around such names."""
    if isinstance(part, ast.JoinedStr):
        inner = [value.value for value in part.values if isinstance(value, ast.FormattedValue)]
        return all(_is_written(value, names) for value in inner)
    return is_literal(part) or (isinstance(part, ast.Name) and part.id in names)
