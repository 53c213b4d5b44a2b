"""Cases to JSON lines or CSV, which `iter_dataset` reads again.

A frozen run stays in the suite; of it go the tool calls with their results, so that an agent can be run on
the case, and the id of its trace.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from spanproof.suites.calls import list_recorded_calls
from spanproof.suites.case import Case
from spanproof.suites.records import encode_record

COLUMNS: Final = (
    "id", "task", "agent", "tags", "must", "must_not", "inputs", "files", "recorded", "notes", "source",
    "cohort",
)  # fmt: skip


def format_jsonl(cases: Iterable[Case]) -> str:
    """Return a line for each case."""
    return "".join(json.dumps(_to_record(case), ensure_ascii=False) + "\n" for case in cases)


def format_csv(cases: Iterable[Case]) -> str:
    """Return a row for each case; lists and objects are JSON in their cell, tags are words."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for case in cases:
        writer.writerow({name: _format_cell(name, value) for name, value in _to_record(case).items()})
    return file.getvalue()


def _to_record(case: Case) -> dict[str, Any]:
    if case.origin is None:
        return encode_record(case)
    source = case.source or {"form": "spanproof", "trace_id": case.origin.trace_id}
    return encode_record(replace(case, recorded=list_recorded_calls(case), source=source))


def _format_cell(name: str, value: Any) -> str:
    if name == "tags":
        return " ".join(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
