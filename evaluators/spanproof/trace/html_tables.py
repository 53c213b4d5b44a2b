"""Tables that a notebook shows: what `_repr_html_` returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def format_html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a caption; all text is escaped, as agents write what they like."""
    head = "".join(f"<th>{escape(item)}</th>" for item in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(item))}</td>' for item in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>"
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
