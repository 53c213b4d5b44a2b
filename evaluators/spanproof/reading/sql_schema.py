"""Tables and columns that a run was shown of its database, and what a query names that is none of them.

In: texts that the run read (prompts, results of tools) and its other queries. Out: a `Schema`, and the names
of a query that it denies. A table is known by its `CREATE TABLE`, as prompts and schema tools show it, or by
a list of its columns (`described.py`); a column that a query used well is known too. Of a table that was not
shown nothing is said. Nothing is run here. The parser is loaded with the first statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spanproof.reading.described_tables import Result, iter_described_tables
from spanproof.reading.sql_queries import parse_statements

if TYPE_CHECKING:
    from sqlglot import exp

_CREATE = re.compile(r"CREATE\s+(?:TEMP(?:ORARY)?\s+)?TABLE\b[^()]{1,200}\(", re.IGNORECASE)
_DIALECTS = ("sqlite", "postgres", "mysql", "duckdb", "tsql", "bigquery", "snowflake", "clickhouse")
_MAX_STATEMENT = 20_000
_MAX_TABLES = 200
# Columns that engines give every table.
_ALWAYS = frozenset({"rowid", "oid", "ctid", "_rowid_", "level", "rownum", "*"})


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of each table that was shown, in lower case."""

    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def list_unknown_columns(self, query: str) -> tuple[str, ...]:
        """Return the columns, as `table.column`, that a query takes from shown tables without them.

        Empty where the query reads a table that was not shown, defines names itself, or does not parse.
        """
        return tuple(
            dict.fromkeys(
                name for part in parse_statements(query) for name in self._iter_unknown_columns(part)
            )
        )

    def count_looked_up_columns(self, query: str) -> int:
        """Count the columns of a query that can be looked up."""
        from sqlglot import exp

        return len(
            {
                column.name.lower()
                for part in parse_statements(query)
                if self._find_columns(part) is not None
                for column in part.find_all(exp.Column)
            }
        )

    def _find_columns(self, statement: exp.Expr) -> frozenset[str] | None:
        """Return the columns of all tables of a statement, None where one of them was not shown."""
        from sqlglot import exp

        if list(statement.find_all(exp.CTE, exp.Subquery, exp.Lateral, exp.Unnest)):
            return None
        tables = {table.name.lower() for table in statement.find_all(exp.Table)}
        if not tables or not tables <= self.tables.keys():
            return None
        return frozenset[str]().union(*(self.tables[table] for table in tables))

    def _iter_unknown_columns(self, statement: exp.Expr) -> Iterator[str]:
        from sqlglot import exp

        columns = self._find_columns(statement)
        if columns is None:
            return
        own = {alias.alias.lower() for alias in statement.find_all(exp.Alias, exp.TableAlias)}
        tables = sorted({table.name.lower() for table in statement.find_all(exp.Table)})
        for column in statement.find_all(exp.Column):
            name = column.name.lower()
            # MySQL and SQLite take a text in double quotes for a text.
            quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
            if name and name not in columns | own | _ALWAYS and not quoted and name not in tables:
                yield f"{tables[0]}.{name}" if len(tables) == 1 else name


def build_schema(texts: Iterable[str], results: Iterable[Result] = (), worked: Iterable[str] = ()) -> Schema:
    """Return the tables that texts define or results describe, with the columns that queries used well."""
    found: dict[str, frozenset[str]] = {}
    for name, columns in (table for result in results for table in iter_described_tables(result)):
        if len(found) < _MAX_TABLES:
            found[name] = found.get(name, frozenset()) | columns
    for text in texts:
        for start in (match.start() for match in _CREATE.finditer(text)):
            table = _find_table_columns(_get_definition(text, start))
            if table is not None and len(found) < _MAX_TABLES:
                name, columns = table
                found[name] = found.get(name, frozenset()) | columns
    for part in (statement for query in worked for statement in parse_statements(query)):
        tables, columns = _get_used_names(part)
        for name in tables & found.keys():
            found[name] |= columns
    return Schema(found)


def _get_used_names(statement: exp.Expr) -> tuple[frozenset[str], frozenset[str]]:
    """Return the tables and the columns that a statement names."""
    from sqlglot import exp

    tables = frozenset(table.name.lower() for table in statement.find_all(exp.Table))
    return tables, frozenset(column.name.lower() for column in statement.find_all(exp.Column) if column.name)


def _get_definition(text: str, start: int) -> str:
    """Extract a definition from its first word to the bracket that closes it."""
    depth = 0
    for at in range(start, min(len(text), start + _MAX_STATEMENT)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth == 0:
                return text[start : at + 1]
    return ""


def _find_table_columns(definition: str) -> tuple[str, frozenset[str]] | None:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    for dialect in _DIALECTS if definition else ():
        try:
            parsed = sqlglot.parse_one(definition, dialect=dialect)
        except (SqlglotError, RecursionError, ValueError):
            continue
        table = parsed.find(exp.Table)
        columns = frozenset(column.name.lower() for column in parsed.find_all(exp.ColumnDef))
        if isinstance(parsed, exp.Create) and table is not None and columns:
            return table.name.lower(), columns
    return None
