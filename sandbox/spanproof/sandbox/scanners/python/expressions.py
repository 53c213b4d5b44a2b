"""What each kind of expression evaluates to. One function per node class, in the table at the end.

Operators between values that are known in part combine their alternatives and keep what is known of texts.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import re

from spanproof.sandbox.scanners.python import attributes, fold
from spanproof.sandbox.scanners.python.flow import COMPREHENSIONS
from spanproof.sandbox.scanners.python.growth import is_too_large
from spanproof.sandbox.scanners.python.machine import Evaluator, Machine
from spanproof.sandbox.scanners.python.models import split_date_format
from spanproof.sandbox.scanners.python.names import (
    BUILTINS,
    COMMON_ALIASES,
    KNOWN_MODULES,
    SINKS,
    normalise_name,
)
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import (
    ANY,
    CLEAN,
    NAME,
    UNKNOWN,
    Const,
    Function,
    Instance,
    Items,
    Mapping,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    build_text,
    collect_taint,
    join,
    join_all,
    list_elements,
    list_options,
    read_constant_text,
    to_pieces,
    widen,
)


def operate(m: Machine, kind: type[ast.operator], left: Value, right: Value, node: ast.expr) -> Value:
    """Return what an operator gives, alternatives included."""
    for value in (left, right):
        m.read_environment(value, node)
    lefts, rights = list_options(left), list_options(right)
    if len(lefts) * len(rights) == 1:
        return _operate_one(m, kind, left, right, node)
    if len(lefts) * len(rights) > 36:
        return widen([left, right])
    return join_all(_operate_one(m, kind, one, other, node) for one in lefts for other in rights)


def _operate_one(m: Machine, kind: type[ast.operator], left: Value, right: Value, node: ast.expr) -> Value:
    if kind is ast.Mult:
        _judge_repetition(m, left, right, node)
    if isinstance(left, Const) and isinstance(right, Const):
        folded = fold.fold_binary(kind, left, right)
        if folded is not None:
            return folded
        return Unknown(left.taint | right.taint)
    if isinstance(left, Instance):
        method = attributes.find_special_method(left, _OPERATOR_METHODS.get(kind, ""))
        if method is not None:
            return m.call(method, Arguments([right], {}), node)
    return _compute_partly_known(kind, left, right)


def _compute_partly_known(kind: type[ast.operator], left: Value, right: Value) -> Value:
    """Return what an operator gives for values of which not all is known."""
    taint = collect_taint(left) | collect_taint(right)
    if kind is ast.Div and (isinstance(left, Path) or isinstance(right, Path)):
        return attributes.join_path([left, right], as_path=True)
    if kind is ast.Add:
        return _add(left, right)
    if kind is ast.Mod and isinstance(left, Const | Text) and _is_text(left):
        return format_percent(left, right)
    folded = fold.fold_binary(kind, left, right)
    if folded is not None:
        return folded
    if isinstance(left, Items) and isinstance(right, Const):
        return Items(left.items, left.kind, more=True)
    is_number = _gives_number(kind, left, right) or NAME == left.taint == right.taint
    return Unknown(NAME if is_number and taint <= NAME else taint)


def _gives_number(kind: type[ast.operator], left: Value, right: Value) -> bool:
    """Whether an operator gives a number, or fails."""
    # `files("package") / "../x"` is a path of a library.
    may_join = isinstance(left, Ref) and isinstance(right, Const | Ref)
    return kind in (ast.Sub, ast.FloorDiv, ast.Pow) or (kind is ast.Div and not may_join)


def _judge_repetition(m: Machine, left: Value, right: Value, node: ast.expr) -> None:
    """Judge `"text" * count` and `[item] * count` by how much that is."""
    for repeated, count in ((left, right), (right, left)):
        content = repeated.items if isinstance(repeated, Items) else getattr(repeated, "value", None)
        if isinstance(content, str | bytes | list) and is_too_large([Const(len(content)), count]):
            m.add("resource.endless", node, "makes a value that is larger than a machine's memory")


def _is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, Items) and isinstance(right, Items):
        return Items([*left.items, *right.items], left.kind, left.more or right.more)
    taint = collect_taint(left) | collect_taint(right)
    if _is_text(left) or _is_text(right):
        return build_text((*to_pieces(left), *to_pieces(right)), taint)
    folded = fold.fold_binary(ast.Add, left, right)
    return folded if folded is not None else Unknown(taint)


def format_percent(template: Value, values: Value) -> Value:
    """Return what `%` gives for values known only in part: the text before and between them stays known."""
    head = to_pieces(template)
    if len(head) != 1 or head[0] is None:
        return Unknown(collect_taint(template) | collect_taint(values))
    arguments = list(values.items) if isinstance(values, Items) else [values]
    pieces: list[str | None] = []
    rest = head[0]
    while "%" in rest:
        before, _, rest = rest.partition("%")
        pieces.append(before)
        if rest.startswith("%"):
            pieces.append("%")
            rest = rest[1:]
            continue
        if rest.startswith("(") and isinstance(values, Mapping):
            key, _, rest = rest[1:].partition(")")
            arguments = [values.entries.get(key, Unknown(collect_taint(values)))]
        simple = rest[:1] in {"s", "d", "i"}
        pieces.extend(to_pieces(arguments.pop(0)) if arguments and simple else (None,))
        rest = rest[1:] if simple else rest.lstrip("0123456789.-+ #(abcdefghijklmnopqrstuvwxyz_)")
    pieces.append(rest)
    return build_text(pieces, collect_taint(template) | collect_taint(values))


_OPERATOR_METHODS = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.Mod: "__mod__",
    ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__", ast.MatMult: "__matmul__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.FloorDiv: "__floordiv__", ast.Pow: "__pow__",
}  # fmt: skip


_MODULE_NAMES = {"__name__": Const("__main__"), "__file__": Const("snippet.py"), "__doc__": Const(None)}
_NUMERIC_FORMAT = re.compile(r"^[ <>=^+#0-9,_.-]*[defgxDEFGX%]$")
_IN_OPERATORS = (ast.In, ast.NotIn)


def resolve_free_name(m: Machine, name: str) -> Value:
    """Return what a name means that the program does not bind: a builtin, or an earlier step's import."""
    if name in m.overrides:
        return m.overrides[name]
    if name in _MODULE_NAMES:
        return _MODULE_NAMES[name]
    if name == "__builtins__":
        return Ref("builtins")
    if name in BUILTINS or name in {"__loader__", "__spec__"}:
        return Ref(name)
    for module in m.imported_all:
        resolved = normalise_name(f"{module}.{name}")
        if resolved in m.overrides:
            return m.overrides[resolved]
        if resolved in SINKS or module in {"os", "os.path", "subprocess", "pathlib", "shutil", "socket"}:
            return Ref(resolved)
    if name in COMMON_ALIASES:
        return Ref(COMMON_ALIASES[name])
    if name in KNOWN_MODULES:
        return Ref(normalise_name(name))
    return Unknown(frozenset({"free"}))


