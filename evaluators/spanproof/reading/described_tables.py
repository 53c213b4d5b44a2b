r"""Tables and their columns, as schema tools and catalogue queries describe them.

In: a result with the query or the tool that gave it. Out: each table with all its columns, in lower case:
rows of `PRAGMA table_info`, `DESCRIBE`, `SHOW COLUMNS` and `information_schema.columns`, what `\d` of psql
prints, lists of columns in JSON, and the `dtypes` of a frame. A list that may be a part of the columns
describes no table: nothing may be called unknown that was left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from spanproof.reading.sql_queries import list_conditions, parse_statements
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

Table = tuple[str, frozenset[str]]

_MAX_TEXT = 50_000
_COLUMN_KEYS = ("column_name", "columnname", "column", "field", "name", "col_name")
_TABLE_KEYS = ("table_name", "tablename", "table", "tbl_name")
_LISTS = ("columns", "fields", "schema")
_OF_A_SCHEMA = re.compile(r"describe|schema|columns|table_?info|table_?structure|ddl", re.IGNORECASE)
_NAME = r"[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?(?P<table>\w+)[\"`\]]?"
# `cid|name|type|notnull|dflt_value|pk`
_PRAGMA_CELLS = 6
_PRAGMA = re.compile(rf"\s*PRAGMA\s+table_x?info\s*\(\s*'?{_NAME}'?\s*\)\s*;?\s*", re.IGNORECASE)
_DESCRIBE = re.compile(
    rf"\s*(?:DESC(?:RIBE)?(?:\s+TABLE)?|SHOW\s+(?:FULL\s+)?COLUMNS\s+(?:FROM|IN))\s+{_NAME}\s*;?\s*",
    re.IGNORECASE,
)
_PSQL = re.compile(r'Table "(?:\w+\.)?(?P<table>\w+)"\s*\n')
_RULE = re.compile(r"[\s|+:=-]*")
_TYPE = (
    r"(?:(?:tiny|small|big|medium)?int(?:eger)?\d*|serial|(?:n?var)?char(?:acter)?|text|string|real|float\d*"
    r"|double|numeric|decimal|number|money|date|datetime\w*|time(?:stamp)?\w*|bool(?:ean)?|blob|bytea|jsonb?"
    r"|uuid|enum|object|category)"
)
_TYPED = re.compile(rf"[\s*•-]*[\"`]?(?P<name>[A-Za-z_]\w*)[\"`]?\s*[:|,(\s]\s*{_TYPE}\b.*", re.IGNORECASE)
_DTYPES = re.compile(r"\A(?P<lines>(?:\S+ +\w[\w\[\], ]*\n)+)dtype: object\s*\Z")
_OF_A_FRAME = re.compile(r"\b(?P<table>[A-Za-z_]\w*)\.dtypes\b")
_IDENTIFIER = re.compile(r"\w{1,100}\Z")
_FILTERS = frozenset(("table_name", "table_schema", "table_catalog"))
_CUT = ("...", "…", "truncated")


@dataclass(frozen=True, slots=True)
class Result:
    """What a query, a tool or code gave.

    Attributes:
        source: the query or the code; empty for a tool that runs none.
        tool: its name; `arguments` has those of its arguments that are texts.
        value: the decoded result where it was JSON.
    """

    text: str
    source: str = ""
    tool: str = ""
    arguments: tuple[str, ...] = ()
    value: JsonValue = None


def iter_described_tables(result: Result) -> Iterator[Table]:
    """Return the tables whose columns a result lists, all of them."""
    text = result.text.strip()
    if not text or len(text) > _MAX_TEXT or any(mark in text for mark in _CUT):
        return
    value = result.value if isinstance(result.value, dict | list) else decode_document(text)
    named = _PRAGMA.fullmatch(result.source) or _DESCRIBE.fullmatch(result.source)
    if named is not None:
        yield from _iter_named_table(named["table"], _parse_columns(text, value, pragma="(" in named[0]))
    elif "information_schema" in result.source.lower():
        yield from _iter_catalogue_tables(result.source, _parse_records(text, value))
    elif _OF_A_SCHEMA.search(result.tool):
        yield from _iter_schema_tool_tables(result, text, value)
    else:
        yield from _iter_self_described_tables(value)
    for match in _PSQL.finditer(text):
        block = takewhile(lambda line: line.strip(), text[match.end() :].splitlines())
        yield from _iter_named_table(match["table"], _parse_first_cells("\n".join(block)))
    frame, dtypes = _OF_A_FRAME.findall(result.source), _DTYPES.match(f"{text}\n")
    if len(frame) == 1 and dtypes is not None:
        yield from _iter_named_table(frame[0], [line.split()[0] for line in dtypes["lines"].splitlines()])


def _iter_named_table(name: str, columns: Sequence[str]) -> Iterator[Table]:
    """Yield the table, where each of its columns has a name."""
    if columns and all(map(_IDENTIFIER.match, columns)):
        yield name.lower(), frozenset(column.lower() for column in columns)


def _parse_columns(text: str, value: JsonValue, *, pragma: bool) -> list[str]:
    """Return the columns of the one table that a result describes row by row."""
    position = 1 if pragma else 0
    rows = [row for row in value if isinstance(row, list)] if isinstance(value, list) else []
    if rows and rows == value:
        return [str(row[position]) for row in rows if len(row) > position]
    records = _parse_records(text, value)
    if records:
        return list(filter(None, (_get_cell(record, _COLUMN_KEYS) for record in records)))
    if not pragma:
        return _parse_first_cells(text)
    lines = [line.split("|") for line in text.splitlines()]
    is_pragma = all(len(line) == _PRAGMA_CELLS and line[0].isdigit() for line in lines)
    return [line[1] for line in lines] if is_pragma else []


def _parse_first_cells(text: str) -> list[str]:
    """Return the first cells of a printed table under a head that names a column."""
    rows = [line.strip().strip("|").split("|")[0].strip() for line in text.splitlines() if "|" in line]
    rows = [row for row in rows if not _RULE.fullmatch(row)]
    return rows[1:] if rows and rows[0].lower() in _COLUMN_KEYS else []


def _parse_records(text: str, value: JsonValue) -> list[dict[str, str]]:
    """Return the rows of a result by the names of their columns, in lower case."""
    if isinstance(value, dict):
        value = next((rows for rows in value.values() if isinstance(rows, list)), None)
    if not isinstance(value, list):
        return _parse_printed_records(text)
    records = [row for row in value if isinstance(row, dict)]
    if len(records) != len(value):
        return []
    return [{key.lower(): str(cell) for key, cell in record.items()} for record in records]


def _parse_printed_records(text: str) -> list[dict[str, str]]:
    """Return the rows of a printed table with a head that names a column."""
    lines = [line.strip().strip("|") for line in text.splitlines() if not _RULE.fullmatch(line)]
    head_line = lines[0] if lines else ""
    delimiter = next((mark for mark in ("|", "\t", ";", ",") if mark in head_line), "|")
    table = [[cell.strip() for cell in line.split(delimiter)] for line in lines]
    head = [cell.lower() for cell in table[0]] if table else []
    if not any(key in head for key in _COLUMN_KEYS):
        return []
    return [dict(zip(head, row, strict=True)) for row in table[1:] if len(row) == len(head)]


def _get_cell(record: Mapping[str, str], keys: Sequence[str]) -> str:
    return next((record[key] for key in keys if key in record), "")


def _iter_catalogue_tables(query: str, records: Sequence[Mapping[str, str]]) -> Iterator[Table]:
    """Yield tables out of `information_schema.columns`, where the query selects all their columns."""
    from sqlglot import exp

    found = parse_statements(query)
    if len(found) != 1 or found[0].find(exp.Limit, exp.Join, exp.Or, exp.Group) is not None:
        return
    conditions = found[0].find_all(exp.Where)
    used = {column.name.lower() for clause in conditions for column in clause.find_all(exp.Column)}
    if not used <= _FILTERS:
        return
    wanted = re.findall(r"table_name = '(\w+)'", " ".join(list_conditions(found[0])))
    columns: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        table = _get_cell(record, _TABLE_KEYS) or (wanted[0] if len(wanted) == 1 else "")
        columns[table].append(_get_cell(record, ("column_name",)))
    for table, names in columns.items():
        if table:
            yield from _iter_named_table(table, names)


def _iter_schema_tool_tables(result: Result, text: str, value: JsonValue) -> Iterator[Table]:
    """Yield the tables that a schema tool describes: by its argument, or by their names in the result."""
    described = list(_iter_self_described_tables(value))
    names = list(filter(_IDENTIFIER.match, result.arguments))
    if not described and isinstance(value, dict):
        for name, columns in value.items():
            described += (
                _iter_named_table(name, _parse_column_names(columns))
                if isinstance(columns, list | dict)
                else ()
            )
    if not described and len(names) == 1:
        described += _iter_named_table(
            names[0],
            _parse_column_names(value)
            or _parse_columns(text, value, pragma=False)
            or _parse_typed_lines(text),
        )
    yield from described


def _iter_self_described_tables(value: JsonValue) -> Iterator[Table]:
    """Yield the tables of a document that names them with their columns and these columns' types."""
    for document in value if isinstance(value, list) else [value]:
        if not isinstance(document, dict):
            continue
        fields = {key.lower(): inner for key, inner in document.items()}
        table = next(
            (fields[key] for key in (*_TABLE_KEYS, "name") if isinstance(fields.get(key), str)), None
        )
        columns = next((fields[key] for key in _LISTS if isinstance(fields.get(key), list | dict)), None)
        if isinstance(table, str) and columns and "rows" not in fields and "data" not in fields:
            yield from _iter_named_table(table, _parse_column_names(columns))
        elif isinstance(fields.get("tables"), list):
            yield from _iter_self_described_tables(fields["tables"])


def _parse_column_names(columns: JsonValue) -> list[str]:
    """Return the names of columns: of texts, of objects with a name, or of the keys of types."""
    if isinstance(columns, dict):
        if all(isinstance(kind, str) for kind in columns.values()):
            return list(columns)
        return []
    if not isinstance(columns, list):
        return []
    names: list[str] = []
    if all(isinstance(column, str) for column in columns):
        for text in map(str, columns):
            typed = _TYPED.fullmatch(text)
            names.append(typed["name"] if typed is not None else text)
        return names
    for column in columns:
        if isinstance(column, dict):
            record = {key.lower(): str(inner) for key, inner in column.items()}
            names.append(_get_cell(record, _COLUMN_KEYS))
    return names if len(names) == len(columns) and all(names) else []


def _parse_typed_lines(text: str) -> list[str]:
    """Return the columns of a list of columns and types, one a line, under one line of heading at most."""
    parts = text.splitlines() if "\n" in text else text.partition(":")[2].split(",")
    matches = [_TYPED.fullmatch(line) for line in parts if line.strip()]
    if matches and matches[0] is None:
        matches = matches[1:]
    if matches and None not in matches:
        return [match["name"] for match in matches if match is not None]
    return []
