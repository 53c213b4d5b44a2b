"""What a condition gives whenever it is reached, so that the branch it excludes never runs.

In: the tree of a program and the test of one branch. Out: its truth, where it is made of literals and of
names that one statement of the module binds to a literal (`DRY_RUN = True`). A program that may bind names
in ways that its tree does not show has no such names.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from spanproof.sandbox.scanners.python.names import BUILTINS
from spanproof.sandbox.words import split_words

# What binds names, or replaces functions of modules, in ways that the tree does not show.
_REBINDS: Final = split_words(
    "exec eval execfile runcode runsource FunctionType CodeType globals locals vars setattr delattr"
    " __setattr__ __delattr__ __dict__ __main__ __globals__ __builtins__ builtins __code__ __closure__"
    " __import__ import_module importlib runpy run_module run_path modules _getframe f_globals f_locals"
    " f_back gi_frame cr_frame tb_frame settrace setprofile currentframe get_ipython mock patch monkeypatch"
    " MonkeyPatch gc inspect cProfile pdb bdb doctest *"
)
_EXITS: Final = frozenset({"exit", "quit", "_exit"})
_NAMES_OF_NODES: Final = ("id", "attr", "name", "asname", "arg", "rest", "module")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, held: item in held, ast.NotIn: lambda item, held: item not in held,
}  # fmt: skip


class _NotKnown(Exception):  # noqa: N818 - not an error: the test is not followed
    """An expression has more in it than literals and names of literals."""


class Conditions:
    """The conditions of one program."""

    def __init__(self, module: ast.Module, text: str, nodes: Sequence[ast.AST]) -> None:
        """Take a tree, the text that it was parsed from, and all nodes of the tree."""
        self._module = module
        self._text = text
        self._nodes = nodes

    @cached_property
    def _bound(self) -> Counter[str]:
        """How often a name is bound in all scopes, attributes of this name included."""
        return Counter(name for node in self._nodes for name in _iter_bound_names(node))

    @cached_property
    def _is_rebound(self) -> bool:
        """Whether the program names, also in a text, what binds names out of sight."""
        if not self._may_rebind:
            return False
        words: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.alias) and node.name == "*":
                return True
            texts = [getattr(node, field, None) for field in _NAMES_OF_NODES]
            texts.append(node.value if isinstance(node, ast.Constant) else None)
            for text in texts:
                if isinstance(text, str):
                    words.update(_WORD.findall(text))
        return not _REBINDS.isdisjoint(words)

    @property
    def _may_rebind(self) -> bool:
        """Whether any such word is anywhere in the text, or in a constant, which may be put together."""
        constants = [node.value for node in self._nodes if isinstance(node, ast.Constant)]
        whole = "\n".join([self._text, *(one for one in constants if isinstance(one, str))])
        # An identifier may be written in other letters that mean the same.
        return not self._text.isascii() or any(word in whole for word in _REBINDS)

    @cached_property
    def _assigned(self) -> dict[str, ast.expr]:
        """What the statements of the module bind names to; the last one counts."""
        found: dict[str, ast.expr] = {}
        for statement in self._module.body:
            match statement:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ):
                    found[name] = value
        return found

    @cached_property
    def _checks_types(self) -> bool:
        """Whether `TYPE_CHECKING` is the constant of `typing`."""
        imports = [one for one in self._module.body if isinstance(one, ast.ImportFrom)]
        names = [name for one in imports if one.module == "typing" for name in one.names]
        is_imported = any(one.name == "TYPE_CHECKING" and one.asname is None for one in names)
        return is_imported and self._bound["TYPE_CHECKING"] == 1

    def _get_literal(self, name: str) -> Any:
        """Return what a name holds that one statement of the module binds to a literal.

        Raises:
            _NotKnown: there is no such statement.
        """
        if name == "TYPE_CHECKING" and self._checks_types:
            return False
        if name not in self._assigned or name in BUILTINS:
            raise _NotKnown
        try:
            literal = ast.literal_eval(self._assigned[name])
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise _NotKnown from None
        if not self._is_kept(name, literal):
            raise _NotKnown
        return literal

    def _is_kept(self, name: str, literal: object) -> bool:
        """Whether a name is bound once, and what can be changed in place is only searched."""
        tests = [node for node in self._nodes if isinstance(node, ast.Compare)]
        searched = [one.comparators[0] for one in tests if isinstance(one.ops[0], ast.In | ast.NotIn)]
        used = [node for node in self._nodes if isinstance(node, ast.Name) and node.id == name]
        is_scalar = isinstance(literal, bool | int | str | None)
        return self._bound[name] == 1 and (is_scalar or sum(one not in searched for one in used) == 1)

    def find_truth(self, test: ast.expr) -> bool | None:
        """Return what a test gives whenever it is reached; None where that is not known."""
        try:
            truth = bool(self._evaluate(test))
        except (_NotKnown, ValueError, TypeError):
            return None
        return None if self._is_rebound else truth

    @cached_property
    def has_plain_exits(self) -> bool:
        """Whether `sys.exit` and its like are what Python has under these names."""
        modules = [alias for node in self._nodes if isinstance(node, ast.Import) for alias in node.names]
        imported = Counter(alias.name for alias in modules if alias.asname is None)
        held = [node.value for node in self._nodes if isinstance(node, ast.Attribute)]
        attributes = {node.attr for node in self._nodes if isinstance(node, ast.Attribute)}
        is_handed_on = any(
            isinstance(node, ast.Name) and node.id in {"sys", "os"} and node not in held
            for node in self._nodes
        )
        is_replaced = is_handed_on or any(self._bound[name] for name in _EXITS)
        are_modules = all(self._bound[name] == imported[name] for name in ("sys", "os"))
        is_reached_by_others = self._is_rebound or not attributes.isdisjoint({"sys", "os"})
        return are_modules and not is_replaced and not is_reached_by_others

    def _evaluate(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self._get_literal(name)
            case ast.UnaryOp(ast.Not(), operand):
                return not self._evaluate(operand)
            case ast.BoolOp(operation, values):
                for one in values:
                    outcome = self._evaluate(one)
                    if bool(outcome) is isinstance(operation, ast.Or):
                        break
                return outcome
            case ast.Compare(left, [kind], [right]) if type(kind) in _COMPARISONS:
                is_identity = isinstance(kind, ast.Is | ast.IsNot)
                if is_identity and not (isinstance(right, ast.Constant) and right.value is None):
                    raise _NotKnown
                if isinstance(right, ast.Name):
                    held = self._evaluate(right)
                else:
                    held = ast.literal_eval(right)
                return _COMPARISONS[type(kind)](self._evaluate(left), held)
        raise _NotKnown


def _iter_bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds by itself, and the attributes that it sets."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names * 2  # bound here and elsewhere
    elif isinstance(node, ast.Name | ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            yield node.id if isinstance(node, ast.Name) else node.attr
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif not isinstance(node, ast.keyword):
        for field in ("name", "arg", "rest"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name
