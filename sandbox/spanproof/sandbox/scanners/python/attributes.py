"""Attributes, items and targets: what `value.name` and `value[key]` mean, and what an assignment binds.

Walks through the interpreter's internals (`__globals__`, `__subclasses__`) are found here, and so are the
detours to a name: `vars(os)['system']`, `sys.modules['os']`, `globals()['open']`.
"""

from __future__ import annotations

import ast
import posixpath
import string
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.python import fold
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import BUILTINS, KNOWLEDGE, SINKS, normalise_name
from spanproof.sandbox.scanners.reader.effects import build_replaced
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
    OneOf,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    build_text,
    build_union_of,
    compute_taint,
    list_elements,
    list_options,
    to_pieces,
)
from spanproof.sandbox.words import split_words

_NAMESPACES = frozenset({"__globals__", "__builtins__", "f_globals", "f_builtins", "func_globals"})
_INTERNALS = split_words(
    "__code__ __closure__ gi_frame cr_frame ag_frame tb_frame f_back f_locals gi_code func_code"
    " __getattribute__ __reduce_ex__"
)  # fmt: skip
_TYPES = frozenset({"__class__", "__base__", "__bases__", "__mro__"})

_MAX_PAIRS = 36
# Characters of a resolved name; a longer chain of calls is no sink of ours.
_MAX_NAME = 160

_CONSTANTS = {
    **KNOWLEDGE["constants"],
    "typing.TYPE_CHECKING": False,
    "os.linesep": "\n",
    **{f"string.{name}": text for name in string.__all__ if isinstance(text := getattr(string, name), str)},
}


def load_attribute(m: Machine, value: Value, name: str, node: ast.expr) -> Value:
    """Return what `value.name` gives."""
    if isinstance(value, OneOf):
        return build_union_of(load_attribute(m, option, name, node) for option in value.options)
    if name.startswith(("__", "f_", "gi_", "cr_", "tb_", "ag_", "func_")):
        found = _evaluate_internal(m, value, name, node)
        if found is not None:
            return found
    if isinstance(value, Ref):
        return _read_reference_attribute(m, value, name, node)
    if name == "value" and isinstance(value, Const):
        return value  # a member of an enumeration
    if isinstance(value, Instance | Klass):
        found = find_member(m, value, name, node)
        if found is not None:
            return found
        return Ref(f"?.{name}", compute_taint(value), value)
    if isinstance(value, Path):
        return _read_path_attribute(value, name)
    return Ref(f"?.{name}", compute_taint(value), value)


def find_member(m: Machine, value: Value, name: str, node: ast.expr) -> Value | None:
    """Return an attribute of an object or class of the program; None when it is defined nowhere in it."""
    if isinstance(value, Instance):
        return _find_instance_member(m, value, name, node)
    if isinstance(value, Klass):
        found = _find_inherited(value, name)
        is_class_method = isinstance(found, Function) and _has_decorator(found, "classmethod")
        if found is not None and is_class_method:
            return with_receiver(found, value)
        return found
    return None


def _find_instance_member(m: Machine, value: Instance, name: str, node: ast.expr) -> Value | None:
    own = value.attributes.get(name)
    if own is not None:
        return own
    receiver = value.receiver or value
    found = _find_inherited(value.klass, name)
    if isinstance(found, Ref) and found.name in _STARTS_OF_THREADS:
        return find_member(m, value, "run", node)
    if isinstance(found, Function):
        if _has_decorator(found, "property", "cached_property"):
            return m.evaluate_call(with_receiver(found, receiver), Arguments([]), node)
        if _has_decorator(found, "staticmethod"):
            return found
        return with_receiver(found, receiver)
    fallback = _find_inherited(value.klass, "__getattr__") if found is None else None
    if fallback is not None and not _is_looking_up(m, fallback, receiver, name):
        return m.evaluate_call(with_receiver(fallback, receiver), Arguments([Const(name)], {}), node)
    return found


# What calls the method `run` of an object, of a class that extends a thread or a process.
_STARTS_OF_THREADS: Final = frozenset({"threading.Thread().start", "multiprocessing.Process().start"})


def _is_looking_up(m: Machine, fallback: Value, receiver: Instance, name: str) -> bool:
    """Whether `__getattr__` looks for this attribute of this object already: it is set elsewhere."""
    key = id(fallback.node) if isinstance(fallback, Function) else None
    frames = [list(frame.arguments.values()) for frame in m.frames if frame.key == key]
    for arguments in frames:
        names = [one.value for one in arguments if isinstance(one, Const)]
        if name in names and any(one is receiver for one in arguments):
            return True
    return False


