"""What calls outside the program give, where more is known than a constant: reflection, paths, containers.

In: a resolved name and abstract arguments. Out: the abstract result, or None where the call is like any other.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable
from string import Formatter
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python import attributes, effects, fold
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.names import canonical
from spanproof.sandbox.scanners.python.values import (
    CLEAN,
    MAX_SIZE,
    NAME,
    UNKNOWN,
    Const,
    Function,
    Instance,
    Items,
    Klass,
    Mapping,
    Partial,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    elements_of,
    join,
    join_all,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)

Model = Callable[[Machine, Ref, Arguments, ast.expr], Value | None]

_SENSITIVE = frozenset({"os", "sys", "subprocess", "builtins", "socket", "shutil", "importlib", "posix", "ctypes"})


def _text(value: Value | None) -> str | None:
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def _getattr(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, name = arguments.get(0), arguments.get(1)
    if owner is None or name is None:
        return None
    found: list[Value] = []
    for option in options_of(name):
        text = _text(option)
        if text is not None:
            found.append(attributes.load(m, owner, text, node))
        elif isinstance(owner, Ref) and owner.name in _SENSITIVE:
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
    owner, name, value = arguments.get(0), _text(arguments.get(1)), arguments.get(2)
    if owner is not None and name is not None and value is not None:
        attributes.store_attribute(m, owner, name, value, node)
    return Const(None)


def _import_module(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = arguments.get(0, "name")
    if name is None:
        return None
    found: list[Value] = []
    for option in options_of(name):
        text = _text(option)
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
        return Ref("vars()")
    if isinstance(owner, Ref):
        return Ref(f"{owner.name}.__dict__")
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
        return _mapping_get(m, function, arguments, node)
    return None


def _mapping_get(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    key = arguments.get(0)
    if not isinstance(owner, Mapping) or key is None:
        return None
    try:
        found = owner.entries.get(fold.concrete(key))
    except (fold.NotKnown, TypeError):
        return join_all([*owner.entries.values(), *owner.rest, arguments.get(1) or Const(None)])
    if found is not None:
        return found
    default = arguments.get(1) or Const(None)
    return join(default, join_all(owner.rest)) if owner.rest else default


def _attrgetter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    return Partial(Ref("operator.attrgetter()"), list(arguments.positional), {})


def _attrgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name, owner = _text(arguments.get(0)), arguments.get(1)
    if name is None or owner is None:
        return None
    for part in name.split("."):
        owner = attributes.load(m, owner, part, node)
    return owner


def _itemgetter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    return Partial(Ref("operator.itemgetter()"), list(arguments.positional), {})


def _itemgetter_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    key, owner = arguments.get(0), arguments.get(1)
    return None if key is None or owner is None else attributes.item(m, owner, key, node)


def _methodcaller(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    return Partial(Ref("operator.methodcaller()"), list(arguments.positional), dict(arguments.named))


def _methodcaller_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    name = _text(arguments.get(0))
    if name is None or len(arguments.positional) < 2:
        return None
    owner = arguments.positional[-1]
    method = attributes.load(m, owner, name, node)
    return m.call(method, Arguments(arguments.positional[1:-1], arguments.named, arguments.more), node)


def _partial(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return None
    return Partial(arguments.positional[0], arguments.positional[1:], arguments.named)


def _reduce(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    items, whole = elements_of(arguments.positional[1])
    start = arguments.get(2)
    values = [start, *items] if start is not None else list(items)
    if not whole or not values or len(values) > 4096:
        return None
    result = values[0]
    for value in values[1:]:
        if m.exhausted:
            return None
        result = m.call(arguments.positional[0], Arguments([result, value], {}), node)
    return result


def _map(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) < 2:
        return None
    columns = [elements_of(value) for value in arguments.positional[1:]]
    rows = list(zip(*[items for items, _ in columns], strict=False))
    whole = all(complete for _, complete in columns)
    results: list[Value] = []
    for row in rows[:4096]:
        if m.exhausted:
            whole = False
            break
        results.append(m.call(arguments.positional[0], Arguments(list(row), {}), node))
    return Items(results, "list", not whole or len(rows) > 4096)


def _filter(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if len(arguments.positional) != 2:
        return None
    items, whole = elements_of(arguments.positional[1])
    kept: list[Value] = []
    for item in items[:4096]:
        keep = fold.truth(item)
        if not (isinstance(arguments.positional[0], Const) or m.exhausted):
            keep = fold.truth(m.call(arguments.positional[0], Arguments([item], {}), node))
        whole = whole and keep is not None
        if keep is not False:
            kept.append(item)
    return Items(kept, "list", not whole)


def _container(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return Items([], "list" if function.name in {"list", "sorted"} else function.name)
    if function.name == "sorted" and "key" in arguments.named:
        m.call(arguments.named["key"], Arguments([join_all(elements_of(value)[0])], {}), node)
    if isinstance(value, Ref) and value.name == "os.environ":
        return None
    if isinstance(value, Items | Mapping | Const):
        items, whole = elements_of(value)
        kind = function.name if function.name in {"list", "tuple", "set"} else "list"
        if function.name == "reversed":
            return Items(list(reversed(items)), "list", not whole)
        if function.name == "sorted":
            folded = fold.fold(sorted, [value], arguments.named)
            return folded if folded is not None else Items(list(items), "list", not whole)
        return Items(list(items), kind, not whole)
    if function.name in {"iter", "next"}:
        return join_all(elements_of(value)[0])
    return None


def _next(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Items):
        return value.items[0] if value.items and not value.more else join_all(value.items)
    return value


def _enumerate(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    items, whole = elements_of(value)
    if whole and len(items) <= 4096:
        start = arguments.get(1, "start")
        first = start.value if isinstance(start, Const) and isinstance(start.value, int) else 0
        return Items([Items([Const(first + index), item], "tuple") for index, item in enumerate(items)])
    return Items([Items([Unknown(NAME), item], "tuple") for item in items[:64]], "list", more=True)


def _zip(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    columns = [elements_of(value) for value in arguments.positional]
    if not columns or not all(whole for _, whole in columns):
        return Items([Items([join_all(items) for items, _ in columns], "tuple")], "list", more=True)
    rows = zip(*[items for items, _ in columns], strict=False)
    return Items([Items(list(row), "tuple") for row in rows][:4096])


def _str(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Path | Text):
        return text_value(value.pieces, value.taint)
    if isinstance(value, Ref) and value.name == "os.environ":
        effects.check_environment_escape(m, arguments, node)
    return Unknown(taint_of(value)) if isinstance(value, Unknown) else None


def _compile(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    return arguments.get(0, "source")


def _path(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if not arguments.positional:
        return Path((".",))
    return attributes.join_path(arguments.positional, as_path=True)


def _path_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if not isinstance(owner, Path):
        return None
    method = function.name.rpartition(".")[2]
    who = f"Path.{method}"
    action = _PATH_ACTIONS.get(method)
    if action is not None:
        effects.judge_path(m, action, owner, who, node)
    if method == "open":
        return m.call(Ref("open"), Arguments([owner, *arguments.positional], arguments.named), node)
    if method in {"rename", "replace", "symlink_to", "hardlink_to", "link_to"}:
        target = arguments.get(0, "target")
        if target is not None:
            reads = method in {"symlink_to", "hardlink_to"}
            effects.judge_path(m, Action.READ if reads else Action.WRITE, target, who, node)
        return target
    if method in {"iterdir", "glob", "rglob", "walk"}:
        return Items([Path((*owner.pieces, "/", None), NAME)], "list", more=True)
    if method in {"joinpath", "with_name", "relative_to"}:
        parts = [owner, *arguments.positional] if method == "joinpath" else [attributes.load(m, owner, "parent", node)]
        if method == "with_name":
            parts = [*parts, *arguments.positional]
        return attributes.join_path(parts, as_path=True) if method != "relative_to" else Path(owner.pieces, owner.taint)
    if method == "expanduser":
        return owner
    if method in {"resolve", "absolute"}:
        return _normal(m, owner)
    if method in {"with_suffix", "with_stem"}:
        return Path((*attributes.load(m, owner, "parent", node).pieces, "/", None), NAME) if isinstance(attributes.load(m, owner, "parent", node), Path) else owner  # type: ignore[attr-defined]
    if method in {"as_posix", "__str__", "__fspath__", "as_uri"}:
        return text_value(owner.pieces, owner.taint)
    if method in {"read_text", "read_bytes"}:
        return Unknown(frozenset({"file"}))
    return None


_PATH_ACTIONS: Final = {
    "read_text": Action.READ, "read_bytes": Action.READ, "iterdir": Action.READ, "glob": Action.READ,
    "rglob": Action.READ, "walk": Action.READ, "exists": Action.READ, "is_file": Action.READ,
    "is_dir": Action.READ, "stat": Action.READ, "lstat": Action.READ, "readlink": Action.READ,
    "owner": Action.READ, "write_text": Action.WRITE, "write_bytes": Action.WRITE, "touch": Action.WRITE,
    "mkdir": Action.WRITE, "symlink_to": Action.WRITE, "hardlink_to": Action.WRITE, "unlink": Action.DELETE,
    "rmdir": Action.DELETE, "rename": Action.DELETE, "replace": Action.DELETE, "chmod": Action.PERMISSION,
    "lchmod": Action.PERMISSION,
}  # fmt: skip


def _normal(m: Machine, value: Value) -> Value:
    pieces = pieces_of(value)
    if len(pieces) == 1 and pieces[0] is not None:
        text = m.context.boundary.work_path(pieces[0])
        return Path((text,), value.taint) if isinstance(value, Path) else Const(text, value.taint)
    return value


def _path_join(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if arguments.more:
        return Unknown()
    return join_all(
        attributes.join_path(parts, as_path=False) for parts in _combinations(arguments.positional)
    )


def _combinations(values: list[Value]) -> list[list[Value]]:
    rows: list[list[Value]] = [[]]
    for value in values:
        rows = [[*row, option] for row in rows for option in options_of(value)][:36]
    return rows


def _abspath(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return None if value is None else join_all(_normal(m, option) for option in options_of(value))


def _expanduser(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    return arguments.get(0)


def _expandvars(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = _text(value)
    if text is not None and "$" not in text:
        return value
    return m.call(Ref("os.getenv"), Arguments([UNKNOWN], {}), node)


def _dirname(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if value is None:
        return None
    found: list[Value] = []
    for option in options_of(value):
        pieces = pieces_of(option)
        if len(pieces) == 1 and pieces[0] is not None:
            found.append(Const(posixpath.dirname(pieces[0])))
        elif pieces[0] is not None and "/" in pieces[0]:
            found.append(text_value((pieces[0].rpartition("/")[0] + "/", None), taint_of(option)))
        else:
            found.append(Unknown(taint_of(option)))
    return join_all(found)


def _basename(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = _text(value)
    return Const(posixpath.basename(text)) if text is not None else Unknown(NAME)


def _split_extension(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    text = _text(value)
    if text is None:
        return Items([value or UNKNOWN, Unknown(NAME)], "tuple")
    return fold.abstract((posixpath.splitext if "ext" in function.name else posixpath.split)(text))


def _listing(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _sink(m, function, arguments, node)
    if function.name == "os.walk":
        top = arguments.get(0, "top") or Const(".")
        names = Items([Unknown(NAME)], "list", more=True)
        below = text_value((*pieces_of(top), "/", None), NAME)
        return Items([Items([join(top, below), names, names], "tuple")], "list", more=True)
    return Items([Unknown(NAME)], "list", more=True)


def _glob(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _sink(m, function, arguments, node)
    pattern = arguments.get(0, "pathname") or UNKNOWN
    pieces: list[str | None] = []
    for piece in pieces_of(pattern):
        if piece is None:
            pieces.append(None)
            continue
        head, star, tail = piece.partition("*")
        pieces.extend([head, None, tail.replace("*", "")] if star else [head])
    known = pieces and pieces[0] is not None
    return Items([text_value(pieces, NAME) if known else Unknown(taint_of(pattern))], "list", more=True)


def _sink(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> None:
    from spanproof.sandbox.scanners.python.sinks import SINKS

    effects.apply(m, function, SINKS.get(function.name, ()), arguments, node)


def _constant(value: Value) -> Model:
    def model(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
        return value

    return model


def _temporary(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    _sink(m, function, arguments, node)
    return Text(("/tmp/", None), NAME)  # noqa: S108 - inside the sandbox


def _keeps_owner(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    return Ref(f"{function.name}()", CLEAN, value) if value is not None else None


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
        name = _text(arguments.positional[0]) or "?"
        bases, _ = elements_of(arguments.positional[1])
        members = {str(key): value for key, value in arguments.positional[2].entries.items()}
        return Klass(name, list(bases), members, [])
    value = arguments.get(0)
    if isinstance(value, Instance):
        return value.klass
    return Ref("type") if value is not None else None


def _resolve_name(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    text = _text(arguments.get(0))
    return None if text is None else Ref(canonical(text.replace(":", ".")))


def _simple_namespace(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    instance = Instance(Klass("SimpleNamespace", [], {}, []))
    instance.attributes.update(arguments.named)
    return instance


def _dict(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    value = arguments.get(0)
    if isinstance(value, Mapping):
        return Mapping({**value.entries, **arguments.named}, list(value.rest))
    return Mapping(dict(arguments.named)) if value is None else None




# --- methods of values, by name


def _append(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items) and value is not None:
        if len(owner.items) < MAX_SIZE:
            owner.items.append(value)
        return Const(None)
    return None


def _extend(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Items) and value is not None:
        items, whole = elements_of(value)
        owner.items.extend(items[: MAX_SIZE - len(owner.items)])
        owner.more = owner.more or not whole
        return Const(None)
    return None


def _insert(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, index, value = function.owner, arguments.get(0), arguments.get(1)
    if isinstance(owner, Items) and value is not None:
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else 0
        owner.items.insert(at, value)
        return Const(None)
    return None


def _pop(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if isinstance(owner, Items) and owner.items and not owner.more:
        index = arguments.get(0)
        at = index.value if isinstance(index, Const) and isinstance(index.value, int) else -1
        if -len(owner.items) <= at < len(owner.items):
            return owner.items.pop(at)
    if isinstance(owner, Mapping):
        return _mapping_get(m, function, arguments, node)
    return None


def _reverse(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    if isinstance(function.owner, Items):
        function.owner.items.reverse()
        return Const(None)
    return None


def _update(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    if isinstance(owner, Mapping):
        owner.entries.update(arguments.named)
        if isinstance(value, Mapping):
            owner.entries.update(value.entries)
            owner.rest.extend(value.rest)
        elif value is not None:
            owner.rest.append(Unknown(taint_of(value)))
        return Const(None)
    return None


def _values(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner = function.owner
    if not isinstance(owner, Mapping):
        return None
    method = function.name.rpartition(".")[2]
    if method == "values":
        return Items([*owner.entries.values(), *owner.rest], "list", bool(owner.rest))
    if method == "items":
        pairs: list[Value] = [Items([Const(key), value], "tuple") for key, value in owner.entries.items()]
        return Items(pairs, "list", bool(owner.rest))
    return Items([Const(key) for key in owner.entries], "list", bool(owner.rest))


def _join(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    owner, value = function.owner, arguments.get(0)
    separator = _text(owner)
    if separator is None or value is None:
        return None
    items, whole = elements_of(value)
    if not whole or len(items) > 16_384:
        return Unknown(taint_of(value))
    pieces: list[str | None] = []
    for index, item in enumerate(items):
        if index and separator:
            pieces.append(separator)
        pieces.extend(pieces_of(item))
    return text_value(pieces, taint_of(value))


def _format(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    template = _text(function.owner)
    if template is None or len(template) > MAX_SIZE:
        return None
    folded = fold.fold_method(function.owner or UNKNOWN, "format", arguments.positional, arguments.named)
    if folded is not None:
        return folded
    pieces: list[str | None] = []
    taint = CLEAN
    try:
        for index, (literal, field, specification, conversion) in enumerate(Formatter().parse(template)):
            pieces.append(literal)
            if field is None:
                continue
            value = arguments.get(int(field) if field.isdigit() else index, field)
            taint |= taint_of(value) if value is not None else CLEAN
            plain = value is not None and not specification and not conversion
            pieces.extend(pieces_of(value) if plain and value is not None else (None,))
    except ValueError:
        return UNKNOWN
    return text_value(pieces, taint)


def _text_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """Methods that leave a text what it is, as far as it is known."""
    owner = function.owner
    if isinstance(owner, Text):
        return text_value(owner.pieces, owner.taint)
    return owner if isinstance(owner, Ref) and owner.name == "pickle.dumps()" else None


def _call_method(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value | None:
    """`f.__call__(…)`."""
    owner = function.owner
    if owner is not None and function.name == "?.__call__":
        return m.call(owner, arguments, node)
    name = function.name.removesuffix(".__call__")
    return m.call(Ref(name, function.taint, function.owner), arguments, node)


MODELS: Final[dict[str, Model]] = {
    "getattr": _getattr, "object.__getattribute__": _getattr, "type.__getattribute__": _getattr,
    "inspect.getattr_static": _getattr, "setattr": _setattr, "object.__setattr__": _setattr,
    "__import__": _import_module, "importlib.import_module": _import_module,
    "__loader__.load_module": _import_module, "importlib.reload": _compile,
    "importlib.util.find_spec": _import_module, "pkgutil.resolve_name": _resolve_name, "vars": _vars,
    "globals": _constant(Ref("globals()")), "locals": _constant(Ref("locals()")),
    "operator.attrgetter": _attrgetter, "operator.attrgetter()": _attrgetter_call,
    "operator.itemgetter": _itemgetter, "operator.itemgetter()": _itemgetter_call,
    "operator.methodcaller": _methodcaller, "operator.methodcaller()": _methodcaller_call,
    "functools.partial": _partial, "functools.reduce": _reduce, "map": _map, "filter": _filter,
    "list": _container, "tuple": _container, "set": _container, "sorted": _container, "reversed": _container,
    "iter": _container, "next": _next, "enumerate": _enumerate, "zip": _zip, "str": _str, "os.fspath": _str,
    "compile": _compile, "ast.parse": _compile, "ast.unparse": _compile, "pathlib.Path": _path,
    "pathlib.Path.home": _constant(Path(("~",))), "pathlib.Path.cwd": _constant(Path((".",))),
    "os.getcwd": _constant(Const(".")), "os.path.join": _path_join, "os.path.abspath": _abspath,
    "os.path.realpath": _abspath, "os.path.normpath": _abspath, "os.path.expanduser": _expanduser,
    "os.path.expandvars": _expandvars, "os.path.dirname": _dirname, "os.path.basename": _basename,
    "os.path.splitext": _split_extension, "os.path.split": _split_extension, "os.listdir": _listing,
    "os.walk": _listing, "glob.glob": _glob, "glob.iglob": _glob, "tempfile.mkdtemp": _temporary,
    "tempfile.TemporaryDirectory": _temporary, "tempfile.mktemp": _temporary,
    "tempfile.gettempdir": _constant(Const("/tmp")),  # noqa: S108 - inside the sandbox
    "io.BytesIO": _keeps_owner, "io.StringIO": _keeps_owner, "pickle.dumps": _dumps, "jsonpickle.encode": _dumps,
    "jsonpickle.dumps": _dumps, "input": _constant(Unknown(frozenset({"input"}))),
    "getpass.getpass": _constant(Unknown(frozenset({"secret"}))), "super": _super, "type": _type,
    "types.SimpleNamespace": _simple_namespace, "argparse.Namespace": _simple_namespace, "dict": _dict,
    **dict.fromkeys(
        ("gzip.compress", "gzip.decompress", "zlib.compress", "zlib.decompress", "bz2.compress", "bz2.decompress",
         "lzma.compress", "lzma.decompress", "base64.b64encode", "base64.b64decode", "base64.b85encode",
         "base64.b85decode", "base64.b32encode", "base64.b32decode", "base64.b16encode", "base64.b16decode",
         "base64.urlsafe_b64encode", "base64.urlsafe_b64decode", "binascii.hexlify", "binascii.unhexlify",
         "bytes", "bytearray", "codecs.encode", "codecs.decode", "bytes.fromhex"),
        _transparent,
    ),
}  # fmt: skip
"""Models by resolved name."""

METHODS: Final[dict[str, Model]] = {
    "append": _append, "appendleft": _append, "add": _append, "extend": _extend, "insert": _insert, "pop": _pop,
    "reverse": _reverse, "update": _update, "get": _mapping_get, "setdefault": _mapping_get, "values": _values,
    "items": _values, "keys": _values, "join": _join, "format": _format, "strip": _text_method,
    "encode": _text_method, "decode": _text_method, "hex": _text_method, "rstrip": _text_method,
    "__call__": _call_method,
    **dict.fromkeys(
        [*_PATH_ACTIONS, "open", "joinpath", "with_name", "with_suffix", "with_stem", "resolve", "absolute",
         "expanduser", "as_posix", "relative_to", "link_to", "__str__", "__fspath__"],
        _path_method,
    ),
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
    return _call_method if name.endswith(".__call__") else None
