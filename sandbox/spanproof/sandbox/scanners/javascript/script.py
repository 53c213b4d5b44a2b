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
from spanproof.sandbox.scanners.context import ARGUMENTS, MAX_NESTING, Context
from spanproof.sandbox.scanners.javascript.values import (
    MISSING,
    Class,
    Made,
    Method,
    Object,
    find_value_origin,
    is_folded,
    is_unknown,
    make_array_of_any_length,
    spread,
    unwrap_file_url,
    unwrap_url,
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
    join_all,
    list_options,
    read_constant_text,
    to_pieces,
    walk_parts,
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

WORKER_DATA: Final = "worker_threads.workerData"
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
# Functions for other code that are read once more at the end, when names may hold other values.
_MOST_CALLED_LATER: Final = 64
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
        # Functions that other code may call later, with the number of changes before them.
        self.called_later: list[tuple[Function, int]] = []
        self._handlers = handlers
        self.data = b""
        self._text = ""
        self._lines: list[bytes] = []

    def read(self, source: str, language: str = "javascript") -> None:
        """Read a whole script."""
        self.data = source.replace("\0", " ").encode("utf-8", "replace")
        self._text = self.data.decode("utf-8", "replace")
        self._lines = self.data.split(b"\n")
        self.call_limit = 2 * _FREE_STEPS + len(self.data)
        tree = grammar.parse(language, self.data)
        if tree is None:
            self.context.add("javascript.too-complex", START, "takes longer to parse than its time")
            return
        if tree.root_node.has_error:
            self.context.add("javascript.syntax", START, "does not parse as " + language)
        self.evaluate(tree.root_node)
        for function, changes in self.called_later[:_MOST_CALLED_LATER]:
            if changes != self.changes and not self.exhausted:
                self.call_function(function, [], function.node)
        index = 0
        while index < len(self.functions):
            function = self.functions[index]
            index += 1
            if function.node.id not in self.called:
                self.call_function(function, [], function.node)

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
        self.count_step()
        handler = self._handlers.get(node.type)
        if handler is not None:
            return handler(self, node)
        for child in node.named_children:
            self.evaluate(child)
        return UNKNOWN

    def place(self, node: Node) -> Place:
        """Return the place of a node, in characters."""
        return grammar.place_of(node, self._lines)

    def judge_path(self, action: Action, value: Value, who: str, node: Any) -> None:
        """Hold a path, or the `URL` of a file, against the boundary."""
        paths = join_all(unwrap_file_url(option) for option in list_options(value))
        super().judge_path(action, paths, who, node)

    def is_no_path(self, value: Value) -> bool:
        """Whether a value opens nothing where a path is expected: a callback."""
        return isinstance(value, Function)

    def read_environment(self, value: Value, node: Node) -> None:
        """Judge a value that may be the environment as a whole, where all of it is read."""
        if isinstance(value, Ref) and value.name == "process.env":
            self.member(value, "", node)

    def read_held_environment(self, value: Value, node: Node) -> None:
        """Judge a value that a function outside gets: it reads what is held at any depth, too."""
        for part in islice(walk_parts(value), _MOST_HELD):
            self.read_environment(part, node)

    def _set_variable(self, name: str | None, value: Value, node: Node) -> None:
        """Judge a variable of the environment that the script sets itself."""
        self.judge_variables([(name, value)], "process.env", node)
        if name is not None and not self.uncertain and not self.frames:
            self.context.variables.add(name)
        if name is not None:
            self.store(self.context.values, name, value)

    def text(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def run_source(self, value: Value, name: str, node: Node) -> Value:
        """Scan code made from text."""
        source = read_constant_text(value)
        if source is None:
            rule = "exec.download" if "network" in value.taint else "exec.dynamic"
            self.add(rule, node, f"{name} runs code that is not known")
            return UNKNOWN
        if self.context.depth >= MAX_NESTING:
            self.add("exec.payload", node, f"{name} hides code in too many layers")
            return UNKNOWN
        inner = Script(self.context.nested(self.place(node), f"{name} runs code: "), self._handlers)
        inner.scope = Scope(self.scope)
        # A function that is made from text is called without an object: its `this` is the global one.
        inner.scope.names["this"] = Ref("globalThis")
        whole = Frame("source", 0, 0)
        inner.frames.append(whole)
        inner.read(source)
        # Other values hang on the tree of the text they came from.
        result = join_all(one for one in whole.returned if isinstance(one, Ref | Const | Text | Unknown))
        return Made(result) if name.endswith("Function") else result

    def call_function(self, function: Function, arguments: Sequence[Value], node: Node) -> Value:
        """Read a function of the script with these arguments."""
        body = function.node.child_by_field_name("body")
        values: list[Value] = []

        def read() -> None:
            if body is not None:
                values.append(self.evaluate(body))

        frame = self.read_call(
            function.node.id,
            function.scope,
            lambda: self._bind_parameters(function.node, arguments),
            read,
            node,
        )
        if frame is None:
            return UNKNOWN
        if frame.yielded:
            return Items(frame.yielded, more=True)
        is_block = body is None or body.type == "statement_block"
        return join_all(frame.returned if is_block else values[-1:])

    def _bind_parameters(self, node: Node, arguments: Sequence[Value]) -> None:
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        targets: Sequence[Node] = ()
        if single is not None:
            targets = [single]
        elif parameters is not None:
            targets = parameters.named_children
        for index, target in enumerate(targets):
            if target.type == "rest_pattern" and target.named_children:
                self.bind(target.named_children[0], Items(list(arguments[index:])), declare=True)
            else:
                self.bind(target, arguments[index] if index < len(arguments) else MISSING, declare=True)

    def bind(self, target: Node, value: Value, *, declare: bool) -> None:
        """Give the names of a pattern their values."""
        match target.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self._set(self.text(target), UNKNOWN if value is MISSING else value, declare)
            case "required_parameter" | "optional_parameter":
                inner = target.child_by_field_name("pattern")
                if inner is not None:
                    self.bind(inner, value, declare=declare)
                    self._add_parameter_field(target, inner, value)
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
                if left is not None and right is not None:
                    default = self.evaluate(right)
                    if value is MISSING:
                        value = default
                    elif any(map(is_unknown, list_options(value))):
                        value = join_all([default, value])
                    self.bind(left, value, declare=declare)
            case "object_pattern":
                self._bind_object(target, value, declare)
            case "array_pattern":
                self._bind_array(target, value, declare)
            case "member_expression" | "subscript_expression":
                self._store(target, value)

    def _add_parameter_field(self, parameter: Node, name: Node, value: Value) -> None:
        """Set the field that a parameter declares: `constructor(private path: string)`."""
        this = self.lookup("this")
        is_field = any(child.type == "accessibility_modifier" for child in parameter.children)
        if is_field and isinstance(this, Object):
            self.store_entry(this, self.text(name), value)

    def _bind_array(self, target: Node, value: Value, declare: bool) -> None:
        index = 0
        for child in target.children:
            index += child.type == ","  # `[, b]` leaves one out
            if child.type == "rest_pattern" and child.named_children:
                held = [one for option in list_options(value) for one in spread(option)[0]]
                self.bind(child.named_children[0], make_array_of_any_length(held), declare=declare)
            elif child.is_named and child.type != "comment":
                found = [
                    self.member(option, str(index), child) if isinstance(option, Items) else UNKNOWN
                    for option in list_options(value)
                ]
                self.bind(child, join_all(found), declare=declare)

    def _bind_object(self, target: Node, value: Value, declare: bool) -> None:
        for child in target.named_children:
            if child.type == "shorthand_property_identifier_pattern":
                self._set(self.text(child), self.member(value, self.text(child), child), declare)
            elif child.type == "pair_pattern":
                key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and inner is not None:
                    name = self._read_pattern_key(key)
                    entry = UNKNOWN if name is None else self._read_entry(value, name, child)
                    self.bind(inner, entry, declare=declare)
            elif child.type == "object_assignment_pattern":
                left = child.child_by_field_name("left")
                if left is not None:
                    self.bind(child, self._read_entry(value, self.text(left), child), declare=declare)
            elif child.type == "rest_pattern" and child.named_children:
                self.read_environment(value, child)
                self.bind(child.named_children[0], value, declare=declare)

    def _read_pattern_key(self, key: Node) -> str | None:
        """Return the name of an entry, `[computed]` ones too; None where it is not known."""
        if key.type != "computed_property_name":
            return self.text(key).strip("'\"")
        if key.named_children:
            return read_constant_text(self.evaluate(key.named_children[0]))
        return None

    def _set(self, name: str, value: Value, declare: bool) -> None:
        if declare:
            self.scope.names[name] = value
        else:
            self.store((self.scope.owner_of(name) or self.scope).names, name, value)

    def _read_entry(self, value: Value, name: str, node: Node) -> Value:
        """Return what a pattern finds under a name; missing where it is known to be."""
        is_whole = isinstance(value, Object) and not (value.rest or value.spread or value.is_map)
        if value is MISSING or (is_whole and isinstance(value, Object) and name not in value.entries):
            return MISSING
        return self.member(value, name, node)

    def _store(self, target: Node, value: Value) -> None:
        owner_node = target.child_by_field_name("object")
        owner = self.evaluate(owner_node) if owner_node is not None else UNKNOWN
        key = self._read_key(target)
        for option in list_options(owner):
            if isinstance(option, Object):
                self.store_entry(option, key, value)
            elif isinstance(option, Items):
                self._store_item(option, key, value)
                if key is None and self._names_symbol(target):
                    self.add("exec.dynamic", target, "sets what a loop over an array gives")
            elif isinstance(option, Ref) and option.name == "process.env":
                self._set_variable(key, value, target)
            elif isinstance(option, Method) and option.name == "__proto__":
                self.judge_replacement(Ref("__proto__"), key, target)
            elif isinstance(option, Ref):
                self.judge_replacement(option, key, target)
                if key is not None:
                    self.judge_attribute(option, key, value, target)

    def judge_replacement(self, owner: Ref, key: str | None, node: Node) -> None:
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

    def judge_attribute(self, owner: Ref, key: str, value: Value, node: Node) -> None:
        """Report where an attribute sends a library, for review."""
        if key in TARGETS and owner.name.partition(".")[0] not in INERT:
            for option in list_options(value):
                place = find_place(self.context.boundary, to_pieces(option))
                if place is not None:
                    where = place.message
                else:
                    where = "to one of many, of which some are outside"
                if place is not None or "place" in option.taint:
                    self.add("call.unknown", node, f"{owner.name}.{key} is set: {where}")

    def store_entry(self, owner: Object, key: str | None, value: Value) -> None:
        """Put a value into an object, under a key that may not be known."""
        if key is None:
            self.store_anywhere(owner, value)
            return
        self.uncertain += owner.is_many
        self.store(owner.entries, key, value)
        if key in {"host", "hostname", "port", "protocol"} and "href" in owner.entries:
            self.store(owner.entries, "href", UNKNOWN)  # the whole of a URL changes with its part
        self.uncertain -= owner.is_many

    def _store_item(self, owner: Items, key: str | None, value: Value) -> None:
        index = int(key) if key is not None and key.isdigit() else -1
        if 0 <= index < len(owner.items) and not self.uncertain and not owner.more:
            owner.items[index] = value
            return
        self.uncertain += 1
        self.add_items(owner, [value])
        self.uncertain -= 1

    def _read_key(self, node: Node) -> str | None:
        member = node.child_by_field_name("property")
        if member is not None:
            return self.text(member)
        index = node.child_by_field_name("index")
        if index is not None:
            return read_constant_text(self.evaluate(index))
        return None

    def member(self, owner: Value, name: str, node: Node) -> Value:
        """Return what `owner.name` gives."""
        match owner:
            case OneOf():
                return join_all(self.member(option, name, node) for option in owner.options)
            case Class():
                holder = owner.statics if name in owner.statics.entries else owner.instance
                return self.member(holder, name, node)
            case Object():
                return self._read_object_member(owner, name, node)
            case Ref():
                return self._read_reference_member(owner, name, node)
        if name == "constructor":
            if isinstance(owner, Function | Made | Method):
                return Ref("Function")
            return Ref("Object")
        item = _read_item(owner, int(name)) if name.isdigit() else None
        if item is not None:
            return item
        return owner if find_value_origin(owner) else Method(owner, name)

    def _read_object_member(self, owner: Object, name: str, node: Node) -> Value:
        if owner.is_map:
            return Method(owner, name)
        if name in {"__defineGetter__", "__proto__"}:
            self.store_entry(owner, None, UNKNOWN)  # it may change any entry
        if name in {"toString", "toJSON"} and "href" in owner.entries:
            return Made(unwrap_url(owner))
        if name not in owner.entries and not owner.spread:
            if name == "constructor":
                return Ref("Object")
            if name in _OBJECT_METHODS and not owner.rest:
                return Method(owner, name)
        entry = owner.entries.get(name)
        if entry is None:
            entry = join_all([self.member(module, name, node) for module in owner.spread] or [UNKNOWN])
        if isinstance(entry, Function) and _is_getter(entry):
            entry = self.call_function(entry, [], node)
        return join_all([entry, *owner.rest])

    def _read_reference_member(self, owner: Ref, name: str, node: Node) -> Value:
        if owner.name in GLOBALS and name != "constructor":
            return self.free(name)
        if owner.name == "process.env":
            return read_variable(self, name, "process.env", node)
        handed = _find_handed_value(self.context.values, f"{owner.name}.{name}")
        if handed is not None:
            return handed
        if name == "constructor":
            return self._read_constructor(owner, node)
        if name == "default" or (owner.name in {"fs", "dns"} and name == "promises"):
            return owner
        resolved = f"{owner.name}.{name}"
        if resolved in _MODULES_BY_NAME:
            return Ref(_MODULES_BY_NAME[resolved])
        if resolved in {"import.meta.dirname", "import.meta.filename"}:
            return self.free(f"__{name}")
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

    def lookup(self, name: str) -> Value | None:
        """Return what the script binds a name to, where it does."""
        scope = self.scope.owner_of(name)
        return scope.names[name] if scope is not None else None

    def free(self, name: str) -> Value:
        """Return what a name means that the script does not bind."""
        if name in {"undefined", "NaN"}:
            return UNKNOWN
        if name == "__dirname":
            return Const(".")
        if name == "__filename":
            return OWN_FILE
        return Ref(name)


def _find_handed_value(values: Mapping[object, Value], name: str) -> Value | None:
    """Return what a program is handed when it is started: the data of a worker, or `process.argv`."""
    if name == WORKER_DATA:
        return values.get(WORKER_DATA)
    given = values.get(ARGUMENTS) if name == "process.argv" else None
    if not isinstance(given, Items):
        return None
    # The interpreter and the script, where there is one, are in front of the arguments.
    is_inline = bool(given.items) and read_constant_text(given.items[0]) == "-c"
    return Items([Const("node"), *(given.items[1:] if is_inline else given.items)])


def _is_getter(function: Function) -> bool:
    return any(child.type == "get" for child in function.node.children)


def _read_item(owner: Value, index: int) -> Value | None:
    """Return an item of a list or a character of a text; None where it is neither, or has none there."""
    if isinstance(owner, Items):
        if owner.more:
            return join_all(owner.items)
        return owner.items[index] if index < len(owner.items) else UNKNOWN
    known = read_constant_text(owner)
    if known is not None and index < len(known):
        return Const(known[index])
    return None
