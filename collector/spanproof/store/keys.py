"""Conditions on traces by their identity, which is the project together with the id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spanproof.trace.project import TraceKey


def build_key_condition(
    keys: Iterable[TraceKey], columns: tuple[str, str] = ("project", "trace_id")
) -> tuple[str, dict[str, Any]]:
    """Return the condition for rows of these traces, and its parameters.

    Args:
        keys: of the traces.
        columns: with the project and with the id.
    """
    listed = list(keys)
    project, trace_id = columns
    # The ids alone as well: the index on them knows nothing of pairs.
    condition = (
        f"({trace_id} IN {{key_ids:Array(String)}}"
        f" AND ({project}, {trace_id}) IN {{keys:Array(Tuple(String, String))}})"
    )
    return condition, {"key_ids": list_ids(listed), "keys": [tuple(key) for key in listed]}


def list_ids(keys: Sequence[TraceKey]) -> list[str]:
    """Return the ids of traces, each once, in order."""
    return sorted({key.trace_id for key in keys})