def _evaluate_constant(m: Machine, node: ast.Constant) -> Value:
    return Const(node.value)


def _evaluate_name(m: Machine, node: ast.Name) -> Value:
    found = m.scope.find(node.id)
    return found if found is not None else resolve_free_name(m, node.id)


def _evaluate_attribute(m: Machine, node: ast.Attribute) -> Value:
    return attributes.load_attribute(m, m.evaluate(node.value), node.attr, node)


def _evaluate_subscript(m: Machine, node: ast.Subscript) -> Value:
    value = m.evaluate(node.value)
    return attributes.load_item(m, value, m.evaluate(node.slice), node)


def _evaluate_slice(m: Machine, node: ast.Slice) -> Value:
    bounds = [
        Const(None) if part is None else m.evaluate(part) for part in (node.lower, node.upper, node.step)
    ]
    try:
        return Const(slice(*[fold.to_concrete(bound) for bound in bounds]))
    except fold.NotKnown:
        return UNKNOWN


def _evaluate_call(m: Machine, node: ast.Call) -> Value:
    function = m.evaluate(node.func)
    return m.call(function, evaluate_arguments(m, node), node)


def evaluate_arguments(m: Machine, node: ast.Call) -> Arguments:
    """Return the arguments of a call, stars unpacked where they are known."""
    positional: list[Value] = []
    named: dict[str, Value] = {}
    more = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            items, whole = list_elements(m.evaluate(argument.value))
            positional.extend(items if whole else [])
            more = more or not whole
        else:
            positional.append(m.evaluate(argument))
    for keyword in node.keywords:
        value = m.evaluate(keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif isinstance(value, Mapping):
            named.update({str(key): item for key, item in value.entries.items()})
            more = more or bool(value.rest)
        else:
            more = True
    return Arguments(positional, named, more)


def _evaluate_binary(m: Machine, node: ast.BinOp) -> Value:
    # Long chains (`a + b + c …`) lean to the left; walked with a list, they cannot exhaust the stack.
    chain: list[ast.BinOp] = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = m.evaluate(chain[-1].left)
    for link in reversed(chain):
        value = operate(m, type(link.op), value, m.evaluate(link.right), link)
    return value


def _evaluate_unary(m: Machine, node: ast.UnaryOp) -> Value:
    operand = m.evaluate(node.operand)
    folded = fold.fold_unary(type(node.op), operand)
    return folded if folded is not None else Unknown(operand.taint)


def _evaluate_boolean(m: Machine, node: ast.BoolOp) -> Value:
    stops_at = isinstance(node.op, ast.Or)
    possible: list[Value] = []
    for part in node.values:
        value = m.evaluate(part)
        is_last = part is node.values[-1]
        if is_last or fold.evaluate_truth(value) is not (not stops_at):
            possible.append(value)
        if m.find_truth(part) is stops_at:
            break
    return join_all(possible)


def _evaluate_comparison(m: Machine, node: ast.Compare) -> Value:
    left = m.evaluate(node.left)
    result: Value = UNKNOWN
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = m.evaluate(comparator)
        if isinstance(operator, _IN_OPERATORS) and isinstance(right, Ref) and right.name == "os.environ":
            m.call(Ref("os.environ.__contains__"), Arguments([left], {}), node)
        folded = fold.fold_comparison(type(operator), left, right)
        result = folded if folded is not None else UNKNOWN
        left = right
    return result if len(node.ops) == 1 else UNKNOWN


def _evaluate_conditional(m: Machine, node: ast.IfExp) -> Value:
    m.evaluate(node.test)
    truth = m.find_truth(node.test)
    if truth is not None:
        return m.evaluate(node.body if truth else node.orelse)
    return join(m.evaluate(node.body), m.evaluate(node.orelse))


def _evaluate_joined_text(m: Machine, node: ast.JoinedStr) -> Value:
    pieces: list[str | None] = []
    taint = CLEAN
    alternatives: Value | None = None
    for part in node.values:
        if isinstance(part, ast.Constant):
            value: Value = Const(part.value)
        else:
            value = m.evaluate(part)
        taint |= collect_taint(value)
        if len(list_options(value)) > 1:
            head = build_text(pieces, taint)
            if alternatives is not None:
                head = operate(m, ast.Add, alternatives, head, node)
            alternatives, pieces = operate(m, ast.Add, head, value, node), []
        else:
            pieces.extend(to_pieces(value))
    tail = build_text(pieces, taint)
    if alternatives is None:
        return tail
    return operate(m, ast.Add, alternatives, tail, node)


def _evaluate_formatted(m: Machine, node: ast.FormattedValue) -> Value:
    value = m.evaluate(node.value)
    if node.conversion in (ord("r"), ord("a")):
        folded = fold.fold(repr, [value], {})
        if folded is not None:
            return folded
        return Unknown(collect_taint(value))
    if node.format_spec is not None:
        specification = m.evaluate(node.format_spec)
        folded = fold.fold(fold.FUNCTIONS["format"], [value, specification], {})
        if folded is not None:
            return folded
        text = read_constant_text(specification)
        if text is not None and "%" in text[:-1]:
            return build_text(split_date_format(text), NAME)
        plain = text is not None and _NUMERIC_FORMAT.match(text) is not None
        return Unknown(NAME if plain else collect_taint(value) | ANY)
    m.read_environment(value, node.value)
    if isinstance(value, Ref | Instance | Items | Mapping | Function):
        folded = fold.fold(str, [value], {})
        if folded is not None:
            return folded
        return Unknown(collect_taint(value))
    return value


def _evaluate_list(m: Machine, node: ast.List | ast.Tuple | ast.Set) -> Value:
    items: list[Value] = []
    more = False
    for element in node.elts:
        if isinstance(element, ast.Starred):
            inner, whole = list_elements(m.evaluate(element.value))
            items.extend(inner)
            more = more or not whole
        else:
            items.append(m.evaluate(element))
    return Items(items, _KINDS[type(node)], more)


_KINDS: dict[type[ast.expr], str] = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}


