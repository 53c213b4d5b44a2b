"""The errors of the store.

    StoreError
    ├── StoreUnavailable    the server does not answer, or the directory cannot be used; worth a retry
    ├── StoreBusy           another process (or another store of this one) holds the embedded directory
    ├── AmbiguousTrace      several projects have a trace with the id, and none is named
    ├── QueryRefused        a person's own SELECT is none, or the database does not take it
    └── SchemaTooNew        a newer Spanproof wrote this store

Each message names the store and the remedy. A trace that is not there is no error: it is `None`.
"""

from __future__ import annotations

from collections.abc import Sequence


class StoreError(Exception):
    """Root of all errors the store raises."""


class StoreUnavailable(StoreError):  # noqa: N818 - a state of the server or the disk
    """The store cannot be reached now."""


class StoreBusy(StoreError):  # noqa: N818 - a state of the directory
    """The embedded directory is held by another; attribute `holder` names the process, where it is known."""

    def __init__(self, message: str, holder: str = "") -> None:
        super().__init__(message)
        self.holder = holder


class QueryRefused(StoreError):  # noqa: N818 - a state of the query
    """A SELECT of a person cannot be run."""


class AmbiguousTrace(StoreError):  # noqa: N818 - a state of the id
    """Several projects have a trace with this id.

    Attributes:
        projects: that have one, in order.
    """

    def __init__(self, trace_id: str, projects: Sequence[str]) -> None:
        self.projects = tuple(sorted(projects))
        super().__init__(f"trace {trace_id} is in several projects, name one: {', '.join(self.projects)}")


class SchemaTooNew(StoreError):  # noqa: N818 - a state of the store
    """The store's schema is newer than this Spanproof knows."""
