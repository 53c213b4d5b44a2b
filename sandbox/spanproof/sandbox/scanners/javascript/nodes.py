"""What each kind of node evaluates to. One function per kind, in the table at the end.

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
from spanproof.sandbox.scanners.javascript.calls import evaluate_call, list_entries
from spanproof.sandbox.scanners.javascript.conditions import ends_block, find_chosen, find_truth
from spanproof.sandbox.scanners.javascript.script import GLOBALS, NodeHandler, Script
from spanproof.sandbox.scanners.javascript.values import (
    FALSE,
    TRUE,
    UNDEFINED,
    Class,
    Object,
    concatenate,
    make_array_of_any_length,
    spread,
    unwrap_url,
)
from spanproof.sandbox.scanners.reader.values import (
    UNKNOWN,
    Const,
    Function,
    Items,
    Ref,
    Scope,
    Text,
    Value,
    join,
    join_all,
    list_options,
    read_constant_text,
    to_pieces,
)


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
        if any(one.type == "static" for one in child.children):
            owner = made.statics
        else:
            owner = instance
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
    parts.append(_read_template_text(script, at, node.end_byte - 1))
    return concatenate(parts)


def _read_template_text(script: Script, start: int, end: int) -> Value:
    return Const(_resolve_escapes(script.data[start:end].decode("utf-8", "replace")))


def _evaluate_meta_property(script: Script, node: Node) -> Value:
    if script.text(node) == "import.meta":
        return Ref("import.meta")
    return UNKNOWN


def _evaluate_true(script: Script, node: Node) -> Value:  # noqa: ARG001 - handlers share one signature
    return TRUE


def _evaluate_false(script: Script, node: Node) -> Value:  # noqa: ARG001 - handlers share one signature
    return FALSE


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
        operator = link.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        left_node = link.child_by_field_name("left")
        if sign in {"&&", "||"} and left_node is not None and find_truth(script, left_node) is (sign == "||"):
            continue  # what is on the right never runs
        right_node = link.child_by_field_name("right")
        right = script.evaluate(right_node) if right_node is not None else UNKNOWN
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
    if member is not None:
        return script.member(owner, script.text(member), node)
    return UNKNOWN


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
    if source is not None:
        module = effects.require(script, script.evaluate(source), node)
    else:
        module = UNKNOWN
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
    if pair is not None and pair.type == "pair":
        key = pair.child_by_field_name("key")
    else:
        key = None
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
        if isinstance(inner, Object):
            held = [*inner.entries.values(), *inner.rest]
        else:
            held = spread(inner)[0]
        added = join_all([UNKNOWN, *held])
        made.entries.update((key, join(value, added)) for key, value in made.entries.items())
        if isinstance(inner, Object):
            made.entries.update(inner.entries)
            made.rest.append(added)


def _add_entry(script: Script, made: Object, key: Node, value: Value) -> None:
    if key.type != "computed_property_name":
        made.entries[script.text(key).strip("'\"")] = value
        return
    if key.named_children:
        name = read_constant_text(script.evaluate(key.named_children[0]))
    else:
        name = None
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
    if node.named_children:
        return script.evaluate(node.named_children[0])
    return UNKNOWN


def _evaluate_conditional(script: Script, node: Node) -> Value:
    chosen = find_chosen(script, node)
    if chosen is not None:
        return script.evaluate(chosen)
    parts = [script.evaluate(child) for child in node.named_children]
    return join(parts[1], parts[2]) if len(parts) == 3 else UNKNOWN


def _evaluate_if(script: Script, node: Node) -> Value:
    condition = node.child_by_field_name("condition")
    truth = find_truth(script, condition) if condition is not None else None
    if condition is None or truth is None:
        return _evaluate_branch(script, node)
    script.evaluate(condition)
    chosen = node.child_by_field_name("consequence" if truth else "alternative")
    return script.evaluate(chosen) if chosen is not None else UNKNOWN


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
    body = node.child_by_field_name("body")
    is_empty = body is not None and body.type == "statement_block" and not body.named_children
    if _ENDLESS.match(text) and not _LEAVES.search(text) and (is_empty or _ADDS.search(text)):
        script.add("resource.endless", node, "a loop without an end adds to what it holds")


def _evaluate_loop(script: Script, node: Node) -> Value:
    _judge_endless_loop(script, node)
    return script.repeat(lambda: _evaluate_branch(script, node), node)


def _evaluate_yield(script: Script, node: Node) -> Value:
    for child in node.named_children:
        value = script.evaluate(child)
        if script.frames:
            gives_all = any(one.type == "*" for one in node.children)
            script.frames[-1].yielded += spread(value)[0] if gives_all else [value]
    return UNKNOWN


def _evaluate_for_in(script: Script, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = script.evaluate(right) if right is not None else UNKNOWN
    script.read_environment(value, node)
    body = node.child_by_field_name("body")

    def turn() -> Value:
        # What a loop goes through may grow in it.
        held = value
        if isinstance(value, Object) and value.is_map and not value.rest:
            held = list_entries(value, pairs=True)
        if left is not None:
            element = join_all(held.items) if isinstance(held, Items) else UNKNOWN
            script.bind(left, element, declare=True)
        return script.evaluate(body) if body is not None else UNKNOWN

    script.repeat(turn, node)
    return UNKNOWN


def _evaluate_with(script: Script, node: Node) -> Value:
    script.add("exec.dynamic", node, "uses `with`, in which a name may mean any member of an object")
    return _evaluate_branch(script, node)


def _evaluate_block(script: Script, node: Node) -> Value:
    # Functions are hoisted: a call may precede its function.
    for child in node.named_children:
        if child.type in {"function_declaration", "generator_function_declaration"}:
            _evaluate_function(script, child)
    for child in node.named_children:
        if child.type not in {"function_declaration", "generator_function_declaration", "comment"}:
            script.evaluate(child)
            if ends_block(script, child):
                break
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
    "ternary_expression": _evaluate_conditional, "if_statement": _evaluate_if,
    "true": _evaluate_true, "false": _evaluate_false,
    "while_statement": _evaluate_loop, "do_statement": _evaluate_loop, "for_statement": _evaluate_loop,
    "switch_statement": _evaluate_branch, "with_statement": _evaluate_with, "try_statement": _evaluate_branch,
    "for_in_statement": _evaluate_for_in, "yield_expression": _evaluate_yield,
}  # fmt: skip
"""What evaluates each kind of node."""
