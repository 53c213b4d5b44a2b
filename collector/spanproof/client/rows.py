"""Rows of an answer as a sequence, as an Arrow table and as a data frame."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from pydantic import BaseModel

from spanproof.api.models import TraceRow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T_co = TypeVar("T_co", bound=BaseModel, covariant=True)


class Rows(Sequence[T_co], Generic[T_co]):
    """Rows of one kind."""

    def __init__(self, rows: Sequence[T_co]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> T_co: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...

    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Rows({len(self)})"

    def to_arrow(self) -> pa.Table:
        """Return a table with a row for each, nested fields by dotted name, lists as JSON; traces by run."""
        import pyarrow as pa

        return pa.Table.from_pylist([line for row in self._rows for line in _to_lines(row)])

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of `to_arrow` as a data frame, with times as UTC timestamps.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas as pd

        frame = self.to_arrow().to_pandas()
        for name in frame.columns:
            if name.endswith("_ns"):
                frame[name.removesuffix("_ns")] = pd.to_datetime(frame.pop(name), unit="ns", utc=True)
        return frame


def _to_lines(row: BaseModel) -> Iterator[dict[str, Any]]:
    """Yield the row, or of a trace a line for each of its runs."""
    plain = row.model_dump(mode="json")
    if not isinstance(row, TraceRow):
        yield dict(_iter_fields(plain))
        return
    runs = plain.pop("runs")
    for run in runs or [{}]:
        yield {**dict(_iter_fields(plain)), **dict(_iter_fields({"run": run}))}


def _iter_fields(tree: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _iter_fields(value, f"{under}{name}.")
        elif isinstance(value, list):
            yield f"{under}{name}", json.dumps(value, ensure_ascii=False)
        else:
            yield f"{under}{name}", value
