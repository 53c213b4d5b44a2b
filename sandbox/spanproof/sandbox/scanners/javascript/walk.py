"""Follows a script: names, constants and calls, in one pass over the tree.

In: the text of a script. Out: findings, by `effects`. Functions of the script are read with each call's
arguments while the budget lasts, and once with unknown ones if nothing calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

import tree_sitter
from tree_sitter import Node

from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.context import MAX_NESTING, Context
from spanproof.sandbox.scanners.javascript.sinks import GLOBALS, INERT, SINKS, TARGETS
from spanproof.sandbox.scanners.javascript.values import (
    MISSING,
    PLACE,
    UNKNOWN,
    Array,
    Function,
    Klass,
    Made,
    Method,
    Object,
    OneOf,
    Ref,
    Scope,
    Text,
    Unknown,
    Value,
    any_of,
    covers,
    covers_all,
    either,
    of_any_length,
    options_of,
    pieces_of,
    spread,
    text_of,
    widen,
    written,
)
from spanproof.sandbox.scanners.literals import find_place
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.source import START, Place
from spanproof.sandbox.scanners.sql import Connection

_MAX_DEPTH = 8
_FREE_STEPS = 20_000
_CHECK_EVERY = 1024


NodeHandler = Callable[["Script", Node], Value]
"""Evaluates one kind of node."""


class Script:
    """Reads one script."""

    def __init__(self, context: Context, handlers: Mapping[str, NodeHandler]) -> None:
        self.context = context
        self._handlers = handlers
        self.scope = Scope()
        self.data = b""
        self.steps = 0
        self.budget = _FREE_STEPS
        self.conditional = 0
        """How many branches and loops are being read that may not run, or run more than once."""
        self.changes = 0
        self.written: list[Callable[[], None]] = []
        """For each assignment, what widens the value there to one that is not known."""
        self.connections: dict[str, list[Connection]] = {}
        """The databases that each driver's function was called for."""
        self.functions: list[Function] = []
        self.called: set[int] = set()
        self.stack: list[tuple[int, Sequence[Value], int]] = []
        """The calls that are being read: the function, its arguments, and the assignments before it."""
        self.returned: list[list[Value]] = []
        self._lines: list[bytes] = []

    def read(self, source: str, language: str = "javascript") -> None:
        """Read a whole script."""
        tree = self._parse(source, language)
        if tree is None:
            self.context.add("javascript.too-complex", START, "takes longer to parse than its time")
            return
        if tree.root_node.has_error:
            self.context.add("javascript.syntax", START, "does not parse as " + language)
        self.evaluate(tree.root_node)
        index = 0
        while index < len(self.functions):
            function = self.functions[index]
            index += 1
            if function.node.id not in self.called:
                self.call_function(function, [], function.node)

    def evaluate(self, node: Node) -> Value:
        """The value of an expression, or the effects of a statement."""
        self.steps += 1
        if self.steps % _CHECK_EVERY == 0:
            self.context.check_time()
        handler = self._handlers.get(node.type)
        if handler is not None:
            return handler(self, node)
        for child in node.named_children:
            self.evaluate(child)
        return UNKNOWN

    def place(self, node: Node) -> Place:
        """The place of a node, in characters."""
        return grammar.place_of(node, self._lines)

    def add(self, rule: str, node: Node, message: str, verdict: Verdict | None = None) -> None:
        """Report one finding; `rule` without the language."""
        self.context.add(f"javascript.{rule}", self.place(node), message, verdict)

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def run_source(self, value: Value, name: str, node: Node) -> Value:
        """Scan code made from text."""
        source = text_of(value)
        if source is None:
            network = isinstance(value, Unknown) and value.origin == "network"
            self.add(
                "exec.download" if network else "exec.dynamic", node, f"{name} runs code that is not known"
            )
            return UNKNOWN
        if self.context.depth >= MAX_NESTING:
            self.add("exec.payload", node, f"{name} hides code in too many layers")
            return UNKNOWN
        inner = Script(self.context.nested(self.place(node), f"{name} runs code: "), self._handlers)
        inner.scope = Scope(self.scope)
        inner.returned.append([])
        inner.read(source)
        result: Value = UNKNOWN
        for one in inner.returned[-1]:
            # Other values hang on the tree of the text they came from.
            if isinstance(one, Ref | Text | Unknown):
                result = one if result is UNKNOWN else either(result, one)
        return Made(result) if name.endswith("Function") else result

    def call_function(self, function: Function, arguments: Sequence[Value], call: Node) -> Value:
        """Read a function of the script with these arguments."""
        node = function.node
        if (len(self.stack) >= _MAX_DEPTH or self.steps > 2 * self.budget) and node.id in self.called:
            self.add("too-complex", call, "calls a function more often, or deeper, than is followed")
            return UNKNOWN
        earlier = [call for call in self.stack if call[0] == node.id]
        if len(earlier) == 2:
            # From here on one reading covers every deeper call: its arguments stand for all of theirs.
            arguments = [widen(list(one)) for one in zip(earlier[1][1], arguments, strict=False)]
        elif len(earlier) == 3:
            if all(
                covers(one, other) for one, other in zip_longest(earlier[2][1], arguments, fillvalue=UNKNOWN)
            ):
                return UNKNOWN
            arguments = ()
        elif len(earlier) > 3:
            return UNKNOWN
        self.called.add(node.id)
        outer = self.scope
        self.scope = Scope(function.scope)
        self.stack.append((node.id, arguments, len(self.written)))
        self.returned.append([])
        try:
            self._bind_parameters(node, arguments)
            body = node.child_by_field_name("body")
            if body is not None and len(earlier) >= 2:
                value = self.repeat(lambda: self.evaluate(body), call, earlier[0][2])
            else:
                value = self.evaluate(body) if body is not None else UNKNOWN
            if body is not None and body.type != "statement_block":
                return value
            result: Value | None = None
            for one in self.returned[-1]:
                result = one if result is None else either(result, one)
            return result if result is not None else UNKNOWN
        finally:
            self.returned.pop()
            self.stack.pop()
            self.scope = outer

    def repeat(self, read: Callable[[], Value], node: Node, since: int | None = None) -> Value:
        """Read what may run any number of times, until nothing changes by reading it once more.

        Where that takes long, all that was assigned `since` then may hold anything the last time.
        """
        start = len(self.written) if since is None else since
        self.conditional += 1
        try:
            for _ in range(2):
                changes = self.changes
                value = read()
                if self.changes == changes:
                    return value
            if self.steps > 2 * self.budget:
                self.add("too-complex", node, "is read more often than is followed")
                return value
            for widen_location in self.written[start:]:
                widen_location()
            return read()
        finally:
            self.conditional -= 1

    def _bind_parameters(self, node: Node, arguments: Sequence[Value]) -> None:
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        targets = (
            [single] if single is not None else parameters.named_children if parameters is not None else []
        )
        for index, target in enumerate(targets):
            if target.type == "rest_pattern" and target.named_children:
                self.bind(target.named_children[0], Array(list(arguments[index:])), declare=True)
            else:
                self.bind(target, arguments[index] if index < len(arguments) else MISSING, declare=True)

    def bind(self, target: Node, value: Value, *, declare: bool) -> None:
        """Give the names of a pattern their values."""
        kind = target.type
        if kind in {"identifier", "shorthand_property_identifier_pattern"}:
            self._set(self.text(target), UNKNOWN if value is MISSING else value, declare)
        elif kind in {"required_parameter", "optional_parameter"}:
            inner = target.child_by_field_name("pattern")
            if inner is not None:
                self.bind(inner, value, declare=declare)
            # `constructor(private path: string)` declares a field of the class.
            if inner is not None and any(child.type == "accessibility_modifier" for child in target.children):
                this = self.lookup("this")
                if isinstance(this, Object):
                    self.store_entry(this, self.text(inner), value)
        elif kind in {"assignment_pattern", "object_assignment_pattern"}:
            left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
            if left is not None and right is not None:
                default = self.evaluate(right)
                given = any_of([default, value]) if UNKNOWN in options_of(value) else value
                self.bind(left, default if value is MISSING else given, declare=declare)
        elif kind == "object_pattern":
            self._bind_object(target, value, declare)
        elif kind == "array_pattern":
            self._bind_array(target, value, declare)
        elif kind in {"member_expression", "subscript_expression"}:
            self._store(target, value)

    def _bind_array(self, target: Node, value: Value, declare: bool) -> None:
        index = 0
        for child in target.children:
            index += child.type == ","  # `[, b]` leaves one out
            if child.type == "rest_pattern" and child.named_children:
                held = [one for option in options_of(value) for one in spread(option)[0]]
                self.bind(child.named_children[0], of_any_length(held), declare=declare)
            elif child.is_named and child.type != "comment":
                found = [
                    self.member(option, str(index), child) if isinstance(option, Array) else UNKNOWN
                    for option in options_of(value)
                ]
                self.bind(child, any_of(found), declare=declare)

    def _bind_object(self, target: Node, value: Value, declare: bool) -> None:
        for child in target.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                self._set(self.text(child), self.member(value, self.text(child), child), declare)
            elif child.type == "pair_pattern":
                key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and inner is not None:
                    name = self.text(key).strip("'\"")
                    self.bind(inner, self._entry(value, name, child), declare=declare)
            elif child.type == "object_assignment_pattern":
                left = child.child_by_field_name("left")
                if left is not None:
                    self.bind(child, self._entry(value, self.text(left), child), declare=declare)
            elif child.type == "rest_pattern" and child.named_children:
                self.bind(child.named_children[0], value, declare=declare)

    def _set(self, name: str, value: Value, declare: bool) -> None:
        scope = self.scope if declare else (self.scope.owner_of(name) or self.scope)
        if declare:
            scope.names[name] = value
        else:
            self.assign(scope.names, name, value)

    def assign(self, table: dict[str, Value], key: str, value: Value) -> None:
        """Put a value into a table. In what may not run, the value before stays possible."""
        if self.conditional or self.stack:
            self.written.append(lambda: table.update({key: either(table[key], UNKNOWN)}))
        before = table.get(key)
        if before is not None and self.conditional:
            if covers_all(before, value):
                return
            value = either(before, value)
        table[key] = value
        self.changes += 1

    def _entry(self, value: Value, name: str, node: Node) -> Value:
        """What a pattern finds under a name; missing where it is known to be."""
        known = isinstance(value, Object) and value.rest is None and not value.is_map
        if value is MISSING or (known and isinstance(value, Object) and name not in value.entries):
            return MISSING
        return self.member(value, name, node)

    def add_items(self, owner: Array, values: Sequence[Value]) -> None:
        """Add values to an array; in what may run more than once, they may be at any of its places."""
        if self.conditional or self.stack:
            self.written.append(lambda: _widen_items(owner))
        if not self.conditional:
            owner.items.extend(values)
            self.changes += 1
            return
        held = any_of(owner.items) if owner.items else None
        added = [one for one in values if held is None or not covers_all(held, one)]
        if added or not owner.more:
            owner.items[:] = [any_of([*owner.items, *added])]
            owner.more = True
            self.changes += 1

    def _store(self, target: Node, value: Value) -> None:
        owner_node = target.child_by_field_name("object")
        owner = self.evaluate(owner_node) if owner_node is not None else UNKNOWN
        key = self._key(target)
        for option in options_of(owner):
            if isinstance(option, Object):
                self.store_entry(option, key, value)
            elif isinstance(option, Array):
                self._store_item(option, key, value)
            elif (
                isinstance(option, Ref)
                and option.name == "process.env"
                and (key or "").startswith(("LD_", "NODE_OPTIONS"))
            ):
                self.add("environment.write", target, f"sets {key}, which changes how programs load")
            elif isinstance(option, Ref) and key is not None:
                self.judge_attribute(option, key, value, target)

    def judge_attribute(self, owner: Ref, key: str, value: Value, node: Node) -> None:
        """Review where an attribute sends a library."""
        if key in TARGETS and owner.name.partition(".")[0] not in INERT:
            for option in options_of(value):
                place = find_place(self.context.boundary, pieces_of(option))
                if place is not None or option == PLACE:
                    where = (
                        place.message if place is not None else "to one of many, of which some are outside"
                    )
                    self.add("call.unknown", node, f"{owner.name}.{key} is set: {where}")

    def store_entry(self, owner: Object, key: str | None, value: Value) -> None:
        """Put a value into an object, under a key that may not be known."""
        if key is not None:
            self.conditional += owner.is_many
            self.assign(owner.entries, key, value)
            if key in {"host", "hostname", "port", "protocol"} and "href" in owner.entries:
                self.assign(owner.entries, "href", UNKNOWN)  # the whole of a URL changes with its part
            self.conditional -= owner.is_many
        elif owner.rest is None or not covers_all(owner.rest, value):
            owner.rest = value if owner.rest is None else either(owner.rest, value)
            self.changes += 1

    def _store_item(self, owner: Array, key: str | None, value: Value) -> None:
        index = int(key) if key is not None and key.isdigit() else -1
        if 0 <= index < len(owner.items) and not self.conditional and not owner.more:
            owner.items[index] = value
            self.changes += 1
            return
        self.conditional += 1
        self.add_items(owner, [value])
        self.conditional -= 1

    def _key(self, node: Node) -> str | None:
        member = node.child_by_field_name("property")
        if member is not None:
            return self.text(member)
        index = node.child_by_field_name("index")
        return text_of(self.evaluate(index)) if index is not None else None

    def member(self, owner: Value, name: str, node: Node) -> Value:
        """What `owner.name` gives."""
        if isinstance(owner, OneOf):
            found = [self.member(option, name, node) for option in owner.options]
            result = found[0]
            for one in found[1:]:
                result = either(result, one)
            return result
        if isinstance(owner, Klass):
            return self.member(owner.statics if name in owner.statics.entries else owner.instance, name, node)
        if isinstance(owner, Object) and owner.is_map:
            return Method(owner, name)
        if isinstance(owner, Object) and name in {"toString", "toJSON"} and "href" in owner.entries:
            return Made(written(owner))
        if isinstance(owner, Object):
            entry = owner.entries.get(name, UNKNOWN)
            if isinstance(entry, Function) and any(child.type == "get" for child in entry.node.children):
                entry = self.call_function(entry, [], node)
            return entry if owner.rest is None else either(entry, owner.rest)
        if isinstance(owner, Ref):
            return self._member_of_reference(owner, name, node)
        if name == "constructor":
            return Ref("Function") if isinstance(owner, Function | Made | Method) else Ref("Object")
        if isinstance(owner, Array) and name.isdigit():
            if owner.more:
                return any_of(owner.items)
            return owner.items[int(name)] if int(name) < len(owner.items) else UNKNOWN
        known = text_of(owner)
        if known is not None and name.isdigit() and int(name) < len(known):
            return Text((known[int(name)],))
        if isinstance(owner, Unknown) and owner.origin:
            return owner
        return Method(owner, name)

    def _member_of_reference(self, owner: Ref, name: str, node: Node) -> Value:
        if owner.name in GLOBALS:
            return self.free(name)
        if owner.name == "process.env":
            crossing = self.context.boundary.environment(name)
            self.context.crossed("javascript", crossing, self.place(node), "process.env:")
            return Unknown("environment")
        if name == "constructor" and owner.name in {"module", "process"}:
            return Ref("module")
        if name == "constructor" and owner.name not in {"Object", "Function"}:
            last = owner.name.rpartition(".")[2]
            if last == "prototype":
                return Ref(owner.name.removesuffix(".prototype"))
            is_function = "(" not in last and (last[:1].isupper() or "." in owner.name or last in SINKS)
            return Ref("Function" if is_function else "Object")
        if name == "constructor":
            self.add("escape.dunder", node, "walks through constructors to the function that makes code")
            return Ref("Function")
        if name == "default" or (owner.name == "fs" and name == "promises"):
            return owner
        if name == "mainModule" and owner.name == "process":
            return Ref("module")
        resolved = f"{owner.name}.{name}"
        if resolved in {"module.require", "module.prototype.require", "require.main"}:
            return Ref("require" if name == "require" else "module")
        if resolved in {"import.meta.dirname", "import.meta.filename"}:
            return self.free(f"__{name}")
        if len(resolved) > 120:
            return UNKNOWN
        top = owner.name.partition(".")[0]
        if top in {"fs", "child_process", "Deno", "fs-extra"} and name.endswith("Sync"):
            resolved = resolved.removesuffix("Sync")
        return Ref(resolved)

    def lookup(self, name: str) -> Value | None:
        """What the script binds a name to, where it does."""
        scope = self.scope.owner_of(name)
        return scope.names[name] if scope is not None else None

    def free(self, name: str) -> Value:
        """What a name means that the script does not bind."""
        if name in {"undefined", "NaN"}:
            return UNKNOWN
        if name == "__dirname":
            return Text((".",))
        if name == "__filename":
            return Text(("snippet.js",))
        return Ref(name)

    def _parse(self, source: str, language: str) -> tree_sitter.Tree | None:
        self.data = source.replace("\0", " ").encode("utf-8", "replace")
        self._lines = self.data.split(b"\n")
        self.budget = _FREE_STEPS + len(self.data) // 2
        return grammar.parse(language, self.data)


def _widen_items(owner: Array) -> None:
    owner.items[:] = [either(any_of(owner.items), UNKNOWN)]
    owner.more = True