def _evaluate_dictionary(m: Machine, node: ast.Dict) -> Value:
    entries: dict[object, Value] = {}
    rest: list[Value] = []
    keys: list[Value] = []
    for key, item in zip(node.keys, node.values, strict=True):
        value = m.evaluate(item)
        if key is None:
            if isinstance(value, Mapping):
                entries.update(value.entries)
                rest.extend(value.rest)
                keys.extend(value.keys)
            else:
                m.read_environment(value, item)
                rest.append(value)
            continue
        given = m.evaluate(key)
        try:
            entries[fold.to_concrete(given)] = value
        except (fold.NotKnown, TypeError):
            rest.append(value)
            keys.append(given)
    return Mapping(entries, rest, keys)


def make_function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
    """Build a function of the program, with its present defaults; remember it, in case nothing calls it."""
    defaults = [m.evaluate(default) for default in node.args.defaults]
    keyword_defaults = [None if one is None else m.evaluate(one) for one in node.args.kw_defaults]
    function = Function(node, m.scope, defaults, keyword_defaults)
    m.functions.append(function)
    return function


def _evaluate_inner(m: Machine, node: ast.Await | ast.Starred) -> Value:
    return m.evaluate(node.value)


def _evaluate_yield(m: Machine, node: ast.Yield) -> Value:
    value = m.evaluate(node.value) if node.value is not None else Const(None)
    if m.frames:
        m.frames[-1].yielded.append(value)
    return UNKNOWN


