"""Values that look random and are public: ids of models, files, digests, UUIDs, texts in base64.

In: a value of 16 characters or more. Out: whether its form shows that it is no secret. A random value has no
words between its marks, and decodes to no text.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.secret_formats import KNOWLEDGE

# Parts between marks that a name has: a random value in the alphabet of URLs has few marks.
_LEAST_PARTS: Final = 3
# Share of a name's characters in words, versions and dates.
_LEAST_PLAIN: Final = 0.8
# Characters of a text in base64: fewer may be readable by chance.
_LEAST_TEXT: Final = 12

_UUID: Final = re.compile(r"(?i)(?:urn:uuid:)?\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?")
_DIGEST: Final = re.compile(
    r"(?i)(?:(?:md5|sha-?(?:1|224|256|384|512)|blake2b|blake3)[:_-])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}"
    r"|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})"
)
_INTEGRITY: Final = re.compile(r"(?:md5|sha(?:1|224|256|384|512))-[A-Za-z0-9+/]{20,90}={0,2}")
_FILE: Final = re.compile(
    r"[\w@%+~ -][\w./@%+~ -]*?\.(?:" + "|".join(sorted(split_entry(KNOWLEDGE["words"], "endings"))) + r")"
)
_MARKS: Final = re.compile(r"[-_./:@|+]")
# A word, one behind a number or before it, a version, a size (`8x7B`), a date with its time.
_PLAIN: Final = re.compile(
    r"[A-Z]?[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]+){2,4}|[A-Z]+[a-z]+|[vV]?\d{1,14}[a-z]?\d{0,2}|[A-Za-z]{1,10}\d{1,4}[a-z]?"
    r"|\d{1,4}(?:x\d{1,3})?[BMKbmk]?|\d{1,3}[a-z]{1,8}|\d{8}[TZ]\d{4,6}Z?|[a-z]{2,12}\d{1,4}[a-z]{2,8}"
)
_SHORT_HEX: Final = re.compile(r"[0-9a-f]{5,12}")
_SECRET_TEXT: Final = re.compile(
    r"(?i)passw|secret|token|api.?key|private|credential|bearer|^[\w.@-]{1,60}:\S{4,}$"
)


def is_identifier(value: str) -> bool:
    """Whether a value is a UUID or a digest in hexadecimal: a secret may be one under a name that says so."""
    return bool(_UUID.fullmatch(value) or _DIGEST.fullmatch(value))


def is_public_name(value: str) -> bool:
    """Whether a value is a file, an integrity hash, a name made of words, or a text in base64."""
    return bool(
        _INTEGRITY.fullmatch(value)
        or _FILE.fullmatch(value)
        or _is_named_by_words(value)
        or _is_encoded_text(value)
    )


def _is_named_by_words(value: str) -> bool:
    """Whether a value is made of words, versions and dates between marks: `acme/Llama-3.1-8B-Instruct`."""
    parts = [part for part in _MARKS.split(value) if part]
    if len(parts) < _LEAST_PARTS or _is_serial_number(parts):
        return False
    plain = [part for part in parts if _PLAIN.fullmatch(part)]
    others = [part for part in parts if not _PLAIN.fullmatch(part)]
    # A release has a part of a commit, a pod two parts that are made up.
    if len(others) > 2 or not all(_SHORT_HEX.fullmatch(part) or len(part) <= 5 for part in others):
        return False
    words = sum(len(part) for part in plain if len(part) >= 3 and part.isalpha())
    size = sum(map(len, parts))
    enough = sum(map(len, plain)) >= _LEAST_PLAIN * size or len(plain) >= len(others)
    return enough and words >= 6


def _is_serial_number(parts: list[str]) -> bool:
    """Whether parts are of one length and hold digits, as keys of licences are written."""
    return (
        len(parts) > _LEAST_PARTS and len(set(map(len, parts))) == 1 and any(map(str.isdigit, "".join(parts)))
    )


def _is_encoded_text(value: str) -> bool:
    """Whether a value is a readable text in base64 or base32, and none about a secret."""
    for decode in (base64.b64decode, base64.urlsafe_b64decode, base64.b32decode):
        try:
            text = decode(value + "=" * (-len(value) % (8 if decode is base64.b32decode else 4))).decode(
                "ascii"
            )
        except (binascii.Error, ValueError):
            continue
        if len(text) >= _LEAST_TEXT and text.isprintable():
            return not _SECRET_TEXT.search(text)
    return False
