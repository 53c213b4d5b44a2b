"""Who reviews a verdict, and by when: what people take, or give to each other."""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.store.connection import Connections
from spanproof.store.decision_tables import REVIEW_ASSIGNMENTS
from spanproof.store.single_rows import write_value

_MOST_ASSIGNMENTS = 10_000


@dataclass(frozen=True, slots=True)
class Assignment:
    """A verdict that a person is to review.

    Attributes:
        project, trace_id, run_span_id, layer: the verdict.
        assignee: who is to review it; empty takes the verdict back.
        due_ns: by when, Unix nanoseconds; 0 is no date.
        author: who assigned it.
    """

    project: str
    trace_id: str
    run_span_id: str
    layer: str
    assignee: str
    due_ns: int
    author: str
    assigned_ns: int

    @property
    def verdict(self) -> tuple[str, str, str, str]:
        """What identifies the verdict: project, trace, run, layer."""
        return self.project, self.trace_id, self.run_span_id, self.layer


class Assignments:
    """The table of assignments. Every method raises StoreUnavailable or StoreError where the store fails."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def list_assignments(self) -> list[Assignment]:
        """Return what is assigned, the newest first."""
        with self._connections.lease() as client:
            rows = client.query(
                "SELECT project, trace_id, run_span_id, layer, assignee, due_ns, author, assigned_ns"  # noqa: S608
                f" FROM {self._connections.database}.{REVIEW_ASSIGNMENTS.name} FINAL WHERE assignee != ''"
                " ORDER BY assigned_ns DESC, trace_id, run_span_id, layer LIMIT {limit:UInt32}",
                parameters={"limit": _MOST_ASSIGNMENTS},
            ).result_rows
        return [
            Assignment(row[0], row[1], row[2], row[3], row[4], int(row[5]), row[6], int(row[7]))
            for row in rows
        ]

    def write_assignment(self, assignment: Assignment) -> None:
        """Assign a verdict; the former assignment of it is replaced."""
        write_value(self._connections, REVIEW_ASSIGNMENTS, assignment)
