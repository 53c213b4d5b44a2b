"""What reflection gives: names reached by text, calls made by other calls, objects made without a class.

In: a resolved name and abstract arguments. Out: the abstract result, or None where the call is like any
other. `models` puts these beside the models of texts, containers and paths.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
from typing import Final

from spanproof.sandbox.scanners.python import attributes, fold
from spanproof.sandbox.scanners.python.machine import Machine, Model
from spanproof.sandbox.scanners.python.names import SINKS, normalise_name
from spanproof.sandbox.scanners.python.own_modules import check_own_modules
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    CLEAN,
    UNKNOWN,
    Const,
    Function,
    Instance,
    Items,
    Klass,
    Mapping,
    Partial,
    Ref,
    Unknown,
    Value,
    build_union,
    build_union_of,
    compute_taint,
    find_constant_text,
    list_elements,
    list_options,
)


def evaluate_mapping_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `dict.get` and its kin give."""
    owner = function.owner
    key = arguments.find(0)
    if isinstance(owner, Items) and owner.items:
        return build_union_of(owner.items)  # a queue
    if not isinstance(owner, Mapping) or key is None:
        return None
    try:
        found = owner.entries.get(fold.to_concrete(key))
    except (fold.NotKnown, TypeError):
        return build_union_of([*owner.entries.values(), *owner.rest, arguments.find(1) or Const(None)])
    if found is not None:
        return found
    default = arguments.find(1) or Const(None)
    return build_union(default, build_union_of(owner.rest)) if owner.rest else default


def _starts_programs(function: Ref) -> bool:
    """Whether a function starts programs or runs code."""
    kinds = {effect.kind for effect in SINKS.get(function.name, ())}
    return not kinds.isdisjoint({"shell", "argv", "code", "spawn", "spawnv"})


def _evaluate_getattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name = arguments.find(0), arguments.find(1)
    if owner is None or name is None:
        return None
    found: list[Value] = []
    for option in list_options(name):
        text = find_constant_text(option)
        if text is not None:
            member = attributes.load_attribute(m, owner, text, node)
            if text not in m.text and isinstance(member, Ref) and _starts_programs(member):
                m.add("attribute.dynamic", node, f"puts the name {member.name} together")
            found.append(member)
        elif isinstance(owner, Ref) and owner.name in m.sensitive:
            m.add("attribute.dynamic", node, f"takes an attribute that is not known out of {owner.name}")
            found.append(UNKNOWN)
        else:
            found.append(Unknown(compute_taint(owner)))
    return build_union_of(found)


