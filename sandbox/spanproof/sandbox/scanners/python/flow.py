"""Branches, loops, handlers and cases: read on copies of the names, and joined where they meet.

In: a compound statement or a comprehension. Out: how it ended, if that is sure. A branch that is not taken is
read once all the same. Loops that count are read for a few turns; only those that put a text together are
followed to their end, for that is how payloads hide. A loop whose elements are not known is read once, with
what it assigns made uncertain.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from spanproof.sandbox.scanners.python import attributes, fold
from spanproof.sandbox.scanners.python.growth import (
    ENDLESS,
    grows_by_doubling,
    grows_without_end,
    yields_without_end,
)
from spanproof.sandbox.scanners.python.machine import Evaluator, Executor, Flow, Machine
from spanproof.sandbox.scanners.python.parse import list_nodes
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    ANY,
    CALLABLE,
    CLEAN,
    MAX_UNROLLED,
    NAME,
    UNKNOWN,
    Const,
    Function,
    Instance,
    Items,
    Mapping,
    Ref,
    Scope,
    Span,
    Unknown,
    Value,
    build_union,
    build_union_of,
    compute_taint,
    find_constant_text,
    is_plain,
    iter_parts,
    list_elements,
    list_options,
)
from spanproof.sandbox.words import split_words

# Turns over a range that are read one by one where the loop does not put a text together.
_PLAIN_TURNS = 24


# The same over a list that is written out.
_MANY_TURNS = 256


_DECODERS = split_words("chr ord bytes bytearray int unhexlify fromhex to_bytes unichr")


def _evaluate_comprehension(m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    items: list[Value] = []
    if not isinstance(node, ast.GeneratorExp):
        _check_endless_comprehension(m, node)
    whole = _run_comprehension(m, node.generators, 0, lambda: items.append(m.evaluate(node.elt)), node.elt)
    return Items(items, "set" if isinstance(node, ast.SetComp) else "list", not whole)


def _check_endless_comprehension(m: Machine, node: ast.ListComp | ast.SetComp) -> None:
    """Judge a list of all that `itertools.cycle` gives, which grows without an end."""
    iterated = node.generators[0].iter
    while (
        isinstance(iterated, ast.Call) and getattr(iterated.func, "id", "") == "enumerate" and iterated.args
    ):
        iterated = iterated.args[0]
    source = iterated.func if isinstance(iterated, ast.Call) else iterated
    value = m.evaluate(source) if isinstance(source, ast.Name | ast.Attribute) else None
    name = value.name.removesuffix("()") if isinstance(value, Ref) else ""
    if f"{name}()" in ENDLESS or _is_endless_generator(m, iterated):
        who = name or ast.unparse(source)
        m.add("resource.endless", node, f"makes a list of all that {who} gives, which has no end")


def _evaluate_dictionary(m: Machine, node: ast.DictComp) -> Value:
    entries: dict[object, Value] = {}
    rest: list[Value] = []

    def add() -> None:
        key, value = m.evaluate(node.key), m.evaluate(node.value)
        try:
            entries[fold.to_concrete(key)] = value
        except (fold.NotKnown, TypeError):
            rest.append(value)

    whole = _run_comprehension(m, node.generators, 0, add, node.value)
    return Mapping(entries, rest if whole else [*rest, UNKNOWN])


def _run_comprehension(
    m: Machine, generators: list[ast.comprehension], index: int, body: Callable[[], None], body_node: ast.expr
) -> bool:
    """Read a comprehension's body once per element; returns whether all elements were known."""
    if index == len(generators):
        body()
        return True
    generator = generators[index]
    value = _find_chosen_variables(m, generator)
    if value is None:
        value = evaluate_iterable(m, m.evaluate(generator.iter), generator.iter)
    elements, whole, decoding = select_turns(m, value, [generator, *generators[index + 1 :], body_node])
    if not elements:
        # What was added may not be followed.
        elements, whole = [UNKNOWN], False
    outer = m.scope
    m.scope = Scope(outer, is_comprehension=True)
    try:
        with m.patience(decoding=decoding):
            for element in elements:
                attributes.write_target(m, generator.target, element)
                conditions = [fold.evaluate_truth(m.evaluate(condition)) for condition in generator.ifs]
                if False in conditions:
                    if not any(m.find_truth(condition) is False for condition in generator.ifs):
                        m.evaluate(body_node)
                    continue
                whole = whole and None not in conditions
                whole = _run_comprehension(m, generators, index + 1, body, body_node) and whole
                if m.exhausted and element is not elements[-1]:
                    # One turn more for all the others.
                    attributes.write_target(m, generator.target, build_union_of(elements))
                    _run_comprehension(m, generators, index + 1, body, body_node)
                    return False
    finally:
        m.scope = outer
    return whole


