"""Tools of an observatory for earthquakes: a catalogue, stations, a shell, alarms and a database.

Nothing is fetched and no command is run: what the tools return is recorded here.
"""

from __future__ import annotations

import json
import sqlite3

_EVENTS = """event,origin_time,lat,lon,depth_km,mag,mag_type,region,phases
ev2026krtw,2026-02-11T03:14:52Z,64.187,-17.304,7.9,4.6,mw,Bardarbunga,61
ev2026ksaa,2026-02-11T09:40:07Z,63.871,-22.395,4.1,2.8,ml,Reykjanes,34
ev2026kscd,2026-02-12T21:05:33Z,66.102,-17.851,11.6,3.7,ml,Tjornes,48
ev2026kthb,2026-02-13T00:58:19Z,63.902,-22.401,3.6,3.1,ml,Reykjanes,39
ev2026ktyq,2026-02-14T17:22:41Z,64.619,-17.448,8.8,2.4,ml,Bardarbunga,27
"""

_STATIONS = {
    "ASK": {
        "network": "VI",
        "code": "ASK",
        "site": {"name": "Askja", "lat": 65.051, "lon": -16.648, "elevation_m": 1192},
        "channels": [
            {"code": "HHZ", "sample_rate_hz": 100, "gain": 749.1},
            {"code": "HHN", "sample_rate_hz": 100, "gain": 747.8},
            {"code": "HHE", "sample_rate_hz": 100, "gain": 750.3},
        ],
        "state": {
            "online": True,
            "latency_s": 3.8,
            "battery_v": 12.71,
            "last_packet": "2026-02-15T06:59:58Z",
        },
    },
    "GRI": {
        "network": "VI",
        "code": "GRI",
        "site": {"name": "Grimsey", "lat": 66.543, "lon": -18.017, "elevation_m": 36},
        "channels": [{"code": "EHZ", "sample_rate_hz": 200, "gain": 398.4}],
        "state": {
            "online": False,
            "latency_s": None,
            "battery_v": 10.92,
            "last_packet": "2026-02-12T22:41:10Z",
        },
    },
}

_SHELL = {
    "slinktool -Q localhost:18000": (
        "VI ASK    HHZ D 2026/02/15 06:20:11.4400  -  2026/02/15 06:59:58.1200\n"
        "VI GRI    EHZ D 2026/02/12 21:58:40.0050  -  2026/02/12 22:41:10.3350\n"
        "VI KRE    HHZ D 2026/02/15 06:21:03.7800  -  2026/02/15 06:59:57.6400\n"
    ),
    "df -h /archive": (
        "Filesystem      Size  Used Avail Use% Mounted on\n/dev/md0         22T   18T  3.1T  86% /archive\n"
    ),
    "tail -n 6 /var/log/scautopick.log": (
        "2026-02-15 06:51:02 [info] pick VI.KRE..HHZ P 06:50:58.31 snr 14.2\n"
        "2026-02-15 06:52:40 [warning] VI.GRI: no data for 202290 s\n"
        "2026-02-15 06:55:17 [info] pick VI.ASK..HHZ P 06:55:12.90 snr 8.7\n"
        "2026-02-15 06:55:19 [error] queue full, 3 picks dropped\n"
        "2026-02-15 06:57:44 [info] pick VI.ASK..HHZ S 06:57:40.02 snr 5.1\n"
        "2026-02-15 06:58:30 [warning] VI.GRI: no data for 202640 s\n"
    ),
    "grep -c 'picks dropped' /var/log/scautopick.log": "17\n",
    "seiscomp restart scautopick": (
        "scautopick is not running\nstarting scautopick\n"
        "error: could not acquire lock file /run/scautopick.pid: Permission denied\n(exit status 1)"
    ),
    "seiscomp status scmaster scevent": (
        "scmaster             is running\nscevent              is not running\n"
    ),
    "msi -tg /archive/2026/VI/ASK/HHZ.D": (
        "   Source                Last Sample              Next Sample       Gap  Samples\n"
        "VI_ASK__HHZ       2026,041,02:11:07.490000 2026,041,02:13:22.110000  134.62  13461\n"
        "VI_ASK__HHZ       2026,043,19:40:55.000000 2026,043,19:41:36.500000   41.50   4149\n"
        "Total: 2 gap(s)\n"
    ),
}

