"""Who holds an embedded directory.

chDB lets one process at a time into a directory, and a process into one directory at a time. The lock file in
the directory goes with the process that holds it, however that ends; it names that process and, where the
holder lets others in, how they reach it. Only the owner of the files can read it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from spanproof.store.errors import StoreBusy, StoreUnavailable


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a directory, and the DSNs to read and to write by; None where there is none."""

    who: str
    read_url: str | None = None
    write_url: str | None = None


class Hold:
    """This process's hold on at most one directory, shared by its stores; thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._directory: Path | None = None
        self._descriptor = -1
        self._stores = 0
        self._pid = os.getpid()

    def add_store(self, directory: Path) -> None:
        """Take the directory, or share it within this process.

        Raises:
            StoreBusy: another process holds it, or this one holds another directory.
            OSError: the lock file cannot be made.
        """
        with self._guard:
            if self._stores and self._pid != os.getpid():
                raise StoreBusy(
                    f"store {directory}: this process was forked from one that has a store open; start a"
                    " fresh process instead (multiprocessing: use the 'spawn' method)"
                )
            if self._stores and self._directory != directory:
                raise StoreBusy(
                    f"store {directory}: this process already holds {self._directory}, and an embedded store"
                    " is one per process; close that first, or use a ClickHouse server"
                )
            if not self._stores:
                self._descriptor = _open_lock(directory)
                self._directory, self._pid = directory, os.getpid()
                self._write(None, None)
            self._stores += 1

    def remove_store(self) -> None:
        """Give back one `add_store`; the last one lets other processes in."""
        with self._guard:
            self._stores -= 1
            if not self._stores:
                os.close(self._descriptor)
                self._directory = None

    def write_urls(self, read_url: str | None, write_url: str | None) -> None:
        """Write into the lock file how others may read and write; None where they may not."""
        with self._guard:
            self._write(read_url, write_url)

    def _write(self, read_url: str | None, write_url: str | None) -> None:
        words = [Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python", *sys.argv[1:2]]
        who = f"{' '.join(words)} (process {os.getpid()})"
        entry = {"who": who, "read_url": read_url, "write_url": write_url}
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(entry).encode() + b"\n", 0)


def read_holder(directory: Path) -> Holder:
    """Return the holder that the lock file of a directory names, else `another process`."""
    try:
        entry = json.loads((directory / "lock").read_bytes())
        return Holder(str(entry["who"]), entry["read_url"], entry["write_url"])
    except (OSError, ValueError, KeyError, TypeError):
        return Holder("another process")


def _open_lock(directory: Path) -> int:
    if sys.platform == "win32":
        raise StoreUnavailable(
            "Windows has no embedded store: name a ClickHouse server (--store clickhouse://…)"
        )
    import fcntl

    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Record locks, not flock: a forked child must not keep the directory when this process is gone.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        who = read_holder(directory).who
        raise StoreBusy(
            f"store {directory} is held by {who}, and an embedded store belongs to one process: stop it and"
            " try again, or let both use a ClickHouse server (--store clickhouse://…)",
            who,
        ) from None
    return descriptor
