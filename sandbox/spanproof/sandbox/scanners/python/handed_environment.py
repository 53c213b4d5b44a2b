"""The environment as a whole, handed on: to programs that a program starts, or to any other call.

In: the tree of a program. Out: the nodes that copy the environment for `env=` of a call of `subprocess` or
`asyncio`; a finding where another call gets it. A program that is started has the environment anyway, and
what it reads of it is judged by itself.

    env = {**os.environ, "LANG": "C"}
    env["TZ"] = "UTC"
    subprocess.run(command, env=env)

A copy under a name counts where the name is used for nothing else in the whole program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import Final

from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.parse import list_nodes
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import Const, Items, Mapping, OneOf, Ref, Value, walk_parts
from spanproof.sandbox.words import split_words

_MODULES: Final = frozenset({"subprocess", "asyncio"})
_STARTING: Final = split_words(
    "run Popen call check_call check_output create_subprocess_exec create_subprocess_shell"
)
# What may read a name that does not stand in the code.
_READS_NAMES: Final = split_words("exec eval compile globals locals vars dir _getframe currentframe __dict__")
# Methods that change a copy and give nothing of it.
_CHANGING: Final = split_words("update setdefault")


def find_handed_on(tree: ast.Module) -> frozenset[ast.expr]:
    """Return the expressions that only make an environment for a program that is started."""
    nodes = list_nodes(tree)
    if any(_reads_names(node) for node in nodes):
        return frozenset()
    starting = _find_starting_names(nodes)
    values = [
        keyword.value
        for node in nodes
        if isinstance(node, ast.Call) and _get_dotted_name(node.func) in starting
        for keyword in node.keywords
        if keyword.arg == "env"
    ]
    names = {value.id for value in values if isinstance(value, ast.Name)}
    used_otherwise = _find_other_uses(nodes, names, values)
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in names - used_otherwise:
                values.append(node.value)
    return frozenset(part for value in values for part in _iter_copies(value))


def _reads_names(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id in _READS_NAMES) or (
        isinstance(node, ast.Attribute) and node.attr in _READS_NAMES
    )


def _find_starting_names(nodes: list[ast.AST]) -> set[str]:
    """Return the dotted names that start programs, as the imports spell them and nothing else binds them."""
    starting: set[str] = set()
    bound: set[str] = set()
    for node in nodes:
        match node:
            case ast.Import():
                modules = _list_bound_names(node, _MODULES)
                starting.update(f"{module}.{function}" for module in modules for function in _STARTING)
            case ast.ImportFrom() if node.module in _MODULES:
                starting.update(_list_bound_names(node, _STARTING))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bound.add(node.name)
            case ast.arg():
                bound.add(node.arg)
            case ast.Name() | ast.Attribute() if not isinstance(node.ctx, ast.Load):
                bound.add(_get_dotted_name(node))
    heads = {name.partition(".")[0] for name in bound if "." not in name}
    return {name for name in starting if name not in bound and name.partition(".")[0] not in heads}


def _list_bound_names(node: ast.Import | ast.ImportFrom, imported: frozenset[str]) -> list[str]:
    """Return the names that an import binds some of what it imports to."""
    return [alias.asname or alias.name for alias in node.names if alias.name in imported]


def _find_other_uses(nodes: list[ast.AST], names: set[str], values: list[ast.expr]) -> set[str]:
    """Return the names that are read in another way than for a program that is started."""
    harmless = {id(value) for value in values}
    for node in nodes:
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            harmless.add(id(node.value))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and function.attr in _CHANGING:
                harmless.add(id(function.value))
    read = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    used = {node.id for node in read if node.id in names and id(node) not in harmless}
    return used | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _iter_copies(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions in a value that may copy the environment into it."""
    yield value
    if isinstance(value, ast.Call) and _get_dotted_name(value.func) == "dict":
        yield from value.args
        yield from (keyword.value for keyword in value.keywords if keyword.arg is None)
    elif isinstance(value, ast.Dict):
        yield from (item for key, item in zip(value.keys, value.values, strict=True) if key is None)
    elif isinstance(value, ast.BinOp):
        yield from _iter_copies(value.left)
        yield from _iter_copies(value.right)


def _get_dotted_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return ".".join([node.id, *reversed(parts)])
    return ""


def check_environment_escape(m: Machine, arguments: Arguments, node: ast.expr) -> None:
    """Judge the environment as a whole, handed to any call by itself or in a container, as read."""
    if not any(one.__class__ is not Const and _holds_environment(one) for one in arguments.all()):
        return
    keywords = node.keywords if isinstance(node, ast.Call) else []
    handed = {one.arg for one in keywords if one.value in m.handed_on}
    named = [value for name, value in arguments.named.items() if name not in handed]
    judged = [*arguments.positional, *named]
    for value in judged:
        if _holds_environment(value):
            m.read_all_variables("os.environ", node)


# Values in a container that are looked at.
_MOST_HELD: Final = 64


def _holds_environment(value: Value) -> bool:
    if isinstance(value, Ref):
        return value.name == "os.environ"
    if not isinstance(value, (Items, Mapping, OneOf)):
        return False
    parts = islice(walk_parts(value), _MOST_HELD)
    return any(isinstance(part, Ref) and part.name == "os.environ" for part in parts)
