"""Keeping parts of the content back: by pattern, by key, by JSON path, or by a function of the user's.

In comes one text (a whole value, or a string inside a document) or a place in a document; out comes what to
record. It fails closed: what a pattern or function breaks on is replaced as a whole and the error counted,
and an object whose members cannot be seen is not written out where keys or paths are to be kept back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from spanproof.instrumentors.content.texts import format_encodable
from spanproof.instrumentors.frameworks.diagnostics import record_swallowed


@dataclass(frozen=True, slots=True)
class Redaction:
    """What must not leave the process.

    It is applied to every input, output, message, argument, result, code, observation, exception message,
    stack trace and status text, unless `fields` names some of them.

    Attributes:
        patterns: regular expressions; each match is replaced.
        keys: names in documents whose values are replaced whole, upper or lower case alike.
        paths: JSON paths (`$.order.card`, `$.orders[*].iban`, `$..iban`) whose values are replaced whole.
            `$` is the field's document, and so is each call's arguments and result in a message.
        function: given each text after the patterns, returns what to record.
        fields: attributes it is applied to, `gen_ai.tool.call.arguments`, `exception.message` (which is the
            status text, too); all when empty.
        replacement: written in place of what is redacted.

    Raises:
        ValueError: a path that is none.
        re.error: a pattern that is none.
    """

    patterns: Sequence[str | re.Pattern[str]] = ()
    keys: Sequence[str] = ()
    paths: Sequence[str] = ()
    function: Callable[[str], str] | None = None
    fields: Sequence[str] = ()
    replacement: str = "[redacted]"
    parsed: tuple[Path, ...] = field(init=False, repr=False, default=())
    _compiled: tuple[re.Pattern[str], ...] = field(init=False, repr=False, default=())
    _keys: frozenset[str] = field(init=False, repr=False, default=frozenset())

    def __post_init__(self) -> None:
        for name, value in (("patterns", self.patterns), ("keys", self.keys), ("paths", self.paths)):
            if isinstance(value, str):  # its characters would be taken one by one
                raise TypeError(f"{name}={value!r}: give a sequence, [{value!r}]")
        object.__setattr__(self, "_compiled", tuple(re.compile(pattern) for pattern in self.patterns))
        object.__setattr__(self, "_keys", frozenset(key.lower() for key in self.keys))
        object.__setattr__(self, "parsed", tuple(parse_path(path) for path in self.paths))

    def format_redacted(self, value: str) -> str:
        """Return the text without what must be redacted."""
        try:
            for pattern in self._compiled:
                value = pattern.sub(lambda _: self.replacement, value)
            if self.function is None:
                return value
            return format_encodable(str.__str__(self.function(value)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the text must not go out
            record_swallowed("redaction", error)
            return self.replacement

    def hides_key(self, key: str) -> bool:
        """Return whether the values of a key are redacted."""
        return key.lower() in self._keys


class Redactor:
    """The redactions that apply to one attribute, as one."""

    def __init__(self, redactions: Sequence[Redaction]) -> None:
        self._redactions = redactions
        self.paths = [path for redaction in redactions for path in redaction.parsed if path]
        self.hides_all = any(not path for redaction in redactions for path in redaction.parsed)
        self.sees_members = bool(self.paths) or any(redaction.keys for redaction in redactions)
        self.replacement = redactions[0].replacement

    def format_redacted(self, value: str) -> str:
        """Return the text without what must be redacted."""
        for redaction in self._redactions:
            value = redaction.format_redacted(value)
        return value

    def hides_key(self, key: str) -> bool:
        """Return whether the values of a key are redacted."""
        return any(redaction.hides_key(key) for redaction in self._redactions)


def find_redactor(redactions: Redaction | Sequence[Redaction] | None, name: str) -> Redactor | None:
    """Return what is applied to an attribute, None when nothing is."""
    if redactions is None:
        return None
    chosen = (redactions,) if isinstance(redactions, Redaction) else redactions
    applying = [item for item in chosen if not item.fields or name in item.fields]
    return Redactor(applying) if applying else None


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


def parse_path(text: str) -> Path:
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
        segments.append(_parse_segment(found))
        at = found.end()
    if text[:1] != "$" or at != len(text):
        raise ValueError(
            f"path {text!r} is not understood from character {at}; "
            "write it like $.order.card, $.orders[*].iban or $..iban (no filters, no slices)"
        )
    return tuple(segments)


def get_subpaths(paths: Sequence[Path], member: str | int) -> tuple[list[Path], bool]:
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


def _parse_segment(found: re.Match[str]) -> Segment:
    descends = found["descends"] is not None
    if found["any"] or found["any_in_brackets"]:
        return Segment(None, descends)
    if found["index"]:
        return Segment(int(found["index"]), descends)
    quoted = found["single"] if found["single"] is not None else found["double"]
    return Segment(found["name"] if quoted is None else _ESCAPED.sub(r"\1", quoted), descends)
