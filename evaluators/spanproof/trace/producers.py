"""What each producer of spans records: the table in `producers.yaml`, and what a trace shows beside it.

In: the spans of a run. Out: the parts of a run that its producers never record, so that their absence says
nothing. A part that a span of the same producer shows after all is learned from the trace: a newer version
records it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from spanproof.trace.model import Span, SpanKind

_TABLE = Path(__file__).with_name("producers.yaml")


class Part(StrEnum):
    """A part of a run that a producer may record."""

    MODEL_CALLS = "model_calls"
    TOOL_CALLS = "tool_calls"
    ARGUMENTS = "arguments"
    RESULTS = "results"
    CODE = "code"
    OBSERVATIONS = "observations"
    ERRORS = "errors"


class Extent(StrEnum):
    """How far a producer records a part: `messages` means within the messages of model calls."""

    YES = "yes"
    MESSAGES = "messages"
    PART = "part"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Producer:
    """One row of the table.

    Attributes:
        scopes: names of instrumentation scopes, or their beginnings; whole names where `exact`.
        versions: of the scope, all where empty.
        records: how far it records each part.
        note: what `part` and `no` leave out; empty where there is nothing to say.
        source: the recording or the page that shows it.
    """

    name: str
    scopes: tuple[str, ...]
    exact: bool
    versions: str
    records: dict[Part, Extent]
    note: str
    source: str

    def writes(self, scope: str, version: str) -> bool:
        """Whether spans of a scope are of this producer; a scope without a version may be of any."""
        if self.exact:
            names_it = scope in self.scopes
        else:
            names_it = scope.startswith(self.scopes)
        return names_it and self._covers_version(version)

    def _covers_version(self, version: str) -> bool:
        if not self.versions or not version:
            return True
        try:
            return SpecifierSet(self.versions).contains(Version(version), prereleases=True)
        except InvalidVersion:
            return True


@cache
def load_producers() -> tuple[Producer, ...]:
    """Return the rows of the table, in its order."""
    table = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    columns = [Part(name) for name in table["columns"]]
    return tuple(_build_producer(row, columns) for row in table["producers"])


def _build_producer(row: dict[str, Any], columns: list[Part]) -> Producer:
    # YAML reads the words yes and no as truth values.
    words = {True: Extent.YES, False: Extent.NO}
    cells = [words[cell] if isinstance(cell, bool) else Extent(cell) for cell in row["records"]]
    return Producer(
        name=row["name"],
        scopes=tuple(row["scopes"]),
        exact=row.get("exact", False),
        versions=row.get("versions", ""),
        records=dict(zip(columns, cells, strict=True)),
        note=row.get("note", ""),
        source=row["recorded"],
    )


@lru_cache(maxsize=1024)
@lru_cache(maxsize=256)
def find_producer(scope: str, version: str) -> Producer | None:
    """Return the producer of a scope, None where the table has none; the longest scope decides."""
    matching = [producer for producer in load_producers() if producer.writes(scope, version)]
    return max(matching, key=lambda producer: max(map(len, producer.scopes)), default=None)


def list_unrecorded(spans: Iterable[Span]) -> frozenset[Part]:
    """Return the parts that the producers of these spans leave out, in whole or in part.

    Spans of producers that the table does not have say nothing either way. A part of which a producer writes
    only some is left out even where a span shows some of it.
    """
    extents: dict[Part, set[Extent]] = {}
    shown: set[Part] = set()
    for span in spans:
        producer = find_producer(span.scope, span.scope_version)
        if producer is None:
            continue
        shown.update(_iter_shown(span))
        for part, extent in producer.records.items():
            extents.setdefault(part, set()).add(extent)
    missing = {part for part, found in extents.items() if found <= {Extent.NO, Extent.PART}}
    return frozenset(part for part in missing if Extent.PART in extents[part] or part not in shown)


def _iter_shown(span: Span) -> Iterator[Part]:
    """Yield the parts of a run that a span shows."""
    if span.kind is SpanKind.LLM and (span.input_messages or span.output_messages):
        yield Part.MODEL_CALLS
    if span.kind is SpanKind.TOOL:
        yield Part.TOOL_CALLS
        if span.output is not None:
            yield Part.RESULTS
    if span.tool is not None and span.tool.arguments is not None:
        yield Part.ARGUMENTS
    if span.code is not None:
        yield Part.CODE
    if span.observation is not None or any(message.role == "tool" for message in span.input_messages):
        yield Part.OBSERVATIONS
    if span.error is not None:
        yield Part.ERRORS
