"""What a call of a script gives: functions of the script are read through, names outside are looked up.

In: a call and its arguments. Out: its value; methods of arrays and maps change or go through what they hold.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.javascript import effects
from spanproof.sandbox.scanners.javascript.script import SINKS, Script
from spanproof.sandbox.scanners.javascript.values import (
    Class,
    Made,
    Method,
    Object,
    find_value_origin,
    fold_function,
    fold_method,
    is_unknown,
    make_array_of_any_length,
    spread,
)
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    UNKNOWN,
    Const,
    Function,
    Items,
    Partial,
    Ref,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    list_options,
    read_constant_text,
)
from spanproof.sandbox.words import split_words


def evaluate_call(script: Script, node: Node) -> Value:
    """Return what a call or `new` gives."""
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    if callee is None:
        return UNKNOWN
    arguments = _evaluate_arguments(script, node)
    if callee.type == "import":
        return effects.require(script, arguments[0] if arguments else UNKNOWN, node)
    function = script.evaluate(callee)
    changes_requests = script.text(callee).endswith(".interceptors.request.use")
    if changes_requests and arguments and isinstance(arguments[0], Function):
        return _call_interceptor(script, arguments[0], node)
    return join_all(_call_one(script, option, arguments, node) for option in list_options(function))


def _evaluate_arguments(script: Script, node: Node) -> list[Value]:
    given = node.child_by_field_name("arguments")
    if given is not None and given.type == "template_string":
        return [script.evaluate(given)]
    values: list[Value] = []
    for child in given.named_children if given is not None else ():
        if child.type == "spread_element":
            inner, whole = spread(script.evaluate(child.named_children[0]))
            values.extend(inner)
            if not whole:
                values.append(UNKNOWN)
        elif child.type != "comment":
            values.append(script.evaluate(child))
    return values


def _call_one(script: Script, function: Value, arguments: list[Value], node: Node) -> Value:
    for argument in arguments:
        if isinstance(function, Ref):
            script.read_held_environment(_without_handed_on(function, argument), node)
        else:
            script.read_environment(argument, node)
    if isinstance(function, Function):
        return script.call_function(function, arguments, node)
    if isinstance(function, Class):
        if function.constructor is not None:
            script.call_function(function.constructor, arguments, node)
        return function.instance
    if isinstance(function, Method):
        return _call_method(script, function, arguments, node)
    if isinstance(function, Ref):
        return _call_reference(script, function, arguments, node)
    if isinstance(function, Partial):
        return _call_one(script, function.called, [*function.positional, *arguments], node)
    if isinstance(function, Made):
        return function.result
    if "callable" in find_value_origin(function):
        script.add("exec.dynamic", node, "calls a function that is not known, which may reach outside")
    elif find_value_origin(function):
        return _apply_callbacks(script, function, arguments, node)
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    called = script.text(callee)[-60:] if callee is not None else "call"
    effects.judge_unknown_call(script, "?." + called.rpartition(".")[2], arguments, node)
    _hand_over(script, arguments, node)
    if any(map(script.reaches_outside, arguments)):
        return Unknown(CALLABLE)
    return UNKNOWN


# Functions that show what they get, or write it.
_SHOWING: Final = ("console.", "JSON.", "fs.", "util.")


def _without_handed_on(function: Ref, argument: Value) -> Value:
    """Return an argument without the environment that it hands on to a program: `{env: process.env}`."""
    if isinstance(argument, Object) and "env" in argument.entries and not function.name.startswith(_SHOWING):
        return Items([value for name, value in argument.entries.items() if name != "env"])
    return argument


def _apply_callbacks(script: Script, value: Value, arguments: list[Value], node: Node) -> Value:
    """Return what callbacks make of a value that was promised; awaiting one is no step of its own here."""
    result: Value = value
    for argument in arguments:
        if isinstance(argument, Function | Ref | Partial | Method):
            given = _call_one(script, argument, [value], node)
            result = value if is_unknown(given) else given
    return result


def _call_method(script: Script, function: Method, arguments: list[Value], node: Node) -> Value:
    if function.name in _PASS_ON:
        return _pass_on(script, function.owner, function.name, arguments, node)
    if isinstance(function.owner, Items) and function.name in _CHANGING:
        return _change_array(script, function.owner, function.name, arguments)
    if isinstance(function.owner, Object) and function.owner.is_map and arguments:
        return _call_map_method(script, function.owner, function.name, arguments, node)
    folded = fold_method(function.owner, function.name, arguments)
    if folded is not None:
        return folded
    if isinstance(function.owner, Items) and function.name in _READING:
        return _call_over_items(script, function.owner, function.name, arguments, node)
    if not isinstance(function.owner, Const | Text | Items | Object):
        effects.judge_unknown_call(script, f"?.{function.name}", arguments, node)
    _hand_over(script, arguments, node)
    return UNKNOWN


# Methods of arrays that call their argument with each item.
_READING: Final = split_words(
    "every filter find findIndex findLast flatMap forEach map reduce reduceRight some"
)

_PASS_ON: Final = split_words("call apply bind")


def _pass_on(script: Script, called: Value, how: str, arguments: list[Value], node: Node) -> Value:
    """Return what `called.call(this, …)`, `called.apply(this, […])` or `called.bind(this, …)` gives."""
    this, given = arguments[0] if arguments else UNKNOWN, arguments[1:]
    if how == "apply" and given and isinstance(given[0], Items):
        # More items than are known may be anything.
        rest = [UNKNOWN] if given[0].more else []
        given = [*given[0].items, *rest]
    called = _with_this(script, called, this, node)
    if how == "bind":
        return Partial(called, given)
    return _call_one(script, called, given, node)


def _with_this(script: Script, called: Value, this: Value, node: Node) -> Value:
    """Return the method of `this` in place of one of another object: `[].map`, `Array.prototype.map`."""
    if isinstance(called, Method):
        return script.member(this, called.name, node)
    if isinstance(called, Ref):
        owner, _, name = called.name.rpartition(".")
        if owner.endswith(".prototype") or name in _PASS_ON:
            return script.member(this, name, node)
    return called


def _call_map_method(script: Script, owner: Object, name: str, arguments: list[Value], node: Node) -> Value:
    """Return what `get` and `set` of a `Map` give; of other methods nothing is known."""
    key = read_constant_text(arguments[0])
    if name == "set" and len(arguments) > 1:
        script.store_entry(owner, key, arguments[1])
        return owner
    if name == "forEach" and isinstance(arguments[0], Function) and not owner.rest:
        for entry, value in list(owner.entries.items()):
            script.call_function(arguments[0], [value, Const(entry)], node)
        return UNKNOWN
    if name != "get":
        _hand_over(script, arguments, node)
        return UNKNOWN
    held = list(owner.entries.values()) if key is None else [owner.entries.get(key, UNKNOWN)]
    return join_all([*held, *owner.rest])


def list_entries(owner: Object, *, pairs: bool) -> Items:
    """Return the values of an object, or its pairs of key and value."""
    items: list[Value] = [
        Items([Const(key), value]) if pairs else value for key, value in owner.entries.items()
    ]
    items.extend(Items([UNKNOWN, value]) if pairs else value for value in owner.rest)
    return Items(items, more=bool(owner.rest) or owner.is_many)


def _build_map(pairs: Items) -> Object:
    """Build the object for `new Map([[key, value], …])`."""
    made = Object(is_map=True, rest=[UNKNOWN] if pairs.more else [])
    for pair in pairs.items:
        if isinstance(pair, Items) and len(pair.items) == 2:
            key = read_constant_text(pair.items[0])
        else:
            key = None
        if key is not None and isinstance(pair, Items):
            made.entries[key] = pair.items[1]
        else:
            made.rest.append(Unknown(CALLABLE))
    return made


# `add` is that of a `Set`, which is read as an array.
_CHANGING: Final = split_words("push add unshift pop shift splice sort reverse fill copyWithin")


def _change_array(script: Script, owner: Items, name: str, arguments: list[Value]) -> Value:
    """Return what a method gives that changes its array; all but `push` and `add` change items' places."""
    given = join_all(owner.items)
    if name in {"push", "add"}:
        script.add_items(owner, arguments)
        return UNKNOWN if name == "push" else owner
    if name == "fill" and len(arguments) == 1 and not script.uncertain and not owner.more:
        owner.items[:] = [arguments[0]] * len(owner.items)
        return owner
    if name == "reverse" and not script.uncertain and not owner.more:
        owner.items.reverse()
        return owner
    added: list[Value] = []
    if name in {"unshift", "fill"}:
        added = arguments
    elif name == "splice":
        added = arguments[2:]
    script.uncertain += 1
    script.add_items(owner, added)
    script.uncertain -= 1
    return given if name in {"pop", "shift"} else owner


