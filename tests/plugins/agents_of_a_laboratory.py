"""Tools of a laboratory: a warehouse that answers as psql does, an API, files, notes, orders and scales.

Nothing is fetched and no command is run: what the tools return is recorded here.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

_TABLES = """
CREATE TABLE samples (sample TEXT, site TEXT, taken TEXT, ph REAL, nitrate_mg REAL);
INSERT INTO samples VALUES ('S-201', 'Lomma', '2026-03-02', 7.42, 18.6),
  ('S-202', 'Lomma', '2026-03-09', 7.18, 22.35),
  ('S-203', 'Arild', '2026-03-02', 6.91, 9.8), ('S-204', 'Arild', '2026-03-16', 6.87, 11.25),
  ('S-205', 'Torekov', '2026-03-16', 7.77, 31.4);
CREATE TABLE staff (name TEXT, room TEXT, hours REAL);
INSERT INTO staff VALUES ('Ylva', '3.12', 38.5), ('Tariq', '3.14', 24.0), ('Noor', '3.12', 31.25);
"""

_FILES = {
    "plates.csv": "plate,wells,failed\nP-11,96,3\nP-12,96,0\nP-13,384,17\n",
    "README.txt": (
        "If the reader says 'Error 12: lid open', close the lid. Exit code 1 means that no plate was found.\n"
    ),
    "empty.csv": "plate,wells,failed\n",
}

_PAGES = {
    "/v1/freezers/F2": '{"id": "F2", "celsius": -79.4, "door": "closed", "alarms": []}',
    "/v1/freezers/F7": 'HTTP/1.1 502 Bad Gateway\n\n{"message": "no route to F7"}',
    "/v1/centrifuge": '{"ok": false, "reason": "maintenance until 2026-03-20"}',
    "/v1/incubators": '[{"id": "I1", "co2": 5.1, "celsius": 37}, {"id": "I2", "co2": 4.8, "celsius": 36.6}]',
    "/v1/audit": '{"errors": [], "warnings": ["I2 below set point"], "checked": 14}',
}


def _psql(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    cells = [["" if each is None else str(each) for each in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    head = "|".join(f" {name.center(width)} " for name, width in zip(names, widths, strict=True))
    body = ["|".join(f" {cell:>{width}} " for cell, width in zip(row, widths, strict=True)) for row in cells]
    count = f"({len(rows)} row{'' if len(rows) == 1 else 's'})"
    return "\n".join([head, "+".join("-" * (width + 2) for width in widths), *body, count])


def warehouse(sql: str) -> str:
    """Run SQL in the warehouse and return what psql prints.

    Args:
        sql: one statement.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        try:
            cursor = database.execute(sql)
        except sqlite3.Error as error:
            missing = str(error).rpartition(" ")[2]
            what = "relation" if "table" in str(error) else "column"
            return f'ERROR:  {what} "{missing}" does not exist\nLINE 1: {sql}\n'
        return _psql([column[0] for column in cursor.description], cursor.fetchall())


def http_get(path: str) -> str:
    """Fetch a resource of the laboratory's API and return the body.

    Args:
        path: such as /v1/freezers/F2.
    """
    if path not in _PAGES:
        return json.dumps({"status": 404, "error": "Not Found", "path": path})
    return _PAGES[path]


def read_file(path: str) -> str:
    """Return the text of a file.

    Args:
        path: its name.
    """
    if path not in _FILES:
        raise FileNotFoundError(f"[Errno 2] No such file or directory: '{path}'")
    return _FILES[path]


def terminal(command: str) -> dict:
    """Run a command; gives exit_code, stdout and stderr.

    Args:
        command: a line for sh.
    """
    known = {
        "git -C assays log --oneline | wc -l": (0, "214\n", ""),
        "git -C assays status": (
            128,
            "",
            "fatal: not a git repository (or any of the parent directories): .git\n",
        ),
        "npm test --prefix viewer": (1, "Tests: 2 failed, 61 passed, 63 total\n", "npm ERR! Test failed.\n"),
        "pytest -q assays": (0, "88 passed in 4.21s\n", ""),
        "pip install pyopenms": (1, "", "ERROR: No matching distribution found for pyopenms\n"),
        "sha256sum run7.raw | cut -c1-12": (0, "b71e04c9d2aa\n", ""),
    }
    code, out, err = known.get(command, (127, "", f"sh: 1: {command.split()[0]}: not found\n"))
    return {"exit_code": code, "stdout": out, "stderr": err}


def search_notes(query: str) -> list:
    """Return notes of the laboratory's book that fit a query.

    Args:
        query: words.
    """
    notes = [
        {
            "id": "N-31",
            "day": "2026-03-04",
            "text": "Reader stopped with error 12, lid open. Ran again, all fine.",
        },
        {"id": "N-37", "day": "2026-03-11", "text": "Calibrated scale B: 200 g reads 199.98 g."},
        {"id": "N-40", "day": "2026-03-17", "text": "Batch 44 discarded, 6 of 48 tubes cracked."},
    ]
    return [note for note in notes if query.lower() in note["text"].lower()]


def weigh(scale: str) -> float:
    """Return what lies on a scale, in grams.

    Args:
        scale: A or B.
    """
    if scale == "A":
        raise RuntimeError("scale A: USB device disconnected")
    return 12.847


def submit(sample: str, method: str) -> str:
    """Hand a sample in for a method.

    Args:
        sample: its number.
        method: its name.
    """
    if method != "icp-ms":
        return f"Rejected: method {method} is not offered."
    return f"Accepted {sample} for {method}, order 5519, ready on 2026-03-24."


def reference_limit(substance: str) -> dict:
    """Return the limit of a substance in drinking water.

    Args:
        substance: its name.
    """
    known = {"nitrate": {"substance": "nitrate", "limit": 50, "unit": "mg/l"}}
    return known.get(substance, {})


LABORATORY_TOOLS = (
    *(warehouse, http_get, read_file, terminal),
    *(search_notes, weigh, submit, reference_limit),
)
