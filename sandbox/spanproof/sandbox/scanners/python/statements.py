"""What each kind of statement does to the names. One function per node class, in the table at the end.

Branches are read on copies of the names and joined; loops over known elements are unrolled while the budget
lasts, others are read once with what they assign made uncertain.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from spanproof.sandbox.scanners.python import attributes, fold
from spanproof.sandbox.scanners.python.expressions import (
    MAX_UNROLLED,
    free_name,
    iterated,
    make_function,
    operate,
)
from spanproof.sandbox.scanners.python.machine import Arguments, Executor, Flow, Machine
from spanproof.sandbox.scanners.python.names import canonical
from spanproof.sandbox.scanners.python.values import (
    UNKNOWN,
    Const,
    Items,
    Klass,
    Mapping,
    Ref,
    Scope,
    Unknown,
    Value,
    elements_of,
    join,
    join_all,
    taint_of,
)

_MAX_TURNS = 600
"""Turns of a `while` loop that are read one by one."""


def _expression(m: Machine, node: ast.Expr) -> Flow:
    m.evaluate(node.value)
    return None


def _assign(m: Machine, node: ast.Assign) -> Flow:
    value = m.evaluate(node.value)
    for target in node.targets:
        attributes.bind(m, target, value)
    return None


def _annotated(m: Machine, node: ast.AnnAssign) -> Flow:
    if node.value is not None:
        attributes.bind(m, node.target, m.evaluate(node.value))
    return None


def _augmented(m: Machine, node: ast.AugAssign) -> Flow:
    target = node.target
    if isinstance(target, ast.Name):
        current = m.scope.find(target.id) or free_name(m, target.id)
    else:
        current = m.evaluate(target)
    added = m.evaluate(node.value)
    if isinstance(node.op, ast.Add) and isinstance(current, Items) and current.kind == "list":
        items, whole = elements_of(added)
        current.items.extend(items[:MAX_UNROLLED])
        current.more = current.more or not whole
        return None
    attributes.bind(m, target, operate(m, type(node.op), current, added, node.value))
    return None


def _if(m: Machine, node: ast.If) -> Flow:
    # `elif` nests in the tree; walked with a loop, a long chain cannot exhaust the stack.
    before = m.scope.names
    outcomes: list[tuple[dict[str, Value], Flow]] = []
    current: ast.If | None = node
    while current is not None:
        condition = fold.truth(m.evaluate(current.test))
        m.scope.names = dict(before)
        if condition is False:
            _read_dead(m, current.body)
        else:
            outcomes.append((m.scope.names, m.execute(current.body)))
            outcomes[-1] = (m.scope.names, outcomes[-1][1])
        m.scope.names = before
        follow = current.orelse
        if condition is True:
            _read_dead(m, follow)
            return _settle(m, outcomes)
        if len(follow) == 1 and isinstance(follow[0], ast.If):
            m.steps += 1
            current = follow[0]
            continue
        m.scope.names = dict(before)
        flow = m.execute(follow)
        outcomes.append((m.scope.names, flow))
        current = None
    return _settle(m, outcomes)


def _settle(m: Machine, outcomes: Sequence[tuple[dict[str, Value], Flow]]) -> Flow:
    going_on = [names for names, flow in outcomes if flow is None]
    if not going_on:
        m.scope.names = outcomes[-1][0]
        flows = {flow for _, flow in outcomes}
        # Ways that end differently (one returns, one raises) end the block all the same.
        return flows.pop() if len(flows) == 1 else "return" if "break" not in flows else "break"
    merged = going_on[0]
    for names in going_on[1:]:
        merged = _merge(merged, names)
    m.scope.names = merged
    return None


def _merge(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    merged = dict(first)
    for name, value in second.items():
        kept = merged.get(name)
        merged[name] = value if kept is None else join(kept, value)
    return merged


def _read_dead(m: Machine, block: Sequence[ast.stmt]) -> None:
    """Read a branch that is not taken, once: what it would do is told all the same."""
    if not block or id(block[0]) in m.visited_dead:
        return
    m.visited_dead.add(id(block[0]))
    before = m.scope.names
    m.scope.names = dict(before)
    m.execute(block)
    m.scope.names = before


def _for(m: Machine, node: ast.For | ast.AsyncFor) -> Flow:
    elements, whole = elements_of(iterated(m, m.evaluate(node.iter), node.iter))
    if whole and len(elements) <= MAX_UNROLLED and not m.exhausted:
        for element in list(elements):
            attributes.bind(m, node.target, element)
            flow = m.execute(node.body)
            if flow == "break":
                return None
            if flow in {"return", "raise"}:
                return flow
            if m.exhausted:
                _read_loosely(m, node.body, node.target, join_all(elements))
                break
    else:
        _read_loosely(m, node.body, node.target, join_all(elements[:64]) if elements else UNKNOWN)
    return m.execute(node.orelse)


def _read_loosely(m: Machine, body: Sequence[ast.stmt], target: ast.expr | None, element: Value) -> None:
    """Read a loop's body once, for any turn: what it assigns may hold an earlier turn's value."""
    before = m.scope.names
    m.scope.names = dict(before)
    for name in _assigned(body):
        value = m.scope.names.get(name)
        if value is not None:
            m.scope.names[name] = join(value, Unknown(taint_of(value)))
    if target is not None:
        attributes.bind(m, target, element)
    m.execute(body)
    m.scope.names = _merge(m.scope.names, before)


def _assigned(body: Sequence[ast.stmt]) -> set[str]:
    names: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return names


def _while(m: Machine, node: ast.While) -> Flow:
    for _ in range(_MAX_TURNS):
        condition = fold.truth(m.evaluate(node.test))
        if condition is False:
            return m.execute(node.orelse)
        if condition is None or isinstance(node.test, ast.Constant) or m.exhausted:
            break
        flow = m.execute(node.body)
        if flow == "break":
            return None
        if flow in {"return", "raise"}:
            return flow
    _read_loosely(m, node.body, None, UNKNOWN)
    return m.execute(node.orelse)


def _with(m: Machine, node: ast.With | ast.AsyncWith) -> Flow:
    for manager in node.items:
        value = m.evaluate(manager.context_expr)
        method = attributes.member(m, value, "__enter__", manager.context_expr)
        if method is not None:
            value = m.call(method, Arguments([], {}), manager.context_expr)
        if manager.optional_vars is not None:
            attributes.bind(m, manager.optional_vars, value)
    return m.execute(node.body)


def _try(m: Machine, node: ast.Try | ast.TryStar) -> Flow:
    before = m.scope.names
    m.scope.names = dict(before)
    flow = m.execute(node.body)
    if flow is None:
        flow = m.execute(node.orelse)
    outcomes: list[tuple[dict[str, Value], Flow]] = [(m.scope.names, flow)]
    entered = _merge(before, m.scope.names)
    for handler in node.handlers:
        m.scope.names = dict(entered)
        if handler.type is not None:
            m.evaluate(handler.type)
        if handler.name is not None:
            m.scope.bind(handler.name, UNKNOWN)
        handled = m.execute(handler.body)
        outcomes.append((m.scope.names, handled))
    if flow == "raise" and len(outcomes) > 1:
        outcomes = outcomes[1:]
    ended = _settle(m, outcomes)
    finally_ended = m.execute(node.finalbody)
    return finally_ended or ended


def _match(m: Machine, node: ast.Match) -> Flow:
    subject = m.evaluate(node.subject)
    before = m.scope.names
    outcomes: list[tuple[dict[str, Value], Flow]] = [(before, None)]
    for case in node.cases:
        m.scope.names = dict(before)
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name is not None:
                m.scope.bind(part.name, subject if part is case.pattern else Unknown(taint_of(subject)))
            elif isinstance(part, ast.MatchMapping) and part.rest is not None:
                m.scope.bind(part.rest, Unknown(taint_of(subject)))
        if case.guard is not None:
            m.evaluate(case.guard)
        flow = m.execute(case.body)
        outcomes.append((m.scope.names, flow))
    return _settle(m, outcomes)


def _function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
    value: Value = make_function(m, node)
    for decorator in reversed(node.decorator_list):
        called = m.evaluate(decorator)
        if isinstance(called, Ref) and called.name in _PLAIN_DECORATORS:
            continue
        result = m.call(called, Arguments([value], {}), decorator)
        # A decorator of a library (`@app.route`, `@tool`) is taken to give the function back.
        value = value if isinstance(result, Ref | Unknown) else result
    m.scope.bind(node.name, value)
    return None


_PLAIN_DECORATORS = frozenset(
    {"property", "staticmethod", "classmethod", "functools.wraps()", "functools.lru_cache", "functools.cache",
     "dataclasses.dataclass", "contextlib.contextmanager", "abc.abstractmethod", "functools.cached_property"}
)  # fmt: skip


def _class(m: Machine, node: ast.ClassDef) -> Flow:
    bases = [m.evaluate(base) for base in node.bases if not isinstance(base, ast.Starred)]
    for keyword in node.keywords:
        m.evaluate(keyword.value)
    outer = m.scope
    m.scope = Scope(outer)
    fields = [
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]
    try:
        m.execute(node.body)
        klass = Klass(node.name, bases, m.scope.names, fields)
    finally:
        m.scope = outer
    for function in klass.attributes.values():
        owner = getattr(function, "scope", None)
        if isinstance(owner, Scope) and owner.parent is outer:
            # A method does not see the names of its class, only those around it.
            function.scope = outer  # type: ignore[attr-defined]
            function.owner = klass  # type: ignore[attr-defined]
    m.classes.append(klass)
    outer.bind(node.name, klass)
    for base in bases:
        hook = attributes.member(m, base, "__init_subclass__", node) if isinstance(base, Klass) else None  # type: ignore[arg-type]
        if hook is not None:
            m.call(attributes.bound(hook, klass), Arguments([], {}), node)  # type: ignore[arg-type]
    for decorator in node.decorator_list:
        called = m.evaluate(decorator)
        if not (isinstance(called, Ref) and called.name.startswith(("dataclasses.", "functools."))):
            m.call(called, Arguments([klass], {}), decorator)
    return None


def _return(m: Machine, node: ast.Return) -> Flow:
    value = m.evaluate(node.value) if node.value is not None else Const(None)
    if m.frames:
        m.frames[-1].returned.append(value)
    return "return"


def _import(m: Machine, node: ast.Import) -> Flow:
    for alias in node.names:
        name = canonical(alias.name)
        _judge_import(m, alias.name, node)
        if alias.asname is not None:
            m.scope.bind(alias.asname, Ref(name))
        else:
            top = alias.name.partition(".")[0]
            m.scope.bind(top, Ref(canonical(top)))
    return None


def _import_from(m: Machine, node: ast.ImportFrom) -> Flow:
    module = node.module or ""
    if node.level == 0:
        _judge_import(m, module, node)
    for alias in node.names:
        if alias.name == "*":
            m.imported_all.append(canonical(module))
            continue
        resolved = canonical(f"{module}.{alias.name}")
        value = m.overrides.get(resolved) or attributes.load(m, Ref(canonical(module)), alias.name, _AT_IMPORT)
        m.scope.bind(alias.asname or alias.name, value if node.level == 0 else UNKNOWN)
    return None


_AT_IMPORT = ast.Name("import", ast.Load())


def _judge_import(m: Machine, module: str, node: ast.stmt) -> None:
    policy = m.context.boundary.policy
    top = module.partition(".")[0]
    if top in policy.denied_modules or module in policy.denied_modules:
        m.add("module.odd", node, f"imports {module}, whose calls the policy denies")


def _global(m: Machine, node: ast.Global) -> Flow:
    for name in node.names:
        m.scope.declared_global[name] = m.scope.top
    return None


def _nonlocal(m: Machine, node: ast.Nonlocal) -> Flow:
    for name in node.names:
        scope = m.scope.parent
        while scope is not None and name not in scope.names:
            scope = scope.parent
        if scope is not None:
            m.scope.declared_global[name] = scope
    return None


def _delete(m: Machine, node: ast.Delete) -> Flow:
    for target in node.targets:
        if isinstance(target, ast.Attribute):
            m.evaluate(target.value)
        elif isinstance(target, ast.Subscript):
            owner = m.evaluate(target.value)
            m.evaluate(target.slice)
            if isinstance(owner, Mapping):
                owner.rest.append(UNKNOWN)
    return None


def _raise(m: Machine, node: ast.Raise) -> Flow:
    if node.exc is not None:
        m.evaluate(node.exc)
    return "raise"


def _assert(m: Machine, node: ast.Assert) -> Flow:
    m.evaluate(node.test)
    if node.msg is not None:
        m.evaluate(node.msg)
    return None


def _pass(m: Machine, node: ast.stmt) -> Flow:
    return None


def _break(m: Machine, node: ast.Break) -> Flow:
    return "break"


def _continue(m: Machine, node: ast.Continue) -> Flow:
    return "continue"


STATEMENTS: dict[type, Executor] = {
    ast.Expr: _expression, ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented,
    ast.If: _if, ast.For: _for, ast.AsyncFor: _for, ast.While: _while, ast.With: _with, ast.AsyncWith: _with,
    ast.Try: _try, ast.TryStar: _try, ast.Match: _match, ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function, ast.ClassDef: _class, ast.Return: _return, ast.Import: _import,
    ast.ImportFrom: _import_from, ast.Global: _global, ast.Nonlocal: _nonlocal, ast.Delete: _delete,
    ast.Raise: _raise, ast.Assert: _assert, ast.Pass: _pass, ast.Break: _break, ast.Continue: _continue,
}  # type: ignore[dict-item]  # fmt: skip - each function takes the node class it stands for
"""The executor of each kind of statement."""
