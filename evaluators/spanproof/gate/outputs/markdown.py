"""Markdown for a comment on a pull request, and for the summary of a step.

Names and reasons come out of traces. They are written as code whose punctuation is entities, so that they
mention no user, link nowhere, load no image and end no table.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanproof.gate.outputs.table import ResultRow, ResultTable, Verdict
from spanproof.gate.outputs.text import format_printable, format_shortened

MAX_CHARACTERS = 60_000
"""Of one document: a comment on GitHub holds 65,536."""

_SIGNS = {
    Verdict.PASSED: "✅ passed",
    Verdict.FAILED: "❌ failed",
    Verdict.ERRORED: "🛑 errored",
    Verdict.INCONCLUSIVE: "⚠️ inconclusive",
}
_ORDER = (Verdict.FAILED, Verdict.ERRORED, Verdict.INCONCLUSIVE, Verdict.PASSED)
_MAX_CELL = 300
_MAX_DETAILS = 5


def format_markdown(table: ResultTable) -> str:
    """Return the document: the result, the numbers, then a table of the rows, those that fail first."""
    sign = "✅" if table.passed else "❌"
    head = [f"### {sign} {_format_code(table.title)}", "", _format_code(table.headline, 1_000), ""]
    head += [f"- {_format_code(name)}: {_format_code(value)}" for name, value in table.all_facts]
    head += ["", "| verdict | what | why |", "|---|---|---|"]
    lines, length, left_out = list(head), sum(len(line) + 1 for line in head), 0
    for row in sorted(table.rows, key=lambda each: _ORDER.index(each.verdict)):
        line = _format_row(row)
        if length + len(line) > MAX_CHARACTERS:
            left_out += 1
            continue
        lines.append(line)
        length += len(line) + 1
    if left_out:
        lines += ["", f"{left_out} more rows do not fit here; the JSON has all."]
    return "\n".join(lines) + "\n"


def _format_row(row: ResultRow) -> str:
    name = _format_code(row.name) + (f"<br>{_format_code(row.file)}" if row.file else "")
    return f"| {_SIGNS[row.verdict]} | {name} | {'<br>'.join(_iter_reasons(row))} |"


def _iter_reasons(row: ResultRow) -> Iterator[str]:
    if row.reason:
        yield _format_code(row.reason)
    if row.verdict is Verdict.PASSED:
        return
    for line in row.details[:_MAX_DETAILS]:
        yield _format_code(line)
    for mark in row.marks[:_MAX_DETAILS]:
        yield _format_code(f"{mark.uri}:{mark.line} {mark.rule} {mark.message}".rstrip())
    more = max(0, len(row.details) - _MAX_DETAILS)
    if more:
        yield f"and {more} more"


def _format_code(text: str, limit: int = _MAX_CELL) -> str:
    line = " ".join(format_printable(format_shortened(text, limit)).split())
    return f"<code>{''.join(each if _is_harmless(each) else f'&#{ord(each)};' for each in line)}</code>"


def _is_harmless(character: str) -> bool:
    return character.isalnum() or character in " ,;()=%'+-" or ord(character) > 127