# Items a callback is read with one by one; then once for all the others.
_MAX_ITEMS: Final = 512


def _call_over_items(script: Script, owner: Items, name: str, arguments: list[Value], node: Node) -> Value:
    called = arguments[0] if arguments else UNKNOWN
    if name == "reduce":
        return _reduce_items(script, owner, called, arguments[1:], node)
    results: list[Value] = []
    items = owner.items
    if len(items) > _MAX_ITEMS or script.exhausted:
        if not script.exhausted:
            items = [*items[:_MAX_ITEMS], join_all(items)]
        else:
            items = [join_all(items)]
    for item in items:
        if isinstance(called, Function):
            given = [UNKNOWN, item] if name.startswith("reduce") else [item]
            results.append(script.call_function(called, given, node))
        elif isinstance(called, Ref | Partial | Method):
            results.append(_call_one(script, called, [item], node))
    if name == "map":
        return Items(results, more=owner.more or len(items) < len(owner.items))
    if name == "filter":
        return make_array_of_any_length(owner.items)
    if name in {"find", "findLast"} and owner.items:
        return join_all(owner.items)
    return UNKNOWN


def _reduce_items(script: Script, owner: Items, called: Value, start: list[Value], node: Node) -> Value:
    """Return what `reduce` makes of an array, turn by turn; of one that is not whole, anything."""
    values = [*start[:1], *owner.items]
    if not values:
        return UNKNOWN
    if owner.more or len(values) > _MAX_ITEMS or script.exhausted:
        held = join_all(values)
        _call_one(script, called, [join(held, UNKNOWN), held], node)
        if any(map(script.reaches_outside, values)):
            return Unknown(CALLABLE)
        return UNKNOWN
    result = values[0]
    for item in values[1:]:
        result = _call_one(script, called, [result, item], node)
    return result


