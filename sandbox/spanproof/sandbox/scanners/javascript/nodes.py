"""What each kind of node evaluates to. One function per kind, in the table at the end; calls come first.

In: a node. Out: its value; a statement's effects on the names of the script. Functions of the script are read
through, known values folded, names outside looked up. All instances of a class, and of those that extend
it, are one object: what any of them stores may be in each.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.javascript import effects
from spanproof.sandbox.scanners.javascript.script import GLOBALS, SINKS, NodeHandler, Script
from spanproof.sandbox.scanners.javascript.values import (
    UNDEFINED,
    Class,
    Made,
    Method,
    Object,
    concatenate,
    find_value_origin,
    fold_function,
    fold_method,
    is_unknown,
    make_array_of_any_length,
    spread,
    unwrap_url,
)
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    UNKNOWN,
    Const,
    Function,
    Items,
    Partial,
    Ref,
    Scope,
    Text,
    Unknown,
    Value,
    join,
    join_all,
    list_options,
    read_constant_text,
    to_pieces,
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
    return Unknown(CALLABLE) if any(map(script.reaches_outside, arguments)) else UNKNOWN


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
    if how == "apply" and given:
        # More items than are known may be anything.
        given = (
            [*given[0].items, *([UNKNOWN] if given[0].more else [])] if isinstance(given[0], Items) else given
        )
    called = _with_this(script, called, this, node)
    return Partial(called, given) if how == "bind" else _call_one(script, called, given, node)


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
    if name != "get":
        _hand_over(script, arguments, node)
        return UNKNOWN
    held = list(owner.entries.values()) if key is None else [owner.entries.get(key, UNKNOWN)]
    return join_all([*held, *owner.rest])


def _list_entries(owner: Object, *, pairs: bool) -> Items:
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
        key = read_constant_text(pair.items[0]) if isinstance(pair, Items) and len(pair.items) == 2 else None
        if key is not None and isinstance(pair, Items):
            made.entries[key] = pair.items[1]
        else:
            made.rest.append(Unknown(CALLABLE))
    return made


_CHANGING: Final = split_words("push unshift pop shift splice sort reverse fill copyWithin")


def _change_array(script: Script, owner: Items, name: str, arguments: list[Value]) -> Value:
    """Return what a method gives that changes its array; all but `push` change its items' places."""
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


# Items a callback is read with one by one; then once for all the others.
_MAX_ITEMS: Final = 512


def _call_over_items(script: Script, owner: Items, name: str, arguments: list[Value], node: Node) -> Value:
    called = arguments[0] if arguments else UNKNOWN
    if name == "reduce":
        return _reduce_items(script, owner, called, arguments[1:], node)
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
        return make_array_of_any_length(owner.items)
    return join_all(owner.items) if name in {"find", "findLast"} and owner.items else UNKNOWN


def _reduce_items(script: Script, owner: Items, called: Value, start: list[Value], node: Node) -> Value:
    """Return what `reduce` makes of an array, turn by turn; of one that is not whole, anything."""
    values = [*start[:1], *owner.items]
    if not values:
        return UNKNOWN
    if owner.more or len(values) > _MAX_ITEMS or script.exhausted:
        held = join_all(values)
        _call_one(script, called, [join(held, UNKNOWN), held], node)
        return Unknown(CALLABLE) if any(map(script.reaches_outside, values)) else UNKNOWN
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
    if name in {"require", "module.createRequire()", "createRequire()"}:
        return effects.require(script, arguments[0] if arguments else UNKNOWN, node)
    if name in {"Map", "WeakMap"} and (not arguments or isinstance(arguments[0], Items)):
        return _build_map(arguments[0] if arguments and isinstance(arguments[0], Items) else Items([]))
    if name in {"Object.entries", "Object.values"} and arguments and isinstance(arguments[0], Object):
        return _list_entries(arguments[0], pairs=name == "Object.entries")
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
        known = read_constant_text(arguments[1])
        return script.member(arguments[0], known, node) if known is not None else UNKNOWN
    if name == "Reflect.apply" and len(arguments) > 2 and isinstance(arguments[2], Items):
        return _call_one(script, arguments[0], list(arguments[2].items), node)
    folded = fold_function(name, arguments)
    if folded is not None:
        return folded
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
        elif isinstance(argument, Partial):
            _call_one(script, argument, [], node)
        elif isinstance(argument, Ref) and argument.name in SINKS:
            beside = [one for one in arguments if isinstance(one, Const | Text)]
            _call_one(script, argument, [join_all([*beside, UNKNOWN])], node)


