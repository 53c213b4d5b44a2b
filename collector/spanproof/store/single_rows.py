"""One row that a person decides on, inserted by a statement alone.

In this form the process that holds an embedded store lets it through.
"""

from __future__ import annotations

import time
from dataclasses import fields
from typing import TYPE_CHECKING

from spanproof.store.cells import to_cell
from spanproof.store.connection import Connections
from spanproof.store.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def write_value(
    connections: Connections, table: Table, value: DataclassInstance, *, removed: bool = False
) -> None:
    """Insert a dataclass whose fields are columns; it replaces the row of its key, or removes that.

    Raises:
        StoreUnavailable: the server does not answer.
        StoreError: the database refused.
    """
    cells = {column.name: to_cell(getattr(value, column.name)) for column in fields(value)}
    cells["evaluated_ns"] = time.time_ns()
    cells["is_deleted"] = int(removed)
    kinds = {name: "UInt64" if isinstance(cell, int) else "String" for name, cell in cells.items()}
    values = ", ".join(f"{{{name}:{kind}}}" for name, kind in kinds.items())
    with connections.lease() as client:
        client.command(
            f"INSERT INTO {connections.database}.{table.name} ({', '.join(cells)}) SELECT {values}",
            parameters=cells,
        )