def _call_reference(script: Script, function: Ref, arguments: list[Value], node: Node) -> Value:
    name = function.name
    inner, _, how = name.rpartition(".")
    if how in _PASS_ON and inner and name != "Reflect.apply" and name not in SINKS:
        return _pass_on(script, Ref(inner), how, arguments, node)
    if name.endswith(".then") and name != ".then":
        return _apply_callbacks(script, Ref(name.removesuffix(".then")), arguments, node)
    if name in _REQUIRE:
        return effects.require(script, arguments[0] if arguments else UNKNOWN, node)
    if name in {"Map", "WeakMap"} and not arguments:
        return _build_map(Items([]))
    modelled = _call_modelled(script, name, arguments, node) if arguments else None
    if modelled is not None:
        return modelled
    folded = fold_function(name, arguments)
    if folded is not None:
        return folded
    return _call_outside(script, name, arguments, node)


def _call_interceptor(script: Script, interceptor: Function, node: Node) -> Value:
    """Call what changes each request of a client of axios, and judge where it sends the request."""
    for sent in list_options(script.call_function(interceptor, [Ref("axios.config")], node)):
        if isinstance(sent, Object):
            effects.apply(script, "axios.request", [sent], node)
    return UNKNOWN


_REQUIRE: Final = frozenset({"require", "module.createRequire()", "createRequire()"})
# Functions that give what they get: an object that has the same constructor, a function that does the same.
_GIVES_FIRST: Final = split_words("util.promisify promisify Object.getPrototypeOf Reflect.getPrototypeOf")

# Calls of a function with a list of arguments, by how many arguments these have after the function.
_REFLECTED: Final = {"Reflect.apply": 2, "Reflect.construct": 1}


def _call_modelled(script: Script, name: str, arguments: list[Value], node: Node) -> Value | None:
    """Return what a function of the language gives for what is known of its arguments."""
    first, *rest = arguments
    if name in _GIVES_FIRST:
        return first
    if name in {"Map", "WeakMap"} and isinstance(first, Items):
        return _build_map(first)
    if name == "Set" and isinstance(first, Items):
        return Items(list(first.items), more=first.more)
    if name in {"Array", "Array.from"}:
        return _build_array(script, name, arguments, node)
    if name in {"Object.entries", "Object.values"} and isinstance(first, Object):
        return list_entries(first, pairs=name == "Object.entries")
    if name in _CHANGING_OBJECTS:
        return _change_object(script, name, first, rest, node)
    if name == "Reflect.get" and rest:
        key = read_constant_text(rest[0])
        if key is not None:
            return script.member(first, key, node)
        return UNKNOWN
    given = rest[-1] if len(rest) == _REFLECTED.get(name) else None
    if isinstance(given, Items):
        return _call_one(script, first, list(given.items), node)
    return None


