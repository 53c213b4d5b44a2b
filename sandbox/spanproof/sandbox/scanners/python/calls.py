"""What a call does and gives: functions of the program are read through, names outside it are looked up.

In: the called value and its arguments. Out: the abstract result; effects on the boundary are reported on the
way. A function of the program is read anew with each call's arguments while the budget lasts.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spanproof.sandbox.scanners.policy_lines import format_removal
from spanproof.sandbox.scanners.python import (
    attributes,
    effects,
    fold,
    models,
    reflection,
)
from spanproof.sandbox.scanners.python.growth import ENDLESS, REPEATING, yields_without_end
from spanproof.sandbox.scanners.python.handed_environment import check_environment_escape
from spanproof.sandbox.scanners.python.machine import Machine, Model
from spanproof.sandbox.scanners.python.names import METHOD_SINKS, SINKS, get_top_module
from spanproof.sandbox.scanners.python.own_files import record_handed_files
from spanproof.sandbox.scanners.reader.effects import Effect
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    CALLABLE,
    CLEAN,
    MAX_ITEMS,
    NAME,
    UNKNOWN,
    Const,
    Function,
    Instance,
    Items,
    Klass,
    Mapping,
    OneOf,
    Partial,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    build_union_of,
    compute_taint,
    is_plain,
    iter_parts,
)
from spanproof.sandbox.words import split_words

# Modules whose results are numbers, dates and ids: no path gets out of the boundary by them.
_NAME_MODULES = frozenset({"datetime", "time", "uuid", "random", "math", "statistics", "numpy"})

_NAME_FUNCTIONS = split_words("len int float id hash round sum abs os.getpid ord")
# Last letters of `__call__`, `get`, `pop`, `load_module`: a quick way past names that are not
# reflective.
_REFLECTIVE_ENDS = frozenset({"__", "et", "op", "le"})

_CARRIERS = frozenset({"environment", "secret", "file", "network", "input", "callable"})


def evaluate_call(m: Machine, function: Value, arguments: Arguments, node: ast.expr) -> Value:
    """Return what calling a value gives."""
    if isinstance(function, Ref):
        return _evaluate_reference_call(m, function, arguments, node)
    if isinstance(function, Function):
        return _read_through(m, function, arguments)
    if isinstance(function, OneOf):
        return build_union_of(evaluate_call(m, option, arguments, node) for option in function.options)
    if isinstance(function, Klass):
        return _build_instance(m, function, arguments, node)
    if isinstance(function, Partial):
        merged = Arguments(
            [*function.positional, *arguments.positional],
            {**function.named, **arguments.named},
            arguments.more,
        )
        return evaluate_call(m, function.called, merged, node)
    if isinstance(function, Instance):
        method = attributes.find_special_method(function, "__call__")
        if method is None:
            return UNKNOWN
        return evaluate_call(m, method, arguments, node)
    if "callable" in function.taint:
        m.add("exec.dynamic", node, "calls a function that is not known, which may reach outside")
    effects.check_unknown_call(m, function, arguments, node)
    _run_callbacks(m, arguments, node)
    return Unknown(_compute_carried_taint(m, arguments))


def check_uncalled(m: Machine) -> None:
    """Read the functions and methods that nothing called, with arguments that are not known."""
    for klass in m.classes:
        for name, member in list(klass.attributes.items()):
            is_left_outside = m.hands_over_managers and name in _EXITS
            if isinstance(member, Function) and (is_left_outside or id(member.node) not in m.called):
                receiver = None if name == "__new__" else Instance(klass)
                _check_alone(m, replace(member, receiver=receiver or UNKNOWN), Arguments([], more=True))
    index = 0
    while index < len(m.functions):
        function = m.functions[index]
        index += 1
        if id(function.node) not in m.called:
            _check_alone(m, function, Arguments([], {}, more=True))


def run_exit_handlers(m: Machine) -> None:
    """Call the functions that the program has registered for its end, the last one first."""
    for _ in range(_MOST_HANDLERS):
        if not m.exit_handlers:
            return
        function, arguments, node = m.exit_handlers.pop()
        evaluate_call(m, function, arguments, node)
    if m.exit_handlers:
        m.add("too-complex", m.exit_handlers[-1][2], "registers more functions for its end than are followed")


# More handlers than a program has that does not register them in a loop.
_MOST_HANDLERS = 64
_EXITS = ("__exit__", "__aexit__")


def _holds_manager(value: Value) -> bool:
    """Whether a value is, or holds, an object of the program that can be left."""
    return any(
        isinstance(part, Instance) and any(attributes.find_special_method(part, name) for name in _EXITS)
        for part in iter_parts(value)
    )


def _check_alone(m: Machine, function: Function, arguments: Arguments) -> None:
    """Read a function that may be called before all others, and ends before them.

    What it sets in the environment is not set for others.
    """
    before = set(m.context.variables)
    _read_through(m, function, arguments)
    m.context.variables.intersection_update(before)


def _read_through(m: Machine, function: Function, arguments: Arguments) -> Value:
    node = function.node

    def bind() -> None:
        _write_parameters(m, function, arguments)

    def read() -> None:
        if isinstance(node, ast.Lambda):
            m.frames[-1].returned.append(m.evaluate(node.body))
        else:
            m.read_block(node.body)

    try:
        frame = m.evaluate_body(id(node), function.scope, bind, read, node)
    except RecursionError:
        if not m.frames:
            raise
        m.add("too-complex", node, "calls nest deeper than can be followed")
        frame = None
    if frame is None:
        return Unknown(_compute_carried_taint(m, arguments))
    if frame.yielded:
        items = Items(frame.yielded, more=True)
        if not isinstance(node, ast.Lambda) and yields_without_end(node.body):
            m.endless.add(items)
        return items
    return build_union_of(frame.returned) if frame.returned else Const(None)


def _write_parameters(m: Machine, function: Function, arguments: Arguments) -> None:
    spec = function.node.args
    names = m.scope.names
    positional = list(arguments.positional)
    if function.receiver is not None:
        positional.insert(0, function.receiver)
    named = dict(arguments.named)
    parameters = [*spec.posonlyargs, *spec.args]
    first_default = len(parameters) - len(function.defaults)
    for index, parameter in enumerate(parameters):
        if index < len(positional):
            names[parameter.arg] = positional[index]
        elif parameter.arg in named:
            names[parameter.arg] = named.pop(parameter.arg)
        elif index >= first_default:
            default = function.defaults[index - first_default]
            names[parameter.arg] = build_union_of([default, UNKNOWN]) if arguments.more else default
        else:
            names[parameter.arg] = _MOCK if _is_patched(function) else _FIXTURES.get(parameter.arg, UNKNOWN)
    if spec.vararg is not None:
        names[spec.vararg.arg] = Items(positional[len(parameters) :], "tuple", arguments.more)
    for parameter, keyword_default in zip(spec.kwonlyargs, function.keyword_defaults, strict=True):
        names[parameter.arg] = named.pop(parameter.arg, keyword_default or UNKNOWN)
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = Mapping(dict(named), [UNKNOWN] if arguments.more else [])


# What pytest gives the parameters of a test, which the program itself does not call.
_FIXTURES = {
    name: Path(("/tmp/", None), NAME)  # noqa: S108 - inside the sandbox
    for name in ("tmp_path", "tmpdir")
}


_MOCK = Ref("unittest.mock.MagicMock()")


def _is_patched(function: Function) -> bool:
    """Whether `@patch(…)` of unittest.mock gives a function the parameters that its callers do not."""
    called = [one.func for one in getattr(function.node, "decorator_list", []) if isinstance(one, ast.Call)]
    return any(
        isinstance(inner, ast.Name | ast.Attribute)
        and getattr(inner, "id", getattr(inner, "attr", "")) == "patch"
        for one in called
        for inner in (one, getattr(one, "value", None))
    )


def _build_instance(m: Machine, klass: Klass, arguments: Arguments, node: ast.expr) -> Value:
    instance = Instance(klass)
    start = attributes.find_member(m, instance, "__init__", node) or attributes.find_member(
        m, instance, "__post_init__", node
    )
    if start is not None:
        evaluate_call(m, start, arguments, node)
    else:
        for index, name in enumerate(klass.fields):
            value = arguments.find(index, name)
            if value is not None:
                instance.attributes[name] = value
    if start is None and not klass.fields:
        instance.attributes.setdefault("args", Items(list(arguments.positional), "tuple", arguments.more))
    for base in attributes.list_outer_bases(klass):
        if base.name in _SETTINGS:
            _check_settings(m, klass, instance, node)
        if base.name not in {"object", "Exception"}:
            effects.check_module(m, base.name, node)
            if start is None and base.name in SINKS:
                effects.handle_call(m, base, SINKS[base.name], arguments, node)
    return instance


# Classes whose objects take each field that is not given from the environment, by its name in capitals.
_SETTINGS: Final = frozenset({"pydantic_settings.BaseSettings", "pydantic.BaseSettings"})


def _check_settings(m: Machine, klass: Klass, instance: Instance, node: ast.expr) -> None:
    for name in klass.fields:
        if name not in instance.attributes:
            evaluate_call(m, Ref("os.getenv"), Arguments([Const(name.upper())]), node)


# Beginnings of methods that write what they are called on.
_WRITING = ("to_", "write_", "sink_")


def _build_bound_call(function: Ref, arguments: Arguments) -> tuple[Ref, Arguments]:
    """Return `DataFrame.to_csv(df, path)`, called by its class, as a method of its first argument."""
    owner, _, method = function.name.rpartition(".")
    is_of_class = "()" not in owner and owner.rpartition(".")[2][:1].isupper()
    if not is_of_class or function.owner is not None or not arguments.positional:
        return function, arguments
    first, *rest = arguments.positional
    if not method.startswith(_WRITING) and not (owner == "pathlib.Path" and isinstance(first, Path)):
        return function, arguments
    bound = Ref(f"{owner}().{method}", function.taint, first)
    return bound, Arguments(rest, arguments.named, arguments.more)


def _evaluate_reference_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value:
    function, arguments = _build_bound_call(function, arguments)
    name = function.name
    of_unknown = isinstance(function.owner, Unknown) and "callable" in function.owner.taint
    if of_unknown or ("callable" in function.taint and name.endswith(("()", "[]"))):
        m.add("exec.dynamic", node, "calls what other code made of a function or module that reaches outside")
    policy = m.context.boundary.policy
    if name in policy.allowed_calls:
        return Ref(f"{name}()", _compute_carried_taint(m, arguments))
    if name in policy.denied_calls:
        line = format_removal("denied_calls", name)
        m.add("call.denied", node, f"calls {name}, which the policy denies", policy_line=line)
    if name in _READING_ALL and any(one in m.endless for one in arguments.positional):
        m.add("resource.endless", node, f"makes a {name} of what has no end")
    model = _find_model(function)
    result = model(m, function, arguments, node) if model is not None else None
    if result is None and not arguments.more:
        result = _compute_pure_call(function, arguments)
    if result is None:
        result = _evaluate_outside_call(m, function, arguments, node)
    return _handle_endless_result(m, name, arguments, result)


def _find_model(function: Ref) -> Model | None:
    """Return what knows the result of a call: by the whole name, by the name of a method, or by its end."""
    name = function.name
    model = models.MODELS.get(name)
    if model is not None or "." not in name:
        return model
    if function.owner is not None:
        model = models.METHODS.get(name.rpartition(".")[2])
    if model is None and name[-2:] in _REFLECTIVE_ENDS:
        model = reflection.find_reflective_model(name)
    return model


# Calls that go through all that they get and hold it, and those that give one item for each that they get.
_READING_ALL = split_words("list tuple set frozenset sorted numpy.fromiter")
_PASSING_ON = split_words(
    "map filter enumerate itertools.chain itertools.chain.from_iterable itertools.accumulate"
    " itertools.starmap itertools.filterfalse itertools.pairwise"
)


def _handle_endless_result(m: Machine, name: str, arguments: Arguments, result: Value) -> Value:
    """Return what a call gives; note whether it has no end: `itertools.repeat(x)`, and a map over it."""
    repeats = name == REPEATING and len(arguments.list_all()) == 1 and not arguments.more
    passes_on = name in _PASSING_ON and any(one in m.endless for one in arguments.positional)
    if result is not UNKNOWN and (repeats or passes_on or f"{name}()" in ENDLESS):
        m.endless.add(result)
    return result


def _compute_pure_call(function: Ref, arguments: Arguments) -> Value | None:
    """Return what a pure function or method gives; None where that is not known."""
    name, positional = function.name, arguments.positional
    pure = fold.FUNCTIONS.get(name)
    if pure is not None:
        return fold.compute_call(pure, positional, arguments.named)
    if name.startswith(("str.", "bytes.", "list.")) and positional:
        return fold.compute_method(positional[0], name.partition(".")[2], positional[1:], arguments.named)
    if function.owner is None:
        return None
    return fold.compute_method(function.owner, name.rpartition(".")[2], positional, arguments.named)


# Calls that write files, or give them other names, in ways that are not followed.
_WRITES_UNSEEN = split_words("os.link os.symlink os.open os.write os.fdopen fileinput.input")


def _find_effects(function: Ref) -> tuple[Effect, ...] | None:
    """Return the effects of a call by its name, or by the last one or two words of a method's name."""
    name = function.name
    found = SINKS.get(name)
    if found is None and name.startswith("pandas."):
        found = SINKS.get("pandas." + name.rpartition(".")[2])
    if found is None and ("()" in name or name.startswith(("?.", "pandas.")) or function.owner is not None):
        owner, _, method = name.rpartition(".")
        found = METHOD_SINKS.get(method)
        if found is None:
            return METHOD_SINKS.get(f"{owner.rpartition('.')[2]}.{method}")
        return found
    return found


