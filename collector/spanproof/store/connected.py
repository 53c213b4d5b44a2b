"""What the parts of an open store share."""

from __future__ import annotations

from spanproof.store.connection import Connections


class Connected:
    """Connections to a database, and its name."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._database = connections.database
