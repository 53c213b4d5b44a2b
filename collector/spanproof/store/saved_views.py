"""Views of the list of traces that people keep for their project: a name, and the query line behind it."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.store.connection import Connections
from spanproof.store.decision_tables import SAVED_VIEWS
from spanproof.store.single_rows import write_value

_MOST_VIEWS = 500


@dataclass(frozen=True, slots=True)
class SavedView:
    """One view.

    Attributes:
        project: whose view it is; empty is a view of every project.
        name: unique within the project.
        query: the line of `name:value` filters and words.
        author: who kept it.
        saved_ns: when, Unix nanoseconds.
    """

    project: str
    name: str
    query: str
    author: str
    saved_ns: int


class SavedViews:
    """The table of views. Every method raises StoreUnavailable or StoreError where the store fails."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def list_views(self, project: str | None = None) -> list[SavedView]:
        """Return the views of a project and of every project, by name; all of them where none is named."""
        with self._connections.lease() as client:
            rows = client.query(
                "SELECT project, name, query, author, saved_ns"  # noqa: S608
                f" FROM {self._connections.database}.{SAVED_VIEWS.name} FINAL"
                " WHERE {every:UInt8} = 1 OR project IN ('', {project:String})"
                " ORDER BY name, project LIMIT {limit:UInt32}",
                parameters={"every": int(project is None), "project": project or "", "limit": _MOST_VIEWS},
            ).result_rows
        return [SavedView(row[0], row[1], row[2], row[3], int(row[4])) for row in rows]

    def write_view(self, view: SavedView) -> None:
        """Keep a view; one of the same project and name is replaced."""
        write_value(self._connections, SAVED_VIEWS, view)

    def remove_view(self, view: SavedView) -> None:
        """Remove a view."""
        write_value(self._connections, SAVED_VIEWS, view, removed=True)
