"""The catalogue of rules: what each means, how grave it is, its verdict, what to do instead.

A rule id is `family.what` or `language.family.what`; the same boundary rule holds in every language, so the
catalogue keeps it once, without the language. `docs/scanners.md` explains each entry; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.model import Severity, Verdict

_LANGUAGES = ("python.", "shell.", "sql.", "javascript.", "jinja.")


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry: `verdict` is the verdict of a finding of this rule, unless the scanner gives another."""

    severity: Severity
    verdict: Verdict
    remedy: str
    cwe: int | None = None


@dataclass(frozen=True, slots=True)
class PatternRule:
    """A rule of the user: findings have the id `<family>.<id>`."""

    id: str
    pattern: str
    message: str
    languages: frozenset[str] = frozenset()
    verdict: Verdict = Verdict.REVIEW
    severity: Severity = Severity.MEDIUM
    remedy: str = "See the policy that states this rule."
    family: str = "user"
    cwe: int | None = None


_CATALOGUE: Final = read_sections("rules")


def _iter_rules() -> Iterator[tuple[str, Rule]]:
    for name, entry in _CATALOGUE["rules"].items():
        verdict, severity, cwe, remedy = entry.split(maxsplit=3)
        yield name, Rule(Severity(severity), Verdict(verdict), remedy, int(cwe) or None)


RULES: Final = dict(_iter_rules())
"""Rule id, without its language, to its entry."""

# Families of rules that share one section of the documentation.
_SECTIONS: Final = {"secret.": "secret.provider", "topic.": "topics", "bandit.": "bandit"}


def get_rule(rule_id: str) -> Rule:
    """Return the entry of a rule, by its full id.

    Raises:
        KeyError: no such rule.
    """
    found = RULES.get(rule_id)
    if found is not None:
        return found
    for prefix in _LANGUAGES:
        if rule_id.startswith(prefix):
            return RULES[rule_id[len(prefix) :]]
    if rule_id.startswith("secret."):
        return RULES["secret.provider"]
    raise KeyError(rule_id)


CALL_MEANINGS: Final = _CATALOGUE["calls"]
"""Rule id to what a call does that has the rule whatever its arguments: `signals processes`."""


def describe_call(name: str, rule: str) -> str:
    """Return the message for a call that has a rule whatever its arguments."""
    return f"calls {name}, which {CALL_MEANINGS[rule]}"


def get_anchor(rule_id: str) -> str:
    """Return where the documentation explains a rule, from the project; users' rules share one section."""
    named = rule_id
    for prefix in _LANGUAGES:
        named = named.removeprefix(prefix)
    if named not in RULES:
        named = next(
            (section for family, section in _SECTIONS.items() if named.startswith(family)),
            "rules-of-your-own",
        )
    return f"docs/scanners.md#{named}"
