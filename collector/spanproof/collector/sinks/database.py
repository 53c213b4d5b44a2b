"""The files of durable queues."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def open_queue_file(path: Path, schema: str) -> sqlite3.Connection:
    """Return the database of a queue, readable by its owner alone; made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    # What is written is acknowledged then: it must be on the disk.
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.executescript(schema)
    path.chmod(0o600)
    return database