_TABLES = """
CREATE TABLE picks (station TEXT, phase TEXT, day TEXT, residual_s REAL, snr REAL);
INSERT INTO picks VALUES ('ASK', 'P', '2026-02-13', 0.12, 18.4), ('ASK', 'S', '2026-02-13', -0.31, 9.9),
  ('KRE', 'P', '2026-02-13', 0.05, 22.7), ('KRE', 'P', '2026-02-14', 0.47, 7.2),
  ('VOG', 'P', '2026-02-14', -0.18, 15.5), ('VOG', 'S', '2026-02-14', 0.64, 6.3);
CREATE TABLE maintenance (station TEXT, visited TEXT, engineer TEXT, work TEXT, hours REAL);
INSERT INTO maintenance VALUES ('GRI', '2025-09-18', 'Thorsteinn', 'new battery', 6.5),
  ('ASK', '2025-08-02', 'Dagny', 'digitiser firmware', 3.25),
  ('KRE', '2025-10-30', 'Dagny', 'mast repair', 11.0);
"""


def catalogue(since: str) -> str:
    """Return the events since a day as CSV.

    Args:
        since: a day as YYYY-MM-DD.
    """
    head, *rows = _EVENTS.splitlines()
    return "\n".join([head, *(row for row in rows if row.split(",")[1] >= since)]) + "\n"


def station(code: str) -> dict:
    """Return what is known of a station.

    Args:
        code: such as ASK.
    """
    if code not in _STATIONS:
        return {"error": {"code": 404, "message": f"no station {code} in network VI"}}
    return _STATIONS[code]


def quakeml(event: str) -> str:
    """Return an event as QuakeML.

    Args:
        event: its public id.
    """
    if event != "ev2026krtw":
        return '<error code="204">No content: no event matches the request.</error>'
    return (
        '<q:quakeml xmlns:q="http://quakeml.org/xmlns/quakeml/1.2"><eventParameters>'
        '<event publicID="ev2026krtw">'
        "<preferredMagnitudeID>mw.1</preferredMagnitudeID>"
        "<origin><time><value>2026-02-11T03:14:52.18Z</value><uncertainty>0.21</uncertainty></time>"
        "<depth><value>7900</value><uncertainty>850</uncertainty></depth>"
        "<quality><usedStationCount>38</usedStationCount><azimuthalGap>71.4</azimuthalGap>"
        "<standardError>0.34</standardError></quality>"
        "<evaluationMode>manual</evaluationMode><evaluationStatus>reviewed</evaluationStatus></origin>"
        '<magnitude publicID="mw.1"><mag><value>4.6</value></mag><type>Mw</type></magnitude>'
        '<magnitude publicID="ml.1"><mag><value>4.9</value></mag><type>ML</type></magnitude>'
        "</event></eventParameters></q:quakeml>"
    )


def shell(command: str) -> str:
    """Run a command on the acquisition host and return what it printed.

    Args:
        command: a line for bash.
    """
    if command in _SHELL:
        return _SHELL[command]
    return f"bash: line 1: {command.split()[0]}: command not found\n(exit status 127)"


def query(sql: str) -> str:
    """Run SQL on the database of picks and return JSON lines, or the error.

    Args:
        sql: the query.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        try:
            cursor = database.execute(sql)
        except sqlite3.Error as error:
            return f"sqlite3.{type(error).__name__}: {error}"
        head = [column[0] for column in cursor.description]
        return "\n".join(json.dumps(dict(zip(head, row, strict=True))) for row in cursor.fetchall())


def felt_reports(event: str) -> list:
    """Return what people reported of an event, by town.

    Args:
        event: its public id.
    """
    if event != "ev2026kthb":
        return []
    return [
        {"town": "Grindavik", "reports": 212, "intensity": 4.3, "distance_km": 5.8},
        {"town": "Keflavik", "reports": 97, "intensity": 3.1, "distance_km": 14.2},
        {"town": "Reykjavik", "reports": 418, "intensity": 2.6, "distance_km": 38.9},
    ]


def acknowledge(alarm: str) -> dict:
    """Acknowledge an alarm.

    Args:
        alarm: its number.
    """
    if alarm == "A-7731":
        return {"alarm": "A-7731", "acknowledged": True, "by": "duty", "at": "2026-02-15T07:02:11Z"}
    return {"alarm": alarm, "acknowledged": False, "reason": "already closed by dagny"}


def spectrum(station: str) -> dict:
    """Return the noise of a station's vertical channel.

    Args:
        station: its code.
    """
    if station == "GRI":
        raise ValueError("GRI: not enough data in the last 24 h (0 of 24 windows)")
    return {"station": station, "windows": 24, "median_db": -138.6, "p95_db": -121.9, "peak_hz": 0.19}


OBSERVATORY_TOOLS = (
    *(catalogue, station, quakeml, shell, query),
    *(felt_reports, acknowledge, spectrum),
)
