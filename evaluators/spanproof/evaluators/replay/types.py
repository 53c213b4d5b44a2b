"""Attributes a snippet takes from values whose type is certain: `df.flatten()` after `df = pd.DataFrame(…)`.

Takes Python source and the import aliases that hold in it; gives uses such as `pandas.DataFrame().flatten()`,
an attribute of an instance, called or not. A type is certain for a literal, for a call of a class or of a
function listed here, and for a name that a run binds once, to one of these, at the top level of a snippet.
Everything else is left out, and so is every attribute the code mentions in a string or sets somewhere: it may
come to exist. Never runs anything.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from spanproof.evaluators.replay.names import read_names
from spanproof.evaluators.replay.uses import Use

_LITERALS: Final[Mapping[type[ast.expr], str]] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
}
# Those whose call gives an instance of them, and of nothing else.
_CLASSES: Final = frozenset(
    (
        *(
            f"builtins.{name}"
            for name in [
                "list",
                "dict",
                "set",
                "tuple",
                "str",
                "int",
                "float",
                "bytes",
                "frozenset",
                "bytearray",
            ]
        ),
        "pandas.DataFrame",
        "pandas.Series",
        "datetime.date",
        "datetime.datetime",
        "datetime.timedelta",
        "collections.deque",
        "decimal.Decimal",
        "pathlib.Path",
    )
)

_SAME_TYPE: Final[Mapping[str, str]] = {
    "numpy.ndarray": "numpy.array numpy.zeros numpy.ones numpy.arange numpy.linspace numpy.full numpy.eye",
    "pandas.DataFrame": "pandas.read_csv pandas.read_parquet pandas.read_excel pandas.DataFrame().head"
    " pandas.DataFrame().tail pandas.DataFrame().copy",
    "builtins.str": "builtins.str().upper builtins.str().lower builtins.str().strip builtins.str().lstrip"
    " builtins.str().rstrip builtins.str().replace builtins.str().join builtins.str().title"
    " builtins.str().format",
    "builtins.list": "builtins.str().split builtins.str().rsplit builtins.str().splitlines",
}
_RETURNS: Final[Mapping[str, str]] = {
    "builtins.sorted": "builtins.list",
    "builtins.len": "builtins.int",
    "builtins.repr": "builtins.str",
    "json.dumps": "builtins.str",
    "os.getcwd": "builtins.str",
    "re.compile": "re.Pattern",
    "re.findall": "builtins.list",
    "re.split": "builtins.list",
    "re.sub": "builtins.str",
    "builtins.str().encode": "builtins.bytes",
    **{name: type_name for type_name, names in _SAME_TYPE.items() for name in names.split()},
}
# Arguments with which these functions return something else.
_GIVES_ANOTHER: Final = frozenset(("iterator", "chunksize", "sheet_name", "like", "subok"))

# Beside the standard library, those known to add nothing to other packages' classes.
_KNOWN_PACKAGES: Final = frozenset(
    ("pandas", "numpy", "matplotlib", "scipy", "sklearn", "requests", "statsmodels")
)

# What binds names that cannot be seen.
_UNSEEN: Final = frozenset(("exec", "eval", "globals", "locals", "vars", "setattr", "__import__"))


@dataclass(slots=True)
class Typed:
    """What is certain of a run's names, snippet by snippet.

    Attributes:
        types: of names, as dotted classes.
    """

    types: dict[str, str] = field(default_factory=dict)
    _bound: set[str] = field(default_factory=set)
    _may_exist: set[str] = field(default_factory=set)
    _certain: bool = True

    def list_uses(self, source: str, aliases: Mapping[str, str]) -> list[Use]:
        """Return the attributes of instances this snippet relies on."""
        try:
            tree = ast.parse(source)
            self._update_types(tree, source)
            return self._list_tree_uses(tree, aliases) if self._certain else []
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._certain = False  # it may have bound anything before it broke
            return []

    def _update_types(self, tree: ast.Module, source: str) -> None:
        names = read_names(source)
        if names.star_import or names.used & _UNSEEN:
            self._certain = False
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._certain = self._certain and _adds_nothing(node)
            elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self._may_exist.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._may_exist.add(node.value)
        for name in names.bound:
            self.types.pop(name, None)
        self._bound |= names.assigned

    def _list_tree_uses(self, tree: ast.Module, aliases: Mapping[str, str]) -> list[Use]:
        uses: list[Use] = []
        bindings = list(_iter_bindings(tree))
        for statement in tree.body:
            uses += self._iter_statement_uses(statement, aliases)
            target = _find_only_target(statement)
            if target is not None and bindings.count(target) == 1:
                value = statement.value  # type: ignore[attr-defined]
                type_name = self._find_type(value, aliases)
                if type_name is not None:
                    self.types[target] = type_name
        return uses

    def _iter_statement_uses(self, statement: ast.stmt, aliases: Mapping[str, str]) -> Iterator[Use]:
        """Yield uses of one statement; code in functions runs at another time, and `try` tests itself."""
        called = set()
        for node in _iter_statement_nodes(statement):
            if isinstance(node, ast.Call):
                called.add(node.func)
            if not (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)):
                continue
            type_name = self._find_type(node.value, aliases)
            if type_name is not None and node.attr not in self._may_exist:
                name = f"{type_name}().{node.attr}{'()' if node in called else ''}"
                yield Use(name, type_name, node.lineno)

    def _find_type(self, value: ast.expr, aliases: Mapping[str, str]) -> str | None:
        if isinstance(value, ast.Name):
            return self.types.get(value.id)
        if isinstance(value, ast.Constant):
            kind = type(value.value)
            if kind in (str, bytes, int, float):
                return f"builtins.{kind.__name__}"
            return None
        if type(value) in _LITERALS:
            return f"builtins.{_LITERALS[type(value)]}"
        if not isinstance(value, ast.Call) or _gives_another(value):
            return None
        dotted = self._find_dotted_name(value.func, aliases)
        if dotted in _CLASSES:
            return dotted
        return _RETURNS.get(dotted or "")

    def _find_dotted_name(self, function: ast.expr, aliases: Mapping[str, str]) -> str | None:
        """Return the function's name from its module or its instance on."""
        if isinstance(function, ast.Name):
            if function.id in aliases:
                return aliases[function.id]
            if function.id in self._bound:
                return None
            return f"builtins.{function.id}"
        if isinstance(function, ast.Attribute):
            type_name = self._find_type(function.value, aliases)
            if type_name is not None:
                return f"{type_name}().{function.attr}"
            names = ast.unparse(function).split(".")
            if names[0] in aliases and all(name.isidentifier() for name in names):
                return ".".join([aliases[names[0]], *names[1:]])
        return None


def _gives_another(call: ast.Call) -> bool:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(keyword.arg is None or keyword.arg in _GIVES_ANOTHER for keyword in call.keywords)


def _adds_nothing(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether what is imported is known to leave other modules' classes as they are."""
    if isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
    else:
        modules = [name.name for name in node.names]
    tops = {module.split(".")[0] for module in modules}
    return tops <= _KNOWN_PACKAGES | sys.stdlib_module_names


def _find_only_target(statement: ast.stmt) -> str | None:
    """Return the one name a plain assignment binds."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target = statement.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _iter_bindings(tree: ast.AST) -> Iterator[str]:
    """Yield every name that is bound or unbound anywhere, as often as it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names * 2


def _iter_statement_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run with a statement, from the outside in."""
    if isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Try | ast.TryStar
    ):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _iter_statement_nodes(child)
