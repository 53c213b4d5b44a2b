"""What a query rests on, by its parsed meaning: rows of tables, or only values written down in it.

In: SQL in any common dialect. Out: whether it is made of constants alone, and the names it gives its values.
Parsed at most; what does not parse is taken to read tables.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_MAX_CHARS = 20_000
_DIALECTS = ("", "postgres", "mysql", "sqlite", "duckdb", "tsql", "snowflake", "bigquery", "clickhouse")

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@lru_cache(maxsize=256)
def statements(query: str) -> tuple[exp.Expr, ...]:
    """The statements of a query in the first dialect that reads it; none where no dialect does."""
    if len(query) > _MAX_CHARS:
        return ()
    for dialect in _DIALECTS:
        try:
            found = sqlglot.parse(query, dialect=dialect or None)
        except (SqlglotError, RecursionError, ValueError):
            continue
        return tuple(statement for statement in found if statement is not None)
    return ()


def tables_of(statement: exp.Expr) -> frozenset[str]:
    """Names of the tables that a statement reads, lower-case; what it defines itself is left out."""
    own = {each.alias_or_name.lower() for each in statement.find_all(exp.CTE)}
    return frozenset(table.name.lower() for table in statement.find_all(exp.Table) if table.name) - own


def is_constant(query: str) -> bool:
    """Whether a query selects only values that it writes down: `SELECT 540.25 AS revenue`."""
    found = statements(query)
    return bool(found) and all(
        isinstance(each, exp.Query) and not tables_of(each) and not list(each.find_all(exp.Anonymous))
        for each in found
    )


def names_in(query: str) -> Iterator[str]:
    """Names that a query gives its values and rows."""
    for statement in statements(query):
        for each in statement.find_all(exp.Alias, exp.CTE, exp.TableAlias):
            yield each.alias_or_name
