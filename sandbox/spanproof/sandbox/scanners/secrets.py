"""Secrets in any text: providers' own formats, secret-named identifiers holding a literal, entropy last.

In: a source. Out: findings with rule and place. The value itself goes nowhere: not into a message, a log or a
store. Each rule has keywords that must occur before its pattern is tried, and every quantifier is bounded, so
that the time is linear.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from typing import Final

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.secret_formats import find_formats, format_title
from spanproof.sandbox.scanners.source import Source

_ASSIGNED = re.compile(
    # The possessive quantifier keeps a long run of such names linear.
    r"(?i)(?:secret|token|passw(?:or)?d|passwd|pwd|api[_-]?key|apikey|access[_-]?key|auth[_-]?key|private[_-]?key"
    r"|client[_-]?secret|credential)[a-z0-9_]{0,20}+"
    r"[\"'\]]{0,2}\s{0,4}(?:=|:|=>)\s{0,4}[rbuf]{0,2}[\"'](?P<value>[^\"'\s\\]{8,200})[\"']"
)
_ASSIGNED_WORDS: Final = ("secret", "token", "passw", "pwd", "key", "credential")

_PLACEHOLDER = re.compile(
    r"(?i)^(?:x+|\*+|\.+|<.*>|\$?\{.*\}|%.*%|.*(?:your|example|sample|dummy|placeholder|change_?me|insert|replace"
    r"|redacted|fake|test|here|todo|none|null|undefined|foobar|xxxx|1234|abcd).*)$"
)
_LITERAL = re.compile(r"""["']([A-Za-z0-9+/=_\-]{32,128})["']""")
_HEX_OR_ID = re.compile(r"^(?:[0-9a-fA-F-]+|[0-9]+|[a-z_\-/]+|[A-Z_\-/]+|[A-Za-z_\-/]+)$")


def scan(context: Context, source: Source) -> None:
    """Report secrets, by rule and place only."""
    text = source.text
    lowered = source.lowered
    taken: list[tuple[int, int]] = []
    for form in find_formats(lowered):
        context.check_time()
        for found in form.pattern.finditer(text):
            if _PLACEHOLDER.match(found[0][8:]) and form.name != "private-key":
                continue
            if not _claims(taken, found.span()):
                continue
            place = source.place(*found.span())
            context.add_secret(
                f"secret.{form.name}", place, f"holds a secret: {format_title(form.name)}", found[0]
            )
    if [word for word in _ASSIGNED_WORDS if word in lowered]:
        _scan_assigned(context, source, taken)
    if len(text) < 200_000:
        _scan_entropy(context, source, taken)


def _scan_assigned(context: Context, source: Source, taken: list[tuple[int, int]]) -> None:
    for found in _ASSIGNED.finditer(source.text):
        value = found["value"]
        if _PLACEHOLDER.match(value) or not _claims(taken, found.span("value")):
            continue
        real = len(value) >= 16 and entropy(value) >= 3.3 and any(one.isdigit() for one in value)
        context.add_secret(
            "secret.assigned",
            source.place(*found.span("value")),
            f"a name that announces a secret ({_name(source.text, found)}) holds a literal value",
            value,
            Verdict.REVIEW if real else None,
        )


def _name(text: str, found: re.Match[str]) -> str:
    """The whole identifier a match is the end of."""
    start = found.start()
    while (
        start > 0 and found.start() - start < 40 and (text[start - 1].isalnum() or text[start - 1] in "_.-")
    ):
        start -= 1
    return re.split(r"[\"'\]\s=:]", text[start : found.start("value")], maxsplit=1)[0]


def _scan_entropy(context: Context, source: Source, taken: list[tuple[int, int]]) -> None:
    for found in _LITERAL.finditer(source.text):
        value = found[1]
        if _HEX_OR_ID.match(value) or entropy(value) < 4.5 or not _claims(taken, found.span(1)):
            continue
        place = source.place(*found.span(1))
        context.add_secret("secret.entropy", place, "a literal value that is as random as a secret", value)


def entropy(text: str) -> float:
    """Shannon entropy of the characters, in bits each."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values()) if size else 0.0


def _claims(taken: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Take a stretch for a secret, unless it overlaps one taken before; `taken` is kept in order."""
    at = bisect_left(taken, (span[1], 0))
    if at and taken[at - 1][1] > span[0]:
        return False
    taken.insert(at, span)
    return True
