"""Tables whose rows are all on the trace: what SQL runs against where no fixture gives a database.

In: the executed SQL of a run with its recorded results. Out: the tables that a query read as a whole
(`SELECT * FROM orders`), as a script that makes them, and which other queries can be run against them alone.
Only queries that mean the same to every engine are: no division, no pattern, no function of one dialect.
Nothing is run here. The parser is loaded with the first query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from spanproof.reading.tables import Table, find_table
from spanproof.trace import JsonValue, Language, Run, Snippet

if TYPE_CHECKING:
    from sqlglot import exp

SCRIPT = "recorded.sql"
"""The file of the script among a program's files."""

_MAX_ROWS = 5_000
# Tools cap rows at 10, 50, 100 without saying so: a result of a multiple of this may be a part.
_CAP = 5

_CUT = re.compile(r"\.\.\.|\u2026|truncated|more rows|first \d+ rows|limit", re.IGNORECASE)
_MAX_CELLS = 50_000
_MAX_QUERY = 10_000
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?\Z")


@dataclass(frozen=True, slots=True)
class RecordedTables:
    """Tables of which the trace has every row.

    Attributes:
        columns: by the table's name, lower-case.
        script: the SQL that makes them; empty where there are none.
        sources: ids of the snippets whose results they are made of.
        texts: the texts in them, by which a comparison of letters would depend on the engine.
    """

    columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    script: str = ""
    sources: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def find_obstacle(self, snippet: Snippet) -> str | None:
        """Return why a query cannot be run against these tables alone, None where it can."""
        from sqlglot import exp

        if snippet.id in self.sources:
            return "the tables are made of its own result"
        query = _find_portable_query(snippet.source)
        if query is None:
            return "it is no query that means the same to every engine"
        defined = {expression.alias_or_name.lower() for expression in query.find_all(exp.CTE)}
        tables = {table.name.lower() for table in query.find_all(exp.Table)} - defined
        missing = sorted(tables - self.columns.keys())
        if missing or not tables:
            return f"the rows of {', '.join(missing) or 'its tables'} are not on the trace"
        if defined:
            return None
        unknown = self._list_unknown_columns(query, tables)
        if unknown:
            return f"the values of {unknown[0]} are not on the trace"
        folded = {text.casefold() for text in self.texts}
        written = {literal.this for literal in query.find_all(exp.Literal) if literal.is_string}
        if any(text.casefold() in folded and text not in self.texts for text in written):
            return "whether letters are compared by case depends on its engine"
        return None

    def _list_unknown_columns(self, query: exp.Expr, tables: Iterable[str]) -> list[str]:
        """Return the columns that a query reads and that none of its tables has."""
        from sqlglot import exp

        names = {alias.alias.lower() for alias in query.find_all(exp.Alias, exp.TableAlias)}
        names.update(*(self.columns[table] for table in tables))
        return sorted({column.name.lower() for column in query.find_all(exp.Column)} - names - {"*", ""})


def build_recorded_tables(run: Run) -> RecordedTables:
    """Return the tables of which queries of this run read every row; none where it wrote to its database."""
    executed = [snippet for snippet in run.snippets if snippet.executed and snippet.language is Language.SQL]
    if any(_writes(snippet.source) for snippet in executed):
        return RecordedTables()
    tables: dict[str, Table] = {}
    sources: set[str] = set()
    for snippet in executed:
        name, table = _read_whole_table(snippet)
        if table is not None:
            before = tables.get(name)
            if before is not None and len(table.rows) != len(before.rows):
                return RecordedTables()  # another client wrote to the database meanwhile
            if before is None or len(table.columns) > len(before.columns):
                tables[name] = table
            sources.add(snippet.id)
    return _build_recorded_tables(tables, frozenset(sources))


def _build_recorded_tables(tables: Mapping[str, Table], sources: frozenset[str]) -> RecordedTables:
    rows = [row for table in tables.values() for row in table.rows]
    texts = frozenset(cell for row in rows for cell in row if isinstance(cell, str))
    script = "\n".join(line for name, table in tables.items() for line in _iter_statements(name, table))
    columns = {name: frozenset(map(str.lower, table.columns)) for name, table in tables.items()}
    return RecordedTables(columns, script, sources, texts)


