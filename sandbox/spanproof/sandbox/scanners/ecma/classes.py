"""Classes and enumerations of a script: their fields, methods, and what `this` means in them.

In: the node of a class. Out: a value whose members are known. All instances of a class, and of those
that extend it, are one object: what any of them stores may be in each.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.ecma.values import UNKNOWN, Function, Klass, Object, Scope, Value
from spanproof.sandbox.scanners.ecma.walk import NodeHandler, Script


def _class(script: Script, node: Node) -> Value:
    base = _base(script, node)
    inner = Scope(script.scope)
    instance = base.instance if isinstance(base, Klass) else Object(is_many=True)
    made = Klass(Object(), instance, base.constructor if isinstance(base, Klass) else None)
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


def _base(script: Script, node: Node) -> Value:
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    while heritage is not None and heritage.type in {"class_heritage", "extends_clause"}:
        heritage = heritage.named_children[0] if heritage.named_children else None
    return script.evaluate(heritage) if heritage is not None else UNKNOWN


def _this(script: Script, node: Node) -> Value:
    return script.lookup(node.type) or UNKNOWN


def _enumeration(script: Script, node: Node) -> Value:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    made = Object()
    for child in body.named_children if body is not None else ():
        key, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if key is not None and value is not None:
            made.entries[script.text(key)] = script.evaluate(value)
    if name is not None:
        script.scope.names[script.text(name)] = made
    return made


HANDLERS: Final[dict[str, NodeHandler]] = {
    **dict.fromkeys(["class_declaration", "abstract_class_declaration", "class"], _class),
    "this": _this,
    "super": _this,
    "enum_declaration": _enumeration,
}
"""What evaluates each kind of node."""
