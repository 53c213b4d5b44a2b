"""Formats of secrets: gitleaks' rules (`data/gitleaks.toml`, as published) and our own (`data/secrets.txt`).

In: a text. Out: the secrets in it, with rule and offsets. A rule is tried only near one of its keywords, in
the length that its pattern can match, and its quantifiers do not backtrack into each other: time is linear.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.source import lower_case

KNOWLEDGE: Final = read_sections("secrets")
_RULES_FILE: Final = Path(__file__).with_name("data") / "gitleaks.toml"

# Characters between a keyword and a match.
_NEAR: Final = 100

# Characters after a keyword up to which a match is looked for.
_REACH: Final = 2_000

# Characters of a group that is no secret by itself.
_PART: Final = 7

# Of our own formats; a hexadecimal value has 3 bits and more for each character, `xxxx` none.
_LEAST_ENTROPY: Final = 2.8

# What may be a secret, but for `_SHORT`: in a text without one the keywords are not looked for.
_RUN: Final = re.compile(r"(?<![\w+/=~.:%|!$-])[\w+/=~.:%|!$-]{14,}+")

_SHORT: Final = split_entry(KNOWLEDGE["words"], "short")

_CLASSES: Final = {
    "[:alnum:]": "0-9A-Za-z", "[:alpha:]": "A-Za-z", "[:digit:]": "0-9", "[:xdigit:]": "0-9A-Fa-f",
}  # fmt: skip

_REWRITTEN: Final = (
    # Where a match begins does not matter, and what follows the possessive classes is not in them.
    (r"[\w.-]{0,50}?", ""),
    (r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}""", r"""[ \t\w.-]{0,20}+[\s'"]{0,3}+"""),
)
# The beginning of gitleaks' patterns for values that only a provider's name before them makes a secret.
_BY_NAME: Final = r"[\w.-]{0,50}?"


# How parts of a format's name are written, those of two words first.
_SPELLED: Final = KNOWLEDGE["spelled"]


