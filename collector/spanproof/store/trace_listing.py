"""Pages of a list of traces, also of those with a layer in certain states, which only the rows say."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from spanproof.store.browse import Page
from spanproof.store.store import Store
from spanproof.store.trace_list import TraceOrder, TraceTerms
from spanproof.store.values import TraceRow
from spanproof.trace import Layer, State, get_state

# Rows that one list looks through for those in a state, and how many it reads at once.
_MOST_LOOKED_AT: Final = 50_000
_LOOKED_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class TraceListing:
    """A list of traces in an order.

    Attributes:
        layer_states: only traces with a run whose layer is in one of these states.
    """

    store: Store
    chosen: TraceTerms
    order: TraceOrder = TraceOrder.NEWEST
    layer_states: tuple[Layer, Collection[State]] | None = None

    def fetch_page(self, after: Page, limit: int) -> tuple[list[TraceRow], TraceRow | None]:
        """Return the rows that follow a place, and the last row that was looked at where more may follow."""
        if self.layer_states is None:
            rows = self._fetch(after, limit + 1)
            return rows[:limit], rows[limit - 1] if len(rows) > limit else None
        found: list[TraceRow] = []
        for _ in range(_MOST_LOOKED_AT // _LOOKED_AT_ONCE):
            rows = self._fetch(after, _LOOKED_AT_ONCE)
            for position, row in enumerate(rows):
                if _has_layer_in(row, *self.layer_states):
                    found.append(row)
                if len(found) == limit:
                    is_end = position == len(rows) - 1 and len(rows) < _LOOKED_AT_ONCE
                    return found, None if is_end else row
            if len(rows) < _LOOKED_AT_ONCE:
                return found, None
            after = self.order.get_place(rows[-1])
        return found, rows[-1]

    def iter_rows(self, limit: int) -> Iterator[TraceRow]:
        """Yield the first rows of the list."""
        after: Page = None
        while limit > 0:
            rows, last = self.fetch_page(after, min(limit, _LOOKED_AT_ONCE))
            yield from rows
            if last is None:
                return
            after = self.order.get_place(last)
            limit -= len(rows)

    def _fetch(self, after: Page, count: int) -> list[TraceRow]:
        return self.store.browse.list_traces(self.chosen, order=self.order, limit=count, before=after)


def _has_layer_in(row: TraceRow, layer: Layer, states: Collection[State]) -> bool:
    return any(layer in run.layers and get_state(run.layers[layer]) in states for run in row.runs)
