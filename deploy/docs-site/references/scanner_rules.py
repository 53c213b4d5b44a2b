"""The reference of the scanners' rules, from their catalogue."""

from __future__ import annotations

from tables import table

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.rules import RULES


def render() -> str:
    """Return the table of all rules, each with the anchor that findings link to."""
    when = read_sections("rules")["when"]
    rows = (
        (
            f'<a id="{name}"></a>`{name}`',
            "—" if rule.verdict is Verdict.ALLOW else rule.verdict.value,
            rule.severity.value,
            str(rule.cwe or ""),
            when[name],
            rule.remedy,
        )
        for name, rule in RULES.items()
    )
    return table(("rule", "verdict", "severity", "CWE", "when", "remedy"), rows)