def _evaluate_outside_call(m: Machine, function: Ref, arguments: Arguments, node: ast.expr) -> Value:
    name = function.name
    if name in _WRITES_UNSEEN:
        m.context.own_files.record_unknown(None)
    found = _find_effects(function)
    result = None
    if found is not None:
        result = effects.handle_call(m, function, found, arguments, node)
    if not name.startswith("?."):
        effects.check_module(m, name, node)
    check_environment_escape(m, arguments, node)
    if found is None:
        record_handed_files(m, function, arguments)
        effects.check_unknown_call(m, function, arguments, node)
        effects.check_remote(m, name, arguments, node)
    kinds = {effect.kind for effect in found or ()}
    follows = not kinds.isdisjoint({"callback", "exithandler", "pipe", "thread"})
    calling = [effect for effect in found or () if effect.kind in {"callback", "exithandler", "pipe"}]
    called = [arguments.find(effect.position, effect.keyword) for effect in calling]
    _run_callbacks(m, arguments, node, owner=function.owner, followed=follows, called=called)
    if result is not None:
        return result
    return _compute_result(m, function, arguments)


def _compute_result(m: Machine, function: Ref, arguments: Arguments) -> Value:
    name = function.name
    carried = _compute_carried_taint(m, arguments) | (function.taint & _CARRIERS)
    if function.owner is not None:
        carried |= compute_taint(function.owner) & _CARRIERS
    module = get_top_module(name)
    if name in _NAME_FUNCTIONS or (module == "math" and not carried):
        return Ref(f"{name}()", NAME)
    if module in _NAME_MODULES and not carried:
        # `random.choice`, `numpy.array`: what holds paths gives paths.
        paths = _list_paths(
            [*arguments.list_all(), *([function.owner] if function.owner is not None else [])]
        )
        if not paths:
            return Ref(f"{name}()", NAME)
        if _is_choice(name, arguments):
            return build_union_of(paths)
        return Items([build_union_of(paths)], "list", more=True)
    return Ref(f"{name}()" if len(name) < 200 else "?.deep()", carried, None)


