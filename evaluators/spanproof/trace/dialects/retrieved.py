"""Documents that a retriever gave, in the conventions of all producers.

In: a span as received and what its dialect read. Out: the reading with the texts of the documents as its
output, each apart from the next by an empty line. A document without a text adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from spanproof.trace import AttributeValue, JsonValue, Payload, SpanKind
from spanproof.trace.dialects.decode import decode_document
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Reading

# Names below which documents are flattened, as `retrieval.documents.0.document.content`.
_FLATTENED: Final = ("retrieval.documents.", "reranker.output_documents.", "gen_ai.retrieval.documents.")
_ATTRIBUTES: Final = ("gen_ai.retrieval.documents", "retrieval.documents", "db.query.result.documents")
# Traceloop's instrumentors of vector stores write an event for each document.
_EVENTS: Final = frozenset({"db.query.result", "db.search.result"})
_EVENT_TEXTS: Final = ("db.query.result.document", "db.search.result.document")
# Names under which frameworks keep a list of documents, and the text of one.
_LISTS: Final = (
    "documents",
    "docs",
    "source_nodes",
    "nodes",
    "results",
    "chunks",
    "matches",
    "output",
    "content",
)
_TEXTS: Final = ("page_content", "pageContent", "content", "text", "document", "chunk", "snippet", "passage")
_INNER: Final = ("document", "node", "metadata", "payload", "kwargs")
_MAX_DEPTH: Final = 5
_UNDECIDED: Final = frozenset({SpanKind.OTHER, SpanKind.CHAIN})


def with_documents(raw: RawSpan, reading: Reading) -> Reading:
    """Return the reading of a retriever with the documents it gave as its output."""
    found = list(_iter_recorded_texts(raw))
    if found and reading.kind in _UNDECIDED:
        reading = replace(reading, kind=SpanKind.RETRIEVER)
    if reading.kind is not SpanKind.RETRIEVER:
        return reading
    if not found and reading.output is not None:
        found = list(_iter_texts(reading.output.value, 0))
    text = "\n\n".join(dict.fromkeys(found))
    if text:
        return replace(reading, output=Payload(text, text, typed=True))
    return reading


def _iter_recorded_texts(raw: RawSpan) -> Iterator[str]:
    """Yield texts of documents that attributes and events hold under names of their own."""
    flattened = [name for name in raw.attributes if name.startswith(_FLATTENED)]
    for name in sorted(flattened, key=_build_path):
        value = raw.attributes[name]
        if name.rpartition(".")[2] in ("content", "text", "page_content") and isinstance(value, str):
            yield value
    held: list[Mapping[str, AttributeValue]] = [raw.attributes, *(event.attributes for event in raw.events)]
    for attributes in held:
        for name in _ATTRIBUTES:
            yield from _iter_texts(decode_document(attributes.get(name)), 0)
    for event in raw.events:
        if event.name in _EVENTS:
            texts = (event.attributes.get(name) for name in _EVENT_TEXTS)
            yield from (text for text in texts if isinstance(text, str) and text)


def _build_path(name: str) -> list[int]:
    return [int(part) for part in name.split(".") if part.isdecimal()]


def _iter_texts(value: JsonValue, depth: int) -> Iterator[str]:
    """Yield the texts of the documents in a value of any form."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str) and item.strip():
                yield item
            else:
                yield from _iter_texts(item, depth + 1)
    elif isinstance(value, dict):
        text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
        if isinstance(text, str):
            if text.strip():
                yield text
            return
        for name in (*_LISTS, *_INNER):
            inner = value.get(name)
            if isinstance(inner, dict | list):
                yield from _iter_texts(inner, depth + 1)
                return
