"""Calls: functions of the script are read through, known values answer, names outside are looked up.

In: a called value and its arguments. Out: the result as far as it is known; effects are reported on the way.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.javascript import effects, fold
from spanproof.sandbox.scanners.javascript.sinks import SINKS
from spanproof.sandbox.scanners.javascript.values import (
    CALLABLE,
    UNKNOWN,
    Array,
    Bound,
    Function,
    Klass,
    Made,
    Method,
    Object,
    Ref,
    Text,
    Unknown,
    Value,
    any_of,
    either,
    of_any_length,
    options_of,
    spread,
    text_of,
)
from spanproof.sandbox.scanners.javascript.walk import Script
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
    results = [_call_one(script, option, arguments, node) for option in options_of(function)]
    result = results[0]
    for one in results[1:]:
        result = either(result, one)
    return result


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
        if isinstance(argument, Ref) and argument.name == "process.env":
            script.member(argument, "", node)
    if isinstance(function, Function):
        return script.call_function(function, arguments, node)
    if isinstance(function, Klass):
        if function.constructor is not None:
            script.call_function(function.constructor, arguments, node)
        return function.instance
    if isinstance(function, Method):
        return _call_method(script, function, arguments, node)
    if isinstance(function, Ref):
        return _call_reference(script, function, arguments, node)
    if isinstance(function, Bound):
        return _call_one(script, function.called, [*function.arguments, *arguments], node)
    if isinstance(function, Made):
        return function.result
    if isinstance(function, Unknown) and function.origin == "callable":
        script.add("exec.dynamic", node, "calls a function that is not known, which may reach outside")
    elif isinstance(function, Unknown) and function.origin:
        return _resolved(script, function, arguments, node)
    callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    called = script.text(callee)[-60:] if callee is not None else "call"
    effects.judge_unknown_call(script, "?." + called.rpartition(".")[2], arguments, node)
    _hand_over(script, arguments, node)
    return CALLABLE if any(map(_reaches_outside, arguments)) else UNKNOWN


def _reaches_outside(value: Value, depth: int = 3) -> bool:
    """Whether a value is, or holds, a function or module that reaches outside."""
    if isinstance(value, Ref):
        return "(" not in value.name and (value.name in SINKS or value.name in _SENSITIVE)
    held = (
        value.items
        if isinstance(value, Array)
        else value.entries.values()
        if isinstance(value, Object)
        else ()
    )
    return depth > 0 and any(_reaches_outside(one, depth - 1) for one in held)


_SENSITIVE: Final = words(
    "fs child_process require process net http https vm Deno Bun module worker_threads dgram tls"
)


def _resolved(script: Script, value: Value, arguments: list[Value], node: Node) -> Value:
    """What callbacks make of a value that was promised; awaiting one is no step of its own here."""
    result: Value = value
    for argument in arguments:
        if isinstance(argument, Function | Ref | Bound | Method):
            given = _call_one(script, argument, [value], node)
            result = value if given == UNKNOWN else given
    return result


def _call_method(script: Script, function: Method, arguments: list[Value], node: Node) -> Value:
    if function.name in _PASS_ON:
        return _pass_on(script, function.owner, function.name, arguments, node)
    if isinstance(function.owner, Array) and function.name in _CHANGING:
        return _change_array(script, function.owner, function.name, arguments)
    if isinstance(function.owner, Object) and function.owner.is_map and arguments:
        return _of_map(script, function.owner, function.name, arguments, node)
    folded = fold.method(function.owner, function.name, arguments)
    if folded is not None:
        return folded
    if isinstance(function.owner, Array) and function.name in _READING:
        return _over_items(script, function.owner, function.name, arguments, node)
    if not isinstance(function.owner, Text | Array | Object):
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
            [*given[0].items, *([UNKNOWN] if given[0].more else [])] if isinstance(given[0], Array) else given
        )
    called = _with_this(script, called, this, node)
    return Bound(called, tuple(given)) if how == "bind" else _call_one(script, called, given, node)


def _with_this(script: Script, called: Value, this: Value, node: Node) -> Value:
    """A method called on another object is that object's: `[].map` and `Array.prototype.map` on `this`."""
    if isinstance(called, Method):
        return script.member(this, called.name, node)
    if isinstance(called, Ref):
        owner, _, name = called.name.rpartition(".")
        if owner.endswith(".prototype") or name in _PASS_ON:
            return script.member(this, name, node)
    return called


def _of_map(script: Script, owner: Object, name: str, arguments: list[Value], node: Node) -> Value:
    """What `get` and `set` of a `Map` give; of other methods nothing is known."""
    key = text_of(arguments[0])
    if name == "set" and len(arguments) > 1:
        script.store_entry(owner, key, arguments[1])
        return owner
    if name != "get":
        _hand_over(script, arguments, node)
        return UNKNOWN
    held = list(owner.entries.values()) if key is None else [owner.entries.get(key, UNKNOWN)]
    return any_of([*held, *([owner.rest] if owner.rest is not None else [])])


