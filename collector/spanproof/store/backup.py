"""A backup of a store in a directory: a file of Arrow record batches for each table, and a manifest.

It is taken while a server runs, and read back by this or a newer Spanproof into any empty store: a directory,
a server, a cluster. Of a trace that is in a backup everything is.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from clickhouse_connect.driver.client import Client

from spanproof.store.errors import SchemaTooNew, StoreError
from spanproof.store.layout import Layout
from spanproof.store.migrations import MIGRATIONS
from spanproof.store.schema import LEASES, MIGRATED, TABLES, TRACES

_MANIFEST = "manifest.json"
_LEFT_OUT = (MIGRATED, LEASES)
_INSERT_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class TableBackup:
    """One table of a backup: its rows, and the SHA-256 of its file."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds; `taken_ns` in Unix nanoseconds."""

    schema: int
    taken_ns: int
    tables: dict[str, TableBackup]

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(table.rows for table in self.tables.values())


def build_backup(client: Client, database: str, directory: Path) -> Manifest:
    """Write everything into a directory, which is there only once it is whole.

    Raises:
        StoreError: the directory is there already, or cannot be written.
    """
    if directory.exists():
        raise StoreError(f"backup {directory}: it is there already; name another directory")
    partial = directory.with_name(f"{directory.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True, mode=0o700)
        tables: dict[str, TableBackup] = {}
        # A trace's own row is written last, so what has one at this moment is whole in all other tables.
        for table in sorted(TABLES, key=lambda table: table is not TRACES):
            if table not in _LEFT_OUT:
                tables[table.name] = _fetch_table(
                    client, f"{database}.{table.name}", table.names, partial / f"{table.name}.arrow"
                )
        manifest = Manifest(MIGRATIONS[-1].version, time.time_ns(), tables)
        with (partial / _MANIFEST).open("x") as file:
            json.dump(asdict(manifest), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(directory)
    except OSError as problem:
        raise StoreError(f"backup {directory}: cannot be written: {problem.strerror}") from problem
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """Return what a backup holds.

    Raises:
        StoreError: it is no backup, it is damaged, or a newer Spanproof wrote it.
    """
    try:
        found = json.loads((directory / _MANIFEST).read_bytes())
        tables = {name: TableBackup(**entry) for name, entry in found["tables"].items()}
        manifest = Manifest(int(found["schema"]), int(found["taken_ns"]), tables)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise StoreError(f"backup {directory}: it has no readable {_MANIFEST}") from problem
    newest = MIGRATIONS[-1].version
    if manifest.schema > newest:
        raise SchemaTooNew(
            f"backup {directory}: has schema version {manifest.schema}, this Spanproof knows {newest}:"
            " upgrade spanproof"
        )
    for name, table in manifest.tables.items():
        if _compute_checksum(directory / f"{name}.arrow") != table.sha256:
            raise StoreError(f"backup {directory}: {name}.arrow is damaged, its checksum differs")
    return manifest


def load_backup(client: Client, layout: Layout, directory: Path) -> Manifest:
    """Write a backup into an empty store of the newest schema.

    Raises:
        StoreError: the store holds something, or the backup cannot be read.
        SchemaTooNew: a newer Spanproof wrote the backup.
    """
    manifest = read_manifest(directory)
    tables = {table.name: table for table in TABLES}
    if unknown := sorted(manifest.tables.keys() - tables.keys()):
        raise StoreError(f"backup {directory}: {unknown[0]} is no table of this Spanproof")
    for name in manifest.tables:
        if client.query(f"SELECT 1 FROM {layout.database}.{name} LIMIT 1").result_rows:  # noqa: S608
            raise StoreError(f"the store is not empty, {name} has rows: restore into a store of its own")
    # The traces' own rows last, as they are written.
    for name in sorted(manifest.tables, key=lambda name: name == TRACES.name):
        _add_rows(client, f"{layout.database}.{name}", directory / f"{name}.arrow")
    for migration in MIGRATIONS:
        if migration.version > manifest.schema:
            migration.apply(client, layout)
    return manifest


def _fetch_table(client: Client, table: str, names: tuple[str, ...], path: Path) -> TableBackup:
    columns = ", ".join(f"`{name}`" for name in names)
    rows, writer = 0, None
    with pa.OSFile(str(path), "wb") as file:
        try:
            with client.query_arrow_stream(f"SELECT {columns} FROM {table} FINAL") as batches:  # noqa: S608
                for batch in batches:
                    for part in batch.to_batches() if isinstance(batch, pa.Table) else [batch]:
                        if writer is None:
                            options = pa.ipc.IpcWriteOptions(compression="zstd", emit_dictionary_deltas=True)
                            writer = pa.ipc.new_stream(file, part.schema, options=options)
                        writer.write_batch(part)
                        rows += part.num_rows
        finally:
            if writer is not None:
                writer.close()
    return TableBackup(rows, _compute_checksum(path))


def _add_rows(client: Client, table: str, path: Path) -> None:
    if not path.stat().st_size:
        return
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
        batches: list[Any] = []
        rows = 0
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            if rows >= _INSERT_ROWS:
                client.insert_arrow(table, pa.Table.from_batches(batches))
                batches, rows = [], 0
        if batches:
            client.insert_arrow(table, pa.Table.from_batches(batches))


def _compute_checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise StoreError(f"backup: {path} cannot be read: {problem.strerror}") from problem
