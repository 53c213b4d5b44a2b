"""How plainly a text is Python: what its syntax tree says.

Most text does not parse; what does may still be a word, a sum or a value. The weight given is that of
statements only code has. A program that was cut counts by what is before the cut. Text is parsed, never
run.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from typing import Final

# Parsing takes time in proportion; longer texts are recognised by their signs.
_MAX_PARSED_CHARS: Final = 20_000


# Share of the lines that must parse before a text counts as a program that was cut.
_LEAST_BEFORE_CUT: Final = 0.7


# The weight of a statement that only code has.
_ENOUGH: Final = 3


def compute_python_weight(source: str) -> int:
    """Return how far parsing speaks for Python: not at all where a word or a list of values parses too."""
    if len(source) > _MAX_PARSED_CHARS:
        return 0
    source = textwrap.dedent(source).strip()
    if _ends_in_semicolons(source):
        return 0
    tree = _find_syntax_tree(source)
    if tree is None:
        return 0
    weight = sums = 0
    bound: set[str] = set()
    for statement in tree.body:
        if _uses_bound_names(statement, bound):
            statement_weight = _ENOUGH
        else:
            statement_weight = _compute_statement_weight(statement, source)
        sums += statement_weight == 1
        weight += statement_weight if statement_weight > 1 else 0
        if weight >= 2 * _ENOUGH:
            break
    return weight + min(sums, _ENOUGH - 1)


def _uses_bound_names(statement: ast.stmt, bound: set[str]) -> bool:
    """Whether an assignment works with what one before it bound, by names longer than a formula's letters.

    Args:
        statement: the next one.
        bound: names of the assignments before; its own is added.
    """
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return False
    used = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
    goes_on = not used.isdisjoint(bound)
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        targets = [statement.target]
    bound.update(target.id for target in targets if isinstance(target, ast.Name) and len(target.id) > 1)
    return goes_on


def _ends_in_semicolons(source: str) -> bool:
    """Whether half of the lines end in a semicolon: Python may, and people do not write it so."""
    lines = [line for line in source.splitlines() if line.strip()]
    return 2 * sum(line.rstrip().endswith(";") for line in lines) >= len(lines)


def _find_syntax_tree(source: str) -> ast.Module | None:
    """Return the syntax tree; of a program that was cut, of what is before the cut."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            return ast.parse(source)
        except SyntaxError as broken:
            lines = source.splitlines()
            whole = (broken.lineno or 1) - 1
            if whole < _LEAST_BEFORE_CUT * len(lines) or whole < 2:
                return None
        except (ValueError, MemoryError, RecursionError):
            return None
        try:
            return ast.parse("\n".join(lines[:whole]))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def _compute_statement_weight(statement: ast.stmt, source: str) -> int:
    """Return 3 for a statement that only code has, 1 for what a formula may be too, 0 for words."""
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return):
        return _ENOUGH if _does_something(statement.value, source) else 1
    if not isinstance(statement, ast.Expr):
        return _ENOUGH
    if isinstance(statement.value, ast.Call) and _is_shown(statement.value):
        return 0
    if isinstance(
        statement.value, ast.Constant | ast.Name | ast.UnaryOp | ast.Tuple | ast.List | ast.Dict | ast.Set
    ):
        # Values by themselves are what code printed, not code.
        return 0
    return _ENOUGH if _does_something(statement.value, source) else 1


# Values that print as the call that makes them.
_SHOWN: Final = frozenset(
    {
        "array",
        "Decimal",
        "Counter",
        "OrderedDict",
        "defaultdict",
        "deque",
        "date",
        "time",
        "timedelta",
        "Timestamp",
    }
    | {"Timedelta", "Index", "tensor", "UUID", "Fraction", "PosixPath"}
)


def _is_shown(call: ast.Call) -> bool:
    """Whether a statement is a value as an interpreter shows it: `array([1, 2])`, `Decimal('3')`."""
    function = call.func
    if isinstance(function, ast.Attribute):
        name = function.attr
    else:
        name = getattr(function, "id", "")
    return name in _SHOWN and not any(
        isinstance(node, ast.Name) for argument in call.args for node in ast.walk(argument)
    )


_BUILDERS: Final = (ast.List, ast.Dict, ast.Await, ast.ListComp, ast.DictComp, ast.JoinedStr)


def _does_something(value: ast.expr | None, source: str) -> bool:
    """Whether an expression calls, indexes or builds something, beyond arithmetic."""
    for node in ast.walk(value) if value is not None else ():
        if isinstance(node, ast.Call) and _is_call_proper(node, source):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Compare | ast.BoolOp):
            return True
        if isinstance(node, _BUILDERS):
            return True
    return False


def _is_call_proper(call: ast.Call, source: str) -> bool:
    """Whether a call is one: no factor before brackets, as in `n(n + 1)`, no word, as in `Total (net)`."""
    function = call.func
    if not isinstance(function, ast.Name | ast.Attribute) or function.end_lineno is None:
        return False
    if isinstance(function, ast.Name) and len(function.id) == 1:
        return False
    line = source.splitlines()[function.end_lineno - 1].encode()
    end = function.end_col_offset or 0
    return line[end : end + 1] != b" "