def _evaluate_getattribute(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    if owner in {"object", "type", "super()"}:
        return _evaluate_getattr(m, function, arguments, node)
    return _evaluate_getattr(m, function, Arguments([Ref(owner), *arguments.positional], {}), node)


def _evaluate_setattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name, value = arguments.find(0), find_constant_text(arguments.find(1)), arguments.find(2)
    if owner is not None and value is not None:
        attributes.write_attribute(m, owner, name, value, node)
    return Const(None)


def _evaluate_import_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = arguments.find(0, "name")
    if name is None:
        return None
    found: list[Value] = []
    for option in list_options(name):
        text = find_constant_text(option)
        if text is None:
            m.add("attribute.dynamic", node, f"{function.name} imports a module that is not known")
            found.append(UNKNOWN)
            continue
        check_own_modules(m, text, node)
        if text not in m.text and text in m.sensitive:
            m.add("attribute.dynamic", node, f"puts the name {text} together")
        top = text.partition(".")[0]
        plain = function.name == "__import__" and arguments.find(3, "fromlist") is None
        found.append(Ref(normalise_name(top if plain else text)))
        if top in m.context.boundary.policy.denied_modules:
            m.add("module.odd", node, f"imports {text}, whose calls the policy denies")
    return build_union_of(found)


def _evaluate_vars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = arguments.find(0)
    if owner is None:
        return Ref("vars()", CALLABLE)
    if isinstance(owner, Ref):
        return Ref(f"{owner.name}.__dict__", CALLABLE)
    if isinstance(owner, Instance | Klass):
        return attributes.read_namespace(owner)
    return None


def _evaluate_namespace_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    key = arguments.find(0)
    if key is None:
        return None
    if owner in {"globals()", "locals()", "vars()", "sys.modules"} or owner.endswith(".__dict__"):
        return attributes.load_item(m, Ref(owner), key, node)
    if function.owner is not None and isinstance(function.owner, Mapping):
        return evaluate_mapping_get(m, function, arguments, node)
    return None


def _evaluate_getter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `attrgetter`, `itemgetter` and `methodcaller` make, which is called with its owner."""
    return Partial(Ref(f"{function.name}()"), list(arguments.positional), dict(arguments.named))


def _evaluate_attrgetter_call(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    name, owner = find_constant_text(arguments.find(0)), arguments.find(1)
    if name is None or owner is None:
        return None
    for part in name.split("."):
        owner = attributes.load_attribute(m, owner, part, node)
    return owner


def _evaluate_itemgetter_call(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    key, owner = arguments.find(0), arguments.find(1)
    if key is None or owner is None:
        return None
    return attributes.load_item(m, owner, key, node)


def _evaluate_methodcaller_call(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    name = find_constant_text(arguments.find(0))
    if name is None or len(arguments.positional) < 2:
        return None
    owner = arguments.positional[-1]
    method = attributes.load_attribute(m, owner, name, node)
    return m.evaluate_call(
        method, Arguments(arguments.positional[1:-1], arguments.named, arguments.more), node
    )


def _evaluate_partial(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return None
    return Partial(arguments.positional[0], arguments.positional[1:], arguments.named)


def _evaluate_kept_owner(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.find(0)
    if value is not None:
        return Ref(f"{function.name}()", CLEAN, value)
    return None


def _evaluate_named_tuple(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    fields = arguments.find(1, "field_names")
    text = find_constant_text(fields)
    names: list[str | None] = list(text.replace(",", " ").split()) if text is not None else []
    if isinstance(fields, Items):
        names = [find_constant_text(item) for item in fields.items]
    return Klass(
        find_constant_text(arguments.find(0)) or "?", [], {}, [name for name in names if name is not None]
    )


def _evaluate_load_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `find_spec('os').loader.load_module()` gives."""
    return Ref(normalise_name(function.name.partition(".loader")[0]))


def _evaluate_dumps(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.find(0)
    if value is not None:
        return Ref("pickle.dumps()", CLEAN, value)
    return None


def _evaluate_pickle_encoding(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    """Return a pickle the program made as it is: loading it encoded or compressed gives the same object."""
    value = arguments.find(0)
    if isinstance(value, Ref) and value.name == "pickle.dumps()":
        return value
    return None


def _evaluate_super(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return the object whose method is read, as one of the class behind the method's own."""
    receiver = m.scope.find("self")
    if not isinstance(receiver, Instance):
        return None
    found = (_find_class_of_method(receiver.klass, frame.key) for frame in reversed(m.frames))
    own = next((klass for klass in found if klass is not None), receiver.klass)
    for base in own.bases:
        if isinstance(base, Klass):
            return Instance(base, receiver.attributes, receiver=receiver)
        if isinstance(base, Ref) and "." in base.name:
            return Ref(f"{base.name}()")
    return None


def _find_class_of_method(klass: Klass, key: object) -> Klass | None:
    """Return the class that defines the method with this key: an object's own, or one of its bases."""
    for member in klass.attributes.values():
        if isinstance(member, Function) and id(member.node) == key:
            return klass
    found = (_find_class_of_method(base, key) for base in klass.bases if isinstance(base, Klass))
    return next((base for base in found if base is not None), None)


def _evaluate_type(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) == 3 and isinstance(arguments.positional[2], Mapping):
        name = find_constant_text(arguments.positional[0]) or "?"
        bases, _ = list_elements(arguments.positional[1])
        members = {str(key): value for key, value in arguments.positional[2].entries.items()}
        return Klass(name, list(bases), members, [])
    value = arguments.find(0)
    if isinstance(value, Instance):
        return value.klass
    return Ref("type") if value is not None else None


def _evaluate_resolve_name(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    text = find_constant_text(arguments.find(0))
    if text is None:
        return None
    return Ref(normalise_name(text.replace(":", ".")))


def _evaluate_entry_point(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return an entry point of the program's own, which loads the object that its value names."""
    instance = Instance(Klass("EntryPoint", [], {}, []))
    for index, name in enumerate(("name", "value", "group")):
        instance.attributes[name] = arguments.find(index, name) or UNKNOWN
    instance.attributes["load"] = Partial(Ref("pkgutil.resolve_name"), [instance.attributes["value"]])
    return instance


def _evaluate_simple_namespace(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    instance = Instance(Klass("SimpleNamespace", [], {}, []))
    instance.attributes.update(arguments.named)
    return instance


def _evaluate_add_argument(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Note an argument of a parser of command lines, with its default."""
    flags = [find_constant_text(one) or "" for one in arguments.positional]
    name = find_constant_text(arguments.named.get("dest")) or max(flags, key=len, default="")
    m.command_arguments[name.lstrip("-").replace("-", "_")] = arguments.named.get("default", Const(None))
    return None


def _evaluate_parsed_arguments(
    m: Machine, function: Ref, arguments: Arguments, node: ast.expr
) -> Value | None:
    """Return what a parser makes of a command line that the program states: its words, or the defaults."""
    words = arguments.find(0, "args")
    if not isinstance(words, Items) or words.more:
        return None
    parsed = Instance(Klass("Namespace", [], {}, []))
    for name, default in m.command_arguments.items():
        parsed.attributes[name] = build_union_of([default, *words.items])
    return parsed


def evaluate_call_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `f.__call__(…)` gives."""
    owner = function.owner
    if owner is not None and function.name == "?.__call__":
        return m.evaluate_call(owner, arguments, node)
    name = function.name.removesuffix(".__call__")
    return m.evaluate_call(Ref(name, function.taint, function.owner), arguments, node)


REFLECTION: Final[dict[str, Model]] = {
    "argument": _evaluate_add_argument,
    "arguments": _evaluate_parsed_arguments,
    "attribute": _evaluate_getattr,
    "attribute-of": _evaluate_attrgetter_call,
    "dump": _evaluate_dumps,
    "entry-point": _evaluate_entry_point,
    "encode": _evaluate_pickle_encoding,
    "getter": _evaluate_getter,
    "import": _evaluate_import_module,
    "item-of": _evaluate_itemgetter_call,
    "keep": _evaluate_kept_owner,
    "method-of": _evaluate_methodcaller_call,
    "named-tuple": _evaluate_named_tuple,
    "namespace": _evaluate_simple_namespace,
    "partial": _evaluate_partial,
    "resolve": _evaluate_resolve_name,
    "set-attribute": _evaluate_setattr,
    "super": _evaluate_super,
    "type": _evaluate_type,
    "vars": _evaluate_vars,
}
"""What kinds of `data/python.txt` mean that reach names, functions and objects."""


def find_reflective_model(name: str) -> Model | None:
    """Find the model of a name that ends in a reflective method, such as `sys.modules.get`."""
    if name.endswith(".__getattribute__"):
        return _evaluate_getattribute
    if name.endswith((".get", ".pop", ".__getitem__")) and (
        name.startswith(("globals()", "locals()", "vars()", "sys.modules")) or ".__dict__" in name
    ):
        return _evaluate_namespace_get
    if name.endswith(".loader.load_module"):
        return _evaluate_load_module
    return evaluate_call_method if name.endswith(".__call__") else None
