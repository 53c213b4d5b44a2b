"""Who did by hand what runs code: kept so that a person can ask for it later."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.store.connection import Connections
from spanproof.store.decision_tables import AUDIT_EVENTS
from spanproof.store.single_rows import write_value


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One thing that somebody did.

    Attributes:
        at_ns: when, Unix nanoseconds.
        project: of the subject.
        actor: the name of the token.
        action: such as `replay`.
        subject: the id of the trace.
        detail: what was changed, in words.
    """

    id: str
    at_ns: int
    project: str
    actor: str
    action: str
    subject: str
    detail: str


class AuditLog:
    """The table of audited actions. Every method raises StoreUnavailable or StoreError where it fails."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def write(self, event: AuditEvent) -> None:
        """Keep an event."""
        write_value(self._connections, AUDIT_EVENTS, event)

    def list_events(self, limit: int) -> list[AuditEvent]:
        """Return events, the newest first."""
        with self._connections.lease() as client:
            rows = client.query(
                "SELECT id, at_ns, project, actor, action, subject, detail"  # noqa: S608
                f" FROM {self._connections.database}.{AUDIT_EVENTS.name} FINAL"
                " ORDER BY at_ns DESC, id LIMIT {limit:UInt32}",
                parameters={"limit": limit},
            ).result_rows
        return [AuditEvent(row[0], int(row[1]), *row[2:]) for row in rows]