def _listed(owner: Object, *, pairs: bool) -> Array:
    """The values of an object, or its pairs of key and value."""
    items: list[Value] = [
        Array([Text((key,)), value]) if pairs else value for key, value in owner.entries.items()
    ]
    if owner.rest is not None:
        items.append(Array([UNKNOWN, owner.rest]) if pairs else owner.rest)
    return Array(items, more=owner.rest is not None or owner.is_many)


def _new_map(pairs: Array) -> Object:
    """The object for `new Map([[key, value], …])`."""
    made = Object(is_map=True, rest=UNKNOWN if pairs.more else None)
    for pair in pairs.items:
        key = text_of(pair.items[0]) if isinstance(pair, Array) and len(pair.items) == 2 else None
        if key is not None and isinstance(pair, Array):
            made.entries[key] = pair.items[1]
        else:
            made.rest = CALLABLE
    return made


_CHANGING: Final = words("push unshift pop shift splice sort reverse fill copyWithin")


def _change_array(script: Script, owner: Array, name: str, arguments: list[Value]) -> Value:
    """What a method gives that changes its array; all but `push` change the places of its items."""
    given = any_of(owner.items)
    if name == "push":
        script.add_items(owner, arguments)
        return UNKNOWN
    if name == "reverse" and not script.conditional and not owner.more:
        owner.items.reverse()
        return owner
    added = arguments if name in {"unshift", "fill"} else arguments[2:] if name == "splice" else []
    script.conditional += 1
    script.add_items(owner, added)
    script.conditional -= 1
    return given if name in {"pop", "shift"} else owner


_MAX_ITEMS: Final = 512
"""Items a callback is read with one by one; then once for all the others."""


def _over_items(script: Script, owner: Array, name: str, arguments: list[Value], node: Node) -> Value:
    called = arguments[0] if arguments else UNKNOWN
    results: list[Value] = []
    items = owner.items
    if len(items) > _MAX_ITEMS or script.steps > script.budget:
        items = [*items[:_MAX_ITEMS], any_of(items)] if script.steps <= script.budget else [any_of(items)]
    for item in items:
        if isinstance(called, Function):
            given = [UNKNOWN, item] if name.startswith("reduce") else [item]
            results.append(script.call_function(called, given, node))
        elif isinstance(called, Ref | Bound | Method):
            results.append(_call_one(script, called, [item], node))
    if name == "map":
        return Array(results, owner.more or len(items) < len(owner.items))
    if name == "filter":
        return of_any_length(owner.items)
    return any_of(owner.items) if name in {"find", "findLast"} and owner.items else UNKNOWN


def _call_reference(script: Script, function: Ref, arguments: list[Value], node: Node) -> Value:
    name = function.name
    inner, _, how = name.rpartition(".")
    if how in _PASS_ON and inner and name != "Reflect.apply":
        return _pass_on(script, Ref(inner), how, arguments, node)
    if name.endswith(".then") and name != ".then":
        return _resolved(script, Ref(name.removesuffix(".then")), arguments, node)
    if name in {"require", "module.createRequire()", "createRequire()"}:
        return effects.require(script, arguments[0] if arguments else UNKNOWN, node)
    if name in {"Map", "WeakMap"} and (not arguments or isinstance(arguments[0], Array)):
        return _new_map(arguments[0] if arguments and isinstance(arguments[0], Array) else Array([]))
    if name in {"Object.entries", "Object.values"} and arguments and isinstance(arguments[0], Object):
        return _listed(arguments[0], pairs=name == "Object.entries")
    if name == "Object.assign" and arguments and isinstance(arguments[0], Object):
        for source in arguments[1:]:
            for key, value in source.entries.items() if isinstance(source, Object) else ():
                script.store_entry(arguments[0], key, value)
            if not isinstance(source, Object) or source.rest is not None:
                script.store_entry(arguments[0], None, UNKNOWN)
        return arguments[0]
    if name in {"util.promisify", "promisify"} and arguments:
        return arguments[0]
    if name in {"Object.getPrototypeOf", "Reflect.getPrototypeOf"} and arguments:
        return arguments[0]  # has the same constructor
    if name == "Reflect.get" and len(arguments) > 1:
        known = text_of(arguments[1])
        return script.member(arguments[0], known, node) if known is not None else UNKNOWN
    if name == "Reflect.apply" and len(arguments) > 2 and isinstance(arguments[2], Array):
        return _call_one(script, arguments[0], list(arguments[2].items), node)
    folded = fold.function(name, arguments)
    if folded is not None:
        return folded
    result = effects.apply(script, name, arguments, node)
    _hand_over(script, arguments, node)
    if result is None and name not in SINKS and any(map(_reaches_outside, arguments)):
        return CALLABLE
    return result if result is not None else Ref(f"{name}()")


def _hand_over(script: Script, arguments: list[Value], node: Node) -> None:
    """A function given to code that is not read here is taken to be called, with what is given beside it."""
    for argument in arguments:
        if isinstance(argument, Function) and argument.node.id not in script.called:
            script.call_function(argument, [], argument.node)
        elif isinstance(argument, Bound):
            _call_one(script, argument, [], node)
        elif isinstance(argument, Ref) and argument.name in SINKS:
            beside = [one for one in arguments if isinstance(one, Text)]
            _call_one(script, argument, [any_of([*beside, UNKNOWN])], node)
