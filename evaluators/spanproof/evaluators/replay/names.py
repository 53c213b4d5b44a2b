"""Which names a snippet binds, uses and calls: what later snippets of a run can depend on.

Takes Python source, whole or cut; gives sets of names, read off the syntax tree or, where the source does not
parse, off its words. Never runs anything. The answers err towards more names: a dependency that is seen
wrongly costs a replay, one that is missed costs a wrong verdict.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import filterfalse

_WORD = re.compile(r"[^\W\d]\w*")
# Nodes other than `Name` that bind one.
_BINDING = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.arg,
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
    ast.MatchMapping,
)

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__builtins__"}


@dataclass(frozen=True, slots=True)
class Names:
    """Names of one snippet.

    Attributes:
        assigned: bound by anything but an import, at any depth, parameters included.
        imported: bound to a module or something out of one.
        used: read anywhere.
        called: called by their bare name.
        parsed: False where the source is no whole Python, so that nothing is bound and `used` is every word.
        star_import: some import binds names that are not known.
        print_options: some `print` is called with `sep` or `end`.
    """

    assigned: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    parsed: bool = True
    star_import: bool = False
    print_options: bool = False

    @property
    def bound(self) -> frozenset[str]:
        """Every name it binds."""
        return self.assigned | self.imported

    @property
    def mentioned(self) -> frozenset[str]:
        """What the snippet may have changed or made, imports and builtins apart."""
        return (self.bound | self.used) - self.imported - BUILTINS

    @property
    def free(self) -> frozenset[str]:
        """Names it reads that neither itself nor Python defines."""
        return self.used - self.bound - BUILTINS


def read_names(source: str) -> Names:
    """Read the names of a snippet; never raises."""
    tree = _find_tree(source)
    if tree is None:
        words = filterfalse(keyword.iskeyword, _WORD.findall(source))
        return Names(used=frozenset(words), parsed=False)
    assigned: set[str] = set()
    imported: set[str] = set()
    used: set[str] = set()
    called: set[str] = set()
    star_import = print_options = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                star_import |= alias.name == "*"
                imported.add(alias.asname or alias.name.split(".")[0])
        elif isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else assigned).add(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
            options = {option.arg for option in node.keywords}
            print_options |= node.func.id == "print" and bool(options & {"sep", "end"})
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                used.add(node.target.id)
        elif isinstance(node, _BINDING):
            assigned.update(_list_defined_names(node))
    return Names(
        assigned=frozenset(assigned),
        imported=frozenset(imported),
        used=frozenset(used),
        called=frozenset(called),
        star_import=star_import,
        print_options=print_options,
    )


def _find_tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def list_unbound_calls(snippets: Iterable[Names]) -> frozenset[str]:
    """Return names these snippets call and none defines: tools without a span, or that do not exist."""
    called: set[str] = set()
    bound: set[str] = set()
    for names in snippets:
        if names.star_import:
            return frozenset()
        called |= names.called
        bound |= names.bound
    return frozenset(called - bound - BUILTINS)


def without_code_after_answer(source: str) -> str:
    """Return the source up to its first statement that gives the final answer whatever happens.

    `final_answer` ends the snippet in the frameworks that have it, so what comes after it did not run.
    """
    tree = _find_tree(source)
    for statement in tree.body if tree is not None else ():
        call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "final_answer":
            return "".join(source.splitlines(keepends=True)[: statement.end_lineno])
    return source


def _list_defined_names(node: ast.AST) -> tuple[str, ...]:
    """Return the names bound other than by a `Name` node."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
        return (node.name,)
    if isinstance(node, ast.MatchMapping) and node.rest is not None:
        return (node.rest,)
    return ()
