"""Times of day as people and programs write them.

In: any text. Out: `TimeMention`s: "14:05", "3 pm", "noon", "at six in the evening",
with the zone written behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.language.dates import without_dates
from spanproof.evaluators.layers.groundedness.language.words import plain_set, said_in

_TIME = re.compile(
    r"(?:(?<![\w:.+-])|(?<=[\s(]\d:\d\d[-–])|(?<=[\s(]\d\d:\d\d[-–]))(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2})(?:\.\d{1,6})?)?\s?(?P<p>[ap]\.?m\.?)?(?!(?!z\b)\w|:|\.\d)"
    r"|(?<![\w:.$-])(?P<h2>\d{1,2})\s?(?P<p2>[ap]\.?m\.?)(?!\w)"
    r"|(?<=\d{4}-\d\d-\d\d[T ])(?P<h3>\d{2}):(?P<m3>\d{2})(?::(?P<s3>\d{2})(?:\.\d{1,6})?)?"
    r"|\b(?P<h4>\d{1,2})(?=\s?(?:to|until|[-–])\s?\d{1,2}(?::\d\d)?\s?(?P<p4>[ap])\.?m\b)"
    r"|(?<!before\s)(?<!after\s)(?<!past\s)\b(?P<word>noon|midday|midnight)\b"
    r"|\b(?P<spelled>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s(?:o['’]clock\s)?"
    r"(?:in\sthe\s(?:(?P<am>morning)|afternoon|evening)|at\snight)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d(?::\d\d|\s?[ap]\.?m)", re.IGNORECASE)
_CLOCK_WORDS = plain_set("noon midday midnight morning afternoon evening night")
_ZONES = {
    "z": 0, "utc": 0, "gmt": 0, "cet": 60, "cest": 120, "est": -300, "edt": -240, "cst": -360, "cdt": -300,
    "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "ist": 330, "jst": 540,
}  # fmt: skip
_ZONE = re.compile(
    rf"\s?(?:(?P<zone>{'|'.join(_ZONES)})\b|(?P<sign>[+-])(?P<zh>\d{{2}}):?(?P<zm>\d{{2}})(?!\d))",
    re.IGNORECASE,
)
_HOURS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]$")
_AT = re.compile(
    r"\b(?:(?:at|by|around|about|until|till|from|before|after|since|past|is|was|it['’]s)\s+"
    r"|(?:between|from)\s+[^.;]{3,40}\s(?:and|to|until)\s+)$",
    re.IGNORECASE,
)
"""What stands before an hour in words."""
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time of day; `minute` is None for "3 pm".

    Attributes:
        offset: minutes from UTC, where a zone is written behind it that is always the same.
    """

    text: str
    start: int
    end: int
    hour: int
    minute: int | None
    second: int = 0
    offset: int | None = None

    @property
    def seconds(self) -> int:
        """Seconds since midnight."""
        return self.hour * 3600 + (self.minute or 0) * 60 + self.second

    def is_at(self, clock: int | None, offset: int | None) -> bool:
        """Whether this is that time, in seconds since midnight, as far as it is written."""
        if clock is None:
            return False
        if self.offset is not None and offset is not None:
            clock = (clock + (self.offset - offset) * 60) % _DAY
        if self.minute is None:
            return clock // 3600 == self.hour and clock % 3600 < 60
        return clock // 60 == self.seconds // 60 and (not self.second or clock == self.seconds)


def times_in(text: str) -> Iterator[TimeMention]:
    """Every time of day of a text in order."""
    if _CLOCK.search(text) is None and _CLOCK_WORDS.isdisjoint(said_in(text)):
        return
    for match in _TIME.finditer(text):
        if match["word"] or match["spelled"]:
            if match["word"] or _is_an_hour(match, text):
                yield _worded(match)
            continue
        hour = int(match["h"] or match["h2"] or match["h3"] or match["h4"])
        minute = match["m"] or match["m3"]
        half = (match["p"] or match["p2"] or match["p4"] or "").lower()[:1]
        if hour > 23 or (minute is not None and int(minute) > 59) or (half and not 1 <= hour <= 12):
            continue
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        zone = _ZONE.match(text, match.end())
        yield TimeMention(
            match.group().rstrip(" "),
            match.start(),
            match.start() + len(match.group().rstrip(" ")),
            hour,
            int(minute) if minute else None,
            int(match["s"] or match["s3"] or 0),
            _offset(zone) if zone and (zone["zone"] or _is_stamp(text, match)) else None,
        )


def _worded(match: re.Match[str]) -> TimeMention:
    """A time in words: "noon", "six in the evening"; noon is its minute, "six" its hour."""
    text, start, end = match.group(), match.start(), match.end()
    if match["word"]:
        return TimeMention(text, start, end, 0 if match["word"].lower() == "midnight" else 12, 0)
    hour = _HOURS.index(match["spelled"].lower()) + 1
    return TimeMention(text, start, end, hour % 12 + (0 if match["am"] else 12), None)


def _is_an_hour(match: re.Match[str], text: str) -> bool:
    """Whether something is said to be at that hour: "three in the morning and two at night" counts."""
    return (
        "clock" in match.group() or _AT.search(text[max(0, match.start() - 60) : match.start()]) is not None
    )


def _is_stamp(text: str, match: re.Match[str]) -> bool:
    """Whether a time belongs to a timestamp, where "-05:00" is a zone: in "10:00-12:00" it is a time."""
    return bool(match["s"] or match["s3"]) or _DATED.search(text[: match.start()][-11:]) is not None


def whole_time(text: str) -> TimeMention | None:
    """The time of day of a text that is a time or a date with one, None where it is anything else."""
    if ":" not in text or len(text) > 40 or not text.strip()[:1].isdigit():
        return None
    found = list(times_in(text))
    if len(found) != 1:
        return None
    rest = without_dates(text).replace(found[0].text, "", 1)
    rest = rest if found[0].offset is None else _ZONE.sub("", rest, count=1)
    return found[0] if not any(character.isalnum() for character in rest.replace("T", "")) else None


def _offset(zone: re.Match[str]) -> int:
    if zone["zone"]:
        return _ZONES[zone["zone"].lower()]
    minutes = int(zone["zh"]) * 60 + int(zone["zm"])
    return -minutes if zone["sign"] == "-" else minutes
