"""Models of reflection: names reached by text, calls made by other calls, objects made without a class.

In: a resolved name such as `getattr` or `operator.attrgetter` and abstract arguments. Out: the abstract
result.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
from string import Template
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.python import attributes
from spanproof.sandbox.scanners.python.containers import mapping_get
from spanproof.sandbox.scanners.python.machine import Machine, Model, gives, passes_on
from spanproof.sandbox.scanners.python.names import KNOWLEDGE, canonical
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
    constant_text,
    elements_of,
    join_all,
    options_of,
    taint_of,
)


def _getattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name = arguments.get(0), arguments.get(1)
    if owner is None or name is None:
        return None
    found: list[Value] = []
    for option in options_of(name):
        text = constant_text(option)
        if text is not None:
            found.append(attributes.load(m, owner, text, node))
        elif isinstance(owner, Ref) and owner.name in m.sensitive:
            m.add("attribute.dynamic", node, f"takes an attribute that is not known out of {owner.name}")
            found.append(UNKNOWN)
        else:
            found.append(Unknown(taint_of(owner)))
    return join_all(found)


def _bound_getattribute(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    if owner in {"object", "type", "super()"}:
        return _getattr(m, function, arguments, node)
    return _getattr(m, function, Arguments([Ref(owner), *arguments.positional], {}), node)


def _setattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name, value = arguments.get(0), constant_text(arguments.get(1)), arguments.get(2)
    if owner is not None and name is not None and value is not None:
        attributes.store_attribute(m, owner, name, value, node)
    return Const(None)


def _import_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = arguments.get(0, "name")
    if name is None:
        return None
    found: list[Value] = []
    for option in options_of(name):
        text = constant_text(option)
        if text is None:
            m.add("attribute.dynamic", node, f"{function.name} imports a module that is not known")
            found.append(UNKNOWN)
            continue
        top = text.partition(".")[0]
        plain = function.name == "__import__" and arguments.get(3, "fromlist") is None
        found.append(Ref(canonical(top if plain else text)))
        if top in m.context.boundary.policy.denied_modules:
            m.add("module.odd", node, f"imports {text}, whose calls the policy denies")
    return join_all(found)


def _vars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = arguments.get(0)
    if owner is None:
        return Ref("vars()", CALLABLE)
    if isinstance(owner, Ref):
        return Ref(f"{owner.name}.__dict__", CALLABLE)
    if isinstance(owner, Instance | Klass):
        return Mapping(dict(owner.attributes))
    return None


def _namespace_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.name.rpartition(".")[0]
    key = arguments.get(0)
    if key is None:
        return None
    if owner in {"globals()", "locals()", "vars()", "sys.modules"} or owner.endswith(".__dict__"):
        return attributes.item(m, Ref(owner), key, node)
    if function.owner is not None and isinstance(function.owner, Mapping):
        return mapping_get(m, function, arguments, node)
    return None


def _getter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`attrgetter`, `itemgetter` and `methodcaller`: what they make is called with its owner."""
    return Partial(Ref(f"{function.name}()"), list(arguments.positional), dict(arguments.named))


def _attrgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name, owner = constant_text(arguments.get(0)), arguments.get(1)
    if name is None or owner is None:
        return None
    for part in name.split("."):
        owner = attributes.load(m, owner, part, node)
    return owner


def _itemgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    key, owner = arguments.get(0), arguments.get(1)
    return None if key is None or owner is None else attributes.item(m, owner, key, node)


def _methodcaller_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = constant_text(arguments.get(0))
    if name is None or len(arguments.positional) < 2:
        return None
    owner = arguments.positional[-1]
    method = attributes.load(m, owner, name, node)
    return m.call(method, Arguments(arguments.positional[1:-1], arguments.named, arguments.more), node)


