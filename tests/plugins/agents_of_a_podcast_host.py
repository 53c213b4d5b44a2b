"""Tools of a host of podcasts: numbers of downloads, feeds, episodes, a shell, encoding and newsletters.

Nothing is fetched and no command is run: what the tools return is recorded here.
"""

from __future__ import annotations

import json
import sqlite3

_TABLES = """
CREATE TABLE downloads (show TEXT, episode INTEGER, title TEXT, week TEXT, plays INTEGER, listeners INTEGER);
INSERT INTO downloads VALUES
  ('Night Trains', 41, 'The Sleeper to Narvik', '2026-W05', 18342, 12077),
  ('Night Trains', 42, 'Couchettes', '2026-W06', 21968, 14310),
  ('Night Trains', 43, 'Border at Dawn', '2026-W07', 16405, 10988),
  ('Salt & Iron', 7, 'Forge', '2026-W06', 5230, 3961),
  ('Salt & Iron', 8, 'Brine', '2026-W07', 6114, 4472);
CREATE TABLE campaigns (sponsor TEXT, show TEXT, cpm REAL, impressions INTEGER, paid INTEGER);
INSERT INTO campaigns VALUES ('Kettle & Co', 'Night Trains', 21.5, 48200, 1),
  ('Fjellstad Wool', 'Night Trains', 18.0, 30150, 0), ('Orbital VPN', 'Salt & Iron', 24.0, 9870, 1);
"""

_EPISODES = {
    "couchettes": {
        "id": 42,
        "slug": "couchettes",
        "title": "Couchettes",
        "published_at": "2026-02-03T05:00:00+00:00",
        "audio": {"duration_s": 2847, "size_bytes": 45612032, "bitrate_kbps": 128, "loudness_lufs": -16.2},
        "hosts": ["Ines Caldeira", "Tom Whitlock"],
        "chapters": [
            {"start_s": 0, "title": "Intro"},
            {"start_s": 95, "title": "Who invented the couchette"},
            {"start_s": 1310, "title": "A night in Villach"},
            {"start_s": 2590, "title": "Letters"},
        ],
        "status": "published",
        "explicit": False,
    },
    "border-at-dawn": {
        "id": 43,
        "slug": "border-at-dawn",
        "title": "Border at Dawn",
        "published_at": "2026-02-10T05:00:00+00:00",
        "audio": {"duration_s": 3310, "size_bytes": 53018624, "bitrate_kbps": 128, "loudness_lufs": -19.8},
        "hosts": ["Ines Caldeira"],
        "chapters": [],
        "status": "published",
        "explicit": False,
    },
}

_SHELL = {
    "ffprobe -v error -show_entries format=duration,bit_rate -of default=nw=1 /media/forge.mp3": (
        "duration=1986.384000\nbit_rate=192013\n"
    ),
    "aws s3 ls s3://pods-media/night-trains/ --human-readable --summarize": (
        "2026-01-27 05:00:12   40.2 MiB 041.mp3\n2026-02-03 05:00:09   43.5 MiB 042.mp3\n"
        "2026-02-10 05:00:31   50.6 MiB 043.mp3\n\nTotal Objects: 3\n   Total Size: 134.3 MiB\n"
    ),
    "awk '$9 == 404' /var/log/nginx/access.log | wc -l": "1296\n",
    "ls /media/masters": "ls: cannot access '/media/masters': No such file or directory\n",
    "certbot renew --cert-name feeds": (
        "Attempting to renew cert (feeds) from /etc/letsencrypt/renewal/feeds.conf produced an unexpected"
        " error: urn:ietf:params:acme:error:rateLimited.\nAll renewal attempts failed.\n"
        "1 renew failure(s), 0 parse failure(s)\n"
    ),
}