def _find_chosen_variables(m: Machine, generator: ast.comprehension) -> Value | None:
    """Return what a generator over the environment chooses by its conditions: `if name in ("LANG", "TZ")`.

    None where it goes through anything else, or through all of it.
    """
    match generator.iter, generator.target:
        case ast.Call(ast.Attribute(source, "items"), [], []), ast.Tuple([ast.Name(key), _]):
            gives_pairs = True
        case ast.Call(ast.Attribute(source, "keys"), [], []), ast.Name(key):
            gives_pairs = False
        case source, ast.Name(key):
            gives_pairs = False
        case _:
            return None
    choices = [_find_chosen_names(m, condition, key) for condition in generator.ifs]
    names = next((found for found in choices if found is not None), None)
    if names is not None and isinstance(source, _NAMING):
        environment = m.evaluate(source)
    else:
        environment = None
    if names is None or not isinstance(environment, Ref) or environment.name != "os.environ":
        return None
    chosen: list[Value] = []
    for name in names:
        value = m.evaluate_call(Ref("os.environ.__getitem__"), Arguments([Const(name)]), generator.iter)
        chosen.append(Items([Const(name), value], "tuple") if gives_pairs else Const(name))
    return Items(chosen, "list", more=True)


_NAMING: Final = (ast.Name, ast.Attribute)


def _find_chosen_names(m: Machine, condition: ast.expr, key: str) -> list[str] | None:
    """Return the texts that a condition lets a name be; None where it is no such condition."""
    match condition:
        case ast.Call(ast.Attribute(ast.Name(name), "startswith"), [ast.Constant(str(start))]) if name == key:
            # A family of names, such as `LC_`, of which the policy allows some.
            allowed = [one for one in m.context.boundary.policy.environment if one.startswith(start)]
            return allowed if start.endswith("_") and allowed else None
        case ast.Compare(ast.Name(name), [operator], [other]) if name == key:
            value = m.evaluate(other)
        case _:
            return None
    if isinstance(operator, ast.Eq):
        options, whole = [value], True
    elif isinstance(operator, ast.In) and not isinstance(value, Const):
        options, whole = list_elements(value)
    else:
        return None
    texts = [find_constant_text(one) for one in options]
    if whole and None not in texts:
        return [text for text in texts if text is not None]
    return None


def select_turns(m: Machine, value: Value, loop: Sequence[ast.AST]) -> tuple[list[Value], bool, bool]:
    """Return the elements a loop is read with, whether they are all, and whether it puts a text together.

    Loops that count are read for a few turns; only those that decode are followed to their end.
    """
    is_text = isinstance(value, Const)
    keys = [frame.key for frame in m.frames]
    if m.exhausted or len(set(keys)) < len(keys):
        # Of a function that calls itself, one turn is read for all.
        return _list_joined_elements(value), False, False
    limit, size = MAX_UNROLLED if is_text else _MANY_TURNS, 0
    if isinstance(value, Span):
        limit, size = _PLAIN_TURNS, len(value.numbers)
    elif isinstance(value, Items):
        size = len(value.items)
    decoding = (is_text or size > 8) and size <= MAX_UNROLLED and puts_text_together(loop)
    if size > limit and not decoding:
        return _list_joined_elements(value), False, False
    elements, whole = list_elements(value)
    return list(elements), whole, decoding


