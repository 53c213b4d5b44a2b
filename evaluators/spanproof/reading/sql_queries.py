"""What a query rests on, by its parsed meaning: rows of tables, or only values written down in it.

In: SQL in any common dialect. Out: whether it is made of constants alone, and the names it gives its values.
Parsed at most; what does not parse is taken to read tables. The parser is loaded with the first query: most
traces have none.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_MAX_CHARS = 20_000
_DIALECTS = ("", "postgres", "mysql", "sqlite", "duckdb", "tsql", "snowflake", "bigquery", "clickhouse")

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@lru_cache(maxsize=256)
def parse_statements(query: str) -> tuple[exp.Expr, ...]:
    """Return the statements of a query in the first dialect that reads it; none where no dialect does."""
    if len(query) > _MAX_CHARS:
        return ()
    import sqlglot
    from sqlglot.errors import SqlglotError

    for dialect in _DIALECTS:
        try:
            found = sqlglot.parse(query, dialect=dialect or None)
        except (SqlglotError, RecursionError, ValueError):
            continue
        return tuple(statement for statement in found if statement is not None)
    return ()


def list_tables(statement: exp.Expr) -> frozenset[str]:
    """Return the tables that a statement reads, lower-case; what it defines itself is left out."""
    from sqlglot import exp

    defined = {expression.alias_or_name.lower() for expression in statement.find_all(exp.CTE)}
    return frozenset(table.name.lower() for table in statement.find_all(exp.Table) if table.name) - defined


def is_constant(query: str) -> bool:
    """Whether a query selects only values that it writes down: `SELECT 540.25 AS revenue`."""
    from sqlglot import exp

    found = parse_statements(query)
    if not found or not all(isinstance(statement, exp.Query) for statement in found):
        return False
    reads = (list_tables(statement) or statement.find(exp.Anonymous) is not None for statement in found)
    return not any(reads)


def iter_aliases(query: str) -> Iterator[str]:
    """Yield the names that a query gives its values and rows."""
    from sqlglot import exp

    for statement in parse_statements(query):
        for alias in statement.find_all(exp.Alias, exp.CTE, exp.TableAlias):
            yield alias.alias_or_name


def list_conditions(statement: exp.Expr) -> frozenset[str]:
    """Return the conditions of a statement's WHERE and HAVING, each alone, in one spelling."""
    from sqlglot import exp

    found: set[str] = set()
    for clause in statement.find_all(exp.Where, exp.Having):
        parts = clause.this.flatten() if isinstance(clause.this, exp.And) else [clause.this]
        found |= {part.sql().lower() for part in parts}
    return frozenset(found)


def list_dropped_values(narrow: str, broad: str) -> tuple[str, ...]:
    """Return the values of the conditions that a broader query on the same tables leaves out.

    Empty where it is no broader one.
    """
    from sqlglot import exp

    before, after = parse_statements(narrow), parse_statements(broad)
    if len(before) != 1 or len(after) != 1 or not list_tables(before[0]):
        return ()
    if list_tables(before[0]) != list_tables(after[0]):
        return ()
    kept, had = list_conditions(after[0]), list_conditions(before[0])
    if not kept < had:
        return ()
    written = {literal.this.strip("%") for literal in before[0].find_all(exp.Literal)}
    still = {literal.this.strip("%") for literal in after[0].find_all(exp.Literal)}
    return tuple(sorted(value for value in written - still if value))
