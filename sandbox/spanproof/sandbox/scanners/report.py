"""Findings as they are made: one report per scan, each distinct finding once.

In: a rule, a place, a message, from any scanner. Out: the findings in the order of the source. What a rule
means, how grave it is and what to do about it is in `data/rules.txt`, never in the code that reports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spanproof.sandbox.scanners.model import Finding, Severity, Verdict
from spanproof.sandbox.scanners.rules import Rule, find_rule
from spanproof.sandbox.scanners.source import Place

MAX_FINDINGS = 200
"""Per scan and verdict; a hostile snippet must not fill the store with its own findings."""

_MAX_MESSAGE = 300
# Every format of secrets has one.
_LONG_WORD = re.compile(r"[\w-]{14}")


@dataclass(slots=True)
class Report:
    """Collects what scanners find in one snippet."""

    _findings: dict[tuple[str, int, int, str], Finding] = field(default_factory=dict)
    _counts: dict[Verdict, int] = field(default_factory=dict)

    def add(
        self,
        rule: str,
        place: Place,
        message: str,
        verdict: Verdict | None = None,
        *,
        described: Rule | None = None,
        fingerprint: str = "",
        policy_line: str = "",
        path: str = "",
    ) -> None:
        """Record one finding.

        Args:
            rule: its id; the catalogue gives severity, verdict and remedy.
            place: where in the source.
            message: what is wrong; never a secret's value.
            verdict: where it differs from the rule's own.
            described: the entry of a rule that the catalogue does not hold.
            fingerprint: of a secret.
            policy_line: the line of a policy file that allows it, which its remedy then names.
            path: see `Finding`.
        """
        if described is None:
            described = find_rule(rule)
        key = (rule, place.line, place.column, message)
        decided = described.verdict if verdict is None else verdict
        if key in self._findings or self._is_full_for(decided):
            return
        self._counts[decided] = self._counts.get(decided, 0) + 1
        message = _redact_secrets(message)
        shown = message if len(message) <= _MAX_MESSAGE else message[: _MAX_MESSAGE - 1] + "…"
        self._findings[key] = Finding(
            rule=rule,
            severity=described.severity,
            verdict=decided,
            line=place.line,
            column=place.column,
            end_line=place.end_line,
            end_column=place.end_column,
            message=shown.encode("utf-8", "replace").decode("utf-8"),
            remedy=_add_policy_line(described.remedy, policy_line),
            cwe=described.cwe,
            fingerprint=fingerprint,
            path=_redact_secrets(path),
        )

    def _is_full_for(self, verdict: Verdict) -> bool:
        """Whether enough findings of a verdict are kept; one verdict's findings leave no other's out."""
        return self._counts.get(verdict, 0) >= MAX_FINDINGS

    def take(self, findings: Iterable[Finding]) -> None:
        """Record findings that another report collected, each distinct one once."""
        for one in findings:
            key = (one.rule, one.line, one.column, one.message)
            if key not in self._findings and (
                not self._is_full_for(one.verdict) or one.rule == "scanner_error"
            ):
                self._counts[one.verdict] = self._counts.get(one.verdict, 0) + 1
                self._findings[key] = one

    def findings(self) -> tuple[Finding, ...]:
        """Return what was found, in the order of the source."""
        if not self._findings:
            return ()
        return tuple(
            sorted(self._findings.values(), key=lambda one: (one.line, one.column, one.rule, one.message))
        )


def _add_policy_line(remedy: str, line: str) -> str:
    """Return a remedy with the line of a policy that allows what was found."""
    if line:
        return f"{remedy} In the policy: `{_redact_secrets(line)}`"
    return remedy


def read_finding(row: dict[str, Any]) -> Finding:
    """Build a finding from the values that `asdict` gave, as another process sent them."""
    return Finding(**{**row, "severity": Severity(row["severity"]), "verdict": Verdict(row["verdict"])})


def _redact_secrets(message: str) -> str:
    """Return a message without what has a provider's format of secrets: a path or a host may hold one."""
    if not _LONG_WORD.search(message):
        return message
    from spanproof.sandbox.scanners.secret_formats import mask_secrets

    return mask_secrets(message, lambda _: "[secret]")