def _evaluate_yield_from(m: Machine, node: ast.YieldFrom) -> Value:
    items, _ = list_elements(m.evaluate(node.value))
    if m.frames:
        m.frames[-1].yielded.extend(items)
    return UNKNOWN


def _evaluate_named(m: Machine, node: ast.NamedExpr) -> Value:
    value = m.evaluate(node.value)
    inner = m.scope
    # A comprehension, which may not run, gives the name to what is around it.
    while m.scope.is_comprehension and m.scope.parent is not None:
        m.scope = m.scope.parent
    before = m.scope.find(node.target.id) if m.scope is not inner else None
    attributes.bind(m, node.target, value if before is None else join(before, value))
    m.scope = inner
    return value


EXPRESSIONS: dict[type, Evaluator] = {
    **COMPREHENSIONS,
    ast.Constant: _evaluate_constant,
    ast.Name: _evaluate_name,
    ast.Attribute: _evaluate_attribute,
    ast.Subscript: _evaluate_subscript,
    ast.Slice: _evaluate_slice,
    ast.Call: _evaluate_call,
    ast.BinOp: _evaluate_binary,
    ast.UnaryOp: _evaluate_unary,
    ast.BoolOp: _evaluate_boolean,
    ast.Compare: _evaluate_comparison,
    ast.IfExp: _evaluate_conditional,
    ast.JoinedStr: _evaluate_joined_text,
    ast.FormattedValue: _evaluate_formatted,
    ast.List: _evaluate_list,
    ast.Tuple: _evaluate_list,
    ast.Set: _evaluate_list,
    ast.Dict: _evaluate_dictionary,
    ast.Lambda: make_function,
    ast.Await: _evaluate_inner,
    ast.Yield: _evaluate_yield,
    ast.YieldFrom: _evaluate_yield_from,
    ast.NamedExpr: _evaluate_named,
    ast.Starred: _evaluate_inner,
}
"""The evaluator of each kind of expression."""