def _list_joined_elements(value: Value) -> list[Value]:
    if isinstance(value, Span):
        return [Unknown(NAME)]
    elements, _ = list_elements(value)
    return [build_union_of(elements)] if elements else []


def puts_text_together(loop: Sequence[ast.AST]) -> bool:
    """Whether a loop looks like one that decodes: by character codes, or by picking from what it indexes."""
    pending = list(loop)
    looked = 0
    while pending and looked < 400:
        node = pending.pop()
        looked += 1
        if isinstance(node, ast.Name) and node.id in _DECODERS:
            return True
        if isinstance(node, ast.Attribute) and node.attr in _DECODERS:
            return True
        if isinstance(node, ast.BitXor):
            return True
        if isinstance(node, ast.AugAssign | ast.BinOp) and _may_add_texts(node):
            return True
        pending.extend(ast.iter_child_nodes(node))
    return False


def _may_add_texts(node: ast.AugAssign | ast.BinOp) -> bool:
    """Whether a sum is one of names or items, and none of them is a number."""
    if not isinstance(node.op, ast.Add):
        return False
    parts = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
    for part in parts:
        if isinstance(part, ast.Constant) and not isinstance(part.value, str | bytes):
            return False
    return any(isinstance(part, ast.Subscript | ast.Name) for part in parts)


def evaluate_iterable(m: Machine, value: Value, node: ast.expr) -> Value:
    """Return what a loop over a value goes through."""
    m.check_environment(value, node, "__iter__")
    if isinstance(value, Instance):
        method = attributes.find_special_method(value, "__iter__")
        if method is not None:
            return m.evaluate_call(method, Arguments([]), node)
    if isinstance(value, Ref) and value.name in _NAMESPACES:
        return Items([UNKNOWN], more=True)  # its names
    return value


_NAMESPACES: Final = frozenset({"globals()", "locals()", "vars()", "sys.modules"})


COMPREHENSIONS: Final[dict[type, Evaluator]] = {
    ast.ListComp: _evaluate_comprehension,
    ast.SetComp: _evaluate_comprehension,
    ast.GeneratorExp: _evaluate_comprehension,
    ast.DictComp: _evaluate_dictionary,
}
"""The evaluator of each kind of comprehension."""


_ENDS: Final = (ast.Break, ast.Return, ast.Raise)
_OWN_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})

# Turns of a `while` loop that are read one by one.
_WHILE_TURNS: Final = 64

# The same where the loop puts a text together.
_DECODING_TURNS: Final = 600


def _read_if(m: Machine, node: ast.If) -> Flow:
    # `elif` nests in the tree; walked with a loop, a long chain cannot exhaust the stack.
    before = m.scope.names
    outcomes: list[tuple[dict[str, Value], Flow]] = []
    current: ast.If | None = node
    while current is not None:
        m.evaluate(current.test)
        truth = m.find_truth(current.test)
        m.scope.names = m.scope.build_branch_names()
        if truth is not False:
            ended = m.read_block(current.body) if truth else _read_uncertain(m, current.body)
            outcomes.append((m.scope.names, ended))
        m.scope.names = before
        if truth:
            break
        follow = current.orelse
        if len(follow) == 1 and isinstance(follow[0], ast.If):
            m.steps += 1
            current = follow[0]
            continue
        m.scope.names = m.scope.build_branch_names()
        flow = _read_uncertain(m, follow) if outcomes else m.read_block(follow)
        outcomes.append((m.scope.names, flow))
        current = None
    return _update_from_outcomes(m, outcomes)


def _read_uncertain(m: Machine, block: Sequence[ast.stmt]) -> Flow:
    """Read a block that may not run."""
    m.uncertain += 1
    try:
        return m.read_block(block)
    finally:
        m.uncertain -= 1