def _partial(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return None
    return Partial(arguments.positional[0], arguments.positional[1:], arguments.named)


def _keeps_owner(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return Ref(f"{function.name}()", CLEAN, value) if value is not None else None


def _substitute(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`string.Template(…).substitute(…)`."""
    template = constant_text(function.owner)
    if template is None or not function.name.startswith("string.Template()"):
        return None
    given = arguments.get(0)
    named = dict(given.entries) if isinstance(given, Mapping) else {}
    named.update(arguments.named)
    texts = {str(key): text for key, value in named.items() if (text := constant_text(value)) is not None}
    return Const(Template(template).safe_substitute(texts)) if len(texts) == len(named) else None


def _named_tuple(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    given = arguments.get(1, "field_names")
    text = constant_text(given)
    names: list[str | None] = list(text.replace(",", " ").split()) if text is not None else []
    if isinstance(given, Items):
        names = [constant_text(item) for item in given.items]
    return Klass(constant_text(arguments.get(0)) or "?", [], {}, [name for name in names if name is not None])


def _loaded_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`find_spec('os').loader.load_module()`."""
    return Ref(canonical(function.name.partition(".loader")[0]))


def _dumps(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return Ref("pickle.dumps()", CLEAN, value) if value is not None else None


def _transparent(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Encoding and compressing a pickle the program made: loading it gives the same object."""
    value = arguments.get(0)
    return value if isinstance(value, Ref) and value.name == "pickle.dumps()" else None


def _super(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    for frame in reversed(m.frames):
        receiver = m.scope.find("self")
        if isinstance(receiver, Instance) and frame is not None:
            for base in receiver.klass.bases:
                if isinstance(base, Klass):
                    proxy = Instance(base)
                    proxy.attributes = receiver.attributes
                    return proxy
    return None


def _type(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) == 3 and isinstance(arguments.positional[2], Mapping):
        name = constant_text(arguments.positional[0]) or "?"
        bases, _ = elements_of(arguments.positional[1])
        members = {str(key): value for key, value in arguments.positional[2].entries.items()}
        return Klass(name, list(bases), members, [])
    value = arguments.get(0)
    if isinstance(value, Instance):
        return value.klass
    return Ref("type") if value is not None else None


def _resolve_name(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    text = constant_text(arguments.get(0))
    return None if text is None else Ref(canonical(text.replace(":", ".")))


def _simple_namespace(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    instance = Instance(Klass("SimpleNamespace", [], {}, []))
    instance.attributes.update(arguments.named)
    return instance


def _call_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`f.__call__(…)`."""
    owner = function.owner
    if owner is not None and function.name == "?.__call__":
        return m.call(owner, arguments, node)
    name = function.name.removesuffix(".__call__")
    return m.call(Ref(name, function.taint, function.owner), arguments, node)


_SOURCE: Final = passes_on("source")

MODELS: Final[dict[str, Model]] = {
    "getattr": _getattr, "object.__getattribute__": _getattr, "type.__getattribute__": _getattr,
    "inspect.getattr_static": _getattr, "setattr": _setattr, "object.__setattr__": _setattr,
    "__import__": _import_module, "importlib.import_module": _import_module,
    "__loader__.load_module": _import_module, "importlib.reload": _SOURCE,
    "importlib.util.find_spec": _import_module, "importlib.util.module_from_spec": _SOURCE,
    "pkgutil.resolve_name": _resolve_name, "vars": _vars,
    "globals": gives(Ref("globals()", CALLABLE)), "locals": gives(Ref("locals()", CALLABLE)),
    **dict.fromkeys(("operator.attrgetter", "operator.itemgetter", "operator.methodcaller"), _getter),
    "operator.attrgetter()": _attrgetter_call, "operator.itemgetter()": _itemgetter_call,
    "operator.methodcaller()": _methodcaller_call,
    "functools.partial": _partial, "compile": _SOURCE, "ast.parse": _SOURCE,
    "ast.unparse": _SOURCE, "io.BytesIO": _keeps_owner, "string.Template": _keeps_owner,
    "io.StringIO": _keeps_owner,
    "pickle.dumps": _dumps, "jsonpickle.encode": _dumps, "jsonpickle.dumps": _dumps,
    "input": gives(Unknown(frozenset({"input"}))),
    "getpass.getpass": gives(Unknown(frozenset({"secret"}))), "super": _super, "type": _type,
    "collections.namedtuple": _named_tuple,
    "types.SimpleNamespace": _simple_namespace, "argparse.Namespace": _simple_namespace,
    **dict.fromkeys(words_of(KNOWLEDGE["folded"], "transparent"), _transparent),
}  # fmt: skip
"""Models by resolved name."""


METHODS: Final[dict[str, Model]] = {
    "substitute": _substitute, "safe_substitute": _substitute,
    "__call__": _call_method,
}  # fmt: skip
"""Models of methods, by name, for values whose class the program shows."""


def reflective(name: str) -> Model | None:
    """Models whose name ends in a reflective method: `os.__getattribute__`, `sys.modules.get`."""
    if name.endswith(".__getattribute__"):
        return _bound_getattribute
    if name.endswith((".get", ".pop", ".__getitem__")) and (
        name.startswith(("globals()", "locals()", "vars()", "sys.modules")) or ".__dict__" in name
    ):
        return _namespace_get
    if name.endswith(".loader.load_module"):
        return _loaded_module
    return _call_method if name.endswith(".__call__") else None
