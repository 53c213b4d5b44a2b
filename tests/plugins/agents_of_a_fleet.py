"""Tools over a fleet of delivery vans: vans, drivers, chargers and prices."""

from __future__ import annotations

import sqlite3

_TABLES = """
CREATE TABLE trips (van TEXT, day TEXT, km REAL, kwh REAL, driver TEXT);
INSERT INTO trips VALUES ('V1', '2026-05-04', 118.4, 27.9, 'Okafor'),
  ('V1', '2026-05-05', 96.7, 22.3, 'Lind'),
  ('V2', '2026-05-04', 143.2, 36.1, 'Okafor'), ('V3', '2026-05-05', 61.9, 14.8, 'Marsh');
CREATE TABLE vans (van TEXT, plate TEXT, battery_kwh REAL);
INSERT INTO vans VALUES ('V1', 'HH-LV 311', 74.5), ('V2', 'HH-LV 312', 74.5), ('V3', 'HH-LV 313', 52.8);
"""


def query_trips(sql: str) -> str:
    """Run SQL on the trips of the fleet; an error is returned as text.

    Args:
        sql: the query.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        try:
            cursor = database.execute(sql)
        except sqlite3.Error as error:
            return f"sqlite3.{type(error).__name__}: {error}"
        head = " | ".join(column[0] for column in cursor.description or ())
        found = [" | ".join(map(str, row)) for row in cursor.fetchall()]
        return "\n".join([head, *found]) if found else "(0 rows)"


def list_vans() -> list:
    """List the vans with their state of charge in per cent and their position."""
    return [
        {"van": "V1", "soc": 63.5, "lat": 53.5511, "lon": 9.9937},
        {"van": "V2", "soc": 17.2, "lat": 53.0793, "lon": 8.8017},
        {"van": "V3", "soc": 88.9, "lat": 53.8655, "lon": 10.6866},
    ]


def odometer(van: str) -> float:
    """Return a van's odometer in kilometres.

    Args:
        van: its name.
    """
    found = {"V1": 48211.6, "V2": 51877.3}
    if van not in found:
        raise LookupError(f"no telematics unit answers for {van}")
    return found[van]


def trip_log(van: str) -> str:
    """Return a van's last trips as CSV.

    Args:
        van: its name.
    """
    if van == "V1":
        return "day;km;kwh\n2026-05-04;118.4;27.9\n2026-05-05;96.7;22.3\n2026-05-06;131.0;31.4"
    return ""


def charger_status(site: str) -> dict:
    """Return the state of a site's charger.

    Args:
        site: its name.
    """
    if site == "harbour":
        return {"site": site, "state": "charging", "power_kw": 47.3, "session_kwh": 18.65}
    return {"error": {"code": 504, "message": "charger gateway did not answer"}}


def energy_price(country: str) -> float:
    """Return the present price of electricity in a country, in euros per kWh.

    Args:
        country: two letters.
    """
    raise TimeoutError("price feed: read timed out after 10 s")


def driver_hours(driver: str, week: int) -> dict | None:
    """Return the hours a driver worked in a week; nothing for one who is not known.

    Args:
        driver: the name.
        week: its number.
    """
    return {"driver": driver, "week": week, "hours": 37.75, "night": 4.5} if driver == "Okafor" else None


def route_distance(start: str, end: str) -> float:
    """Return the length of a route by road in kilometres.

    Args:
        start: a city.
        end: a city.
    """
    known = {("Hamburg", "Bremen"): 126.8, ("Hamburg", "Luebeck"): 66.4}
    if (start, end) not in known:
        raise ValueError(f"no route from {start} to {end}")
    return known[start, end]


def find_incidents(text: str) -> list:
    """Search the incident reports.

    Args:
        text: words to look for.
    """
    return []


def book_service(van: str, day: str) -> str:
    """Book a van into the garage.

    Args:
        van: its name.
        day: as YYYY-MM-DD.
    """
    raise PermissionError("403: the garage's calendar is read-only for this account")


def run_shell(command: str) -> str:
    """Run a command on the fleet's server.

    Args:
        command: for bash.
    """
    if "wc -l" in command:
        return "1386 /var/log/fleet/gps.log\nexit code: 0"
    return "grep: /var/log/fleet/errors.log: No such file or directory\nexit code: 2"


def knowledge(question: str) -> str:
    """Search the handbook.

    Args:
        question: what to look for.
    """
    if "tyre" in question.lower():
        return "Handbook 4.2: tyre pressure is 3.4 bar in front and 4.1 bar at the rear, loaded."
    return "No passage matches the question."


FLEET_TOOLS = (
    *(query_trips, list_vans, odometer, trip_log, charger_status, energy_price, driver_hours),
    *(route_distance, find_incidents, book_service, run_shell, knowledge),
)
