"""Text that is hidden in a text: encoded, reversed, invisible, spaced, or with other signs for letters.

In: a text. Out: what it decodes to, and where. Who reads it decides whether it says anything. Only the first
stretches of each form are decoded, so that the time is linear.
"""

from __future__ import annotations

import base64
import codecs
import html
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple

# Stretches of one form that are decoded.
_MOST_DECODED: Final = 16
# Digits for letters. They are read so where a third of the words mix both, a digit before a letter.
_LEET: Final = str.maketrans("0134578", "oieastb")
_MIXED: Final = re.compile(r"(?<!\w)(?:[A-Za-z]{0,8}[0134578]){1,4}[A-Za-z]{1,8}[0134578]{0,2}(?!\w)")
_WORD: Final = re.compile(r"\w{2,}")
_FEWEST_MIXED: Final = 4
# Letters of the Cyrillic and the Greek script that look like Latin ones, and words that mix them with these.
_LOOK_ALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03b1\u03bf\u03c1\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
    "aeopcyxijsdhABEKMHOPCTXIJSaopvABEZHIKMNOPTX",
)
_MIXED_SCRIPTS: Final = re.compile(r"[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]")
_FEWEST_MIXED_SCRIPTS: Final = 6
# Characters of the block of tags begin here, each so far above its ASCII character.
_TAGS: Final = 0xE0000


class Decoded(NamedTuple):
    """A hidden text and the stretch that hides it."""

    start: int
    end: int
    text: str


def iter_decoded(text: str) -> Iterator[Decoded]:
    """Yield what a text hides."""
    for pattern, decode in _STRETCHES:
        for found in islice(pattern.finditer(text), _MOST_DECODED):
            try:
                inner = decode(found[0])
            except ValueError:
                continue
            yield Decoded(*found.span(), inner)
    for pattern, fewest, decode in _WHOLE:
        first = next(islice(pattern.finditer(text), fewest - 1, None), None)
        if first is not None:
            yield Decoded(0, len(text), decode(text))


def _decode_base64(stretch: str) -> str:
    return base64.b64decode(stretch, validate=True).decode("utf-8")


def _decode_hex(stretch: str) -> str:
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", stretch)).decode("utf-8")


_ESCAPE: Final = re.compile(r"(?:\\u|\\x|%)([0-9a-fA-F]{2,4})")


def _decode_escapes(stretch: str) -> str:
    return html.unescape(_ESCAPE.sub(lambda found: chr(int(found[1], 16)), stretch))


def _decode_tags(stretch: str) -> str:
    return "".join(chr(ord(character) - _TAGS) for character in stretch)


def _decode_spaced_letters(stretch: str) -> str:
    words = re.split(r"[ ]{2,}|\s*[|/]\s*", stretch)
    return " ".join(re.sub(r"[ ._·-]", "", word) for word in words)


def _read_leet(text: str) -> str:
    many = 3 * len(_MIXED.findall(text)) >= len(_WORD.findall(text))
    return text.translate(_LEET) if many else ""


_STRETCHES: Final[tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]] = (
    (re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{32,4000}={0,2}(?![\w+/])"), _decode_base64),
    (re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}[ :]?){12,2000}(?!\w)"), _decode_hex),
    (
        re.compile(
            r"(?:(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,5};)){8,2000}"
        ),
        _decode_escapes,
    ),
    (re.compile("[\U000e0020-\U000e007e]{8,4000}"), _decode_tags),
    (
        re.compile(r"(?<!\w)(?:[A-Za-z][:,.!]?(?:[ ]{1,4}|[._·-])){10,2000}[A-Za-z](?!\w)"),
        _decode_spaced_letters,
    ),
)
_INVISIBLE: Final = re.compile("[\u200b-\u200d\u2060\ufeff]")
# Forms of which the whole text is decoded: the sign of it, how often it must come, and the decoder.
_WHOLE: Final[tuple[tuple[re.Pattern[str], int, Callable[[str], str]], ...]] = (
    (re.compile("(?<=\\w)[\u200b-\u200d\u2060\ufeff](?=\\w)"), 6, lambda text: _INVISIBLE.sub("", text)),
    (_MIXED, _FEWEST_MIXED, _read_leet),
    (_MIXED_SCRIPTS, _FEWEST_MIXED_SCRIPTS, lambda text: text.translate(_LOOK_ALIKES)),
    (
        re.compile(r"(?i)\brot-?13\b|\b(?:gur|naq|lbhe|vtaber|cebzcg)\b"),
        1,
        lambda text: codecs.decode(text, "rot13"),
    ),
    (
        re.compile(r"(?i)\bbackwards?\b|\b(?:eht|dna|erongi|tpmorp|snoitcurtsni)\b"),
        1,
        lambda text: "\n".join(line[::-1] for line in text.splitlines()),
    ),
)
