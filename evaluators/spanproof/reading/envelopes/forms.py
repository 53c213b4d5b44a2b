"""The tables of forms: in which words and documents each producer says that it worked, or that it did not.

The sections of the table of texts, in the order in which they are tried:

- `exit`: a line of its own, the first or the last, with an exit status.
- `framework`: the start of the text, from any kind of tool.
- `document`: the whole of a short line of a tool that gives documents. Such a tool says nothing else.
- `database`: the start of the text, or what follows `Error: `; from SQL, Python and other tools.
- `shell`: the first or the last line of a shell, the first of another tool.
- `build`: one of the first lines of a shell.
- `http`, `page`, `message`: the start of a short text that is no table.
- `refusal`: the start of what an operation gave; only `find_refusal` looks for it.
- `bare`: the whole text, which holds nothing. `sentence`: a short text that says that there is nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from spanproof.reading.envelopes.model import EnvelopeStatus

# What it is good, or a failure, to have none of.
_GOOD_TO_LACK = (
    r"(?:errors?|issues?|problems?|warnings?|failures?|conflicts?|vulnerabilit\w+|exceptions?|changes?"
    r"|differences?|duplicates?|violations?|action|need|longer|limit|charge|cost|fee|doubt|idea|access"
    r"|permission|answer|response|reply|such|one|more|further|route|connection|module|space|way)\b"
)
_NOTHING_OF = rf"(?:no|zero|0) (?!(?:[\w'-]+ ){{0,2}}{_GOOD_TO_LACK})(?:[\w'-]+ ){{0,3}}?[\w'-]+"
_AFTER_SENTENCE = r"[.!。]?(?: (?:please |try |check |consider |did you |you (?:can|may) )[^\n]{0,160})?\Z"
_IGNORES_CASE = frozenset({"page", "refusal", "exit", "bare", "sentence"})
_SPANS_LINES = frozenset({"database", "document"})


@dataclass(frozen=True, slots=True)
class TextForm:
    """One section of the table of texts: one expression, and the producer of each of its rows."""

    expression: re.Pattern[str]
    producers: tuple[str, ...]

    def find_match(self, text: str) -> re.Match[str] | None:
        """Return the match of a row at the start of a text."""
        return self.expression.match(text)

    def get_producer(self, found: re.Match[str]) -> str:
        """Return the producer of the row that matched."""
        rows = (name for name in found.groupdict() if name.startswith("row_") and found[name] is not None)
        return self.producers[int(next(rows).removeprefix("row_"))]


@dataclass(frozen=True, slots=True)
class DocumentForm:
    """One row of the table of documents."""

    producer: str
    status: EnvelopeStatus
    when: tuple[tuple[tuple[tuple[str, ...], ...], Any], ...]
    anything_else: bool
    fields: frozenset[str] = field(default_factory=frozenset)


def load_text_rows() -> list[dict[str, Any]]:
    """Load the rows of the table of texts, as the file has them."""
    rows: list[dict[str, Any]] = tomllib.loads(
        Path(__file__).with_name("texts.toml").read_text(encoding="utf-8")
    )["text"]
    return rows


@cache
def load_document_table() -> dict[str, Any]:
    """Load the table of documents, as the file has it."""
    return tomllib.loads(Path(__file__).with_name("documents.toml").read_text(encoding="utf-8"))


@cache
def load_text_forms() -> Mapping[str, TextForm]:
    """Load the table of texts: one expression for each section, by its name."""
    rows_of: dict[str, list[dict[str, Any]]] = {}
    for row in load_text_rows():
        rows_of.setdefault(row["section"], []).append(row)
    forms = {}
    for section, rows in rows_of.items():
        flags = re.IGNORECASE if section in _IGNORES_CASE else re.NOFLAG
        flags |= re.DOTALL if section in _SPANS_LINES else re.NOFLAG
        parts = [f"(?P<row_{at}>{'|'.join(row['patterns'])})" for at, row in enumerate(rows)]
        tail = {"bare": r"\Z", "sentence": _AFTER_SENTENCE, "shell": r"\Z", "build": r"\Z"}.get(section, "")
        whole = f"(?:{'|'.join(parts)}){tail}".replace("NOTHING_OF", _NOTHING_OF)
        forms[section] = TextForm(re.compile(whole, flags), tuple(row["producer"] for row in rows))
    return forms


@cache
def load_document_forms() -> tuple[DocumentForm, ...]:
    """Load the table of documents, its rows in the order in which they are tried."""
    return tuple(map(_build_form, load_document_table()["document"]))


def _build_form(row: Mapping[str, Any]) -> DocumentForm:
    when = tuple((_parse_paths(names), condition) for names, condition in row["when"].items())
    return DocumentForm(
        row["producer"],
        EnvelopeStatus(row["status"]),
        when,
        row.get("rest") == "any",
        frozenset(path[0] for paths, _ in when for path in paths),
    )


@cache
def load_envelope_fields() -> frozenset[str]:
    """Load the names of members that belong to an envelope and are no data."""
    return frozenset(load_document_table()["fields"].split())


def _parse_paths(names: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(name.split(".")) for name in names.split("|"))
