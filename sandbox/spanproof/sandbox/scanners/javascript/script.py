"""Follows a script: names, constants and calls, in one pass over the tree.

In: the text of a script. Out: findings, by `effects`. Functions of the script are read with each call's
arguments while the budget lasts, and once with unknown ones if nothing calls them. What reaches outside, by
resolved name, is in `data/javascript.txt`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Final

from tree_sitter import Node

from spanproof.sandbox.catalogue import build_word_index, split_entry
from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import MAX_NESTING, Context
from spanproof.sandbox.scanners.javascript.values import (
    MISSING,
    Class,
    Made,
    Method,
    Object,
    build_unordered_array,
    get_origin,
    is_folded,
    is_unknown,
    list_spread,
    to_file_path,
    to_url_text,
)
from spanproof.sandbox.scanners.pieces import find_place
from spanproof.sandbox.scanners.reader.effects import read_effects, read_variable
from spanproof.sandbox.scanners.reader.state import Frame, Reader
from spanproof.sandbox.scanners.reader.values import (
    UNKNOWN,
    Const,
    Function,
    Items,
    OneOf,
    Ref,
    Scope,
    Text,
    Unknown,
    Value,
    build_union_of,
    find_constant_text,
    iter_parts,
    list_options,
    to_pieces,
)
from spanproof.sandbox.scanners.source import START, Place
from spanproof.sandbox.words import split_words

_KNOWLEDGE: Final = read_sections("javascript")

SINKS: Final = read_effects(_KNOWLEDGE["calls"])
"""Effects by resolved name."""

SENSITIVE: Final = split_words(
    "fs child_process require process net http https vm Deno Bun module worker_threads dgram tls"
)
INERT: Final = split_entry(_KNOWLEDGE["inert"], "names")
INERT_METHODS: Final = split_entry(_KNOWLEDGE["inert"], "methods")
SENDING: Final = split_entry(_KNOWLEDGE["inert"], "sending")
ROUTED: Final = split_entry(_KNOWLEDGE["inert"], "routed")
TARGETS: Final = split_entry(_KNOWLEDGE["inert"], "targets")

DENIED_MODULES: Final = split_entry(_KNOWLEDGE["modules"], "denied")

_OWN_PROCESSES: Final = split_entry(_KNOWLEDGE["modules"], "processes")

DATABASES: Final = build_word_index(_KNOWLEDGE["databases"])
"""Modules of databases, and methods that send statements, to `files`, `servers` or `methods`."""

GLOBALS: Final = frozenset({"globalThis", "global", "window", "self"})
"""Names of the object that holds every other name."""


# Methods that each object has.
_OBJECT_METHODS: Final = split_words(
    "hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf"
)

OWN_FILE: Final = Const("snippet.js")
"""The path of the script."""

WORKER_DATA: Final = ("worker_threads", "workerData")
"""What a program that runs beside this one gets."""

# Ways to the function that loads modules, and to the object that has it.
_MODULES_BY_NAME: Final = {
    "module.require": "require",
    "module.prototype.require": "require",
    "require.main": "module",
    "process.mainModule": "module",
}
# Characters of a resolved name; a longer chain of calls is none that is known.
_LONGEST_NAME: Final = 120
# Values in a container that are looked at.
_MOST_HELD: Final = 64

_FREE_STEPS = 20_000

NodeHandler = Callable[["Script", Node], Value]
"""Evaluates one kind of node."""


class Script(Reader):
    """Reads one script."""

    language = "javascript"
    unknown_call = "{}, which is not in the catalogue: {}"
    downloaded = "a command that is not known"
    called_too_often = "calls a function more often, or deeper, than is followed"
    own_processes = _OWN_PROCESSES
    defaults: ClassVar = {"listen": Const(""), "listenlocal": Const("")}
    targets = TARGETS
    sinks = SINKS
    sensitive = SENSITIVE
    max_call_depth = 8

    def __init__(self, context: Context, handlers: Mapping[str, NodeHandler]) -> None:
        super().__init__(context)
        self.makes_server = False
        self._handlers = handlers
        self.data = b""
        self._text = ""
        self._lines: list[bytes] = []

    def check_script(self, source: str, language: str = "javascript") -> None:
        """Read a whole script."""
        self.data = source.replace("\0", " ").encode("utf-8", "replace")
        self._text = self.data.decode("utf-8", "replace")
        self._lines = self.data.split(b"\n")
        self.call_limit = 2 * _FREE_STEPS + len(self.data)
        tree = grammar.find_tree(language, self.data)
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
                self.evaluate_function(function, [], function.node)

    @property
    def program_text(self) -> str:
        """The source that is read."""
        return self._text

    @property
    def exhausted(self) -> bool:
        """Whether callbacks are no longer read item by item."""
        return self.steps > self.call_limit // 2

    def evaluate(self, node: Node) -> Value:
        """Return the value of an expression, or apply the effects of a statement."""
        self.record_step()
        handler = self._handlers.get(node.type)
        if handler is not None:
            return handler(self, node)
        for child in node.named_children:
            self.evaluate(child)
        return UNKNOWN

    def get_place(self, node: Node) -> Place:
        """Return the place of a node, in characters."""
        return grammar.get_place(node, self._lines)

    def check_path(self, action: Action, value: Value, who: str, node: Any) -> None:
        """Hold a path, or the `URL` of a file, against the boundary."""
        paths = build_union_of(to_file_path(option) for option in list_options(value))
        super().check_path(action, paths, who, node)

    def is_no_path(self, value: Value) -> bool:
        """Whether a value opens nothing where a path is expected: a callback."""
        return isinstance(value, Function)

    def check_environment(self, value: Value, node: Node) -> None:
        """Judge a value that may be the environment as a whole, where all of it is read."""
        if isinstance(value, Ref) and value.name == "process.env":
            self.evaluate_member(value, "", node)

    def check_held_environment(self, value: Value, node: Node) -> None:
        """Judge a value that a function outside gets: it reads what is held at any depth, too."""
        for part in islice(iter_parts(value), _MOST_HELD):
            self.check_environment(part, node)

    def _write_variable(self, name: str | None, value: Value, node: Node) -> None:
        """Judge a variable of the environment that the script sets itself."""
        self.check_variables([(name, value)], "process.env", node)
        if name is not None and not self.uncertain and not self.frames:
            self.context.variables.add(name)
        if name is not None:
            self.write_value(self.context.values, name, value)

    def get_text(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def run_source(self, value: Value, name: str, node: Node) -> Value:
        """Scan code made from text."""
        source = find_constant_text(value)
        if source is None:
            rule = "exec.download" if "network" in value.taint else "exec.dynamic"
            self.add(rule, node, f"{name} runs code that is not known")
            return UNKNOWN
        if self.context.depth >= MAX_NESTING:
            self.add("exec.payload", node, f"{name} hides code in too many layers")
            return UNKNOWN
        inner = Script(self.context.build_nested(self.get_place(node), f"{name} runs code: "), self._handlers)
        inner.scope = Scope(self.scope)
        # A function that is made from text is called without an object: its `this` is the global one.
        inner.scope.names["this"] = Ref("globalThis")
        whole = Frame("source", 0, 0)
        inner.frames.append(whole)
        inner.check_script(source)
        # Other values hang on the tree of the text they came from.
        result = build_union_of(
            one for one in whole.returned if isinstance(one, Ref | Const | Text | Unknown)
        )
        return Made(result) if name.endswith("Function") else result

    def evaluate_function(self, function: Function, arguments: Sequence[Value], node: Node) -> Value:
        """Read a function of the script with these arguments."""
        body = function.node.child_by_field_name("body")
        values: list[Value] = []

        def read() -> None:
            if body is not None:
                values.append(self.evaluate(body))

        frame = self.evaluate_body(
            function.node.id,
            function.scope,
            lambda: self._write_parameters(function.node, arguments),
            read,
            node,
        )
        if frame is None:
            return UNKNOWN
        is_block = body is None or body.type == "statement_block"
        return build_union_of(frame.returned if is_block else values[-1:])

    def _write_parameters(self, node: Node, arguments: Sequence[Value]) -> None:
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        targets: Sequence[Node] = ()
        if single is not None:
            targets = [single]
        elif parameters is not None:
            targets = parameters.named_children
        for index, target in enumerate(targets):
            if target.type == "rest_pattern" and target.named_children:
                self.write_pattern(target.named_children[0], Items(list(arguments[index:])), declare=True)
            else:
                self.write_pattern(
                    target, arguments[index] if index < len(arguments) else MISSING, declare=True
                )

    def write_pattern(self, target: Node, value: Value, *, declare: bool) -> None:
        """Give the names of a pattern their values."""
        match target.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self._write_name(self.get_text(target), UNKNOWN if value is MISSING else value, declare)
            case "required_parameter" | "optional_parameter":
                inner = target.child_by_field_name("pattern")
                if inner is not None:
                    self.write_pattern(inner, value, declare=declare)
                    self._add_parameter_field(target, inner, value)
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
                if left is not None and right is not None:
                    default = self.evaluate(right)
                    if value is MISSING:
                        value = default
                    elif any(map(is_unknown, list_options(value))):
                        value = build_union_of([default, value])
                    self.write_pattern(left, value, declare=declare)
            case "object_pattern":
                self._write_object_pattern(target, value, declare)
            case "array_pattern":
                self._write_array_pattern(target, value, declare)
            case "member_expression" | "subscript_expression":
                self._write_member(target, value)

    def _add_parameter_field(self, parameter: Node, name: Node, value: Value) -> None:
        """Set the field that a parameter declares: `constructor(private path: string)`."""
        this = self.find_name("this")
        is_field = any(child.type == "accessibility_modifier" for child in parameter.children)
        if is_field and isinstance(this, Object):
            self.write_entry(this, self.get_text(name), value)

    def _write_array_pattern(self, target: Node, value: Value, declare: bool) -> None:
        index = 0
        for child in target.children:
            index += child.type == ","  # `[, b]` leaves one out
            if child.type == "rest_pattern" and child.named_children:
                held = [one for option in list_options(value) for one in list_spread(option)[0]]
                self.write_pattern(child.named_children[0], build_unordered_array(held), declare=declare)
            elif child.is_named and child.type != "comment":
                found = [
                    self.evaluate_member(option, str(index), child) if isinstance(option, Items) else UNKNOWN
                    for option in list_options(value)
                ]
                self.write_pattern(child, build_union_of(found), declare=declare)

    def _write_object_pattern(self, target: Node, value: Value, declare: bool) -> None:
        for child in target.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                self._write_name(
                    self.get_text(child), self.evaluate_member(value, self.get_text(child), child), declare
                )
            elif child.type == "pair_pattern":
                key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and inner is not None:
                    name = self._find_pattern_key(key)
                    entry = UNKNOWN if name is None else self._read_entry(value, name, child)
                    self.write_pattern(inner, entry, declare=declare)
            elif child.type == "object_assignment_pattern":
                left = child.child_by_field_name("left")
                if left is not None:
                    self.write_pattern(
                        child, self._read_entry(value, self.get_text(left), child), declare=declare
                    )
            elif child.type == "rest_pattern" and child.named_children:
                self.check_environment(value, child)
                self.write_pattern(child.named_children[0], value, declare=declare)

    def _find_pattern_key(self, key: Node) -> str | None:
        """Return the name of an entry, `[computed]` ones too; None where it is not known."""
        if key.type != "computed_property_name":
            return self.get_text(key).strip("'\"")
        if key.named_children:
            return find_constant_text(self.evaluate(key.named_children[0]))
        return None

    def _write_name(self, name: str, value: Value, declare: bool) -> None:
        if declare:
            self.scope.names[name] = value
        else:
            self.write_value((self.scope.find_owner(name) or self.scope).names, name, value)

    def _read_entry(self, value: Value, name: str, node: Node) -> Value:
        """Return what a pattern finds under a name; missing where it is known to be."""
        is_whole = isinstance(value, Object) and not (value.rest or value.spread or value.is_map)
        if value is MISSING or (is_whole and isinstance(value, Object) and name not in value.entries):
            return MISSING
        return self.evaluate_member(value, name, node)

    def _write_member(self, target: Node, value: Value) -> None:
        owner_node = target.child_by_field_name("object")
        owner = self.evaluate(owner_node) if owner_node is not None else UNKNOWN
        key = self._find_key(target)
        for option in list_options(owner):
            if isinstance(option, Object):
                self.write_entry(option, key, value)
            elif isinstance(option, Items):
                self._write_item(option, key, value)
                if key is None and self._names_symbol(target):
                    self.add("exec.dynamic", target, "sets what a loop over an array gives")
            elif isinstance(option, Ref) and option.name == "process.env":
                self._write_variable(key, value, target)
            elif isinstance(option, Method) and option.name == "__proto__":
                self.check_replacement(Ref("__proto__"), key, target)
            elif isinstance(option, Ref):
                self.check_replacement(option, key, target)
                if key is not None:
                    self.check_attribute(option, key, value, target)

    def check_replacement(self, owner: Ref, key: str | None, node: Node) -> None:
        """Report that a function is replaced which is read here as the one of the language."""
        name = "" if owner.name in GLOBALS else owner.name
        if is_folded(name, key):
            shown = ".".join(part for part in (name, key) if part) or "a global name"
            self.add("exec.dynamic", node, f"replaces {shown}, whose results are then not known")

    def _names_symbol(self, target: Node) -> bool:
        """Whether an entry is set under a symbol, as `a[Symbol.iterator] = …` does."""
        index = target.child_by_field_name("index")
        key = self.evaluate(index) if index is not None else UNKNOWN
        return isinstance(key, Ref) and key.name.startswith("Symbol")

    def check_attribute(self, owner: Ref, key: str, value: Value, node: Node) -> None:
        """Report where an attribute sends a library, for review."""
        if key in TARGETS and owner.name.partition(".")[0] not in INERT:
            for option in list_options(value):
                crossing = find_place(self.context.boundary, to_pieces(option))
                if crossing is not None:
                    where = crossing.message
                else:
                    where = "to one of many, of which some are outside"
                if crossing is not None or "place" in option.taint:
                    self.add("call.unknown", node, f"{owner.name}.{key} is set: {where}")

    def write_entry(self, owner: Object, key: str | None, value: Value) -> None:
        """Put a value into an object, under a key that may not be known."""
        if key is None:
            self.write_to_unknown_key(owner, value)
            return
        self.uncertain += owner.is_many
        self.write_value(owner.entries, key, value)
        if key in {"host", "hostname", "port", "protocol"} and "href" in owner.entries:
            self.write_value(owner.entries, "href", UNKNOWN)  # the whole of a URL changes with its part
        self.uncertain -= owner.is_many

    def _write_item(self, owner: Items, key: str | None, value: Value) -> None:
        index = int(key) if key is not None and key.isdigit() else -1
        if 0 <= index < len(owner.items) and not self.uncertain and not owner.more:
            owner.items[index] = value
            return
        self.uncertain += 1
        self.add_items(owner, [value])
        self.uncertain -= 1

    def _find_key(self, node: Node) -> str | None:
        member = node.child_by_field_name("property")
        if member is not None:
            return self.get_text(member)
        index = node.child_by_field_name("index")
        if index is not None:
            return find_constant_text(self.evaluate(index))
        return None

    def evaluate_member(self, owner: Value, name: str, node: Node) -> Value:
        """Return what `owner.name` gives."""
        match owner:
            case OneOf():
                return build_union_of(self.evaluate_member(option, name, node) for option in owner.options)
            case Class():
                holder = owner.statics if name in owner.statics.entries else owner.instance
                return self.evaluate_member(holder, name, node)
            case Object():
                return self._read_object_member(owner, name, node)
            case Ref():
                return self._read_reference_member(owner, name, node)
        if name == "constructor":
            if isinstance(owner, Function | Made | Method):
                return Ref("Function")
            return Ref("Object")
        item = _find_item(owner, int(name)) if name.isdigit() else None
        if item is not None:
            return item
        return owner if get_origin(owner) else Method(owner, name)

    def _read_object_member(self, owner: Object, name: str, node: Node) -> Value:
        if owner.is_map:
            return Method(owner, name)
        if name in {"__defineGetter__", "__proto__"}:
            self.write_entry(owner, None, UNKNOWN)  # it may change any entry
        if name in {"toString", "toJSON"} and "href" in owner.entries:
            return Made(to_url_text(owner))
        if name not in owner.entries and not owner.spread:
            if name == "constructor":
                return Ref("Object")
            if name in _OBJECT_METHODS and not owner.rest:
                return Method(owner, name)
        entry = owner.entries.get(name)
        if entry is None:
            entry = build_union_of(
                [self.evaluate_member(module, name, node) for module in owner.spread] or [UNKNOWN]
            )
        if isinstance(entry, Function) and _is_getter(entry):
            entry = self.evaluate_function(entry, [], node)
        return build_union_of([entry, *owner.rest])

    def _read_reference_member(self, owner: Ref, name: str, node: Node) -> Value:
        if owner.name in GLOBALS and name != "constructor":
            return self.get_free_name(name)
        if owner.name == "process.env":
            return read_variable(self, name, "process.env", node)
        if (owner.name, name) == WORKER_DATA and WORKER_DATA in self.context.values:
            return self.context.values[WORKER_DATA]
        if name == "constructor":
            return self._read_constructor(owner, node)
        if name == "default" or (owner.name in {"fs", "dns"} and name == "promises"):
            return owner
        resolved = f"{owner.name}.{name}"
        if resolved in _MODULES_BY_NAME:
            return Ref(_MODULES_BY_NAME[resolved])
        if resolved in {"import.meta.dirname", "import.meta.filename"}:
            return self.get_free_name(f"__{name}")
        if len(resolved) > _LONGEST_NAME:
            return UNKNOWN
        top = owner.name.partition(".")[0]
        if top in {"fs", "child_process", "Deno", "fs-extra"} and name.endswith("Sync"):
            resolved = resolved.removesuffix("Sync")
        return Ref(resolved)

    def _read_constructor(self, owner: Ref, node: Node) -> Value:
        """Return what made an object: a walk to the function that makes code begins like this."""
        if owner.name in {"module", "process"}:
            return Ref("module")
        if owner.name in {"Object", "Function"}:
            self.add("escape.dunder", node, "walks through constructors to the function that makes code")
            return Ref("Function")
        last = owner.name.rpartition(".")[2]
        if last == "prototype":
            return Ref(owner.name.removesuffix(".prototype"))
        is_named_like_function = last[:1].isupper() or "." in owner.name or last in SINKS
        return Ref("Function" if "(" not in last and is_named_like_function else "Object")

    def find_name(self, name: str) -> Value | None:
        """Return what the script binds a name to, where it does."""
        scope = self.scope.find_owner(name)
        return scope.names[name] if scope is not None else None

    def get_free_name(self, name: str) -> Value:
        """Return what a name means that the script does not bind."""
        if name in {"undefined", "NaN"}:
            return UNKNOWN
        if name == "__dirname":
            return Const(".")
        if name == "__filename":
            return OWN_FILE
        return Ref(name)


def _is_getter(function: Function) -> bool:
    return any(child.type == "get" for child in function.node.children)


def _find_item(owner: Value, index: int) -> Value | None:
    """Return an item of a list or a character of a text; None where it is neither, or has none there."""
    if isinstance(owner, Items):
        if owner.more:
            return build_union_of(owner.items)
        return owner.items[index] if index < len(owner.items) else UNKNOWN
    text = find_constant_text(owner)
    if text is not None and index < len(text):
        return Const(text[index])
    return None
