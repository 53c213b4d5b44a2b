"""Secrets in any text: known formats, values that a name announces, entropy last.

In: a source. Out: findings with rule and place. The value itself goes nowhere: not into a message, a log or a
store. A format denies; a value that a provider's name makes a secret denies where the identifier calls it so;
what only a name announces is reviewed where it looks random.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.public_names import is_identifier, is_public_name
from spanproof.sandbox.scanners.secret_formats import (
    ALLOWED,
    ALLOWED_BY_NAME,
    KNOWLEDGE,
    Secret,
    compute_entropy,
    format_title,
    iter_offsets,
    iter_secrets,
)
from spanproof.sandbox.scanners.source import Source

_ASSIGNED = re.compile(
    # The possessive quantifiers keep a long run of such names linear.
    r"(?i)(?:secret|token|passw(?:or)?d|passphrase|pwd|api[_.-]?key|auth|credentials?|creds|key"
    r"|identified by|pw\b)"
    # SQL and files of logins have only blanks before a password.
    r"[\w.-]{0,30}+(?:[\"'\]]{0,2}+\s{0,4}+(?:=>|:?=|:|,)|(?<=password|ified by)(?=[ \t]))\s{0,4}+"
    r"(?:[rbuf]{0,2}+[\"'](?P<quoted>[^\"'\s\\]{8,200}+)[\"']"
    r"|(?P<bare>[\w+/.~|!%^-]{16,200}+={0,2}+)(?![\w(\[{:/@*$]))"
)
_ASSIGNED_WORDS: Final = ("secret", "token", "pass", "pwd", "api", "key", "auth", "cred", "identified", "pw")
_WORDS: Final = KNOWLEDGE["words"]
_LITERAL = re.compile(r"""["']([A-Za-z0-9+/=_.|!\-]{24,200}+)["']""")

_SECRET_WORDS: Final = split_entry(_WORDS, "secret")
_SECRET_PART = re.compile(r"(?i)secret|token|passw|passphrase|api_?key|accesskey")
_DIGEST_WORDS: Final = split_entry(_WORDS, "digest")
_DATA_WORDS: Final = split_entry(_WORDS, "data")
_KEYS_OF_DATA: Final = split_entry(_WORDS, "keys-of-data")

# Characters of a value above which words occur in it by chance.
_LONG: Final = 60

_PLACEHOLDER = re.compile(
    r"^(?:<.*>|\$?\{.*\}|\[.*\]|%.*%)$|EXAMPLE|(?i:(?<![a-z])(?:your|example|sample|dummy|placeholder|change_?me|insert"
    r"|replace|redacted|fake|todo|foobar|here|not_?a_?real)(?![a-z]))|(?i:x{4}|\*{4}|\.{3}|123456789|abcdefgh|(.)\1{7})"
)
# Values that are public: publishable keys, identifiers of objects and contents, files in base64.
_PUBLIC = re.compile(
    r"pk[._](?:live|test|eyJ)|Qm[1-9A-HJ-NP-Za-km-z]{44}$|baf[yk][a-z2-7]{50,}$|6L[\w-]{38}$"
    r"|(?:acct|asst|batch|call|ch|cs|cus|evt|in|msg|pi|pm|price|prod|resp|run|seti|si|sub|thread|toolu|txn)"
    r"_[0-9A-Za-z]{14,60}$|(?:chatcmpl|file|ftjob)-[0-9A-Za-z]{14,60}$"
    r"|iVBORw0|/9j/|R0lGOD|UEsDB|JVBERi|AGFzb|d09G[Mg]|H4sI|PHN2Zy|UklGR"
)

_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WORD_OF_NAME = re.compile(r"(?i:sha|md|crc|s)[0-9]+|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_BEFORE_LITERAL = re.compile(r"([\w.-]{1,60})[\"'\]]{0,2}\s{0,3}(?:[=:(,]|=>|:=)\s{0,3}[rbuf]{0,2}$")


def scan(context: Context, source: Source) -> None:
    """Report secrets, by rule and place only."""
    text = source.text
    lowered = source.lowered
    taken: list[tuple[int, int]] = []
    for found in iter_secrets(text, lowered, source.language):
        context.check_time()
        verdict = _evaluate_match(text, found)
        if verdict is not Verdict.ALLOW and _takes_span(taken, (found.start, found.end)):
            name, place = found.form.name, source.place(found.start, found.end)
            message = f"holds a secret: {format_title(name)}"
            context.add_secret(f"secret.{name}", place, message, text[found.start : found.end], verdict)
    _check_assigned(context, source, taken)
    if len(text) < 200_000:
        _check_entropy(context, source, taken)


def _evaluate_match(text: str, found: Secret) -> Verdict | None:
    """Return the verdict of a match; None for the rule's own."""
    value = text[found.start : found.end]
    if _is_placeholder(value[6:]):
        return Verdict.ALLOW
    if not found.form.named:
        return None
    name = _read_identifier_before(text, found.match_start) + text[found.match_start : found.start]
    if _names_data(name):
        return Verdict.ALLOW
    return None if _names_secret(name) else Verdict.REVIEW


def _check_assigned(context: Context, source: Source, taken: list[tuple[int, int]]) -> None:
    text = source.text
    for found in _iter_assigned(text, source.lowered):
        group = "quoted" if found["quoted"] else "bare"
        value = found[group]
        if _is_placeholder(value) or _PUBLIC.match(value):
            continue
        name = _read_identifier_before(text, found.start()) + text[found.start() : found.start(group)]
        name = re.split(r"[\"'\]\s=:,]", name, maxsplit=1)[0]
        if is_identifier(value) and name.lower() in {"key", "keys"}:
            continue  # `key = '<UUID>'` names an object
        random = not is_public_name(value) and _looks_random(text, found, name, value)
        if (group == "bare" and not random) or not _takes_span(taken, found.span(group)):
            continue
        context.add_secret(
            "secret.assigned",
            source.place(*found.span(group)),
            f"a name that announces a secret ({name}) holds a literal value",
            value,
            Verdict.REVIEW if random else None,
        )


def _iter_assigned(text: str, lowered: str) -> Iterator[re.Match[str]]:
    """Yield the assignments to names that announce a secret, in order."""
    end = 0
    held = [word for word in _ASSIGNED_WORDS if word in lowered]
    for at in sorted(at for word in held for at in iter_offsets(lowered, word)):
        found = _ASSIGNED.match(text, at) if at >= end else None
        if found is not None:
            end = found.end()
            yield found


def _is_placeholder(value: str) -> bool:
    return len(value) <= _LONG and bool(_PLACEHOLDER.search(value))


def _looks_random(text: str, found: re.Match[str], name: str, value: str) -> bool:
    """Whether a value is too random for a word, a path or an identifier, and its name calls it a secret."""
    kinds = _count_kinds(value)
    if len(value) < 16:
        enough = kinds >= (3 if len(value) >= 10 else 4) and "pass" in name.lower()
    else:
        enough = compute_entropy(value) >= 3.3 and kinds >= 2 and not _is_words(value)
    if not enough or _names_data(name) or "://" in value or ALLOWED.allows(text, found, value):
        return False
    # A long random value holds some of the many short words by chance.
    return len(value) > _LONG or not any(one.allows(text, found, value) for one in ALLOWED_BY_NAME)


def _count_kinds(value: str) -> int:
    """Return how many kinds of characters a value has: small and capital letters, digits, others."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda one: not one.isalnum())
    return sum(any(is_kind(one) for one in value) for is_kind in kinds)


def _is_words(value: str) -> bool:
    """Whether a value is made of words and numbers: their runs of one kind are longer than by chance."""
    chunks = _CHUNK.findall(value)
    return sum(map(len, chunks)) >= 3.5 * len(chunks)


def _names_secret(name: str) -> bool:
    return bool(_SECRET_PART.search(name)) or not _SECRET_WORDS.isdisjoint(_split_identifier(name))


def _names_data(name: str) -> bool:
    """Whether an identifier names a digest, an identifier or a key of data, and no secret."""
    parts = _split_identifier(name)
    if not _DIGEST_WORDS.isdisjoint(parts):
        return not _SECRET_PART.search(name) or "public" in parts
    if parts and parts[-1] in _DATA_WORDS:
        return parts[-3:] != ["access", "key", "id"]
    held = {"key", "keys", "token", "tokens"}
    return any(first in _KEYS_OF_DATA and second in held for first, second in pairwise(parts))


def _split_identifier(name: str) -> list[str]:
    """Return the words of an identifier, in lower case: `dbPassword_2` is db, password and 2."""
    return [one.lower() for one in _WORD_OF_NAME.findall(name)]


def _read_identifier_before(text: str, end: int) -> str:
    """Return what is before an offset and belongs to the same identifier."""
    start = end
    while start > 0 and end - start < 40 and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    return text[start:end]


def _check_entropy(context: Context, source: Source, taken: list[tuple[int, int]]) -> None:
    text = source.text
    for found in _LITERAL.finditer(text):
        value = found[1]
        if compute_entropy(value) < 3.8 or _is_words(value) or _is_public(value):
            continue
        if not _takes_span(taken, found.span(1)):
            continue
        before = _BEFORE_LITERAL.search(text[max(found.start() - 70, 0) : found.start()])
        secret = before is not None and not _names_data(before[1]) and not _is_placeholder(value)
        if before is not None and before[1] in {"n", "x", "y"} and "kty" in text:
            continue  # the public half of a JSON web key
        place = source.place(*found.span(1))
        context.add_secret(
            "secret.entropy",
            place,
            "a literal value that is as random as a secret",
            value,
            Verdict.REVIEW if secret and _count_kinds(value) >= 3 else None,
        )


def _is_public(value: str) -> bool:
    """Whether a value is an identifier, a name or a text in base64, which need not be kept secret."""
    is_known = _PUBLIC.match(value) is not None or is_identifier(value) or is_public_name(value)
    return is_known or _encodes_text(value)


def _encodes_text(value: str) -> bool:
    """Whether a value is the base64 of a text of several words, in which no secret is found."""
    try:
        decoded = base64.b64decode(value, validate=True).decode("ascii")
    except ValueError:
        return False
    lowered = decoded.lower()
    holds = any(True for _ in iter_secrets(decoded, lowered, "")) or any(
        True for _ in _iter_assigned(decoded, lowered)
    )
    return len(decoded.split()) > 1 and decoded.replace("\n", "").isprintable() and not holds


def _takes_span(taken: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Take a stretch for a secret, unless it overlaps one taken before; `taken` is kept in order."""
    at = bisect_left(taken, (span[1], 0))
    if at and taken[at - 1][1] > span[0]:
        return False
    taken.insert(at, span)
    return True