def warehouse(sql: str) -> dict:
    """Run SQL on the warehouse; the answer has the shape of a BigQuery job.

    Args:
        sql: one statement.
    """
    with sqlite3.connect(":memory:") as database:
        database.executescript(_TABLES)
        try:
            cursor = database.execute(sql)
        except sqlite3.Error as error:
            return {"jobComplete": False, "errors": [{"reason": "invalidQuery", "message": str(error)}]}
        head = [column[0] for column in cursor.description]
        rows = [dict(zip(head, row, strict=True)) for row in cursor.fetchall()]
    return {"jobComplete": True, "totalRows": str(len(rows)), "rows": rows}


def episode(slug: str) -> dict:
    """Return an episode.

    Args:
        slug: its short name.
    """
    if slug not in _EPISODES:
        raise KeyError(f"episode {slug!r}")
    return _EPISODES[slug]


def audience(show: str) -> str:
    """Return the share of plays by country and application, as a table.

    Args:
        show: its title.
    """
    if show != "Night Trains":
        return "Empty DataFrame\nColumns: [country, app, plays, completion]\nIndex: []"
    return (
        "  country            app  plays  completion\n"
        "0      DE  Apple Podcasts   9120       0.712\n"
        "1      AT         Spotify   4385       0.594\n"
        "2      CH  Apple Podcasts   2240       0.748\n"
        "3      SE      AntennaPod   1975       0.831\n"
        "4      GB         Spotify   1490       0.477"
    )


def feed(show: str) -> str:
    """Return the feed of a show as RSS.

    Args:
        show: its title.
    """
    if show != "Salt & Iron":
        return "HTTP/1.1 503 Service Unavailable\nRetry-After: 120\n\nupstream connect error"
    return (
        '<rss version="2.0"><channel><title>Salt &amp; Iron</title><language>en-gb</language>'
        "<lastBuildDate>Tue, 10 Feb 2026 06:30:00 GMT</lastBuildDate>"
        "<item><title>Brine</title><guid>si-008</guid><itunes:duration>28:47</itunes:duration>"
        '<enclosure url="https://m.example/si008.mp3" length="27631104" type="audio/mpeg"/></item>'
        "<item><title>Forge</title><guid>si-007</guid><itunes:duration>33:06</itunes:duration>"
        '<enclosure url="https://m.example/si007.mp3" length="47655321" type="audio/mpeg"/></item>'
        "</channel></rss>"
    )


def sh(command: str) -> str:
    """Run a command on the media host and return what it printed.

    Args:
        command: a line for bash.
    """
    return _SHELL.get(command, f"bash: {command.split()[0]}: command not found")


def transcode(slug: str, kbps: int) -> dict:
    """Encode an episode again.

    Args:
        slug: its short name.
        kbps: the bit rate.
    """
    if kbps > 192:
        return {
            "job": "tc-5107",
            "state": "FAILED",
            "progress": 0.12,
            "error": "quota of encoder minutes exceeded",
        }
    return {"job": "tc-5108", "state": "SUCCEEDED", "progress": 1.0, "output_bytes": 22804480, "took_s": 74.6}


def newsletter(list_name: str, subject: str) -> str:
    """Send a newsletter.

    Args:
        list_name: the list of listeners.
        subject: the subject.
    """
    if list_name == "patrons":
        return '{"queued": 1312, "suppressed": 47, "campaign": "c-209", "send_at": "2026-02-16T08:00:00Z"}'
    return '{"queued": 0, "suppressed": 0, "campaign": null, "message": "list is empty"}'


def reviews(show: str) -> str:
    """Return reviews of a show as JSON lines.

    Args:
        show: its title.
    """
    if show != "Night Trains":
        return ""
    return "\n".join(
        json.dumps(each)
        for each in (
            {"user": "mira_k", "stars": 5, "country": "DE", "text": "Best episode yet, the Villach story!"},
            {
                "user": "oldrail",
                "stars": 2,
                "country": "GB",
                "text": "Sound is too quiet since the new year.",
            },
            {"user": "jonte", "stars": 4, "country": "SE", "text": "More about Narvik please."},
            {"user": "pendla", "stars": 5, "country": "SE", "text": "I missed my stop listening."},
        )
    )


PODCAST_HOST_TOOLS = (
    *(warehouse, episode, audience, feed, sh),
    *(transcode, newsletter, reviews),
)