def _update_from_outcomes(m: Machine, outcomes: Sequence[tuple[dict[str, Value], Flow]]) -> Flow:
    """Join the names of all ways; returns how the block ended, if each way ended like this."""
    merged = outcomes[0][0]
    for names, _ in outcomes[1:]:
        merged = _build_merged_names(merged, names)
    m.scope.names = merged
    flows = {flow for _, flow in outcomes}
    if len(flows) == 1:
        return flows.pop()
    if m.frames:
        m.frames[-1].may_have_ended = True
    return None


def _build_merged_names(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    if first is second:
        return first
    merged = dict(first)
    for name, value in second.items():
        kept = merged.get(name)
        merged[name] = value if kept is None else build_union(kept, value)
    return merged


def _read_for(m: Machine, node: ast.For | ast.AsyncFor) -> Flow:
    value = evaluate_iterable(m, m.evaluate(node.iter), node.iter)
    is_endless = (isinstance(value, Ref) and value.name in ENDLESS) or _is_endless_generator(m, node.iter)
    if is_endless and _grows(m, node):
        m.add("resource.endless", node, "a loop without an end adds to what it holds")
    elements, whole, decoding = select_turns(m, value, node.body)
    if not whole:
        _run_any_turns(m, node.body, node.target, build_union_of(elements))
        m.read_block(node.orelse)
        return None
    if not elements:
        # What was added may not be followed.
        _run_any_turns(m, node.body, None, UNKNOWN)
    has_end = any(isinstance(one, _ENDS) for part in node.body for one in list_nodes(part, _OWN_SCOPES))
    with m.patience(decoding=decoding):
        for element in elements:
            before = m.scope.names
            if has_end:
                # Any turn may be the last one.
                m.scope.names = m.scope.build_branch_names()
            attributes.write_target(m, node.target, element)
            m.read_block(node.body)
            if has_end:
                m.scope.names = _build_merged_names(before, m.scope.names)
            if m.exhausted:
                _run_any_turns(m, node.body, node.target, build_union_of(elements))
                break
    m.read_block(node.orelse)
    return None


def _run_any_turns(m: Machine, body: Sequence[ast.stmt], target: ast.expr | None, element: Value) -> None:
    """Read a loop's body for any turn: what it assigns may hold an earlier turn's value."""
    if body:
        m.read_repeatedly(lambda: _read_any_turn(m, body, target, element), body[0])


def _read_any_turn(m: Machine, body: Sequence[ast.stmt], target: ast.expr | None, element: Value) -> Flow:
    before = m.scope.names
    assigned = _list_assigned_names(body)
    for taint in (CLEAN, ANY):
        m.scope.names = dict(before)
        held = {name: value for name in assigned if (value := before.get(name)) is not None}
        for name, value in held.items():
            m.scope.names[name] = build_union(value, Unknown(compute_taint(value) | taint))
        if target is not None:
            attributes.write_target(m, target, element)
        m.read_block(body)
        # A plain name that later turns replace by something else is none: then once more.
        if all(
            m.scope.names.get(name) is None or not _is_widened(value, m.scope.names[name])
            for name, value in held.items()
        ):
            break
    m.scope.names = _build_merged_names(m.scope.names, before)
    return None


def _is_widened(before: Value, after: Value) -> bool:
    return compute_taint(before) == NAME and not all(is_plain(option) for option in list_options(after))


def _list_assigned_names(body: Sequence[ast.stmt]) -> set[str]:
    return {
        node.id
        for statement in body
        for node in list_nodes(statement, without=_OWN_SCOPES)
        if node.__class__ is ast.Name and node.ctx.__class__ is ast.Store
    }


def _read_while(m: Machine, node: ast.While) -> Flow:
    is_endless = isinstance(node.test, ast.Constant) and node.test.value and _grows(m, node)
    if is_endless or grows_by_doubling(node):
        m.add("resource.endless", node, "a loop without an end adds to what it holds")
    decoding = puts_text_together(node.body)
    with m.patience(decoding=decoding):
        is_finished = _run_turns(m, node, _DECODING_TURNS if decoding else _WHILE_TURNS)
    if not is_finished:
        _run_any_turns(m, node.body, None, UNKNOWN)
    m.read_block(node.orelse)
    return None


def _is_endless_generator(m: Machine, iterated: ast.expr) -> bool:
    """Whether a loop goes through a generator of the program that yields without an end."""
    if not (isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name)):
        return False
    function = m.scope.find(iterated.func.id)
    body = function.node.body if isinstance(function, Function) else []
    return isinstance(body, list) and yields_without_end(body)


