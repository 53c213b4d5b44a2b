"""Formats that providers give their secrets, from `data/secrets.txt`.

In: a text. Out: the formats that may occur in it, by their keywords. Each pattern has bounded quantifiers, so
that the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.catalogue import read_sections


class Format(NamedTuple):
    """One provider's format of secrets."""

    name: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]


def _read_formats() -> Iterator[Format]:
    for name, entry in read_sections("secrets")["formats"].items():
        keywords, pattern = entry.split(maxsplit=1)
        yield Format(name, tuple(keywords.split(",")), re.compile(pattern))


FORMATS: Final = tuple(_read_formats())
"""Formats by prefix or shape, the more particular ones first."""

_KEYWORDS: Final = tuple((word, form) for form in FORMATS for word in form.keywords)


def find_formats(lowered: str) -> list[Format]:
    """The formats that may occur in a text given in lower case, by their keywords."""
    # One plain search a keyword: the quickest there is in Python for this many short words.
    return list(dict.fromkeys([form for word, form in _KEYWORDS if word in lowered]))


_SPELLED: Final = {
    "aws": "AWS", "github": "GitHub", "gitlab": "GitLab", "openai": "OpenAI", "api": "API", "npm": "npm",
    "oauth": "OAuth", "pypi": "PyPI", "json": "JSON", "sendgrid": "SendGrid", "digitalocean": "DigitalOcean",
    "stripe-style": "Stripe-style", "new-relic": "New Relic", "hugging-face": "Hugging Face",
    "fine-grained": "fine-grained token",
}  # fmt: skip
_KINDS: Final = frozenset({"key", "token", "webhook", "access", "storage", "live", "web"})


def format_title(name: str) -> str:
    """A format's name for people: `github-token` is a GitHub token."""
    if name == "private-key":
        return "private key"
    for phrase in ("stripe-style", "new-relic", "hugging-face", "fine-grained"):
        name = name.replace(phrase, phrase.replace("-", "\0"))
    shown = []
    for word in name.split("-"):
        word = word.replace("\0", "-")
        shown.append(_SPELLED.get(word) or (word if word in _KINDS else word.capitalize()))
    return " ".join(shown)
