"""What a query says of its result: the names of the columns that its SELECT gives.

In: SQL in any common dialect. Out: names in order, none where a star or an expression leaves one unnamed to
us. The parser is loaded with the first query that a plain list of columns does not settle.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_MAX_CHARS = 20_000
_DIALECTS = ("", "postgres", "mysql", "sqlite", "duckdb", "tsql", "snowflake", "bigquery", "clickhouse")
_IDENTIFIER = r"[A-Za-z_]\w*"
# SELECT a, t.b AS c FROM …: needs no parser.
_PLAIN = re.compile(
    rf"\s*select\s+(?P<columns>(?:{_IDENTIFIER}\.)?{_IDENTIFIER}(?:\s+as\s+{_IDENTIFIER})?"
    rf"(?:\s*,\s*(?:{_IDENTIFIER}\.)?{_IDENTIFIER}(?:\s+as\s+{_IDENTIFIER})?)*)\s+from\s",
    re.IGNORECASE,
)
_NO_COLUMN = frozenset(("distinct", "all", "top", "from"))
_SELECTS = re.compile(r"\s*(?:select|with|\(|--|/\*)", re.IGNORECASE)


@lru_cache(maxsize=256)
def list_columns(query: str) -> tuple[str, ...]:
    """Return the names of the columns that a query's last SELECT gives; none where they are not all known."""
    plain = _PLAIN.match(query)
    if plain is not None and not _NO_COLUMN & set(plain["columns"].lower().split()):
        return tuple(re.split(r"\.|\s", column.strip())[-1] for column in plain["columns"].split(","))
    if len(query) > _MAX_CHARS or not _SELECTS.match(query):
        return ()
    import sqlglot
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    for dialect in _DIALECTS:
        try:
            statements = sqlglot.parse(query, dialect=dialect or None)
        except (SqlglotError, RecursionError, ValueError):
            continue
        return _list_selected(statements[-1], dialect) if statements else ()
    return ()


def _list_selected(statement: exp.Expr | None, dialect: str) -> tuple[str, ...]:
    """Return the names that a query selects; none where one is a `*`."""
    from sqlglot import exp

    if not isinstance(statement, exp.Query):
        return ()
    names = [column.output_name or column.sql(dialect=dialect or None) for column in statement.selects]
    has_all = any(name == "*" or name.endswith(".*") for name in names)
    return () if has_all else tuple(names)


_TUPLES = re.compile(r"\s*\[?\s*\(")
_QUERY = re.compile(r"select\b.*", re.IGNORECASE | re.DOTALL)


def list_result_columns(result: str, arguments: str) -> tuple[str, ...]:
    """Return the names of the columns of a result in tuples, which its query in the arguments says."""
    query = _QUERY.search(arguments)
    if query is None or _TUPLES.match(result) is None:
        return ()
    return list_columns(query.group().rstrip('"}; \n'))
