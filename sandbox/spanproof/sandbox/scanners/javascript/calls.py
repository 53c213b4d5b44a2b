"""Calls: functions of the script are read through, known values answer, names outside are looked up.

In: a called value and its arguments. Out: the result as far as it is known; effects are reported on the way.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.javascript import effects, fold
from spanproof.sandbox.scanners.javascript.script import SINKS, Script
from spanproof.sandbox.scanners.javascript.values import (
    Class,
    Made,
    Method,
    Object,
    is_unknown,
    of_any_length,
    origin_of,
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
    constant_text,
    join_all,
    options_of,
)
from spanproof.sandbox.words import words


def evaluate_call(script: Script, node: Node) -> Value:
    """What a call or `new` gives."""
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    if callee is None:
        return UNKNOWN
    arguments = _arguments(script, node)
    if callee.type == "import":
        return effects.require(script, arguments[0] if arguments else UNKNOWN, node)
    function = script.evaluate(callee)
    return join_all(_call_one(script, option, arguments, node) for option in options_of(function))


def _arguments(script: Script, node: Node) -> list[Value]:
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
    if "callable" in origin_of(function):
        script.add("exec.dynamic", node, "calls a function that is not known, which may reach outside")
    elif origin_of(function):
        return _resolved(script, function, arguments, node)
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    called = script.text(callee)[-60:] if callee is not None else "call"
    effects.judge_unknown_call(script, "?." + called.rpartition(".")[2], arguments, node)
    _hand_over(script, arguments, node)
    return Unknown(CALLABLE) if any(map(script.reaches_outside, arguments)) else UNKNOWN


def _resolved(script: Script, value: Value, arguments: list[Value], node: Node) -> Value:
    """What callbacks make of a value that was promised; awaiting one is no step of its own here."""
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
        return _of_map(script, function.owner, function.name, arguments, node)
    folded = fold.method(function.owner, function.name, arguments)
    if folded is not None:
        return folded
    if isinstance(function.owner, Items) and function.name in _READING:
        return _over_items(script, function.owner, function.name, arguments, node)
    if not isinstance(function.owner, Const | Text | Items | Object):
        effects.judge_unknown_call(script, f"?.{function.name}", arguments, node)
    _hand_over(script, arguments, node)
    return UNKNOWN


_READING: Final = words("every filter find findIndex findLast flatMap forEach map reduce reduceRight some")
"""Methods of arrays that call their argument with each item."""

_PASS_ON: Final = words("call apply bind")


def _pass_on(script: Script, called: Value, how: str, arguments: list[Value], node: Node) -> Value:
    """What `called.call(this, …)`, `called.apply(this, […])` or `called.bind(this, …)` gives."""
    this, given = arguments[0] if arguments else UNKNOWN, arguments[1:]
    if how == "apply" and given:
        # More items than are known may be anything.
        given = (
            [*given[0].items, *([UNKNOWN] if given[0].more else [])] if isinstance(given[0], Items) else given
        )
    called = _with_this(script, called, this, node)
    return Partial(called, given) if how == "bind" else _call_one(script, called, given, node)


def _with_this(script: Script, called: Value, this: Value, node: Node) -> Value:
    """A method called on another object is that object's: `[].map` and `Items.prototype.map` on `this`."""
    if isinstance(called, Method):
        return script.member(this, called.name, node)
    if isinstance(called, Ref):
        owner, _, name = called.name.rpartition(".")
        if owner.endswith(".prototype") or name in _PASS_ON:
            return script.member(this, name, node)
    return called


def _of_map(script: Script, owner: Object, name: str, arguments: list[Value], node: Node) -> Value:
    """What `get` and `set` of a `Map` give; of other methods nothing is known."""
    key = constant_text(arguments[0])
    if name == "set" and len(arguments) > 1:
        script.store_entry(owner, key, arguments[1])
        return owner
    if name != "get":
        _hand_over(script, arguments, node)
        return UNKNOWN
    held = list(owner.entries.values()) if key is None else [owner.entries.get(key, UNKNOWN)]
    return join_all([*held, *owner.rest])


def _listed(owner: Object, *, pairs: bool) -> Items:
    """The values of an object, or its pairs of key and value."""
    items: list[Value] = [
        Items([Const(key), value]) if pairs else value for key, value in owner.entries.items()
    ]
    items.extend(Items([UNKNOWN, value]) if pairs else value for value in owner.rest)
    return Items(items, more=bool(owner.rest) or owner.is_many)


def _new_map(pairs: Items) -> Object:
    """The object for `new Map([[key, value], …])`."""
    made = Object(is_map=True, rest=[UNKNOWN] if pairs.more else [])
    for pair in pairs.items:
        key = constant_text(pair.items[0]) if isinstance(pair, Items) and len(pair.items) == 2 else None
        if key is not None and isinstance(pair, Items):
            made.entries[key] = pair.items[1]
        else:
            made.rest.append(Unknown(CALLABLE))
    return made


