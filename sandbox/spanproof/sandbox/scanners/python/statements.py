"""What each kind of statement does to the names. One function per node class, in the table at the end.

Branches are read on copies of the names and joined; loops over known elements are unrolled while the budget
lasts, others are read once with what they assign made uncertain.
"""

# ruff: noqa: ARG005 - functions of one table share one signature

from __future__ import annotations

import ast

from spanproof.sandbox.scanners.policy_lines import format_removal
from spanproof.sandbox.scanners.python import attributes, effects
from spanproof.sandbox.scanners.python.expressions import make_function, operate, resolve_free_name
from spanproof.sandbox.scanners.python.flow import BRANCHES
from spanproof.sandbox.scanners.python.machine import Executor, Flow, Machine
from spanproof.sandbox.scanners.python.names import normalise_name
from spanproof.sandbox.scanners.python.own_modules import read_own_modules
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    UNKNOWN,
    Const,
    Instance,
    Items,
    Klass,
    Mapping,
    Ref,
    Scope,
    Unknown,
    Value,
    join_all,
    list_elements,
)
from spanproof.sandbox.words import split_words


def _execute_expression(m: Machine, node: ast.Expr) -> Flow:
    m.evaluate(node.value)
    called = node.value.func if isinstance(node.value, ast.Call) else None
    if getattr(called, "attr", getattr(called, "id", "")) not in _EXITS or called is None:
        return None
    function = m.evaluate(called)
    is_exit = isinstance(function, Ref) and function.name in _EXITS
    if is_exit and m.conditions is not None and m.conditions.has_plain_exits:
        return "raise"
    return None


# Calls that end the program by an exception, or at once.
_EXITS = split_words("exit _exit quit sys.exit os._exit")


def _execute_assignment(m: Machine, node: ast.Assign) -> Flow:
    value = m.evaluate(node.value)
    for target in node.targets:
        attributes.bind(m, target, value)
    return None


def _execute_annotated(m: Machine, node: ast.AnnAssign) -> Flow:
    if node.value is not None:
        attributes.bind(m, node.target, m.evaluate(node.value))
    return None


def _execute_augmented(m: Machine, node: ast.AugAssign) -> Flow:
    target = node.target
    if isinstance(target, ast.Name):
        current = m.scope.find(target.id) or resolve_free_name(m, target.id)
    else:
        current = m.evaluate(target)
    added = m.evaluate(node.value)
    if isinstance(current, Ref) and current.name == "sys.path":
        m.tables.set_attribute(m, Ref("sys"), "path", added, node.value)
    if isinstance(node.op, ast.Add) and isinstance(current, Items) and current.kind == "list":
        items, whole = list_elements(added)
        m.add_items(current, items)
        current.more = current.more or not whole
        return None
    attributes.bind(m, target, operate(m, type(node.op), current, added, node.value))
    return None


def _execute_with(m: Machine, node: ast.With | ast.AsyncWith) -> Flow:
    prefix = "" if isinstance(node, ast.With) else "a"
    entered: list[tuple[Value, ast.expr]] = []
    for manager in node.items:
        value = m.evaluate(manager.context_expr)
        entered.append((value, manager.context_expr))
        method = attributes.find_member(m, value, f"__{prefix}enter__", manager.context_expr)
        if method is not None:
            value = m.call(method, Arguments([]), manager.context_expr)
        elif isinstance(value, Items):
            value = join_all(value.items)  # what a function under @contextmanager yields
        if manager.optional_vars is not None:
            attributes.bind(m, manager.optional_vars, value)
    m.execute(node.body)
    for value, expression in reversed(entered):
        method = attributes.find_member(m, value, f"__{prefix}exit__", expression)
        if method is not None:
            m.call(method, Arguments([UNKNOWN, UNKNOWN, UNKNOWN]), expression)
    # A manager may swallow what is raised (`contextlib.suppress`), at any place in the block.
    return None


def _execute_function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
    value: Value = make_function(m, node)
    for decorator in reversed(node.decorator_list):
        called = m.evaluate(decorator)
        if isinstance(called, Ref) and called.name in _PLAIN_DECORATORS:
            continue
        value = _decorate(m, called, value, decorator)
    m.scope.bind(node.name, value)
    return None


def _decorate(m: Machine, called: Value, value: Value, node: ast.expr) -> Value:
    """Return what a decorator makes of a function or class.

    That of a library (`@app.route`, `@tool`) is taken to give it back.
    """
    result = m.call(called, Arguments([value], {}), node)
    is_same = isinstance(result, Ref | Unknown) and not m.reaches_outside(result)
    return value if is_same else result


_PLAIN_DECORATORS = split_words(
    "property staticmethod classmethod functools.wraps() functools.lru_cache functools.cache"
    " dataclasses.dataclass contextlib.contextmanager abc.abstractmethod functools.cached_property"
)  # fmt: skip


