"""Tools of a harbour office: a port database, a shell, berths, tides, tariffs and logs of cranes.

The shell answers from recorded outputs: no command is run.
"""

from __future__ import annotations

import json
import sqlite3

_TABLES = """
CREATE TABLE calls (ship TEXT, arrived TEXT, berth TEXT, tonnes REAL, fee REAL);
INSERT INTO calls VALUES ('Calanthe', '2026-06-01', 'B2', 18450.5, 7215.4),
  ('Isolde', '2026-06-02', 'B4', 9320.25, 4108.9), ('Calanthe', '2026-05-11', 'B2', 17204.0, 6890.15),
  ('Norne', '2026-06-03', 'B1', 24110.75, 9872.6);
CREATE TABLE ships (ship TEXT, flag TEXT, length_m REAL);
INSERT INTO ships VALUES ('Calanthe', 'PT', 184.6), ('Isolde', 'NO', 121.3), ('Norne', 'NO', 212.9);
"""

_SHELL = {
    "wc -l data/manifest.csv": "4187 data/manifest.csv\n",
    "du -sh data": "37G\tdata\n",
    "grep -c ERROR logs/gate.log": "263\n",
    "grep ERROR logs/gate.log | tail -2": (
        "06-03 04:11:09 ERROR gate 3: card unreadable\n06-03 05:40:51 ERROR gate 1: barrier timeout\n"
    ),
    "cat data/manifest_2025.csv": "cat: data/manifest_2025.csv: No such file or directory\n",
    "wc -l data/manifest_2025.csv": "wc: data/manifest_2025.csv: No such file or directory\n",
    "df -h backup": "df: backup: No such file or directory\n",
    "find data -name '*.bak'": "",
    "make report": "make: *** No rule to make target 'report'.  Stop.\n",
}


def _run(sql: str) -> list[dict[str, object]]:
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        cursor = database.execute(sql)
        head = [column[0] for column in cursor.description or ()]
        return [dict(zip(head, row, strict=True)) for row in cursor.fetchall()]


def query_port(sql: str) -> str:
    """Run SQL on the port database; rows come as JSON, an error as text.

    Args:
        sql: the query.
    """
    try:
        return json.dumps(_run(sql))
    except sqlite3.Error as error:
        return f"(sqlite3.{type(error).__name__}) {error}\n[SQL: {sql}]"


def port_rows(sql: str) -> list:
    """Run SQL on the port database; raises where the query is wrong.

    Args:
        sql: the query.
    """
    return _run(sql)


def shell(command: str) -> str:
    """Run a command on the office's machine and return what it printed.

    Args:
        command: a line for bash.
    """
    if command in _SHELL:
        return _SHELL[command]
    return f"/bin/bash: line 1: {command.split()[0]}: command not found\n(exit status 127)"


def berth_status(berth: str) -> dict:
    """Return who lies at a berth.

    Args:
        berth: its name.
    """
    if berth == "B2":
        return {"berth": "B2", "state": "occupied", "ship": "Calanthe", "shore_power_kw": 412.5}
    return {"status": 404, "title": "Not Found", "detail": f"berth {berth} is not known"}


def tide(day: str) -> str:
    """Return high and low water of a day.

    Args:
        day: as YYYY-MM-DD.
    """
    if day == "2026-06-03":
        return "2026-06-03  high water 04:12  3.41 m\n2026-06-03  low water 10:35  0.62 m"
    return ""


def wind(station: str) -> dict:
    """Return the wind at a station.

    Args:
        station: its name.
    """
    raise TimeoutError("station did not answer within 10 s")


def tariff(kind: str) -> float:
    """Return the fee per tonne of a kind of cargo, in euros.

    Args:
        kind: container, bulk, or roro.
    """
    found = {"container": 0.84, "bulk": 0.37}
    if kind not in found:
        raise KeyError(kind)
    return found[kind]


def bunker_price(port: str) -> str:
    """Return the price of fuel in a port.

    Args:
        port: its name.
    """
    return '{"isError": true, "content": [{"type": "text", "text": "upstream returned 503"}]}'


def crane_log(crane: str) -> str:
    """Return the last lines of a crane's log.

    Args:
        crane: its name.
    """
    return (
        "05:12 C2 lift 31.8 t ok\n05:19 C2 ERROR spreader not locked, retried\n05:21 C2 lift 28.4 t ok\n"
        "05:30 C2 shift ends, 2 lifts, 1 error"
    )


def water_levels(gauge: str) -> list:
    """Return the last water levels of a gauge, in metres.

    Args:
        gauge: its name.
    """
    return [2.14, 2.27, 2.51, 2.48] if gauge == "lock" else []


def book_pilot(ship: str, at: str) -> str:
    """Book a pilot for a ship.

    Args:
        ship: its name.
        at: when.
    """
    return "Error executing tool book_pilot: 409 Conflict: no pilot is free"


HARBOUR_TOOLS = (
    *(query_port, port_rows, shell, berth_status, tide, wind, tariff, bunker_price, crane_log),
    *(water_levels, book_pilot),
)