_CHANGING: Final = words("push unshift pop shift splice sort reverse fill copyWithin")


def _change_array(script: Script, owner: Items, name: str, arguments: list[Value]) -> Value:
    """What a method gives that changes its array; all but `push` change the places of its items."""
    given = join_all(owner.items)
    if name == "push":
        script.add_items(owner, arguments)
        return UNKNOWN
    if name == "reverse" and not script.uncertain and not owner.more:
        owner.items.reverse()
        return owner
    added = arguments if name in {"unshift", "fill"} else arguments[2:] if name == "splice" else []
    script.uncertain += 1
    script.add_items(owner, added)
    script.uncertain -= 1
    return given if name in {"pop", "shift"} else owner


_MAX_ITEMS: Final = 512
"""Items a callback is read with one by one; then once for all the others."""


def _over_items(script: Script, owner: Items, name: str, arguments: list[Value], node: Node) -> Value:
    called = arguments[0] if arguments else UNKNOWN
    results: list[Value] = []
    items = owner.items
    if len(items) > _MAX_ITEMS or script.exhausted:
        items = [*items[:_MAX_ITEMS], join_all(items)] if not script.exhausted else [join_all(items)]
    for item in items:
        if isinstance(called, Function):
            given = [UNKNOWN, item] if name.startswith("reduce") else [item]
            results.append(script.call_function(called, given, node))
        elif isinstance(called, Ref | Partial | Method):
            results.append(_call_one(script, called, [item], node))
    if name == "map":
        return Items(results, more=owner.more or len(items) < len(owner.items))
    if name == "filter":
        return of_any_length(owner.items)
    return join_all(owner.items) if name in {"find", "findLast"} and owner.items else UNKNOWN


def _call_reference(script: Script, function: Ref, arguments: list[Value], node: Node) -> Value:
    name = function.name
    inner, _, how = name.rpartition(".")
    if how in _PASS_ON and inner and name != "Reflect.apply":
        return _pass_on(script, Ref(inner), how, arguments, node)
    if name.endswith(".then") and name != ".then":
        return _resolved(script, Ref(name.removesuffix(".then")), arguments, node)
    if name in {"require", "module.createRequire()", "createRequire()"}:
        return effects.require(script, arguments[0] if arguments else UNKNOWN, node)
    if name in {"Map", "WeakMap"} and (not arguments or isinstance(arguments[0], Items)):
        return _new_map(arguments[0] if arguments and isinstance(arguments[0], Items) else Items([]))
    if name in {"Object.entries", "Object.values"} and arguments and isinstance(arguments[0], Object):
        return _listed(arguments[0], pairs=name == "Object.entries")
    if name == "Object.assign" and arguments and isinstance(arguments[0], Object):
        for source in arguments[1:]:
            for key, value in source.entries.items() if isinstance(source, Object) else ():
                script.store_entry(arguments[0], key, value)
            if not isinstance(source, Object) or source.rest:
                script.store_entry(arguments[0], None, UNKNOWN)
        return arguments[0]
    if name in {"util.promisify", "promisify"} and arguments:
        return arguments[0]
    if name in {"Object.getPrototypeOf", "Reflect.getPrototypeOf"} and arguments:
        return arguments[0]  # has the same constructor
    if name == "Reflect.get" and len(arguments) > 1:
        known = constant_text(arguments[1])
        return script.member(arguments[0], known, node) if known is not None else UNKNOWN
    if name == "Reflect.apply" and len(arguments) > 2 and isinstance(arguments[2], Items):
        return _call_one(script, arguments[0], list(arguments[2].items), node)
    folded = fold.function(name, arguments)
    if folded is not None:
        return folded
    result = effects.apply(script, name, arguments, node)
    _hand_over(script, arguments, node)
    if result is None and name not in SINKS and any(map(script.reaches_outside, arguments)):
        return Unknown(CALLABLE)
    return result if result is not None else Ref(f"{name}()")


def _hand_over(script: Script, arguments: list[Value], node: Node) -> None:
    """A function given to code that is not read here is taken to be called, with what is given beside it."""
    for argument in arguments:
        if isinstance(argument, Function) and argument.node.id not in script.called:
            script.call_function(argument, [], argument.node)
        elif isinstance(argument, Partial):
            _call_one(script, argument, [], node)
        elif isinstance(argument, Ref) and argument.name in SINKS:
            beside = [one for one in arguments if isinstance(one, Const | Text)]
            _call_one(script, argument, [join_all([*beside, UNKNOWN])], node)