def _grows(m: Machine, loop: ast.While | ast.For | ast.AsyncFor) -> bool:
    """Whether a loop without an end adds to what it holds, itself or by a function that it calls by name."""
    nodes = (node for statement in loop.body for node in list_nodes(statement, _OWN_SCOPES))
    names = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    called = [one.node.body for name in sorted(names) if isinstance(one := m.scope.find(name), Function)]
    return grows_without_end(loop, [body for body in called if isinstance(body, list)])


def _run_turns(m: Machine, node: ast.While, most: int) -> bool:
    """Read a loop's turns, `most` of them, while its condition is known; returns whether it ended itself."""
    for turn in range(most):
        condition = fold.evaluate_truth(m.evaluate(node.test))
        if condition is False:
            return turn > 0
        if condition is None or isinstance(node.test, ast.Constant) or m.exhausted:
            break
        if m.read_block(node.body) is not None:
            break
    return False


def _read_try(m: Machine, node: ast.Try | ast.TryStar) -> Flow:
    before = m.scope.names
    m.scope.names = m.scope.build_branch_names()
    flow = m.read_block(node.body)
    if flow is None:
        flow = m.read_block(node.orelse)
    outcomes: list[tuple[dict[str, Value], Flow]] = [(m.scope.names, flow)]
    entered = _build_merged_names(before, m.scope.names)
    for handler in node.handlers:
        m.scope.names = entered
        m.scope.names = m.scope.build_branch_names()
        if handler.type is not None:
            m.evaluate(handler.type)
        if handler.name is not None:
            m.scope.write_name(
                handler.name, build_union_of([*m.raised, Unknown(CALLABLE if m.raised else ANY)])
            )
        handled = _read_uncertain(m, handler.body)
        outcomes.append((m.scope.names, handled))
    if flow == "raise" and len(outcomes) > 1:
        outcomes = outcomes[1:]
    ended = _update_from_outcomes(m, outcomes)
    finally_ended = m.read_block(node.finalbody)
    return finally_ended or ended


def _build_union_of_parts(value: Value) -> Value:
    """Return a value that may be any part of this one."""
    parts = list(islice(iter_parts(value), _MAX_PARTS + 1))
    return build_union_of(parts if len(parts) <= _MAX_PARTS else [*parts[:_MAX_PARTS], Unknown(CALLABLE)])


# Parts of a value that a name in a pattern may get; of more it may get anything.
_MAX_PARTS: Final = 1_000


def _read_match(m: Machine, node: ast.Match) -> Flow:
    subject = m.evaluate(node.subject)
    # A name in a pattern may get whatever the subject holds.
    held = _build_union_of_parts(subject)
    before = m.scope.names
    outcomes: list[tuple[dict[str, Value], Flow]] = [(before, None)]
    for case in node.cases:
        m.scope.names = before
        m.scope.names = m.scope.build_branch_names()
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name is not None:
                m.scope.write_name(part.name, subject if part is case.pattern else held)
            elif isinstance(part, ast.MatchMapping) and part.rest is not None:
                m.scope.write_name(part.rest, held)
        if case.guard is not None:
            m.evaluate(case.guard)
        flow = _read_uncertain(m, case.body)
        outcomes.append((m.scope.names, flow))
    return _update_from_outcomes(m, outcomes)


BRANCHES: Final[dict[type, Executor]] = {
    ast.If: _read_if,
    ast.For: _read_for,
    ast.AsyncFor: _read_for,
    ast.While: _read_while,
    ast.Try: _read_try,
    ast.TryStar: _read_try,
    ast.Match: _read_match,
}
"""The executor of each kind of compound statement that branches."""
