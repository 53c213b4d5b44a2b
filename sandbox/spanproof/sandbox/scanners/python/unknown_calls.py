"""The default rule: what a call that is not in the catalogue gets literally is reviewed where it is outside.

In: a call whose effects are not known, or an attribute of a library's object that is set. Out: a review for
each path, URL or host outside the boundary, unless the catalogue says that the call only holds what it gets.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import BUILTINS, LIBRARIES, TARGETS
from spanproof.sandbox.scanners.reader.state import Arguments, Kind
from spanproof.sandbox.scanners.reader.values import (
    Const,
    Items,
    Mapping,
    Path,
    Ref,
    Text,
    Value,
    options_of,
)
from spanproof.sandbox.scanners.rules import explain_call
from spanproof.sandbox.words import words

_INERT: Final = LIBRARIES["inert"]
_MODULES: Final = words_of(_INERT, "modules")
_ACTIVE: Final = words_of(_INERT, "active")
_ROUTES: Final = words_of(_INERT, "routes")
_METHODS: Final = words_of(_INERT, "methods")
_ROUTED: Final = words_of(_INERT, "routed")
_MOVING: Final = (*sorted(words_of(_INERT, "moving")), "to_")

_REMOTE: Final = words_of(LIBRARIES["remote"], "modules")
_REMOTE_FUNCTIONS: Final = tuple(sorted(words_of(LIBRARIES["remote"], "functions")))
_REMOTE_OPTIONS: Final = words_of(LIBRARIES["remote"], "options")

_LIBRARIES: Final = frozenset(name.partition(".")[0] for name in LIBRARIES["calls"])
"""The modules that are known: what others, such as the program's own, do by a name is not."""


_SENDING: Final = words("exec query raw text")
"""Methods that hold what they get, unless it is a statement."""


@lru_cache(maxsize=4096)
def _kind_of(name: str) -> Kind | None:
    """What is judged of a call by its resolved name; None where it only holds what it gets."""
    method = name.rpartition(".")[2]
    if name in BUILTINS or method in _METHODS:
        return None
    parts = name.replace("()", "").replace("[]", "").split(".")
    prefixes = {".".join(parts[:count]) for count in (1, 2, 3)}
    if prefixes & _MODULES and not prefixes & _ACTIVE and not method.startswith(_MOVING):
        return None
    is_routed = bool(prefixes & _ROUTES) or method in _ROUTED
    return Kind(paths=not is_routed, hosts=not is_routed and parts[0] != "?")


def check_unknown_call(m: Machine, function: Value, arguments: Arguments, node: ast.expr) -> None:
    """Review what a call gets whose effects are not known."""
    if not arguments.positional and not arguments.named:
        return
    if isinstance(function, Ref):
        if isinstance(function.owner, Const | Items | Mapping | Text | Path):
            return
        name = function.name
    else:
        called = node.func if isinstance(node, ast.Call) else node
        name = "?." + (called.id if isinstance(called, ast.Name) else getattr(called, "attr", "call"))
    if name not in BUILTINS and any(_walks(value) for value in arguments.positional):
        m.add("escape.internals", node, f"{m.plain_name(name)} gets a text that walks through attributes")
    kind = _kind_of(name)
    if kind is not None:
        for value in arguments.all():
            m.judge_literal(value, name, node, kind)
    if kind is not None or name.rpartition(".")[2] in _SENDING:
        for option in (option for value in arguments.all() for option in options_of(value)):
            m.judge_statement(option, name, node)


def check_remote(m: Machine, name: str, arguments: Arguments, node: ast.expr) -> None:
    """Review a call that reaches a host by itself: into the module of a service, or one that downloads."""
    if "." not in name or name.startswith("?") or name.endswith(("Error", "Exception")):
        return
    parts = name.split(".")
    is_remote = "()" not in name and any(".".join(parts[:count]) in _REMOTE for count in (1, 2))
    options = [arguments.named.get(option) for option in _REMOTE_OPTIONS]
    downloads = "()" not in name and parts[0] in _LIBRARIES and parts[-1].startswith(_REMOTE_FUNCTIONS)
    if is_remote or downloads or any(isinstance(one, Const) and one.value is True for one in options):
        m.add("network.implicit", node, explain_call(m.plain_name(name), "network.implicit"))


_WALK: Final = re.compile(r"__(?:class|globals|subclasses|builtins|mro|bases?|import|code|getattribute)__")


def _walks(value: Value) -> bool:
    """Whether a text names the interpreter's internals, as those do that a library looks up."""
    return isinstance(value, Const) and isinstance(value.value, str) and bool(_WALK.search(value.value))


def check_target(m: Machine, owner: Ref, name: str, value: Value, node: ast.expr) -> None:
    """Review where an object of a library goes by one of its attributes."""
    if name in TARGETS:
        for option in value.entries.values() if isinstance(value, Mapping) else (value,):
            m.judge_literal(option, f"{owner.name}.{name}", node)


def check_declared(m: Machine, bases: list[Value], attributes: dict[str, Value], node: ast.ClassDef) -> None:
    """Review what a class declares for the library that it extends."""
    for base in bases:
        kind = _kind_of(base.name) if isinstance(base, Ref) and "." in base.name else None
        if kind is not None:
            for name, value in attributes.items():
                m.judge_literal(value, name, ast.Name(name, lineno=node.lineno, col_offset=0), kind)
