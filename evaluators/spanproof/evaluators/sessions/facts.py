"""The particulars in a text that a paraphrase keeps: identifiers, numbers, addresses, quoted texts.

They are found by their form alone, so that any language will do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from spanproof.reading.numerals import normalise_number

_MAX_TEXT = 100_000
_QUOTED = re.compile(r"[`\"“«]([^`\"“”«»\n]{2,80})[`\"”»]")
_TOKEN = re.compile(r"[\w@#.,:/+%-]*[\d@][\w@#.,:/+%-]*")
_NUMBER = re.compile(r"[+-]?[\d,_]*\.?\d+%?")
_COUNTS = frozenset("0123456789")


def parse_facts(text: str) -> Mapping[str, str]:
    """Return the facts of a text in their order: the normal form, and how it is written."""
    text = text[:_MAX_TEXT]
    found: dict[str, str] = {}
    for match in _TOKEN.finditer(text):
        written = match[0].strip(".,:/+-#")
        normal = _normalise_fact(written)
        if normal and normal not in _COUNTS:
            found.setdefault(normal, written)
    for match in _QUOTED.finditer(text):
        found.setdefault(match[1].casefold(), match[1])
    return found


def is_identifier(fact: str) -> bool:
    """Return whether a fact in normal form names one thing: letters and digits together, or an address."""
    has_letter = any(character.isalpha() for character in fact)
    has_digit = any(character.isdigit() for character in fact)
    return "@" in fact or (has_letter and has_digit)


def format_shape(fact: str) -> str:
    """Return the form of a fact: `a-17` and `b-204` have the form `a-9`."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", fact))


def _normalise_fact(written: str) -> str:
    if _NUMBER.fullmatch(written):
        return normalise_number(written.lstrip("+").rstrip("%"))
    return written.casefold()