@dataclass(frozen=True, slots=True)
class Allowlist:
    """What a rule does not take for a secret.

    Attributes:
        target: what the patterns are tried on: `secret`, `match` or `line`.
    """

    patterns: tuple[str, ...]
    stop_words: tuple[str, ...]
    target: str

    def allows(self, text: str, found: re.Match[str], secret: str) -> bool:
        """Whether a match is no secret."""
        lowered = secret.lower()
        if any(word in lowered for word in self.stop_words):
            return True
        target = secret
        if self.target == "match":
            target = found[0]
        elif self.target == "line":
            start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
            target = text[start : end if end >= 0 else len(text)][:_REACH]
        return any(_compile_pattern(pattern).search(target) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Format:
    """One rule.

    Attributes:
        keywords: in lower case; one of them must occur.
        pattern: in the syntax of RE2.
        entropy: bits for each character that a secret must exceed.
        named: whether the provider's name before the value, and not its form, makes it a secret.
    """

    name: str
    keywords: tuple[str, ...]
    pattern: str
    entropy: float = _LEAST_ENTROPY
    path: str = ""
    allowlists: tuple[Allowlist, ...] = ()
    named: bool = False


class Secret(NamedTuple):
    """A secret in a text: from `start` up to `end`; the match that holds it begins at `match_start`."""

    form: Format
    match_start: int
    start: int
    end: int


def _read_formats() -> Iterator[Format]:
    ours = KNOWLEDGE["formats"]
    for name, entry in ours.items():
        keywords, pattern = entry.split(maxsplit=1)
        yield Format(name, tuple(keywords.split(",")), pattern)
    rules = [rule for rule in _PUBLISHED["rules"] if "regex" in rule and rule["id"] not in ours]
    for rule in sorted(rules, key=lambda rule: _BY_NAME in rule["regex"]):
        if rule["id"] != GENERIC:
            yield _parse_format(rule)


def _parse_format(rule: dict[str, Any]) -> Format:
    return Format(
        rule["id"],
        tuple(rule["keywords"]),
        rule["regex"],
        rule.get("entropy", 0.0),
        rule.get("path", ""),
        # A list that also requires a path holds for files of other projects.
        tuple(_parse_allowlist(one) for one in rule.get("allowlists", ()) if "paths" not in one),
        _BY_NAME in rule["regex"],
    )


def _parse_allowlist(given: dict[str, Any]) -> Allowlist:
    return Allowlist(
        tuple(given.get("regexes", ())),
        tuple(given.get("stopwords", ())),
        given.get("regexTarget", "secret"),
    )


GENERIC: Final = "generic-api-key"
"""gitleaks' rule for any name that announces a secret; `secrets.py` has its own pattern for it."""

_PUBLISHED: Final = tomllib.loads(_RULES_FILE.read_text(encoding="utf-8"))
FORMATS: Final = tuple(_read_formats())
"""Ours first, then gitleaks' formats, then what only a provider's name makes a secret."""

ALLOWED: Final = _parse_allowlist(_PUBLISHED["allowlist"])
"""What no rule takes for a secret."""

ALLOWED_BY_NAME: Final = next(
    _parse_format(rule).allowlists for rule in _PUBLISHED["rules"] if rule["id"] == GENERIC
)
"""What no name makes a secret."""

_ORDER: Final = {form.name: number for number, form in enumerate(FORMATS)}
_KEYWORDS: Final = tuple({word: None for form in FORMATS for word in form.keywords})
_KEYWORDS_OF_SHORT: Final = tuple(
    {word: None for form in FORMATS if form.name in _SHORT for word in form.keywords}
)
MASKED_KEYWORDS: Final = tuple({word: None for form in FORMATS if not form.named for word in form.keywords})
"""In lower case: `mask_secrets` changes no text that holds none of them, in any case."""

_BY_KEYWORD: Final = {word: [form for form in FORMATS if word in form.keywords] for word in _KEYWORDS}


def find_secrets(text: str, lowered: str, language: str = "") -> Iterator[Secret]:
    """Yield the secrets in a text, in the order of `FORMATS`; they may overlap.

    Args:
        text: what may hold secrets.
        lowered: the text in lower case, as long as the text.
        language: a rule for files of a kind is tried where `x.<language>` would be one.
    """
    long = any(_is_candidate(found[0]) for found in _RUN.finditer(text))
    # One plain search a keyword: the quickest there is in Python for this many short words.
    held = [word for word in (_KEYWORDS if long else _KEYWORDS_OF_SHORT) if word in lowered]
    forms = {form.name: form for word in held for form in _BY_KEYWORD[word]}
    for form in sorted(forms.values(), key=lambda form: _ORDER[form.name]):
        if form.path and not _compile_pattern(form.path).search(f"x.{language}"):
            continue
        pattern = _compile_pattern(form.pattern)
        for start, end in _find_windows(lowered, form, len(text)):
            for found in pattern.finditer(text, start, end):
                group = _find_secret_group(found)
                if _is_secret(text, form, found, found[group]):
                    yield Secret(form, found.start(), *found.span(group))


def _is_candidate(run: str) -> bool:
    """Whether a run of characters may be a secret: almost all of them hold a digit, the others are long."""
    return len(run) >= 30 or any(map(str.isdigit, run))


def format_title(name: str) -> str:
    """Return a format's name for people: `github-token` is a GitHub token."""
    provider = next((one for one in _SPELLED if name.startswith(f"{one}-")), name.partition("-")[0])
    rest = name[len(provider) + 1 :].split("-")
    if name == "private-key":
        spelled = "private"
    else:
        spelled = _SPELLED.get(provider) or provider.capitalize()
    return " ".join([spelled, *(_SPELLED.get(word, word) for word in rest if word)])


def mask_secrets(text: str, name: Callable[[str], str]) -> str:
    """Return the text with each secret that its form shows replaced by `name` of its rule."""
    spans: list[Secret] = []
    for found in find_secrets(text, lower_case(text)):
        if not found.form.named and all(found.end <= one.start or one.end <= found.start for one in spans):
            spans.append(found)
    for one in sorted(spans, key=lambda one: -one.start):
        text = text[: one.start] + name(one.form.name) + text[one.end :]
    return text


def _find_secret_group(found: re.Match[str]) -> int:
    """Return the group of the secret: the longest, unless it can only be a part; 0 for the whole match."""
    if found.re.groupindex:
        return 0
    return max(range(found.re.groups + 1), key=lambda number: len(found[number] or "") if number else _PART)


def _is_secret(text: str, form: Format, found: re.Match[str], secret: str) -> bool:
    if compute_entropy(secret) <= form.entropy or ALLOWED.allows(text, found, secret):
        return False
    return not any(allowlist.allows(text, found, secret) for allowlist in form.allowlists)


def _find_windows(lowered: str, form: Format, size: int) -> Iterator[tuple[int, int]]:
    """Yield where a match of a format can lie: stretches around its keywords, which do not overlap."""
    reach = _measure_reach(form.pattern) + _NEAR
    spots = sorted(at for word in form.keywords for at in find_all(lowered, word))
    start = end = -1
    for at in spots:
        if at - _NEAR > end:
            if end >= 0:
                yield start, min(end, size)
            start = max(at - _NEAR, 0)
        end = at + reach
    if end >= 0:
        yield start, min(end, size)


def find_all(text: str, word: str) -> Iterator[int]:
    """Yield the offsets at which a word occurs."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def compute_entropy(text: str) -> float:
    """Return the Shannon entropy of the characters, in bits each."""
    size = len(text)
    if size:
        return -sum(count / size * math.log2(count / size) for count in Counter(text).values())
    return 0.0


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern), re.ASCII)


@cache
def _measure_reach(pattern: str) -> int:
    from re import _parser  # type: ignore[attr-defined]  # only the parser knows how much a pattern can match

    return min(int(_parser.parse(translate(pattern), re.ASCII).getwidth()[1]), _REACH)


_FLAGS: Final = re.compile(r"\?([a-z]*(?:-[a-z]+)?)\)")
_CLASS_START: Final = re.compile(r"\[\^?\]?")


def translate(pattern: str) -> str:
    r"""Translate a pattern from RE2's syntax to Python's, with what would backtrack made possessive.

    RE2's flags hold from where they are given to the end of their group, `\z` and `$` match at the very end
    only, and classes have names.
    """
    for given, linear in _REWRITTEN:
        pattern = pattern.replace(given, linear)
    for name, members in _CLASSES.items():
        pattern = pattern.replace(name, members)
    parts: list[str] = []
    opened: list[list[str]] = [[]]  # for each open group, the flags given inside it
    in_class = False
    at = 0
    while at < len(pattern):
        piece = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        at += len(piece)
        if in_class:
            in_class = piece != "]"
        elif piece == "[":
            in_class = True
            # A bracket that closes nothing is a member: `[^]a]`.
            piece = _CLASS_START.match(pattern, at - 1)[0]  # type: ignore[index]  # there is one
            at += len(piece) - 1
        elif piece == "(":
            flags = _FLAGS.match(pattern, at)
            if flags is not None:
                at = flags.end()
                opened[-1].append(flags[1])
                piece = f"(?{flags[1]}:"
            else:
                opened.append([])
        elif piece == ")":
            piece += ")" * len(opened.pop())
        elif piece == "|":
            piece = ")" * len(opened[-1]) + "|" + "".join(f"(?{flags}:" for flags in opened[-1])
        elif piece in {"$", "\\z"}:
            piece = "\\Z"
        parts.append(piece)
    return "".join(parts) + ")" * len(opened[0])
