"""A table as data, and the types of its columns."""

from __future__ import annotations

from dataclasses import dataclass

WORD = "LowCardinality(String)"
TIME = "DateTime64(9, 'UTC')"
COUNT, SUM = "UInt64 CODEC(T64, ZSTD(1))", "Float64 CODEC(ZSTD(1))"
TEXT = "String CODEC(ZSTD(3))"
ATTRIBUTES = "Map(LowCardinality(String), String) CODEC(ZSTD(3))"
VERSIONED = (("evaluated_ns", "UInt64"), ("is_deleted", "UInt8 DEFAULT 0"))


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        columns: name to type, in order.
        key: expressions rows are ordered by and replaced by.
        partition: expression; empty for none.
        version: arguments of ReplacingMergeTree: the version column, then the deletion mark.
        indexes: name to `expression TYPE …`.
        time: the column by which rows grow old; empty where they do not.
        shard: what the shard of a row in a cluster follows from: a part of the key.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    partition: str
    version: tuple[str, ...] = ("evaluated_ns", "is_deleted")
    indexes: tuple[tuple[str, str], ...] = ()
    time: str = ""
    shard: str = "trace_id"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, as an insert names them."""
        return tuple(name for name, _ in self.columns)

    def build_ddl(self, database: str, *, name: str = "", engine: str = "", on: str = "") -> str:
        """Return the statement that creates it if missing, under another name or engine if given."""
        lines = [f"`{column}` {kind}" for column, kind in self.columns]
        lines += [f"INDEX {index} {expression}" for index, expression in self.indexes]
        partition = f"PARTITION BY {self.partition} " if self.partition else ""
        engine = engine or f"ReplacingMergeTree({', '.join(self.version)})"
        head = f"CREATE TABLE IF NOT EXISTS {database}.{name or self.name}{on}"
        body = ",\n  ".join(lines)
        return f"{head} (\n  {body}\n) ENGINE = {engine} {partition}ORDER BY ({', '.join(self.key)})"
