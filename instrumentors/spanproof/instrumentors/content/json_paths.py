"""JSON paths, as far as redaction needs them: which members of a document to keep back.

A documented part of RFC 9535: `$`, `.name`, `['name']`, `[3]`, `.*`, `[*]`, and `..` before any of them.
Filters, slices and negative indices are refused. A path is followed while a document is walked, member by
member, so nothing is evaluated twice and a document may be cut anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_SEGMENT: Final = re.compile(
    r"""(?P<descends>\.\.)? (?:
        (?:(?<=\.\.)|\.) (?: (?P<any>\*) | (?P<name>[^\W\d][\w-]*) )
        | \[ \s* (?: (?P<any_in_brackets>\*) | (?P<index>0|[1-9]\d*)
            | '(?P<single>(?:[^'\\]|\\.)*)' | "(?P<double>(?:[^"\\]|\\.)*)" ) \s* \]
    )""",
    re.VERBOSE,
)
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Segment:
    """One step of a path.

    Attributes:
        member: a name or index, None for all.
        descends: it applies to every level below, too.
    """

    member: str | int | None
    descends: bool

    def matches(self, member: str | int) -> bool:
        """Return whether it selects this member."""
        return self.member is None or (type(member) is type(self.member) and member == self.member)


Path = tuple[Segment, ...]
"""What is left of a path at some place of a document; nothing is left where it has arrived."""


def parse(text: str) -> Path:
    """Return a path's steps; none for `$`, the whole document.

    Raises:
        ValueError: it is no path, or one that uses more than this module knows.
    """
    segments: list[Segment] = []
    at = 1
    while text[:1] == "$" and at < len(text):
        found = _SEGMENT.match(text, at)
        if found is None:
            break
        segments.append(_segment(found))
        at = found.end()
    if text[:1] != "$" or at != len(text):
        raise ValueError(
            f"path {text!r} is not understood from character {at}; "
            "write it like $.order.card, $.orders[*].iban or $..iban (no filters, no slices)"
        )
    return tuple(segments)


def below(paths: Sequence[Path], member: str | int) -> tuple[list[Path], bool]:
    """Return what is left of the paths at a member, and whether one of them ends there."""
    left: list[Path] = []
    arrived = False
    for path in paths:
        segment = path[0]
        if segment.descends:
            left.append(path)
        if segment.matches(member):
            arrived = arrived or len(path) == 1
            if len(path) > 1:
                left.append(path[1:])
    return left, arrived


def _segment(found: re.Match[str]) -> Segment:
    descends = found["descends"] is not None
    if found["any"] or found["any_in_brackets"]:
        return Segment(None, descends)
    if found["index"]:
        return Segment(int(found["index"]), descends)
    quoted = found["single"] if found["single"] is not None else found["double"]
    return Segment(found["name"] if quoted is None else _ESCAPED.sub(r"\1", quoted), descends)