def _execute_class(m: Machine, node: ast.ClassDef) -> Flow:
    bases = [m.evaluate(base) for base in node.bases if not isinstance(base, ast.Starred)]
    named = {one.arg: m.evaluate(one.value) for one in node.keywords if one.arg not in {None, "metaclass"}}
    bases.extend([m.evaluate(one.value) for one in node.keywords if one.arg in {None, "metaclass"}])
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
    effects.check_declared(m, bases, klass.attributes, node)
    m.classes.append(klass)
    outer.bind(node.name, klass)
    for base in bases:
        hook = attributes.find_member(m, base, "__init_subclass__", node) if isinstance(base, Klass) else None  # type: ignore[arg-type]
        if hook is not None:
            m.call(attributes.bind_receiver(hook, klass), Arguments([], named), node)  # type: ignore[arg-type]
    value = _decorate_class(m, klass, node)
    if value is not klass:
        outer.bind(node.name, value)
    return None


def _decorate_class(m: Machine, klass: Klass, node: ast.ClassDef) -> Value:
    value: Value = klass
    for decorator in reversed(node.decorator_list):
        called = m.evaluate(decorator)
        if not (isinstance(called, Ref) and called.name.startswith(("dataclasses.", "functools."))):
            value = _decorate(m, called, value, decorator)
    return value


def _execute_return(m: Machine, node: ast.Return) -> Flow:
    value = m.evaluate(node.value) if node.value is not None else Const(None)
    if m.frames:
        m.frames[-1].returned.append(value)
    return "return"


def _execute_import(m: Machine, node: ast.Import) -> Flow:
    for alias in node.names:
        name = normalise_name(alias.name)
        _judge_import(m, alias.name, node)
        read_own_modules(m, alias.name, node)
        if alias.asname is not None:
            m.scope.bind(alias.asname, Ref(name))
        else:
            top = alias.name.partition(".")[0]
            m.scope.bind(top, Ref(normalise_name(top)))
    return None


def _execute_import_from(m: Machine, node: ast.ImportFrom) -> Flow:
    module = node.module or ""
    if node.level == 0:
        _judge_import(m, module, node)
    for alias in node.names:
        read_own_modules(m, f"{module}.{alias.name}".strip("."), node)
        if alias.name == "*":
            m.imported_all.append(normalise_name(module))
            continue
        resolved = normalise_name(f"{module}.{alias.name}")
        value = m.overrides.get(resolved) or attributes.load_attribute(
            m, Ref(normalise_name(module)), alias.name, _AT_IMPORT
        )
        m.scope.bind(alias.asname or alias.name, value if node.level == 0 else UNKNOWN)
    return None


_AT_IMPORT = ast.Name("import", ast.Load())


def _judge_import(m: Machine, module: str, node: ast.stmt) -> None:
    policy = m.context.boundary.policy
    top = module.partition(".")[0]
    if top in policy.denied_modules or module in policy.denied_modules:
        line = format_removal("denied_modules", top if top in policy.denied_modules else module)
        message = f"imports {module}, whose calls the policy denies"
        m.add("module.odd", node, message, policy_line=line)


def _execute_global(m: Machine, node: ast.Global) -> Flow:
    for name in node.names:
        m.scope.declared_global[name] = m.scope.top
    return None


def _execute_nonlocal(m: Machine, node: ast.Nonlocal) -> Flow:
    for name in node.names:
        scope = m.scope.parent
        while scope is not None and name not in scope.names:
            scope = scope.parent
        if scope is not None:
            m.scope.declared_global[name] = scope
    return None


def _execute_delete(m: Machine, node: ast.Delete) -> Flow:
    for target in node.targets:
        if isinstance(target, ast.Attribute):
            m.evaluate(target.value)
        elif isinstance(target, ast.Subscript):
            owner = m.evaluate(target.value)
            m.evaluate(target.slice)
            if isinstance(owner, Mapping):
                owner.rest.append(UNKNOWN)
    return None


def _execute_raise(m: Machine, node: ast.Raise) -> Flow:
    if node.exc is not None:
        raised = m.evaluate(node.exc)
        if isinstance(raised, Instance) and len(m.raised) < _MOST_RAISED:
            m.raised.append(raised)
    return "raise"


# Raised objects that a handler may get; what is not kept is unknown to it in any case.
_MOST_RAISED = 16


def _execute_assert(m: Machine, node: ast.Assert) -> Flow:
    m.evaluate(node.test)
    if node.msg is not None:
        m.evaluate(node.msg)
    return None


STATEMENTS: dict[type, Executor] = {
    **BRANCHES,
    ast.Expr: _execute_expression,
    ast.Assign: _execute_assignment,
    ast.AnnAssign: _execute_annotated,
    ast.AugAssign: _execute_augmented,
    ast.With: _execute_with,
    ast.AsyncWith: _execute_with,
    ast.FunctionDef: _execute_function,
    ast.AsyncFunctionDef: _execute_function,
    ast.ClassDef: _execute_class,
    ast.Return: _execute_return,
    ast.Import: _execute_import,
    ast.ImportFrom: _execute_import_from,
    ast.Global: _execute_global,
    ast.Nonlocal: _execute_nonlocal,
    ast.Delete: _execute_delete,
    ast.Raise: _execute_raise,
    ast.Assert: _execute_assert,
    ast.Pass: lambda m, node: None,
    ast.Break: lambda m, node: "break",
    ast.Continue: lambda m, node: "continue",
}
"""The executor of each kind of statement."""
