"""Which product a document was exported from, and its spans as one OTLP request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanproof.trace.exports import (
    agents_sdk,
    datadog,
    jaeger,
    langfuse,
    langsmith,
    mlflow,
    phoenix,
    spandicts,
    weave,
)
from spanproof.trace.exports.rows import UNREADABLE, Row, UnreadableRow, add_attributes, parse_document
from spanproof.trace.exports.tables import find_table_rows
from spanproof.trace.exports.transcripts import Transcript, iter_transcript_spans

# Attributes in which products keep the name of a span's scope.
_SCOPES = ("otel.scope.name", "otel.library.name")

_MAX_DEPTH = 8
# Where tables hold a trace as the text of its JSON.
_WRITTEN = ("trace", "spans")


@dataclass(frozen=True, slots=True)
class Product:
    """One product's rows.

    Attributes:
        is_row: whether an object is one of its rows.
        read_rows: the spans of rows; raises `UnreadableRow`, or what a missing or odd field raises.
        read_resource: of a row, where each row is one span and names its resource.
    """

    name: str
    is_row: Callable[[Row], bool]
    read_rows: Callable[[Sequence[Row]], Iterator[Span]]
    read_resource: Callable[[Row], dict[str, object]] | None = None


SPANS = "OpenTelemetry's SDKs"

PRODUCTS = (
    Product("OpenAI Agents SDK", agents_sdk.is_row, agents_sdk.iter_row_spans),
    Product("Datadog", datadog.is_row, datadog.iter_row_spans),
    Product("Jaeger", jaeger.is_row, jaeger.iter_row_spans),
    Product("MLflow", mlflow.is_row, mlflow.iter_row_spans),
    Product("Phoenix", phoenix.is_row, phoenix.iter_row_spans),
    Product(SPANS, spandicts.is_row, spandicts.iter_row_spans, spandicts.read_resource),
    Product("LangSmith", langsmith.is_row, langsmith.iter_row_spans),
    Product("Weave", weave.is_row, weave.iter_row_spans),
    Product("Langfuse", langfuse.is_row, langfuse.iter_row_spans, langfuse.read_resource),
)


def build_request(transcripts: Sequence[Transcript]) -> ExportTraceServiceRequest:
    """Return the spans of runs that are recorded as transcripts."""
    request = ExportTraceServiceRequest()
    scope_spans = request.resource_spans.add().scope_spans.add()
    for transcript in transcripts:
        scope_spans.spans.extend(iter_transcript_spans(transcript))
    return request


class UnknownExport(ValueError):  # noqa: N818 - names the input
    """The document is of no product that is known."""


def read_rows(found: Sequence[tuple[Product, Row]]) -> tuple[ExportTraceServiceRequest, list[str]]:
    """Return the rows of one file as one request, and what is wrong with rows that cannot be read.

    Spans are read beside the others of their trace, so that a file is one request.
    """
    request = ExportTraceServiceRequest()
    problems: list[str] = []
    for product, pairs in groupby(found, key=lambda pair: pair[0]):
        rows = [row for _, row in pairs]
        wrong = {index: problem for index, row in enumerate(rows) if (problem := _find_problem(product, row))}
        problems += [f"row {index + 1} of {product.name}: {problem}" for index, problem in wrong.items()]
        good = [row for index, row in enumerate(rows) if index not in wrong]
        for number, span in enumerate(product.read_rows(good)):
            resource_spans = request.resource_spans.add()
            if product.read_resource is not None:
                add_attributes(resource_spans.resource, product.read_resource(good[number]))
            scope_spans = resource_spans.scope_spans.add()
            scope_spans.scope.name = _get_scope(span)
            scope_spans.spans.append(span)
    return request, problems


def _find_problem(product: Product, row: Row) -> str | None:
    try:
        list(product.read_rows([row]))
    except UnreadableRow as problem:
        return str(problem)
    except UNREADABLE as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def list_rows(document: object) -> list[tuple[Product, Row]]:
    """Return the rows in a document, each with its product; none in one that only names a trace.

    Raises:
        UnknownExport: it holds none.
    """
    found = list(_iter_rows(document, 0))
    if not found and not (isinstance(document, dict) and agents_sdk.is_trace(document)):
        names = ", ".join(sorted(product.name for product in PRODUCTS if product.name != SPANS))
        raise UnknownExport(
            f"neither OTLP, nor printed spans, nor an export of {names}, nor a transcript;"
            " docs/frameworks.md lists the forms that are read"
        )
    return found


def _iter_rows(document: object, depth: int) -> Iterator[tuple[Product, Row]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(document, list):
        for item in document:
            yield from _iter_rows(item, depth + 1)
    elif isinstance(document, dict):
        table = find_table_rows(document)
        product = next((product for product in PRODUCTS if product.is_row(document)), None)
        if product is not None and table is None:
            yield product, document
        elif not agents_sdk.is_trace(document):
            # The envelopes of APIs: `data`, `traces`, `runs`, `calls`, a trace around its observations.
            for item in [table] if table is not None else _list_inner(document):
                yield from _iter_rows(item, depth + 1)


def _list_inner(document: Row) -> list[object]:
    values = [parse_document(member) if name in _WRITTEN else member for name, member in document.items()]
    return [value for value in values if isinstance(value, list | dict)]


def _get_scope(span: Span) -> str:
    return next((pair.value.string_value for pair in span.attributes if pair.key in _SCOPES), "")