def _is_choice(name: str, arguments: Arguments) -> bool:
    """Whether a call gives one of the texts in a list."""
    values = arguments.list_all()
    held = values[0].items if len(values) == 1 and isinstance(values[0], Items) else []
    are_texts = all(isinstance(one, Const | Text | Path | Unknown | OneOf) for one in held)
    return name.endswith(".choice") and bool(held) and are_texts


def _list_paths(values: list[Value]) -> list[Value]:
    """Return the texts in these values, or none where all of them are plain names."""
    texts: list[Value] = []
    for seen, one in enumerate(part for value in values for part in iter_parts(value)):
        if seen == MAX_ITEMS:
            return [UNKNOWN]
        if isinstance(one, Text | Path | Const) or "place" in one.taint:
            texts.append(one)
    return texts if not all(is_plain(text) for text in texts) else []


def _compute_carried_taint(m: Machine, arguments: Arguments) -> frozenset[str]:
    carried = CLEAN
    reaches_outside = False
    for value in arguments.list_all():
        if value.__class__ is Const:
            carried |= value.taint
            continue
        carried |= compute_taint(value)
        reaches_outside = reaches_outside or m.reaches_outside(value)
    carried &= _CARRIERS
    return carried | CALLABLE if reaches_outside else carried


def _run_callbacks(
    m: Machine,
    arguments: Arguments,
    node: ast.expr,
    *,
    owner: Value | None = None,
    followed: bool = False,
    called: Sequence[Value | None] = (),
) -> None:
    """Call the functions given to code that is not read here, with what is not known.

    Args:
        m: the reader.
        arguments: what the call is given.
        node: the call.
        owner: what the object holds whose method is called, where that is known.
        followed: whether the call itself says what its functions are called with.
        called: functions among the arguments that have been called with what they get.
    """
    for value in arguments.list_all():
        if value.__class__ is Const or (value.__class__ is Function and value in called):
            continue
        if m.classes and not m.hands_over_managers and _holds_manager(value):
            m.hands_over_managers = True
        if isinstance(value, (Function, Partial)):
            evaluate_call(m, value, _build_callback_arguments(value, arguments, owner), node)
        elif isinstance(value, Ref) and value.name in SINKS and "()" not in value.name:
            passed = _build_callback_arguments(value, arguments, owner)
            if passed.positional:
                evaluate_call(m, value, passed, node)
            elif not followed:
                evaluate_call(m, value, Arguments([UNKNOWN], {}, more=True), node)
            if not followed:
                effects.check_handed_function(m, value, node)


def _build_callback_arguments(function: Value, arguments: Arguments, owner: Value | None) -> Arguments:
    """Return what a function handed to other code may be called with.

    These are the arguments beside it, or what the object holds whose method gets it.
    """
    others = [value for value in arguments.list_all() if value is not function]
    others.extend([owner] if isinstance(owner, Items) else [])
    for value in others:
        if isinstance(value, Items) and value.items:
            if value.kind == "tuple":
                return Arguments(list(value.items), {}, value.more)
            return Arguments([build_union_of(value.items)], {}, value.more)
    if isinstance(function, Ref):
        return Arguments([value for value in others if isinstance(value, Const)], {}, more=True)
    return Arguments([], {}, more=True)