def find_special_method(value: Instance, name: str) -> Value | None:
    """Return a special method as the interpreter looks it up: on the class."""
    found = _find_inherited(value.klass, name) if name else None
    if found is not None and not isinstance(found, Ref):
        return with_receiver(found, value)
    return found


def with_receiver(function: Value, receiver: Value) -> Value:
    """Bind a function to its receiver; other values stay as they are."""
    if not isinstance(function, Function):
        return function
    return Function(
        function.node, function.scope, function.defaults, function.keyword_defaults, receiver, function.owner
    )


def load_item(m: Machine, value: Value, key: Value, node: ast.expr) -> Value:
    """Return what `value[key]` gives."""
    if isinstance(value, OneOf) or isinstance(key, OneOf):
        pairs = [(one, other) for one in list_options(value) for other in list_options(key)]
        entries = [load_item(m, one, other, node) for one, other in pairs[:_MAX_PAIRS]]
        return build_union_of(entries if len(pairs) <= _MAX_PAIRS else [*entries, Unknown(CALLABLE)])
    return _load_single_item(m, value, key, node)


def _load_single_item(m: Machine, value: Value, key: Value, node: ast.expr) -> Value:
    """Return what `value[key]` gives where neither has alternatives."""
    match value:
        case Ref():
            return _read_reference_item(m, value, key, node)
        case Mapping():
            return _read_entry(value, key)
        case Items() if isinstance(key, Const):
            return _read_element(value, key.value)
        case Const() if isinstance(key, Const):
            try:
                return fold.to_abstract(value.value[key.value], value.taint | key.taint)
            except Exception:  # noqa: BLE001 - the program would raise here
                return UNKNOWN
        case Text() if isinstance(key, Const):
            return Unknown(value.taint)
        case Instance():
            method = find_special_method(value, "__getitem__")
            if method is None:
                return UNKNOWN
            return m.evaluate_call(method, Arguments([key], {}), node)
        case Klass():
            method = _find_inherited(value, "__class_getitem__")
            if method is None:
                return UNKNOWN
            return m.evaluate_call(with_receiver(method, value), Arguments([key], {}), node)
    elements, _ = list_elements(value)
    return build_union_of(elements)


