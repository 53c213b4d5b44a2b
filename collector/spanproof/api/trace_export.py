"""Lists of traces as files: CSV for spreadsheets, Parquet for data frames; a row for each run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from spanproof.api import models
from spanproof.api.list_rows import build_trace_row
from spanproof.store.trace_listing import TraceListing
from spanproof.trace import Layer

MOST_EXPORTED: Final = 20_000
"""Rows of a file: it is written in memory."""

_NS: Final = 10**9
# What a spreadsheet would run as a formula.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def encode_csv(listing: TraceListing, limit: int) -> bytes:
    """Return the traces of a list as CSV; a spreadsheet runs no text of a trace as a formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([name for name, _ in _COLUMNS])
    for row in _iter_cells(listing, limit):
        writer.writerow([_encode_cell(value) for value in row.values()])
    return file.getvalue().encode()


def _encode_cell(value: object) -> object:
    """Return a value as a cell that a spreadsheet shows and does not run."""
    is_formula = isinstance(value, str) and value.startswith(_FORMULA_STARTS)
    return f"'{value}" if is_formula else value


def encode_parquet(listing: TraceListing, limit: int) -> bytes:
    """Return the traces of a list as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in _COLUMNS])
    pq.write_table(pa.Table.from_pylist(list(_iter_cells(listing, limit)), schema), sink)
    return sink.getvalue()


_COLUMNS: Final = (
    ("trace_id", "string"),
    ("project", "string"),
    ("run_span_id", "string"),
    ("agent", "string"),
    ("model", "string"),
    ("state", "string"),
    *((layer.value, "string") for layer in Layer),
    ("why", "string"),
    ("task", "string"),
    ("answer", "string"),
    ("started", "string"),
    ("seconds", "float64"),
    ("tokens", "int64"),
    ("cost_usd", "float64"),
    ("feedback", "string"),
)


def _iter_cells(listing: TraceListing, limit: int) -> Iterator[dict[str, Any]]:
    for found in listing.iter_rows(limit):
        row = build_trace_row(found)
        for run in row.runs:
            yield _build_cells(row, run)


def _build_cells(row: models.TraceRow, run: models.RunRow) -> dict[str, Any]:
    states = {layer.value: run.layers[layer].verdict.value if layer in run.layers else "" for layer in Layer}
    cells = {
        "trace_id": row.trace_id,
        "project": row.project,
        "run_span_id": run.span_id,
        "agent": run.agent,
        "model": run.model,
        "state": run.state.value,
        **states,
        "why": run.reason,
        "task": run.task,
        "answer": run.answer,
        "started": datetime.fromtimestamp(row.start_ns / _NS, UTC).isoformat(timespec="milliseconds"),
        "seconds": max(0, row.end_ns - row.start_ns) / _NS,
        "tokens": run.tokens,
        "cost_usd": run.cost_usd,
        "feedback": " ".join(f"{kind}:{times}" for kind, times in sorted(row.feedback.items())),
    }
    return {name: cells[name] for name, _ in _COLUMNS}
