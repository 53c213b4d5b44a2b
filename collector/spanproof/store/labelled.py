"""Runs that people labelled, read from the store: what judges are measured and compared on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanproof.evaluators.judge.measure import PersonLabel
from spanproof.store.store import Store
from spanproof.trace import Label, Layer, Score

MAX_LABELS: Final = 5_000
"""Labels that are read, the newest ones; a precision of 5,000 fails is known to 1.4 points."""


def list_person_labels(
    store: Store, *, layer: Layer | None = None, since_ns: int | None = None, limit: int = MAX_LABELS
) -> list[PersonLabel]:
    """Return people's verdicts, the newest first, of each run and layer the newest alone.

    Args:
        store: that is read.
        layer: only on this one.
        since_ns: only those given then or later, Unix time in nanoseconds.
        limit: at most so many.
    """
    found: dict[tuple[str, str, Layer], PersonLabel] = {}
    for row in store.browse.list_labels(layer=layer, limit=limit):
        if row.label is None or (since_ns is not None and row.given_ns < since_ns):
            continue
        passes = row.label is Label.PASS
        subject = (row.trace_id, row.run_span_id, row.layer)
        found.setdefault(subject, PersonLabel(*subject, passes))
    return list(found.values())


def iter_labelled_scores(store: Store, labels: list[PersonLabel]) -> Iterator[Score]:
    """Yield the scores of the traces that these labels are about."""
    for trace_id in dict.fromkeys(label.trace_id for label in labels):
        yield from store.scores(trace_id=trace_id)
