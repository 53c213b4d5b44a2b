"""Where tables are: in one server, or over the shards and replicas of a cluster.

In a cluster each table is a Replicated one on every shard, `NAME_local`, with a Distributed one of its own
name over them. All rows of a key are on one shard, so that reading with FINAL replaces them there; reads and
writes name the Distributed table, so queries are the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spanproof.store.errors import StoreError
from spanproof.store.schema import TABLES
from spanproof.store.table import Table

_CLUSTER = re.compile(r"[A-Za-z_][\w.-]*")
_QUORUM = re.compile(r"auto|[1-9]\d?")


@dataclass(frozen=True, slots=True)
class Layout:
    """The database, and its cluster.

    Attributes:
        cluster: as the servers' `remote_servers` name it; empty is one server.
        quorum: how many replicas have a row before it counts as written, or `auto` for most of them; empty
            is one.
        async_insert: whether the server gathers small inserts; written still means written.
    """

    database: str
    cluster: str = ""
    quorum: str = ""
    async_insert: bool = False

    @classmethod
    def from_options(cls, database: str, options: Mapping[str, str]) -> Layout:
        """Return the layout that the options of a DSN describe.

        Raises:
            StoreError: an option is not valid.
        """
        cluster, quorum = options.get("cluster", ""), options.get("quorum", "")
        gathered = options.get("async_insert", "0")
        if cluster and not _CLUSTER.fullmatch(cluster):
            raise StoreError(f"store: {cluster!r} is no name of a cluster")
        if quorum and not _QUORUM.fullmatch(quorum):
            raise StoreError(f"store: quorum is {quorum!r}; give a number of replicas, or auto")
        if quorum and not cluster:
            raise StoreError("store: quorum is given without cluster, and one server has no replicas")
        if gathered not in ("0", "1"):
            raise StoreError(f"store: async_insert is {gathered!r}; give 0 or 1")
        return cls(database, cluster, quorum, gathered == "1")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of every query: written means written, on as many replicas as the quorum names."""
        settings: dict[str, Any] = {"async_insert": int(self.async_insert), "wait_for_async_insert": 1}
        if self.cluster:
            settings |= {
                "distributed_foreground_insert": 1,
                # The rows that a subquery chooses may be on any shard.
                "distributed_product_mode": "global",
                # An evaluation is compared with the one before it: both go to the same replica.
                "load_balancing": "in_order",
            }
        if self.quorum:
            settings["insert_quorum"] = self.quorum
        return settings

    def build_create_database(self) -> str:
        """Return the statement that makes the database where it is not there."""
        engine = "" if self.cluster else " ENGINE = Atomic"
        return f"CREATE DATABASE IF NOT EXISTS {self.database}{self._on_cluster}{engine}"

    def build_create_table(self, table: Table) -> tuple[str, ...]:
        """Return the statements that make a table where it is not there."""
        if not self.cluster:
            return (table.build_ddl(self.database),)
        local = f"{table.name}_local"
        path = f"'/clickhouse/tables/{{shard}}/{self.database}/{table.name}', '{{replica}}'"
        engine = f"ReplicatedReplacingMergeTree({', '.join((path, *table.version))})"
        over = f"Distributed('{self.cluster}', '{self.database}', '{local}', cityHash64({table.shard}))"
        distributed = (
            f"CREATE TABLE IF NOT EXISTS {self.database}.{table.name}{self._on_cluster}"
            f" AS {self.database}.{local} ENGINE = {over}"
        )
        return table.build_ddl(self.database, name=local, engine=engine, on=self._on_cluster), distributed

    def build_alter_table(self, table: str, clause: str) -> tuple[str, ...]:
        """Return the statements that change the columns of a table."""
        if not self.cluster:
            return (f"ALTER TABLE {self.database}.{table} {clause}",)
        names = (f"{table}_local", table)
        return tuple(f"ALTER TABLE {self.database}.{name}{self._on_cluster} {clause}" for name in names)

    def build_drop_table(self, table: str) -> tuple[str, ...]:
        """Return the statements that remove a table where it is there."""
        names = (table, f"{table}_local") if self.cluster else (table,)
        return tuple(f"DROP TABLE IF EXISTS {self.database}.{name}{self._on_cluster} SYNC" for name in names)

    def build_rename_table(self, kept_in: str, name: str) -> str:
        """Return the statement that gives a table with rows another name; it is that of `kept_in`."""
        return f"RENAME TABLE {self.database}.{kept_in} TO {self.database}.{name}{self._on_cluster}"

    def build_mutation(self, table: str, clause: str) -> str:
        """Return the statement that changes the rows of a table, or how they are kept."""
        return f"ALTER TABLE {self.database}.{self.get_local_name(table)}{self._on_cluster} {clause}"

    def get_local_name(self, table: str) -> str:
        """Return the name of the table that has the rows."""
        return f"{table}_local" if self.cluster else table

    def list_statements(self, tables: Sequence[Table] = TABLES) -> tuple[str, ...]:
        """Return all statements that make the newest schema, in order."""
        return (
            self.build_create_database(),
            *(statement for table in tables for statement in self.build_create_table(table)),
        )

    @property
    def _on_cluster(self) -> str:
        return f" ON CLUSTER '{self.cluster}'" if self.cluster else ""
