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
from spanproof.sandbox.scanners.python.own_modules import read_own_modules
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    CLEAN,
    UNKNOWN,
    Const,
    Instance,
    Items,
    Klass,
    Mapping,
    Partial,
    Ref,
    Unknown,
    Value,
    collect_taint,
    join,
    join_all,
    list_elements,
    list_options,
    read_constant_text,
)


def model_mapping_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `dict.get` and its kin give."""
    owner = function.owner
    key = arguments.get(0)
    if isinstance(owner, Items) and owner.items:
        return join_all(owner.items)  # a queue
    if not isinstance(owner, Mapping) or key is None:
        return None
    try:
        found = owner.entries.get(fold.to_concrete(key))
    except (fold.NotKnown, TypeError):
        return join_all([*owner.entries.values(), *owner.rest, arguments.get(1) or Const(None)])
    if found is not None:
        return found
    default = arguments.get(1) or Const(None)
    return join(default, join_all(owner.rest)) if owner.rest else default


def _starts_programs(function: Ref) -> bool:
    """Whether a function starts programs or runs code."""
    kinds = {effect.kind for effect in SINKS.get(function.name, ())}
    return not kinds.isdisjoint({"shell", "argv", "code", "spawn", "spawnv"})


def _model_getattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name = arguments.get(0), arguments.get(1)
    if owner is None or name is None:
        return None
    found: list[Value] = []
    for option in list_options(name):
        text = read_constant_text(option)
        if text is not None:
            member = attributes.load_attribute(m, owner, text, node)
            if text not in m.text and isinstance(member, Ref) and _starts_programs(member):
                m.add("attribute.dynamic", node, f"puts the name {member.name} together")
            found.append(member)
        elif isinstance(owner, Ref) and owner.name in m.sensitive:
            m.add("attribute.dynamic", node, f"takes an attribute that is not known out of {owner.name}")
            found.append(UNKNOWN)
        else:
            found.append(Unknown(collect_taint(owner)))
    return join_all(found)


def _model_getattribute(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    if owner in {"object", "type", "super()"}:
        return _model_getattr(m, function, arguments, node)
    return _model_getattr(m, function, Arguments([Ref(owner), *arguments.positional], {}), node)


def _model_setattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name, value = arguments.get(0), read_constant_text(arguments.get(1)), arguments.get(2)
    if owner is not None and value is not None:
        attributes.store_attribute(m, owner, name, value, node)
    return Const(None)


def _model_import_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = arguments.get(0, "name")
    if name is None:
        return None
    found: list[Value] = []
    for option in list_options(name):
        text = read_constant_text(option)
        if text is None:
            m.add("attribute.dynamic", node, f"{function.name} imports a module that is not known")
            found.append(UNKNOWN)
            continue
        read_own_modules(m, text, node)
        if text not in m.text and text in m.sensitive:
            m.add("attribute.dynamic", node, f"puts the name {text} together")
        top = text.partition(".")[0]
        plain = function.name == "__import__" and arguments.get(3, "fromlist") is None
        found.append(Ref(normalise_name(top if plain else text)))
        if top in m.context.boundary.policy.denied_modules:
            m.add("module.odd", node, f"imports {text}, whose calls the policy denies")
    return join_all(found)


def _model_vars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = arguments.get(0)
    if owner is None:
        return Ref("vars()", CALLABLE)
    if isinstance(owner, Ref):
        return Ref(f"{owner.name}.__dict__", CALLABLE)
    if isinstance(owner, Instance | Klass):
        return attributes.read_namespace(owner)
    return None


def _model_namespace_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    key = arguments.get(0)
    if key is None:
        return None
    if owner in {"globals()", "locals()", "vars()", "sys.modules"} or owner.endswith(".__dict__"):
        return attributes.load_item(m, Ref(owner), key, node)
    if function.owner is not None and isinstance(function.owner, Mapping):
        return model_mapping_get(m, function, arguments, node)
    return None


def _model_getter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `attrgetter`, `itemgetter` and `methodcaller` make, which is called with its owner."""
    return Partial(Ref(f"{function.name}()"), list(arguments.positional), dict(arguments.named))


def _model_attrgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name, owner = read_constant_text(arguments.get(0)), arguments.get(1)
    if name is None or owner is None:
        return None
    for part in name.split("."):
        owner = attributes.load_attribute(m, owner, part, node)
    return owner


def _model_itemgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    key, owner = arguments.get(0), arguments.get(1)
    if key is None or owner is None:
        return None
    return attributes.load_item(m, owner, key, node)


def _model_methodcaller_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = read_constant_text(arguments.get(0))
    if name is None or len(arguments.positional) < 2:
        return None
    owner = arguments.positional[-1]
    method = attributes.load_attribute(m, owner, name, node)
    return m.call(method, Arguments(arguments.positional[1:-1], arguments.named, arguments.more), node)


