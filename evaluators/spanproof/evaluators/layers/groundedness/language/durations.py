"""Durations written as one word: "4m12s", "2h 15m", "33:41".

In: any text. Out: `Quantity`s in seconds. "33:41" and "1:21.44" are minutes and seconds because no clock
shows them; what could be a time of day is left to `clock`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.units import BY_NAME

_JOINT = re.compile(
    r"(?<![\w.:])(?=\d+[dhm][a-z]{0,3}\s?\d)(?:(?P<d>\d{1,4})d\s?)?(?:(?P<h>\d{1,3})h(?:rs?)?\s?)?"
    r"(?:(?P<m>\d{1,3})m(?:in)?\s?)?(?:(?P<s>\d{1,2}(?:\.\d+)?)s(?:ec)?)?(?<=[a-z])(?!\w)"
    r"|(?<![\w.:/])(?P<mm>2[4-9]|[3-9]\d|1\d\d|\d\d?(?=:\d\d\.\d)):(?P<ss>[0-5]\d(?:\.\d{1,3})?)(?![\w:])"
)
_JOINED = re.compile(r"\d[dhm:]")
_SECOND = BY_NAME["s"]
_PARTS = (("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0))


def durations_in(text: str) -> Iterator[Quantity]:
    """Every such duration of a text."""
    if _JOINED.search(text) is None:
        return
    for match in _JOINT.finditer(text):
        if match["mm"]:
            value = int(match["mm"]) * 60.0 + float(match["ss"])
            step = 10.0 ** -len(match["ss"][3:])
        else:
            written = [(float(match[name]), seconds) for name, seconds in _PARTS if match[name]]
            if len(written) < 2:
                continue
            value, step = sum(number * seconds for number, seconds in written), written[-1][1]
        place = match.start(), match.end()
        yield Quantity(match.group(), *place, value, step, 0, len(match.group()), _SECOND)