def _evaluate_class(script: Script, node: Node) -> Value:
    base = _evaluate_base(script, node)
    inner = Scope(script.scope)
    instance = base.instance if isinstance(base, Class) else Object(is_many=True)
    made = Class(Object(), instance, base.constructor if isinstance(base, Class) else None)
    inner.names.update({"this": instance, "super": base})
    name = node.child_by_field_name("name")
    if name is not None:
        script.scope.names[script.text(name)] = made
    outer, script.scope = script.scope, inner
    body = node.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        member = child.child_by_field_name("name") or child.child_by_field_name("property")
        key = script.text(member) if member is not None else None
        owner = made.statics if any(one.type == "static" for one in child.children) else instance
        if child.type == "method_definition":
            function = Function(child, inner)
            script.functions.append(function)
            script.store_entry(owner, key, function)
            if key == "constructor":
                made.constructor = function
        elif child.type.endswith("field_definition"):
            value = child.child_by_field_name("value")
            if value is not None:
                script.store_entry(owner, key, script.evaluate(value))
        else:
            script.evaluate(child)
    script.scope = outer
    return made


def _evaluate_base(script: Script, node: Node) -> Value:
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    while heritage is not None and heritage.type in {"class_heritage", "extends_clause"}:
        heritage = heritage.named_children[0] if heritage.named_children else None
    return script.evaluate(heritage) if heritage is not None else UNKNOWN


def _evaluate_this(script: Script, node: Node) -> Value:
    return script.lookup(node.type) or UNKNOWN


def _evaluate_enumeration(script: Script, node: Node) -> Value:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    made = Object()
    for child in body.named_children if body is not None else ():
        key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if key is not None and value is not None:
            made.entries[script.text(key)] = script.evaluate(value)
    if name is not None:
        script.scope.names[script.text(name)] = made
    return made


_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)


_NAMED_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


def _evaluate_identifier(script: Script, node: Node) -> Value:
    name = script.text(node)
    scope = script.scope.owner_of(name)
    return scope.names[name] if scope is not None else script.free(name)


def _evaluate_string(script: Script, node: Node) -> Value:
    return Const(_resolve_escapes(script.text(node)[1:-1]))


