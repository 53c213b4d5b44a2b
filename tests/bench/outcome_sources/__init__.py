"""Where the outputs of the outcome benchmark come from: real tools, run on small made-up data.

A source is a function that yields `Output`s. It runs the tool itself, so that the words are the tool's own;
the label comes from how the tool ended (raised, exit status, rows), never from its words. Sources that are no
tools (documents, logs, tickets) hold words of failure and are results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Output:
    """One output with its label: `failed`, `ok` or `empty`; `command`: the shell command that printed it."""

    tool: str
    text: str
    label: str
    language: str | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """A table of made-up data, and the words that go with it."""

    table: str
    key: str
    number: str
    text: str
    rows: tuple[tuple[int, float, str], ...]

    @property
    def schema(self) -> str:
        """The statement that makes the table."""
        columns = f"{self.key} INTEGER PRIMARY KEY, {self.number} REAL, {self.text} TEXT"
        return f"CREATE TABLE {self.table} ({columns})"


DOMAINS = (
    Domain(
        "orders",
        "order_id",
        "total",
        "status",
        ((1, 120.5, "shipped"), (2, 33.25, "failed"), (3, 9.0, "error")),
    ),
    Domain(
        "flights",
        "flight_id",
        "fare",
        "gate",
        ((71, 212.0, "B4"), (72, 99.5, "cancelled"), (88, 310.0, "A1")),
    ),
    Domain("patients", "patient_id", "weight", "ward", ((501, 71.2, "north"), (502, 64.0, "refused"))),
    Domain(
        "sensors",
        "sensor_id",
        "reading",
        "state",
        ((9, 21.5, "timeout"), (10, 22.75, "ok"), (11, 0.0, "fault")),
    ),
    Domain("jobs", "job_id", "seconds", "result", ((4001, 12.5, "failed"), (4002, 3.25, "success"))),
    Domain(
        "invoices", "invoice_no", "amount", "note", ((1001, 450.0, "payment declined"), (1002, 75.5, "paid"))
    ),
    Domain(
        "tickets",
        "ticket_id",
        "hours",
        "title",
        ((31, 4.5, "Error: printer not found"), (32, 1.0, "Login fails")),
    ),
    Domain("exams", "exam_id", "score", "verdict", ((17, 55.5, "Failed"), (18, 91.0, "Passed"))),
)


def pick(options: Sequence[_T], *given: object) -> _T:
    """One of the options, the same for the same words."""
    number = hashlib.sha256("|".join(map(str, given)).encode()).digest()
    return options[int.from_bytes(number[:4], "big") % len(options)]