@cache
def _list_portable_nodes() -> tuple[type[exp.Expr], ...]:
    """Return what every dialect takes to mean the same. Integer division, LIKE, dates and the rest differ."""
    from sqlglot import exp

    shape = (exp.Select, exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Join)
    parts = (exp.Alias, exp.Column, exp.Identifier, exp.Table, exp.TableAlias, exp.Literal, exp.Star)
    logic = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.In)
    other = (exp.Between, exp.Is, exp.Paren, exp.Null, exp.Coalesce, exp.Exists, exp.Tuple, exp.Distinct)
    sums = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Sum, exp.Count, exp.Min, exp.Max)
    return *shape, *parts, *logic, *other, *sums, exp.Subquery, exp.Union, exp.With, exp.CTE


def _find_portable_query(source: str) -> exp.Expr | None:
    """Parse a query made of what every dialect takes to mean the same, None where it is another."""
    if len(source) > _MAX_QUERY:
        return None
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        parts = [part for part in sqlglot.parse(source) if part is not None]
    except (SqlglotError, RecursionError, ValueError):
        return None
    if len(parts) != 1 or not isinstance(parts[0], exp.Query):
        return None
    if all(isinstance(node, _list_portable_nodes()) for node in parts[0].walk()):
        return parts[0]
    return None


def _writes(source: str) -> bool:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        parts = sqlglot.parse(source[:_MAX_QUERY])
    except (SqlglotError, RecursionError, ValueError):
        return True
    changing = (exp.Insert, exp.Update, exp.Delete, exp.Create, exp.Drop, exp.Alter, exp.Merge)
    return any(part is not None and part.find(*changing) is not None for part in parts)


def _read_whole_table(snippet: Snippet) -> tuple[str, Table | None]:
    """Return the name of the table that a query read as a whole, and its columns and rows."""
    query = _find_portable_query(snippet.source)
    if query is None or snippet.error is not None or snippet.truncated:
        return "", None
    name, columns = _read_selection(query)
    text = snippet.observation or snippet.logs or ""
    table = find_table(text, columns, exact=True) if name else None
    if table is None or not 0 < len(table.rows) <= _MAX_ROWS:
        return "", None
    if len(table.rows) % _CAP == 0 or _CUT.search(text):
        return "", None
    width = len(table.columns)
    is_even = all(len(row) == width for row in table.rows)
    if is_even and width * len(table.rows) <= _MAX_CELLS:
        return (name, table)
    return ("", None)


def _read_selection(query: exp.Expr) -> tuple[str, tuple[str, ...]]:
    """Return the table that a query reads without a condition, and its columns; none for all of them.

    The name is empty where it is another query.
    """
    from sqlglot import exp

    source = query.find(exp.Table)
    clauses = {name for name, value in query.args.items() if value}
    is_whole = clauses <= {"kind", "expressions", "from", "from_", "order"}
    if not isinstance(query, exp.Select) or source is None or not is_whole:
        return "", ()
    selected = query.expressions
    if len(selected) == 1 and isinstance(selected[0], exp.Star):
        return source.name.lower(), ()
    if not all(isinstance(column, exp.Column) for column in selected):
        return "", ()
    return source.name.lower(), tuple(column.name for column in selected)


def _iter_statements(name: str, table: Table) -> Iterator[str]:
    """Yield the statements that make a table."""
    kinds = [_classify_cells([row[at] for row in table.rows]) for at in range(len(table.columns))]
    columns = [f"{_format_name(name)} {kind}" for name, kind in zip(table.columns, kinds, strict=True)]
    yield f"CREATE TABLE {_format_name(name)} ({', '.join(columns)});"
    for row in table.rows:
        cells = ", ".join(_format_literal(cell, kind) for cell, kind in zip(row, kinds, strict=True))
        yield f"INSERT INTO {_format_name(name)} VALUES ({cells});"  # noqa: S608 - runs in the sandbox only


def _classify_cells(cells: Sequence[JsonValue]) -> str:
    values = [cell for cell in cells if cell not in (None, "", "NULL", "None")]
    if values and all(not isinstance(value, bool) and _NUMBER.match(str(value)) for value in values):
        if any("." in str(value) for value in values):
            return "DOUBLE"
        return "BIGINT"
    return "VARCHAR"


def _format_literal(cell: JsonValue, kind: str) -> str:
    if cell is None or (cell in ("", "NULL", "None") and kind != "VARCHAR"):
        return "NULL"
    if kind != "VARCHAR":
        return str(cell)
    return "'" + str(cell).replace("'", "''") + "'"


def _format_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
