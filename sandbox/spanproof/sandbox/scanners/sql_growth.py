"""SQL statements that take memory or time without end: recursions without a condition, and huge series.

In: the nodes of a parsed statement. Out: findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.source import START

if TYPE_CHECKING:
    from sqlglot import exp

# Functions that make rows or text by a number, and the number that no database makes in its time.
_REPEATING: Final = frozenset({"generate_series", "range", "repeat", "replicate", "sequence"})
_MOST_ROWS: Final = 1_000_000_000


def check_recursion(context: Context, nodes: list[exp.Expr]) -> None:
    """Judge a recursion without a condition that ends it."""
    from sqlglot import exp

    for union in [node for node in nodes if isinstance(node, exp.Union)]:
        step, cte = union.expression, union.parent
        is_recursive = isinstance(cte, exp.CTE) and any(
            table.name == cte.alias for table in step.find_all(exp.Table)
        )
        ends = any(step.args.get(key) for key in ("where", "joins", "limit", "having", "qualify"))
        if is_recursive and not ends and nodes[0].args.get("limit") is None:
            context.add("sql.resource.endless", START, "a recursive query has no condition that ends it")


def check_series(context: Context, nodes: list[exp.Expr]) -> None:
    """Judge series of more rows, and texts of more parts, than a database holds."""
    from sqlglot import exp

    for function in [node for node in nodes if isinstance(node, exp.Func)]:
        name = get_function_name(function)
        if name not in _REPEATING:
            continue
        numbers = [one.name for one in function.find_all(exp.Literal) if not one.is_string]
        if any(one.isdigit() and int(one) > _MOST_ROWS for one in numbers):
            context.add("sql.resource.endless", START, f"{name} makes more than a database holds")


def get_function_name(function: exp.Func) -> str:
    """Return the name of a function as statements call it, in lower case."""
    from sqlglot import exp

    return (function.name if isinstance(function, exp.Anonymous) else function.sql_name()).lower()