def _model_partial(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return None
    return Partial(arguments.positional[0], arguments.positional[1:], arguments.named)


def _model_kept_owner(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is not None:
        return Ref(f"{function.name}()", CLEAN, value)
    return None


def _model_named_tuple(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    given = arguments.get(1, "field_names")
    text = read_constant_text(given)
    names: list[str | None] = list(text.replace(",", " ").split()) if text is not None else []
    if isinstance(given, Items):
        names = [read_constant_text(item) for item in given.items]
    return Klass(
        read_constant_text(arguments.get(0)) or "?", [], {}, [name for name in names if name is not None]
    )


def _model_load_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `find_spec('os').loader.load_module()` gives."""
    return Ref(normalise_name(function.name.partition(".loader")[0]))


def _model_dumps(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is not None:
        return Ref("pickle.dumps()", CLEAN, value)
    return None


def _model_pickle_encoding(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return a pickle the program made as it is: loading it encoded or compressed gives the same object."""
    value = arguments.get(0)
    if isinstance(value, Ref) and value.name == "pickle.dumps()":
        return value
    return None


def _model_super(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    for frame in reversed(m.frames):
        receiver = m.scope.find("self")
        if isinstance(receiver, Instance) and frame is not None:
            for base in receiver.klass.bases:
                if isinstance(base, Klass):
                    proxy = Instance(base)
                    proxy.attributes = receiver.attributes
                    return proxy
                if isinstance(base, Ref) and "." in base.name:
                    return Ref(f"{base.name}()")
    return None


def _model_type(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) == 3 and isinstance(arguments.positional[2], Mapping):
        name = read_constant_text(arguments.positional[0]) or "?"
        bases, _ = list_elements(arguments.positional[1])
        members = {str(key): value for key, value in arguments.positional[2].entries.items()}
        return Klass(name, list(bases), members, [])
    value = arguments.get(0)
    if isinstance(value, Instance):
        return value.klass
    return Ref("type") if value is not None else None


def _model_resolve_name(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    text = read_constant_text(arguments.get(0))
    if text is None:
        return None
    return Ref(normalise_name(text.replace(":", ".")))


def _model_entry_point(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return an entry point of the program's own, which loads the object that its value names."""
    instance = Instance(Klass("EntryPoint", [], {}, []))
    for index, name in enumerate(("name", "value", "group")):
        instance.attributes[name] = arguments.get(index, name) or UNKNOWN
    instance.attributes["load"] = Partial(Ref("pkgutil.resolve_name"), [instance.attributes["value"]])
    return instance


def _model_simple_namespace(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    instance = Instance(Klass("SimpleNamespace", [], {}, []))
    instance.attributes.update(arguments.named)
    return instance


def _model_argument(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Note an argument of a parser of command lines, with its default."""
    flags = [read_constant_text(one) or "" for one in arguments.positional]
    name = read_constant_text(arguments.named.get("dest")) or max(flags, key=len, default="")
    m.command_arguments[name.lstrip("-").replace("-", "_")] = arguments.named.get("default", Const(None))
    return None


def _model_parsed_arguments(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what a parser makes of a command line that the program states: its words, or the defaults."""
    words = arguments.get(0, "args")
    if not isinstance(words, Items) or words.more:
        return None
    parsed = Instance(Klass("Namespace", [], {}, []))
    for name, default in m.command_arguments.items():
        parsed.attributes[name] = join_all([default, *words.items])
    return parsed


def model_call_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Return what `f.__call__(…)` gives."""
    owner = function.owner
    if owner is not None and function.name == "?.__call__":
        return m.call(owner, arguments, node)
    name = function.name.removesuffix(".__call__")
    return m.call(Ref(name, function.taint, function.owner), arguments, node)


REFLECTION: Final[dict[str, Model]] = {
    "argument": _model_argument,
    "arguments": _model_parsed_arguments,
    "attribute": _model_getattr,
    "attribute-of": _model_attrgetter_call,
    "dump": _model_dumps,
    "entry-point": _model_entry_point,
    "encode": _model_pickle_encoding,
    "getter": _model_getter,
    "import": _model_import_module,
    "item-of": _model_itemgetter_call,
    "keep": _model_kept_owner,
    "method-of": _model_methodcaller_call,
    "named-tuple": _model_named_tuple,
    "namespace": _model_simple_namespace,
    "partial": _model_partial,
    "resolve": _model_resolve_name,
    "set-attribute": _model_setattr,
    "super": _model_super,
    "type": _model_type,
    "vars": _model_vars,
}
"""What kinds of `data/python.txt` mean that reach names, functions and objects."""


def find_reflective_model(name: str) -> Model | None:
    """Find the model of a name that ends in a reflective method, such as `sys.modules.get`."""
    if name.endswith(".__getattribute__"):
        return _model_getattribute
    if name.endswith((".get", ".pop", ".__getitem__")) and (
        name.startswith(("globals()", "locals()", "vars()", "sys.modules")) or ".__dict__" in name
    ):
        return _model_namespace_get
    if name.endswith(".loader.load_module"):
        return _model_load_module
    return model_call_method if name.endswith(".__call__") else None
