"""Secrets of a case replaced by made-up ones of the same form, before it is written.

Takes a case and what is known of its secrets: their places by the scanners, providers' formats, and patterns
of the user's. One value becomes the same other value in code, tool results, spans and explanations, so that
the code still fits its record. A replaced key still has the form of a key, so that a run that failed for one
in its code fails for it again.

What is made up follows from the case and from the order in which values are found, never from the value: the
same case is always the same bytes, and nothing of a secret can be computed from them.
"""

from __future__ import annotations

import base64
import binascii
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spanproof.evaluators.answers import parse_pattern
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.redact import list_secrets
from spanproof.sandbox.scanners.secret_formats import Secret, iter_secrets
from spanproof.sandbox.scanners.source import to_lower_case
from spanproof.suites.case import Case
from spanproof.suites.errors import SuiteError
from spanproof.trace import Snippet, Trace, snippet_id
from spanproof.trace.codec import from_plain, to_plain

_KEY_BODY = re.compile(r"(?<=PRIVATE KEY-----)[\s\\nA-Za-z0-9+/=]{16,20000}(?=-----END)")
_SHORTEST = 6
_CHANGED = 12  # Characters at the end of a secret that are never kept
_ALPHABETS = ("abcdef", "ghijklmnopqrstuvwxyz", "ABCDEF", "GHIJKLMNOPQRSTUVWXYZ", "0123456789")
# Drawn from: base32 has no 0, 1, 8 and 9, and a key in it must stay one.
_DRAWN = (*_ALPHABETS[:-1], "234567")


def build_redacted_case(
    case: Case, evaluation: TraceEvaluation, patterns: Sequence[str] = ()
) -> tuple[Case, int]:
    """Return the case without its secrets, and how many different ones it had.

    Args:
        case: as it was promoted.
        evaluation: of its trace; its scans say where secrets are.
        patterns: of RE2; what they match is replaced as well.

    Raises:
        SuiteError: a pattern is none.
    """
    compiled = [_parse_pattern(pattern) for pattern in patterns]
    plain = {
        "task": case.task,
        "trace": to_plain(case.trace) if case.trace else None,
        "snippets": [to_plain(snippet) for snippet in case.snippets],
        "explanations": [expectation.explanation for expectation in case.expectations],
    }
    fakes = _Fakes(case.id)
    for run in evaluation.runs:
        for value in list_secrets(run.run.snippets, run.scans):
            fakes.add(value)
    for text in _iter_texts(plain):
        fakes.add_secrets(text, compiled)
    if not fakes.values:
        return case, 0
    replacer = fakes.build_replacer()
    masked = _with_texts(plain, replacer)
    expectations = tuple(
        replace(expectation, explanation=text)
        for expectation, text in zip(case.expectations, masked["explanations"], strict=True)
    )
    redacted = replace(
        case,
        task=masked["task"],
        trace=from_plain(Trace, masked["trace"]) if case.trace else None,
        snippets=tuple(_with_new_id(from_plain(Snippet, snippet)) for snippet in masked["snippets"]),
        expectations=expectations,
    )
    return redacted, len(fakes.values)


class _Fakes:
    """Made-up values by the secret each replaces."""

    def __init__(self, seed: str) -> None:
        self.values: dict[str, str] = {}
        self._seed = seed

    def add(self, secret: str) -> None:
        """Make up a value for a secret, in the providers' formats that the secret has."""
        secret = secret.strip("'\"` \n")
        if len(secret) < _SHORTEST or secret in self.values:
            return
        forms = _list_formats(secret)
        draw = random.Random(f"{self._seed}:{len(self.values)}")  # noqa: S311 - made up, no secret
        for kept in range(max(len(secret) - _CHANGED, 1)):
            fake = secret[:kept] + "".join(_build_character(character, draw) for character in secret[kept:])
            if fake != secret and forms <= _list_formats(fake):
                self.values[secret] = fake
                return
        self.values[secret] = "[secret]"

    def add_secrets(self, text: str, patterns: Iterable[Any]) -> None:
        """Add what has a provider's format, what is within a private key, and what a pattern matches."""
        for found in _iter_keys(text):
            self.add(text[found.start : found.end])
        if "PRIVATE KEY" in text:
            for body in _KEY_BODY.finditer(text):
                for line in re.split(r"\s|\\n", body[0]):
                    self.add(line)
        for pattern in patterns:
            for match in pattern.finditer(text):
                self.add(match[0])

    def build_replacer(self) -> Callable[[str], str]:
        """Return a function that replaces every secret in a text; of two that overlap the longer one."""
        longest = sorted(self.values, key=len, reverse=True)
        secrets = re.compile("|".join(map(re.escape, longest)))
        return lambda text: secrets.sub(lambda found: self.values[found[0]], text)


def _iter_keys(text: str) -> Iterator[Secret]:
    """Yield what has a provider's format; of a private key the lines are replaced, not the whole."""
    for found in iter_secrets(text, to_lower_case(text)):
        if not found.form.named and found.form.name != "private-key":
            yield found


def _list_formats(secret: str) -> set[str]:
    """Return the formats that the whole of a value has."""
    whole = (0, len(secret))
    return {found.form.name for found in _iter_keys(secret) if (found.start, found.end) == whole}


def _build_character(character: str, draw: random.Random) -> str:
    for alphabet, drawn in zip(_ALPHABETS, _DRAWN, strict=True):
        if character in alphabet:
            return draw.choice(drawn)
    return character


def _with_new_id(snippet: Snippet) -> Snippet:
    """Return a snippet with the id of its redacted source: the former one is a digest of the secret, too."""
    return replace(snippet, id=snippet_id(snippet.trace_id, snippet.span_id, snippet.path, snippet.source))


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield every text within JSON data, in order; of bytes what they say."""
    match value:
        case str():
            yield value
        case {"$bytes": str(encoded)}:
            yield _decode_bytes(encoded)
        case Mapping():
            for key, item in value.items():
                yield str(key)
                yield from _iter_texts(item)
        case list():
            for item in value:
                yield from _iter_texts(item)


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with every text changed."""
    match value:
        case str():
            return change(value)
        case {"$bytes": str(encoded)}:
            changed = change(_decode_bytes(encoded)).encode("latin-1")
            return {"$bytes": base64.b64encode(changed).decode()}
        case Mapping():
            return {change(str(key)): _with_texts(item, change) for key, item in value.items()}
        case list():
            return [_with_texts(item, change) for item in value]
        case _:
            return value


def _decode_bytes(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode("latin-1")
    except binascii.Error:
        return ""


def _parse_pattern(pattern: str) -> Any:
    try:
        return parse_pattern(pattern)
    except ValueError as problem:
        raise SuiteError(f"redact: {problem}") from problem
