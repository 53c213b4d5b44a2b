"""One HTML file that needs nothing else: no script, no font, no request.

Its policy forbids everything but its own style sheet, by digest, so that text out of a trace stays text even
if an escape were missed.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import Final

from spanproof.gate.outputs.code import CodeMark
from spanproof.gate.outputs.table import ResultRow, ResultTable, Verdict
from spanproof.gate.outputs.text import clean

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --good: #2e7d32; --open: #b26a00; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.5rem; }
dt { opacity: .7; } dd { margin: 0; font-variant-numeric: tabular-nums; }
details, .row { border-top: 1px solid var(--line); padding: .5rem 0; }
summary { cursor: pointer; } summary span, .row span { overflow-wrap: anywhere; }
.verdict { display: inline-block; min-width: 7.5rem; font-weight: 600; }
.passed .verdict, h1.passed { color: var(--good); } .failed .verdict, h1.failed { color: var(--bad); }
.inconclusive .verdict { color: var(--open); }
.file, .time { opacity: .7; font-size: .85em; margin-left: .75rem; }
p { margin: .35rem 0; overflow-wrap: anywhere; } li { overflow-wrap: anywhere; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 4px; padding: .5rem; margin: .35rem 0; }
mark { background: #f9a82555; color: inherit; }
"""

_ORDER: Final = (Verdict.FAILED, Verdict.INCONCLUSIVE, Verdict.PASSED)
_CONTEXT: Final = 3
"""Lines shown around a mark."""


def format_html(table: ResultTable) -> str:
    """Return the page: the result, the numbers, then a row for each assertion or case, failed ones first."""
    digest = b64encode(sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    facts = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in table.facts)
    rows = "".join(_row(row) for row in sorted(table.rows, key=lambda each: _ORDER.index(each.verdict)))
    result = "passed" if table.passed else "failed"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{result}: {_text(table.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1 class="{result}">{_text(table.title)}: {result}</h1>\n<p>{_text(table.headline)}</p>\n'
        f"<dl>{facts}</dl>\n<main>\n{rows}</main>\n</body>\n</html>\n"
    )


def _row(row: ResultRow) -> str:
    file = f'<span class="file">{_text(row.file)}</span>' if row.file else ""
    time = f'<span class="time">{row.wall_s:.1f} s</span>' if row.wall_s is not None else ""
    head = f'<span class="verdict">{row.verdict.value}</span> <span>{_text(row.name)}</span>{file}{time}'
    body = "".join(_body(row))
    if not body:
        return f'<div class="row {row.verdict.value}">{head}</div>\n'
    is_open = "" if row.verdict is Verdict.PASSED else " open"
    return f'<details class="{row.verdict.value}"{is_open}><summary>{head}</summary>{body}</details>\n'


def _body(row: ResultRow) -> Iterator[str]:
    if row.reason:
        yield f"<p>{_text(row.reason)}</p>"
    if row.details:
        yield f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in row.details)}</ul>"
    for mark in row.marks:
        yield f"<p>{_text(f'{mark.uri}:{mark.line} {mark.rule} {mark.message}'.rstrip())}</p>{_code(mark)}"


def _code(mark: CodeMark) -> str:
    lines = mark.source.split("\n")
    first, end = max(1, mark.line - _CONTEXT), min(len(lines), mark.end_line + _CONTEXT)
    shown = []
    for number in range(first, end + 1):
        text = f"{number:>4}  {_text(lines[number - 1])}"
        shown.append(f"<mark>{text}</mark>" if mark.line <= number <= mark.end_line else text)
    return "<pre>" + "\n".join(shown) + "</pre>"


def _text(text: str) -> str:
    return escape(clean(text))
