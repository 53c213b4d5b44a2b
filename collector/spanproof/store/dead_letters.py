"""Traces that no attempt could evaluate, kept with their spans and the error until they are retried."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from clickhouse_connect.driver.client import Client

from spanproof.store.cells import Row, to_storable_text


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A trace that could not be evaluated.

    Attributes:
        stage: what failed: `read`, `normalise`, `evaluate`, `store`, `deadline`, `size` (too many spans)
            or `worker` (it ended).
        body: its spans as an OTLP request in protobuf.
        failed_ns: when the last attempt failed, Unix nanoseconds.
    """

    trace_id: str
    stage: str
    error_type: str
    error: str
    attempts: int
    body: bytes
    failed_ns: int
    project: str = "default"


def build_letter_row(letter: DeadLetter, *, removed: bool = False) -> Row:
    """Return a dead letter as a row, or the row that removes it."""
    return {
        "project": to_storable_text(letter.project),
        "trace_id": letter.trace_id,
        "failed": letter.failed_ns,
        "stage": letter.stage,
        "error_type": to_storable_text(letter.error_type),
        "error": to_storable_text(letter.error),
        "attempts": letter.attempts,
        "body": "" if removed else b64encode(letter.body).decode(),
        "evaluated_ns": time.time_ns(),
        "is_deleted": int(removed),
    }


def fetch_dead_letters(
    client: Client, database: str, trace_ids: Sequence[str], limit: int
) -> list[DeadLetter]:
    """Return dead letters, newest first; see `Store.dead_letters`."""
    chosen = "trace_id IN {ids:Array(String)}" if trace_ids else "1"
    rows = client.query(
        "SELECT trace_id, stage, error_type, error, attempts, body, toUnixTimestamp64Nano(failed), project"  # noqa: S608
        f" FROM {database}.dead_letters FINAL WHERE {chosen} ORDER BY failed DESC LIMIT {{limit:UInt32}}",
        parameters={"ids": list(trace_ids), "limit": limit},
    ).result_rows
    return [
        DeadLetter(row[0], row[1], row[2], row[3], int(row[4]), b64decode(row[5]), int(row[6]), row[7])
        for row in rows
    ]
