"""What keeps a store in order: rollups, retention, backups, and tasks that one process does at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spanproof.store import rollups
from spanproof.store.connected import Connected
from spanproof.store.leases import Lease
from spanproof.store.retention import add_retention

if TYPE_CHECKING:
    from spanproof.store.backup import Manifest


class Upkeep(Connected):
    """The part of a store that keeps it in order."""

    def refresh_rollups(self, settled_s: float = 0.0) -> int:
        """Count again the verdicts of hours whose scores changed; returns how many hours, 0 once all are.

        One process does this at a time. Queries are exact without it, and slower the more hours wait.

        Args:
            settled_s: leave hours for later whose scores changed within so many seconds.
        """
        with self._connections.lease() as client:
            return rollups.write_rollups(client, self._database, settled_s)

    def apply_retention(self, days: Mapping[str, int | None]) -> list[str]:
        """Keep rows for so many days, by the names of `retention.KEPT`; returns the tables that changed."""
        with self._connections.lease() as client:
            return add_retention(client, self._connections.layout, days)

    def back_up(self, directory: Path) -> Manifest:
        """Write everything into a new directory.

        Raises:
            StoreError: the directory is there already, or cannot be written.
        """
        from spanproof.store.backup import build_backup  # loads Arrow

        with self._connections.lease() as client:
            return build_backup(client, self._database, directory)

    def restore(self, directory: Path) -> Manifest:
        """Write a backup into this store, which must be empty.

        Raises:
            StoreError: it is not, or the backup cannot be read.
        """
        from spanproof.store.backup import load_backup  # loads Arrow

        with self._connections.lease() as client:
            return load_backup(client, self._connections.layout, directory)

    def task_lease(self, name: str) -> Lease:
        """Return a lease of a task that one process does at a time."""
        return Lease(self._connections, name)