def _resolve_escapes(source: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        if code:
            return chr(min(int(code, 16), 0x10FFFF))
        return _NAMED_ESCAPES.get(found[4], found[4])

    return _ESCAPE.sub(one, source) if "\\" in source else source


def _evaluate_template(script: Script, node: Node) -> Value:
    parts: list[Value] = []
    at = node.start_byte + 1
    for child in node.named_children:
        if child.type == "template_substitution":
            parts.append(_read_template_text(script, at, child.start_byte))
            inner = child.named_children
            parts.append(unwrap_url(script.evaluate(inner[0])) if inner else UNKNOWN)
            at = child.end_byte
    return concatenate([*parts, _read_template_text(script, at, node.end_byte - 1)])


def _read_template_text(script: Script, start: int, end: int) -> Value:
    return Const(_resolve_escapes(script.data[start:end].decode("utf-8", "replace")))


def _evaluate_meta_property(script: Script, node: Node) -> Value:
    return Ref("import.meta") if script.text(node) == "import.meta" else UNKNOWN


def _evaluate_number(script: Script, node: Node) -> Value:
    source = script.text(node).replace("_", "").rstrip("n")
    try:
        return Const(str(int(source, 0)))
    except ValueError:
        return Const(source)


def _evaluate_binary(script: Script, node: Node) -> Value:
    # Long chains lean to the left; walked with a list, they cannot exhaust the stack.
    chain = [node]
    while (left := chain[-1].child_by_field_name("left")) is not None and left.type == "binary_expression":
        chain.append(left)
    first = chain[-1].child_by_field_name("left")
    value = script.evaluate(first) if first is not None else UNKNOWN
    for link in reversed(chain):
        right_node = link.child_by_field_name("right")
        right = script.evaluate(right_node) if right_node is not None else UNKNOWN
        operator = link.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        if sign == "+":
            value = _add_values(value, right)
        else:
            value = join(value, right) if sign in {"||", "&&", "??"} else UNKNOWN
    return value


def _add_values(left: Value, right: Value) -> Value:
    known = [one for one in (left, right) if isinstance(one, Const | Text)]
    if not any((piece or "").strip("0123456789.") for one in known for piece in to_pieces(one)):
        return UNKNOWN
    return join_all(concatenate(pair) for pair in product(list_options(left), list_options(right)))


def _evaluate_member(script: Script, node: Node) -> Value:
    owner_node = node.child_by_field_name("object")
    owner = script.evaluate(owner_node) if owner_node is not None else UNKNOWN
    member = node.child_by_field_name("property")
    return script.member(owner, script.text(member), node) if member is not None else UNKNOWN


def _evaluate_subscript(script: Script, node: Node) -> Value:
    owner_node, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    owner = script.evaluate(owner_node) if owner_node is not None else UNKNOWN
    key = script.evaluate(index) if index is not None else UNKNOWN
    names = [read_constant_text(option) for option in list_options(key)]
    return join_all(
        script.member(owner, name, node) if name is not None else _read_dynamic_member(script, owner, node)
        for name in names
    )


def _read_dynamic_member(script: Script, owner: Value, node: Node) -> Value:
    if isinstance(owner, Ref):
        if owner.name == "process.env":
            return script.member(owner, "", node)
        if owner.name in {*GLOBALS, "child_process", "fs", "process", "require"}:
            script.add("attribute.dynamic", node, f"takes a member that is not known out of {owner.name}")
    return join_all(owner.items) if isinstance(owner, Items) else UNKNOWN


def _evaluate_declarator(script: Script, node: Node) -> Value:
    name, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
    value = script.evaluate(value_node) if value_node is not None else UNDEFINED
    if name is not None:
        script.bind(name, value, declare=True)
    return UNKNOWN


def _evaluate_assignment(script: Script, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = script.evaluate(right) if right is not None else UNKNOWN
    if left is None:
        return value
    if node.type == "augmented_assignment_expression":
        value = _add_values(script.evaluate(left), value)
    script.bind(left, value, declare=False)
    return value


def _evaluate_function(script: Script, node: Node) -> Value:
    function = Function(node, script.scope)
    script.functions.append(function)
    name = node.child_by_field_name("name")
    if name is not None and node.type in {"function_declaration", "generator_function_declaration"}:
        script.scope.names[script.text(name)] = function
    return function


def _evaluate_return(script: Script, node: Node) -> Value:
    for child in node.named_children:
        value = script.evaluate(child)
        script.read_environment(value, node)
        if script.frames:
            script.frames[-1].returned.append(value)
    return UNKNOWN


def _evaluate_import(script: Script, node: Node) -> Value:
    source = node.child_by_field_name("source")
    module = effects.require(script, script.evaluate(source), node) if source is not None else UNKNOWN
    pending = list(node.named_children)
    while pending:
        child = pending.pop()
        if child.type == "identifier":
            script.scope.names[script.text(child)] = module
        elif child.type == "namespace_import" and child.named_children:
            script.scope.names[script.text(child.named_children[0])] = module
        elif child.type == "import_specifier":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None:
                script.scope.names[script.text(alias or name)] = script.member(
                    module, script.text(name), child
                )
        elif child.type in {"import_clause", "named_imports"}:
            pending.extend(child.named_children)
    return UNKNOWN


def _evaluate_export(script: Script, node: Node) -> Value:
    """Evaluate an export; one from another module loads it."""
    source = node.child_by_field_name("source")
    if source is not None:
        return effects.require(script, script.evaluate(source), node)
    for child in node.named_children:
        script.evaluate(child)
    return UNKNOWN


def _evaluate_object(script: Script, node: Node) -> Value:
    made = Object()
    for child in node.named_children:
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None:
                _add_entry(script, made, key, script.evaluate(value))
        elif child.type == "shorthand_property_identifier":
            made.entries[script.text(child)] = _evaluate_identifier(script, child)
        elif child.type == "spread_element" and child.named_children:
            inner = script.evaluate(child.named_children[0])
            if not _is_handed_on(script, node):
                script.read_environment(inner, child)
            _spread_into(made, inner)
        elif child.type == "method_definition":
            name = child.child_by_field_name("name")
            made.entries[script.text(name) if name is not None else ""] = _evaluate_function(script, child)
    return made


def _is_handed_on(script: Script, made: Node) -> bool:
    """Whether an object is the environment of a program that is started: `spawn(file, {env: {…}})`."""
    pair = made.parent
    key = pair.child_by_field_name("key") if pair is not None and pair.type == "pair" else None
    options = pair.parent if pair is not None else None
    arguments = options.parent if options is not None else None
    call = arguments.parent if arguments is not None else None
    if key is None or script.text(key) != "env" or call is None or call.type != "call_expression":
        return False
    function = call.child_by_field_name("function")
    called = script.evaluate(function) if function is not None else UNKNOWN
    return isinstance(called, Ref) and called.name.startswith("child_process.")


def _spread_into(made: Object, inner: Value) -> None:
    """Add what `...inner` gives; what is not known may replace all that is there so far."""
    if isinstance(inner, Ref) and "(" not in inner.name:
        made.spread.append(inner)
    elif isinstance(inner, Items) and not inner.more:
        made.entries.update((str(index), item) for index, item in enumerate(inner.items))
    elif isinstance(inner, Object) and not inner.rest and not inner.is_many:
        made.entries.update(inner.entries)
        made.spread.extend(inner.spread)
    else:
        held = [*inner.entries.values(), *inner.rest] if isinstance(inner, Object) else spread(inner)[0]
        added = join_all([UNKNOWN, *held])
        made.entries.update((key, join(value, added)) for key, value in made.entries.items())
        if isinstance(inner, Object):
            made.entries.update(inner.entries)
            made.rest.append(added)


def _add_entry(script: Script, made: Object, key: Node, value: Value) -> None:
    if key.type != "computed_property_name":
        made.entries[script.text(key).strip("'\"")] = value
        return
    name = read_constant_text(script.evaluate(key.named_children[0])) if key.named_children else None
    if name is not None:
        made.entries[name] = value
    else:
        made.rest.append(value)


def _evaluate_array(script: Script, node: Node) -> Value:
    made = Items([])
    for child in node.named_children:
        if child.type == "spread_element":
            inner, whole = spread(script.evaluate(child.named_children[0]))
            made.items.extend(inner)
            made.more = made.more or not whole
        elif child.type != "comment":
            made.items.append(script.evaluate(child))
    return make_array_of_any_length(made.items) if made.more else made


def _evaluate_children(script: Script, node: Node) -> Value:
    children = [child for child in node.named_children if child.type != "comment"]
    if len(children) == 1:
        return script.evaluate(children[0])
    value: Value = UNKNOWN
    for child in children:
        value = script.evaluate(child)
    return value


def _evaluate_first_child(script: Script, node: Node) -> Value:
    return script.evaluate(node.named_children[0]) if node.named_children else UNKNOWN


def _evaluate_conditional(script: Script, node: Node) -> Value:
    parts = [script.evaluate(child) for child in node.named_children]
    return join(parts[1], parts[2]) if len(parts) == 3 else UNKNOWN


def _evaluate_branch(script: Script, node: Node) -> Value:
    script.uncertain += 1
    try:
        for child in node.named_children:
            script.evaluate(child)
    finally:
        script.uncertain -= 1
    return UNKNOWN


# A loop whose condition is always true, what leaves it or waits in it, and what each turn adds.
_ENDLESS: Final = re.compile(
    r"(?:while\s*+\(\s*+(?:true|1)\s*+\)|for\s*+\(\s*+;\s*+;|do\b.*while\s*+\(\s*+(?:true|1)\s*+\))",
    re.DOTALL,
)
_LEAVES: Final = re.compile(r"\b(?:break|return|throw|await|yield|process\.exit)\b")
_ADDS: Final = re.compile(
    r"\.(?:push|unshift|add|set|append|concat|write|appendFileSync|writeFileSync)\(|\+=(?!\s*+\d)"
    r"|\b(?:spawn|fork|exec|Worker|alloc)\("
)


def _judge_endless_loop(script: Script, node: Node) -> None:
    text = script.text(node)
    if _ENDLESS.match(text) and not _LEAVES.search(text) and _ADDS.search(text):
        script.add("resource.endless", node, "a loop without an end adds to what it holds")


def _evaluate_loop(script: Script, node: Node) -> Value:
    _judge_endless_loop(script, node)
    return script.repeat(lambda: _evaluate_branch(script, node), node)


def _evaluate_for_in(script: Script, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = script.evaluate(right) if right is not None else UNKNOWN
    element = join_all(value.items) if isinstance(value, Items) else UNKNOWN
    script.read_environment(value, node)
    body = node.child_by_field_name("body")

    def turn() -> Value:
        if left is not None:
            script.bind(left, element, declare=True)
        return script.evaluate(body) if body is not None else UNKNOWN

    script.repeat(turn, node)
    return UNKNOWN


def _evaluate_block(script: Script, node: Node) -> Value:
    # Functions are hoisted: a call may precede its function.
    for child in node.named_children:
        if child.type in {"function_declaration", "generator_function_declaration"}:
            _evaluate_function(script, child)
    for child in node.named_children:
        if child.type not in {"function_declaration", "generator_function_declaration", "comment"}:
            script.evaluate(child)
    return UNKNOWN


HANDLERS: Final[dict[str, NodeHandler]] = {
    **dict.fromkeys(["class_declaration", "abstract_class_declaration", "class"], _evaluate_class),
    "this": _evaluate_this, "super": _evaluate_this, "enum_declaration": _evaluate_enumeration,
    "program": _evaluate_block, "statement_block": _evaluate_block, "identifier": _evaluate_identifier,
    "string": _evaluate_string, "template_string": _evaluate_template,
    "meta_property": _evaluate_meta_property, "number": _evaluate_number,
    "binary_expression": _evaluate_binary, "member_expression": _evaluate_member,
    "subscript_expression": _evaluate_subscript, "call_expression": evaluate_call,
    "new_expression": evaluate_call, "variable_declarator": _evaluate_declarator,
    "assignment_expression": _evaluate_assignment, "augmented_assignment_expression": _evaluate_assignment,
    "function_declaration": _evaluate_function, "generator_function_declaration": _evaluate_function,
    "function_expression": _evaluate_function, "arrow_function": _evaluate_function,
    "generator_function": _evaluate_function, "function": _evaluate_function,
    "method_definition": _evaluate_function, "return_statement": _evaluate_return,
    "import_statement": _evaluate_import, "export_statement": _evaluate_export, "object": _evaluate_object,
    "array": _evaluate_array, "parenthesized_expression": _evaluate_children,
    "await_expression": _evaluate_children, "sequence_expression": _evaluate_children,
    "non_null_expression": _evaluate_children, "as_expression": _evaluate_first_child,
    "ternary_expression": _evaluate_conditional, "if_statement": _evaluate_branch,
    "while_statement": _evaluate_loop, "do_statement": _evaluate_loop, "for_statement": _evaluate_loop,
    "switch_statement": _evaluate_branch, "try_statement": _evaluate_branch,
    "for_in_statement": _evaluate_for_in,
}  # fmt: skip
"""What evaluates each kind of node."""