def write_target(m: Machine, target: ast.expr, value: Value) -> None:
    """Assign a value to a target, unpacking as Python does."""
    if isinstance(target, ast.Name):
        elsewhere = m.scope.declared_global.get(target.id)
        if elsewhere is None:
            m.scope.write_name(target.id, value)
        else:
            m.write_value(elsewhere.names, target.id, value, elsewhere)
    elif isinstance(target, ast.Tuple | ast.List):
        _write_targets(m, target.elts, value)
    elif isinstance(target, ast.Attribute):
        write_attribute(m, m.evaluate(target.value), target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        write_item(m, m.evaluate(target.value), m.evaluate(target.slice), value, target)
    elif isinstance(target, ast.Starred):
        write_target(m, target.value, value)


def build_path(parts: Sequence[Value], *, as_path: bool) -> Value:
    """Join as `os.path.join` does, or `/` between pathlib paths: an absolute part starts anew."""
    pieces: list[str | None] = []
    taint = CLEAN
    for part in parts:
        text = to_pieces(part)
        taint |= compute_taint(part)
        starts_anew = (text[0] or "").startswith("/") or "place" in compute_taint(part)
        if starts_anew:
            pieces = list(text)
            continue
        separate = bool(pieces) and pieces != [""] and not (pieces[-1] or "").endswith("/")
        pieces.extend(["/", *text] if separate else text)
    joined = build_text(pieces, taint)
    return Path(to_pieces(joined), taint) if as_path else joined


def read_namespace_entry(m: Machine, name: str) -> Value:
    """Return what `globals()[name]` gives."""
    found = m.scope.find(name)
    if found is not None:
        return found
    if name == "__builtins__":
        return Ref("builtins")
    if name in BUILTINS:
        return Ref(normalise_name(name))
    return Unknown(frozenset({"free"}))


def _evaluate_internal(m: Machine, value: Value, name: str, node: ast.expr) -> Value | None:
    if name in _NAMESPACES:
        m.add("escape.dunder", node, f"walks through {name} to the interpreter's own namespace")
        return Ref("builtins.__dict__")
    if name == "__subclasses__":
        if isinstance(value, Unknown):
            m.add("escape.internals", node, "lists the subclasses of a class that is not known")
        elif not isinstance(value, Klass | Instance):
            m.add("escape.dunder", node, "lists all loaded classes by __subclasses__")
        return Ref("?.subclasses")
    if name in _INTERNALS and not (name == "__getattribute__" and isinstance(value, Ref)):
        m.add("escape.internals", node, f"reads {name}, which leads into the interpreter")
        return Unknown()
    if name in _TYPES and not isinstance(value, Instance | Klass):
        return Ref("type")
    match value:
        case Function():
            return _evaluate_function_attribute(m, value, name)
        case Instance() if name == "__class__":
            return value.klass
        case Instance() | Klass() if name == "__dict__":
            return read_namespace(value)
        case Ref() if name == "__self__":
            return Ref("builtins")
    return None


def _evaluate_function_attribute(m: Machine, value: Function, name: str) -> Value | None:
    """Return what a function of the program carries with it."""
    if name == "__defaults__":
        return Items(list(value.defaults), "tuple")
    if name == "__kwdefaults__":
        return Mapping({}, [one for one in value.keyword_defaults if one is not None])
    if name == "__annotations__":
        spec = value.node.args
        annotations = [one.annotation for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        annotations.append(getattr(value.node, "returns", None))
        return Mapping({}, [m.evaluate(one) for one in annotations if one is not None])
    if name in {"__wrapped__", "__func__", "__call__"}:
        return value
    return None


def _read_reference_attribute(m: Machine, value: Ref, name: str, node: ast.expr) -> Value:
    if value.name == "type" and name in {"mro", "__mro__"}:
        return Ref("type")
    if len(value.name) > _MAX_NAME:
        return Ref(f"?.{name}", value.taint, value.owner)
    resolved = normalise_name(f"{value.name}.{name}")
    if value.name == "os.environ" and (name.startswith("_") and not name.endswith("__")):
        return m.evaluate_call(Ref("os.environ.copy"), Arguments([]), node)
    override = m.overrides.get(resolved)
    if override is not None:
        return override
    constant = _CONSTANTS.get(resolved)
    if constant is not None:
        return Const(constant)
    if value.name in _PARSED_URLS and isinstance(value.owner, Const):
        return _read_part_of_url(value.owner, name)
    taint = CALLABLE if name == "__dict__" or resolved == "sys.modules" else value.taint
    return Ref(resolved, taint, value.owner if value.owner is not None else None)


# What `urlparse` gives, with the text of the URL as its owner.
_PARSED_URLS: Final = frozenset({"urllib.parse.urlparse()", "urllib.parse.urlsplit()"})
_PARTS_OF_URLS: Final = split_words("scheme netloc hostname port path query fragment")


def evaluate_parsed_url(
    m: Machine,  # noqa: ARG001 - models share one signature
    function: Ref,
    arguments: Arguments,
    node: ast.expr,  # noqa: ARG001
) -> Value | None:
    """Return what parsing a URL gives; None where that is not known."""
    url = arguments.find(0, "url")
    if isinstance(url, Const):
        return Ref(f"{function.name}()", url.taint, url)
    return None


def _read_part_of_url(url: Const, name: str) -> Value:
    if name not in _PARTS_OF_URLS:
        return UNKNOWN
    try:
        return Const(getattr(urlsplit(url.value), name), url.taint)
    except (ValueError, TypeError, AttributeError):
        return UNKNOWN


def _read_path_attribute(value: Path, name: str) -> Value:
    text = value.pieces[0] if len(value.pieces) == 1 else None
    if name in {"name", "stem", "suffix"}:
        if text is None:
            return Unknown(frozenset({"name"}))
        base = posixpath.basename(text.rstrip("/"))
        root, suffix = posixpath.splitext(base)
        return Const({"name": base, "stem": root, "suffix": suffix}[name], value.taint)
    if name == "parent":
        if text is not None:
            return Path((posixpath.dirname(text.rstrip("/")) or ".",), value.taint)
        return Path(_compute_parent(value.pieces), value.taint)
    if name == "parents":
        return Items(
            [Path((one,), value.taint) for one in _list_parents(text)] if text else [UNKNOWN], "tuple"
        )
    return Ref(f"pathlib.Path().{name}", value.taint, value)


def _list_parents(text: str) -> list[str]:
    """Return the directories above a path, as many as there can be in it."""
    found = [text.rstrip("/")]
    while found[-1] not in {"", ".", "/"}:
        found.append(posixpath.dirname(found[-1]) or ("/" if text.startswith("/") else "."))
    return found[1:] or [found[0] or "/"]


def _compute_parent(pieces: Pieces) -> Pieces:
    head = pieces[0]
    if head is None:
        return (None,)
    if len(pieces) == 2:
        return (head.rpartition("/")[0] or ".",)
    return pieces


# Namespaces whose items are names of the program or of modules, and the finding where one is not known.
_NAMED_ITEMS: Final = {
    "builtins": "takes a built-in function that is not known",
    "sys.modules": "takes a module that is not known out of sys.modules",
    **dict.fromkeys(("globals()", "locals()", "vars()"), "takes a name that is not known out of a namespace"),
}


def _read_reference_item(m: Machine, value: Ref, key: Value, node: ast.expr) -> Value:
    name = value.name
    if name == "os.environ":
        return m.evaluate_call(Ref("os.environ.__getitem__"), Arguments([key], {}), node)
    if name == "type":
        return Ref("type")
    is_dictionary = name.endswith(".__dict__")
    if name not in _NAMED_ITEMS and not is_dictionary:
        return Ref(f"{name}[]", value.taint, value.owner)
    text = key.value if isinstance(key, Const) else None
    if not isinstance(text, str):
        message = _NAMED_ITEMS.get(name, f"takes a name that is not known out of {name}")
        m.add("attribute.dynamic", node, message)
        return UNKNOWN
    if is_dictionary:
        return load_attribute(m, Ref(name.removesuffix(".__dict__")), text, node)
    # `__builtins__` is a dictionary in any module but the first.
    if name in {"builtins", "sys.modules"}:
        return Ref(normalise_name(text))
    return read_namespace_entry(m, text)


def _read_entry(value: Mapping, key: Value) -> Value:
    try:
        found = value.entries.get(fold.to_concrete(key))
    except (fold.NotKnown, TypeError):
        return build_union_of([*value.entries.values(), *value.rest])
    return build_union_of(value.rest if found is None else [found, *value.rest])


def _read_element(value: Items, key: object) -> Value:
    if isinstance(key, slice):
        if value.more:
            # Which items are at which place is not known.
            return Items(list(value.items), value.kind, more=True)
        try:
            return Items(value.items[key], value.kind, value.more)
        except (TypeError, ValueError):
            return UNKNOWN
    if isinstance(key, int) and not value.more and -len(value.items) <= key < len(value.items):
        return value.items[key]
    return build_union_of(value.items) if value.items else UNKNOWN


def _write_targets(m: Machine, targets: Sequence[ast.expr], value: Value) -> None:
    elements, whole = list_elements(value)
    starred = next((index for index, one in enumerate(targets) if isinstance(one, ast.Starred)), None)
    if starred is not None and whole and len(elements) >= len(targets) - 1:
        after = len(targets) - starred - 1
        middle = Items(elements[starred : len(elements) - after])
        elements = [*elements[:starred], middle, *elements[len(elements) - after :]]
    if whole and len(elements) == len(targets):
        for target, element in zip(targets, elements, strict=True):
            write_target(m, target, element)
        return
    columns = None if starred is not None else _find_columns(value, len(targets))
    if columns is not None:
        for target, column in zip(targets, columns, strict=True):
            write_target(m, target, column)
        return
    shared = build_union_of(elements) if elements else UNKNOWN
    for target in targets:
        write_target(m, target, shared)


def _find_columns(value: Value, width: int) -> list[Value] | None:
    """Return what each place of several tuples of one width may hold: of the pairs of `items()`, for one."""
    rows = [list_elements(option) for option in list_options(value)]
    if len(rows) < 2 or any(not whole or len(row) != width for row, whole in rows):
        return None
    return [build_union_of(column) for column in zip(*(row for row, _whole in rows), strict=True)]


def read_namespace(value: Instance | Klass) -> Mapping:
    """Return `vars(value)`: the attributes of an object themselves, those of a class to be read alone."""
    is_object = isinstance(value, Instance)
    return Mapping(value.attributes if is_object else dict(value.attributes), is_of_object=is_object)


def write_attribute(m: Machine, owner: Value, name: str | None, value: Value, node: ast.expr) -> None:
    """Set an attribute: what `owner.name = value` does; without a name, one that is not known."""
    if name in {"__code__", "__globals__", "__builtins__"}:
        m.add("escape.dunder", node, f"replaces {name}")
    for option in list_options(owner):
        if isinstance(option, Instance | Klass):
            _write_to_object(m, option, name, value)
            for base in list_outer_bases(option.klass if isinstance(option, Instance) else option):
                if name in _PROXIES:
                    m.tables.set_attribute(m, Ref(f"{base.name}()"), name, value, node)
        elif isinstance(option, Ref) and name is not None:
            m.tables.set_attribute(m, option, name, value, node)
            if "()" not in option.name:
                resolved = normalise_name(f"{option.name}.{name}")
                m.write_value(m.overrides, resolved, value)
                if resolved in SINKS and isinstance(value, Function):
                    others = [UNKNOWN for _ in value.node.args.args[1:]]
                    m.evaluate_call(value, Arguments([build_replaced(resolved), *others]), node)


# Where a client goes through, also one of a class of the program.
_PROXIES: Final = frozenset({"proxies", "proxy"})


def list_outer_bases(klass: Klass) -> list[Ref]:
    """Return the classes of modules that a class has as bases, also through other classes of the program."""
    classes, bases = [klass], list(klass.bases)
    for base in bases:
        if isinstance(base, Klass) and base not in classes:
            classes.append(base)
            bases += base.bases
    return [base for base in bases if isinstance(base, Ref)]


def _write_to_object(m: Machine, owner: Instance | Klass, name: str | None, value: Value) -> None:
    if name is None:
        m.write_to_any_key(owner.attributes, value)
    elif name != "__dict__":
        m.write_value(owner.attributes, name, value)
    elif isinstance(value, Mapping) and not value.rest:
        for key, entry in value.entries.items():
            m.write_value(owner.attributes, key, entry)
    else:
        m.write_to_any_key(owner.attributes, UNKNOWN)


def write_item(m: Machine, owner: Value, key: Value, value: Value, node: ast.expr) -> None:
    """Set an item: what `owner[key] = value` does."""
    for option in list_options(owner):
        if isinstance(option, Ref):
            _write_to_reference(m, option, key, value, node)
        elif isinstance(option, Mapping):
            try:
                m.write_value(option.entries, fold.to_concrete(key), value)
            except (fold.NotKnown, TypeError):
                m.write_to_unknown_key(option, value)
        elif isinstance(option, Items):
            _update_items(m, option, key, value)
        elif isinstance(option, Instance):
            method = find_special_method(option, "__setitem__")
            if method is not None:
                m.evaluate_call(method, Arguments([key, value], {}), node)


def _update_items(m: Machine, owner: Items, key: Value, value: Value) -> None:
    """Set an item of a list, or a slice of it; the list grows where the position is not known."""
    index = key.value if isinstance(key, Const) else None
    if isinstance(index, slice):
        added, whole = list_elements(value)
        if index == slice(None) and not m.uncertain:
            m.record_list_change(owner, added)
            owner.items[:] = added
            owner.more = not whole
        else:
            m.add_items(owner, list(added))
            owner.more = True
        return
    m.record_list_change(owner, [value])
    size = len(owner.items)
    if not owner.more and type(index) is int and -size <= index < size:
        owner.items[index] = value
    else:
        owner.items.append(value)
        owner.more = True


# Copies of the environment, for programs that are started.
_ENVIRONMENTS: Final = frozenset({"os.environ.copy()", "dict(os.environ)", "copy.copy()"})


def _write_to_reference(m: Machine, owner: Ref, key: Value, value: Value, node: ast.expr) -> None:
    text = key.value if isinstance(key, Const) and isinstance(key.value, str) else None
    if owner.name == "os.environ":
        m.evaluate_call(Ref("os.putenv"), Arguments([key, value], {}), node)
    elif f"{owner.name}.update" in SINKS:  # an item, as `rcParams["text.usetex"] = True`
        m.evaluate_call(Ref(f"{owner.name}.update"), Arguments([Mapping({text: value})]), node)
    elif owner.name in _ENVIRONMENTS:
        m.check_variables([(text, value)], owner.name, node)
    elif owner.name == "sys.path" or owner.name.endswith((".proxies", ".proxy")):
        head, _, attribute = owner.name.rpartition(".")
        m.tables.set_attribute(m, Ref(head), attribute, value, node)
    elif text is not None and owner.name in {"globals()", "locals()", "vars()"}:
        m.scope.write_name(text, value)
    elif text is not None and owner.name.endswith(".__dict__"):
        m.write_value(m.overrides, normalise_name(f"{owner.name[:-9]}.{text}"), value)


def _find_inherited(klass: Klass, name: str, depth: int = 0) -> Value | None:
    found = klass.attributes.get(name)
    if found is not None or depth > 8:
        return found
    for base in klass.bases:
        if isinstance(base, Klass):
            found = _find_inherited(base, name, depth + 1)
            if found is not None:
                return found
        elif isinstance(base, Ref) and not name.startswith("__") and base.name not in {"object", "Exception"}:
            return Ref(f"{base.name}().{name}")
    return None


def _has_decorator(function: Function, *names: str) -> bool:
    decorators = getattr(function.node, "decorator_list", [])
    for decorator in decorators:
        match decorator:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in names:
                return True
    return False
