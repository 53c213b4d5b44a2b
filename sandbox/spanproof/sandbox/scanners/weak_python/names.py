"""Names of a program: what imports bind, what was last assigned, and what comes from a user.

In: a module's tree. Out: dotted names of calls and the expression behind a name. One pass, no execution.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.python.parse import nodes_below

KNOWLEDGE: Final = read_sections("weaknesses")
WORDS: Final = KNOWLEDGE["python"]

_INPUT_CALLS: Final = words_of(WORDS, "input")
_INPUT_NAMES: Final = ("flask.request.", "request.", "sys.argv", "self.request.")
_SECRET: Final = re.compile(
    r"(?i)passw(?:or)?d|passphrase|\bpwd\b|_pwd|secret|token(?!s|_count|_id|iz|_len|_limit|_budget)|api_?key"
    r"|access_?key|private_?key|credential|\bsalt\b|nonce|\botp\b|session_?id|session_?key"
)
_MAX_DEPTH: Final = 8
_MAX_ATTRIBUTES: Final = 16


class Names:
    """What names of one module mean."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        """Read imports and plain assignments, wherever they are; the last one counts."""
        self.imported: dict[str, str] = {}
        self.assigned: dict[str, ast.expr] = {}
        self.contained = False
        self._calls: dict[int, list[ast.Call]] = {}
        self._dotted: dict[int, str] = {}
        self._from_input: dict[int, bool] = {}
        self._literal: dict[int, bool] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for one in node.names:
                    self.imported[one.asname or one.name.partition(".")[0]] = (
                        one.name if one.asname else one.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    self.imported[one.asname or one.name] = f"{node.module or ''}.{one.name}"
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                if isinstance(node.targets[0], ast.Name):
                    self.assigned[node.targets[0].id] = node.value
            elif isinstance(node, ast.Attribute) and node.attr in _CONTAINS:
                self.contained = True

    def dotted(self, node: ast.expr) -> str:
        """The resolved dotted name of an expression; what is not a name shows as `?`."""
        known = self._dotted.get(id(node))
        if known is None:
            attributes: list[str] = []
            inner = node
            while isinstance(inner, ast.Attribute) and len(attributes) < _MAX_ATTRIBUTES:
                attributes.append(inner.attr)
                inner = inner.value
            base = self.imported.get(inner.id, inner.id) if isinstance(inner, ast.Name) else "?"
            known = self._dotted[id(node)] = ".".join([base, *reversed(attributes)])
        return known

    def behind(self, node: ast.expr) -> ast.expr:
        """The expression behind a name, as far as plain assignments show."""
        for _ in range(_MAX_DEPTH):
            if not isinstance(node, ast.Name) or node.id not in self.assigned:
                return node
            node = self.assigned[node.id]
        return node

    def calls_in(self, node: ast.expr) -> list[ast.Call]:
        """The calls an expression makes; computed once for each."""
        found = self._calls.get(id(node))
        if found is None:
            found = [one for one in nodes_below(node) if isinstance(one, ast.Call)]
            self._calls[id(node)] = found
        return found

    def is_literal(self, node: ast.expr) -> bool:
        """Whether an expression consists of constants alone; computed once for each."""
        if id(node) not in self._literal:
            self._literal[id(node)] = is_literal(node)
        return self._literal[id(node)]

    def from_input(self, node: ast.expr) -> bool:
        """Whether a value comes from a user or a request.

        Raises:
            RecursionError: it nests deeper than can be read.
        """
        known = self._from_input.get(id(node))
        if known is None:
            # Each node is looked into once, and one that is being looked into adds nothing to itself:
            # names that refer to one another many times over would take exponential time.
            self._from_input[id(node)] = False
            known = self._from_input[id(node)] = self._comes_from_input(node)
        return known

    def _comes_from_input(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            held = self.assigned.get(node.id)
            return held is not None and self.from_input(held)
        name = self.dotted(node.func if isinstance(node, ast.Call) else node)
        if name in _INPUT_CALLS or name.startswith(_INPUT_NAMES):
            return True
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Call):
            children += [one.value for one in node.keywords]
        return any(self.from_input(child) for child in children)


_CONTAINS: Final = words_of(WORDS, "contains")
"""What a program uses to keep a path inside a directory."""


def says_secret(name: str) -> bool:
    """Whether a name announces a secret."""
    return _SECRET.search(name) is not None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def argument(call: ast.Call, position: int, name: str = "") -> ast.expr | None:
    """A positional argument, or its keyword."""
    if len(call.args) > position:
        return call.args[position]
    return keyword(call, name) if name else None


def is_false(node: ast.expr | None) -> bool:
    """Whether an expression is the constant False."""
    return isinstance(node, ast.Constant) and node.value is False


def is_true(node: ast.expr | None) -> bool:
    """Whether an expression is the constant True."""
    return isinstance(node, ast.Constant) and node.value is True


def is_literal(node: ast.expr) -> bool:
    """Whether an expression consists of constants alone."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.List | ast.Tuple):
        return all(is_literal(item) for item in node.elts)
    return isinstance(node, ast.BinOp) and is_literal(node.left) and is_literal(node.right)