# Arrays that are made by their length alone.
_LONGEST_MADE: Final = 64


def _read_length(value: Value | None) -> int | None:
    """Return the length of an array to make, where it is a number and small."""
    text = read_constant_text(value)
    if text is not None and text.isdecimal() and int(text) <= _LONGEST_MADE:
        return int(text)
    return None


def _build_array(script: Script, name: str, arguments: list[Value], node: Node) -> Value | None:
    """Return the array of a length, or what `Array.from` makes of another, or of `{length: 3}`."""
    source, *rest = arguments
    if name == "Array":
        length = _read_length(source) if not rest else None
        return Items([Const("")] * length) if length is not None else None
    if isinstance(source, Object):
        length = _read_length(source.entries.get("length"))
    else:
        length = None
    if length is not None:
        numbers: list[Value] = [Const(str(index)) for index in range(length)]
        if rest:
            made = [_call_one(script, rest[0], [UNKNOWN, one], node) for one in numbers]
        else:
            made = numbers
        return Items(made if rest else [UNKNOWN] * length)
    if not isinstance(source, Items):
        return None
    if rest:
        made = [_call_one(script, rest[0], [one], node) for one in source.items]
    else:
        made = list(source.items)
    return Items(made, more=source.more)


def _assign_entries(script: Script, target: Value, sources: list[Value], node: Node) -> Value:
    for source in sources:
        for key, value in source.entries.items() if isinstance(source, Object) else ():
            _set_entry(script, target, key, value, node)
        if not isinstance(source, Object) or source.rest:
            _set_entry(script, target, None, UNKNOWN, node)
    return target


def _set_entry(script: Script, target: Value, key: str | None, value: Value, node: Node) -> None:
    if isinstance(target, Object):
        script.store_entry(target, key, value)
    elif isinstance(target, Ref):
        script.judge_replacement(target, key, node)


# Functions that give their first argument entries.
_CHANGING_OBJECTS: Final = split_words(
    "Object.assign Reflect.set Object.defineProperty Reflect.defineProperty Object.defineProperties"
    " Object.setPrototypeOf Reflect.setPrototypeOf"
)


def _change_object(script: Script, name: str, target: Value, rest: list[Value], node: Node) -> Value:
    if name == "Object.assign":
        return _assign_entries(script, target, rest, node)
    if name != "Reflect.set":
        return _define_entries(script, name, target, rest, node)
    if len(rest) > 1:
        _set_entry(script, target, read_constant_text(rest[0]), rest[1], node)
    return UNKNOWN


def _define_entries(script: Script, name: str, target: Value, rest: list[Value], node: Node) -> Value:
    """Store what `Object.defineProperty(target, key, {value})` defines; a getter gives what is not known."""
    if isinstance(target, Items):
        script.add("exec.dynamic", node, "defines what an array gives, which is then not known")
    if name.endswith("setPrototypeOf"):
        return target  # entries of its own stay as they are
    key = read_constant_text(rest[0]) if len(rest) > 1 else None
    descriptor = rest[1] if len(rest) > 1 else UNKNOWN
    held: Value = UNKNOWN
    if isinstance(descriptor, Object) and not descriptor.rest and "get" not in descriptor.entries:
        held = descriptor.entries.get("value", UNKNOWN)
    _set_entry(script, target, key, held, node)
    return target


def _call_outside(script: Script, name: str, arguments: list[Value], node: Node) -> Value:
    """Judge a call of something outside the script; gives what is known of its result."""
    result = effects.apply(script, name, arguments, node)
    _hand_over(script, arguments, node)
    if result is None and name not in SINKS and any(map(script.reaches_outside, arguments)):
        return Unknown(CALLABLE)
    return result if result is not None else Ref(f"{name}()")


def _hand_over(script: Script, arguments: list[Value], node: Node) -> None:
    """Call the functions given to code that is not read here, with what is given beside them."""
    for argument in arguments:
        if isinstance(argument, Function) and argument.node.id not in script.called:
            script.call_function(argument, [], argument.node)
            script.called_later.append((argument, script.changes))
        elif isinstance(argument, Partial):
            _call_one(script, argument, [], node)
        elif isinstance(argument, Ref) and argument.name in SINKS:
            beside = [one for one in arguments if isinstance(one, Const | Text)]
            _call_one(script, argument, [join_all([*beside, UNKNOWN])], node)
