"""Workflow commands of GitHub Actions: an annotation for each row that did not pass, and one for open ones.

The runner reads them off the output of a step. It shows ten errors and ten warnings of a step at most, so
what decides comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from spanproof.gate.outputs.code import CodeMark
from spanproof.gate.outputs.table import ResultRow, ResultTable, Verdict
from spanproof.gate.outputs.text import format_printable, format_shortened

_COMMANDS = {Verdict.FAILED: "error", Verdict.ERRORED: "error", Verdict.INCONCLUSIVE: "warning"}
_MAX_MESSAGE = 4_000


def format_annotations(table: ResultTable) -> str:
    """Return the annotations, a line each; empty where every row passed and nothing is open."""
    lines = [line for row in table.failing for line in _iter_row_annotations(row)]
    if table.open:
        lines.append(_format_open(table))
    return "".join(f"{line}\n" for line in lines)


def _format_open(table: ResultTable) -> str:
    remark = table.open_remark or "open counts as not passed"
    return f"::notice title={_format_property(table.title)}::{table.open:,} open; {_format_message(remark)}"


def _iter_row_annotations(row: ResultRow) -> Iterator[str]:
    message = "\n".join(filter(None, (row.reason, *row.details[:5])))
    marks = _select_marks(row)
    if not marks:
        code = (f"{mark.uri}:{mark.line} {mark.rule} {mark.message}".rstrip() for mark in row.marks[:5])
        yield _format_annotation(row, {"file": row.file} if row.file else {}, "\n".join((message, *code)))
    for mark in marks:
        place = {"file": mark.uri, "line": str(mark.line), "endLine": str(mark.end_line)}
        yield _format_annotation(row, place, mark.message or message)


def _select_marks(row: ResultRow) -> tuple[CodeMark, ...]:
    """Return the marks to annotate: a row that has a file is shown there, unless its code lies beside it."""
    if not row.file:
        return row.marks
    folder = PurePosixPath(row.file).parent
    return tuple(mark for mark in row.marks if folder in PurePosixPath(mark.uri).parents)


def _format_annotation(row: ResultRow, place: dict[str, str], message: str) -> str:
    properties = {**place, "title": format_shortened(row.name, 200)}
    written = ",".join(f"{key}={_format_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[row.verdict]} {written}::{_format_message(format_shortened(message, _MAX_MESSAGE))}"


def _format_message(text: str) -> str:
    """Return a message in which no line ends, so that hostile text cannot begin a command of its own."""
    return format_printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _format_property(text: str) -> str:
    return _format_message(text).replace(":", "%3A").replace(",", "%2C")
