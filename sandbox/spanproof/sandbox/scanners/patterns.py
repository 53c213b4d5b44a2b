"""Regular expressions of the user as rules, held to linear time before they are taken.

In: a rule as written in a policy file. Out: a compiled rule, or an error that says what to write instead. A
pattern is tried on windows of bounded length, and the product of its quantifiers' ranges is bounded, so the
time for a text is bounded by a constant times its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from re import _constants as codes  # type: ignore[attr-defined]  # the parser's own names
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.rules import PatternRule, Rule
from spanproof.sandbox.scanners.source import Source, normalise_language

WINDOW: Final = 1000
"""Characters a pattern sees at once: a line, or a piece of a longer one; pieces overlap by half."""

MAX_WAYS: Final = 1000
"""Ways to match from one place; an unbounded quantifier counts as a window."""

_ID: Final = re.compile(r"^[a-z0-9][a-z0-9-]{0,60}$")
PROSE: Final = frozenset({"text", "markdown"})
"""What topics are held against: text that people and models write to one another."""

_TOPIC_KEYS: Final = frozenset({"id", "words", "patterns", "message", "verdict", "severity", "remedy"})
_KEYS: Final = frozenset({"id", "pattern", "message", "languages", "verdict", "severity", "remedy", "cwe"})


def parse_rule(document: object, origin: str) -> PatternRule:
    """Parse a rule from decoded keys and values.

    Raises:
        PolicyError: a key is missing, unknown or wrong, or the pattern may take more than linear time.
    """
    given = _check_keys(document, origin, _KEYS, {"id", "pattern", "message"})
    place = f"{origin}: rule {str(given['id'])!r}"
    languages = given.get("languages", [])
    if isinstance(languages, str) or not isinstance(languages, Iterable):
        raise PolicyError(f"{place}: languages cannot be {languages!r}; give a list, as in `[python, bash]`")
    known = frozenset(normalise_language(str(one)) for one in languages)
    return _build_rule(given, place, str(given["pattern"]), known, "user")


def parse_topic(document: object, origin: str) -> PatternRule:
    """Parse a topic that prose must not touch: words, and patterns where words are not enough.

    Raises:
        PolicyError: a key is missing, unknown or wrong, or a pattern may take more than linear time.
    """
    given = _check_keys(document, origin, _TOPIC_KEYS, {"id"})
    place = f"{origin}: topic {str(given['id'])!r}"
    words, patterns = given.get("words", []), given.get("patterns", [])
    for listed in (words, patterns):
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise PolicyError(f'{place}: {listed!r} is no list; write `words: [salary, "notice period"]`')
    ways = [rf"\b{_build_phrase_pattern(str(word))}\b" for word in words if str(word).strip()]
    ways += [f"(?:{pattern})" for pattern in patterns]
    if not ways:
        raise PolicyError(f"{place}: has neither words nor patterns; write `words: [salary]`")
    defaults = {"message": f"is about {given['id']}", "remedy": "Leave this subject out.", **given}
    return _build_rule(defaults, place, f"(?i:{'|'.join(ways)})", PROSE, "topic")


def _build_phrase_pattern(phrase: str) -> str:
    """Return a phrase as a pattern: its words may be separated by one to four blanks."""
    return r"\s{1,4}".join(re.escape(word) for word in phrase.split())


def _check_keys(document: object, origin: str, known: frozenset[str], needed: set[str]) -> Mapping[Any, Any]:
    if not isinstance(document, Mapping):
        raise PolicyError(f"{origin}: an entry is keys and values; known keys: {', '.join(sorted(known))}")
    unknown = sorted(str(key) for key in document if key not in known)
    missing = sorted(needed - set(document))
    if unknown or missing:
        if unknown:
            problem = f"unknown key {unknown[0]!r}"
        else:
            problem = f"the key {missing[0]!r} is missing"
        raise PolicyError(f"{origin}: {problem}; known keys: {', '.join(sorted(known))}")
    if not _ID.match(str(document["id"])):
        problem = f"id {str(document['id'])!r}: an id is made of a-z, 0-9 and -"
        raise PolicyError(f"{origin}: {problem}; write `id: no-internal-hosts`")
    return document


def _build_rule(
    document: Mapping[Any, Any], place: str, pattern: str, languages: frozenset[str], family: str
) -> PatternRule:
    problem = find_pattern_problem(pattern)
    if problem:
        raise PolicyError(f"{place}: the pattern {pattern[:80]!r} {problem}")
    try:
        verdict = Verdict(document.get("verdict", "review"))
        severity = Severity(document.get("severity", "medium"))
    except ValueError as wrong:
        raise PolicyError(
            f"{place}: {wrong}; verdicts: {', '.join(Verdict)}; severities: {', '.join(Severity)}"
        ) from wrong
    remedy = str(document.get("remedy", PatternRule.__dataclass_fields__["remedy"].default))
    cwe = document.get("cwe")
    if cwe is not None and (isinstance(cwe, bool) or not isinstance(cwe, int) or cwe < 1):
        raise PolicyError(f"{place}: cwe cannot be {cwe!r}; give a number of the CWE list, as in `cwe: 312`")
    identity, message = str(document["id"]), str(document["message"])
    return PatternRule(identity, pattern, message, languages, verdict, severity, remedy, family, cwe)


def find_pattern_problem(pattern: str) -> str:
    """Return what is wrong with a pattern, with the remedy; empty when it may be used."""
    try:
        tree = _parser.parse(pattern)
        if re.compile(pattern).match("") is not None:
            return "matches the empty text; make a part of it required"
    except (re.error, OverflowError, RecursionError) as wrong:
        return f"is no regular expression: {wrong}; mend it there"
    try:
        ways = _count_ways(tree, inside=False)
    except _NotLinear as found:
        return str(found)
    if ways > MAX_WAYS:
        return (
            f"can match in {ways} ways from one place, more than {MAX_WAYS}; bound quantifiers (`{{0,20}}`)"
            " or make them possessive (`*+`, `++`)"
        )
    return ""


# Ways of a choice inside a quantifier.
_MAX_REPEATED_WAYS: Final = 64


class _NotLinear(Exception):  # noqa: N818 - named after what was found
    """A construct whose time is not bounded."""


def _count_ways(tree: Iterable[tuple[Any, Any]], *, inside: bool) -> int:
    total = 1
    for code, value in tree:
        match code:
            case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
                total *= _count_ways_of_repeat(code, value, inside=inside)
            case codes.BRANCH:
                total *= sum(_count_ways(branch, inside=inside) for branch in value[1])
                if inside and total > _MAX_REPEATED_WAYS:
                    raise _NotLinear("repeats a choice of many ways; write the choice once")
            case codes.SUBPATTERN:
                total *= _count_ways(value[3], inside=inside)
            case codes.ATOMIC_GROUP:
                total *= _count_ways(value, inside=inside)
            case codes.ASSERT | codes.ASSERT_NOT:
                total *= _count_ways(value[1], inside=inside)
            case codes.GROUPREF | codes.GROUPREF_EXISTS:
                raise _NotLinear("refers back to a group; write the text out")
    return total


def _count_ways_of_repeat(code: Any, value: tuple[Any, Any, Any], *, inside: bool) -> int:
    low, high, repeated = value
    varies = code is not codes.POSSESSIVE_REPEAT and low != high
    if inside and varies:
        raise _NotLinear("nests quantifiers; make the inner one possessive (`++`)")
    within = _count_ways(repeated, inside=inside or low != high)
    if not varies:
        return within
    reach = WINDOW if high is codes.MAXREPEAT else int(high) - int(low) + 1
    return within * min(reach, WINDOW)


def scan_with(rules: Iterable[tuple[PatternRule, re.Pattern[str]]], context: Context, source: Source) -> None:
    """Try every rule that concerns the language on every window of the text."""
    chosen = [pair for pair in rules if not pair[0].languages or source.language in pair[0].languages]
    at = 0
    for line in source.text.splitlines(keepends=True) if chosen else ():
        for start in range(0, len(line), WINDOW // 2):
            context.check_time()
            window = line[start : start + WINDOW]
            for rule, pattern in chosen:
                for found in pattern.finditer(window):
                    place = source.place(at + start + found.start(), at + start + found.end())
                    entry = Rule(rule.severity, rule.verdict, rule.remedy, rule.cwe)
                    context.report_finding(f"{rule.family}.{rule.id}", entry, place, rule.message)
        at += len(line)
