"""Targets held against the boundary: paths, hosts and what flows to them, and the default rule.

In: an abstract value that is a path or a host, and the call it reached. Out: findings. A call whose effects
are not known gets a review for each path, URL or host outside the boundary, unless the catalogue says that it
only holds what it gets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.boundary import Action, Boundary, Crossing
from spanproof.sandbox.scanners.literals import find_place
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.names import BUILTINS, LIBRARIES, Effect
from spanproof.sandbox.scanners.python.values import (
    NAME,
    Const,
    Items,
    Mapping,
    OneOf,
    Path,
    Ref,
    Text,
    Value,
    options_of,
    pieces_of,
    taint_of,
)
from spanproof.sandbox.scanners.rules import explain_call
from spanproof.sandbox.scanners.sql import scan_given, without_database
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


_INERT: Final = LIBRARIES["inert"]
_MODULES: Final = words_of(_INERT, "modules")
_ACTIVE: Final = words_of(_INERT, "active")
_ROUTES: Final = words_of(_INERT, "routes")
_METHODS: Final = words_of(_INERT, "methods")
_ROUTED: Final = words_of(_INERT, "routed")
_MOVING: Final = (*sorted(words_of(_INERT, "moving")), "to_")
_TARGETS: Final = words_of(_INERT, "targets")

_REMOTE: Final = words_of(LIBRARIES["remote"], "modules")
_REMOTE_FUNCTIONS: Final = tuple(sorted(words_of(LIBRARIES["remote"], "functions")))
_REMOTE_OPTIONS: Final = words_of(LIBRARIES["remote"], "options")

_LIBRARIES: Final = frozenset(name.partition(".")[0] for name in LIBRARIES["calls"])
"""The modules that are known: what others, such as the program's own, do by a name is not."""


_SENDING: Final = words("exec query raw text")
"""Methods that hold what they get, unless it is a statement."""


class Kind(NamedTuple):
    """What of a call's arguments is judged."""

    paths: bool
    hosts: bool


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
        m.add("escape.internals", node, f"{plain_name(name)} gets a text that walks through attributes")
    kind = _kind_of(name)
    if kind is not None:
        for value in arguments.all():
            judge_literal(m, value, name, node, kind)
    if kind is not None or name.rpartition(".")[2] in _SENDING:
        for option in (option for value in arguments.all() for option in options_of(value)):
            if isinstance(option, Const | Text):
                judge_statement(m, option, name, node)


def judge_statement(m: Machine, value: Const | Text, who: str, node: ast.expr) -> None:
    """Judge a text that may be a statement, and goes to a call that is not known to send one."""
    scan_given(m.context.nested(m.place(node), f"{plain_name(who)} gets a statement: "), pieces_of(value))


def check_remote(m: Machine, name: str, arguments: Arguments, node: ast.expr) -> None:
    """Review a call that reaches a host by itself: into the module of a service, or one that downloads."""
    if "." not in name or name.startswith("?") or name.endswith(("Error", "Exception")):
        return
    parts = name.split(".")
    is_remote = "()" not in name and any(".".join(parts[:count]) in _REMOTE for count in (1, 2))
    options = [arguments.named.get(option) for option in _REMOTE_OPTIONS]
    downloads = "()" not in name and parts[0] in _LIBRARIES and parts[-1].startswith(_REMOTE_FUNCTIONS)
    if is_remote or downloads or any(isinstance(one, Const) and one.value is True for one in options):
        m.add("network.implicit", node, explain_call(plain_name(name), "network.implicit"))


_WALK: Final = re.compile(r"__(?:class|globals|subclasses|builtins|mro|bases?|import|code|getattribute)__")


def _walks(value: Value) -> bool:
    """Whether a text names the interpreter's internals, as those do that a library looks up."""
    return isinstance(value, Const) and isinstance(value.value, str) and bool(_WALK.search(value.value))


def check_target(m: Machine, owner: Ref, name: str, value: Value, node: ast.expr) -> None:
    """Review where an object of a library goes by one of its attributes."""
    if name in _TARGETS:
        for option in value.entries.values() if isinstance(value, Mapping) else (value,):
            judge_literal(m, option, f"{owner.name}.{name}", node, Kind(paths=True, hosts=True))


def check_declared(m: Machine, bases: list[Value], attributes: dict[str, Value], node: ast.ClassDef) -> None:
    """Review what a class declares for the library that it extends."""
    for base in bases:
        kind = _kind_of(base.name) if isinstance(base, Ref) and "." in base.name else None
        if kind is not None:
            for name, value in attributes.items():
                judge_literal(m, value, name, ast.Name(name, lineno=node.lineno, col_offset=0), kind)


def judge_literal(m: Machine, value: Value, name: str, node: ast.expr, kind: Kind) -> None:
    """Review a value that names a place outside the boundary, or holds one that does."""
    pending, seen = [value], set[int]()
    while pending:
        one = pending.pop()
        m.steps += 1
        if "place" in one.taint:
            m.add(
                "call.unknown",
                node,
                f"{plain_name(name)} gets one of many targets, of which some are outside",
            )
        elif isinstance(one, Const | Text | Path):
            place = find_place(m.context.boundary, pieces_of(one), paths=kind.paths, hosts=kind.hosts)
            if place is not None:
                message = f"{plain_name(name)}, which is not in the catalogue, gets a target outside"
                m.add("call.unknown", node, f"{message}: {place.message}")
        elif isinstance(one, Items | Mapping | OneOf) and id(one) not in seen:
            seen.add(id(one))
            pending.extend(_held_places(one))


def _held_places(value: Items | Mapping | OneOf) -> Iterable[Value]:
    if isinstance(value, OneOf):
        return value.options
    if isinstance(value, Items):
        return value.items
    return [*(entry for key, entry in value.entries.items() if key in _TARGETS), *value.rest]
