"""Scans as a SARIF 2.1.0 log, which code hosts and editors read.

In: file names and their scans. Out: one JSON-ready document. Messages are those of the findings, so no
secret's value is in it. A rule links to its documentation where an address of it is known: a SARIF link is
absolute, and without a host there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, metadata, version
from typing import Final
from urllib.parse import quote

from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.sandbox.scanners.rules import Rule, get_anchor, get_rule

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {Verdict.DENY: "error", Verdict.REVIEW: "warning", Verdict.ALLOW: "note"}
# The scale code hosts read from `security-severity`, 0 to 10.
_SECURITY: Final = {
    Severity.CRITICAL: "9.5", Severity.HIGH: "8.0", Severity.MEDIUM: "5.5", Severity.LOW: "3.0",
    Severity.ADVISORY: "1.0",
}  # fmt: skip

Json = dict[str, object]


def build_sarif_log(scans: Sequence[tuple[str, Scan]], documentation: str = "") -> Json:
    """Build one SARIF log of one run over these files.

    Args:
        scans: names of files, as paths, and what was found in each.
        documentation: the address that the project's files are published at; by default the one of its
            metadata, if it has one.
    """
    base = documentation or _read_documentation_url()
    described = {finding.rule: finding for _, scan in scans for finding in scan.findings}
    rules = sorted(described)
    index = {rule: position for position, rule in enumerate(rules)}
    results = [_build_result(name, finding, index) for name, scan in scans for finding in scan.findings]
    driver: Json = {
        "name": "spanproof",
        "semanticVersion": _read_version(),
        "rules": [_build_rule(described[rule], base) for rule in rules],
    }
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _build_rule(example: Finding, base: str) -> Json:
    try:
        entry = get_rule(example.rule)
    except KeyError:  # a rule of the user's: the finding itself has the remedy
        entry = Rule(example.severity, example.verdict, example.remedy, example.cwe)
    properties: Json = {"security-severity": _SECURITY[entry.severity]}
    if entry.cwe is not None:
        properties["tags"] = ["security", f"external/cwe/cwe-{entry.cwe:03d}"]
    return {
        "id": example.rule,
        "shortDescription": {"text": example.rule},
        "help": {"text": f"{entry.remedy} See {get_anchor(example.rule)}."},
        **({"helpUri": f"{base.rstrip('/')}/{get_anchor(example.rule)}"} if base else {}),
        "defaultConfiguration": {"level": _LEVELS[entry.verdict]},
        "properties": properties,
    }


def _build_result(name: str, finding: Finding, index: dict[str, int]) -> Json:
    region: Json = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": max(finding.end_line, finding.line),
        "endColumn": finding.end_column,
    }
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS[finding.verdict],
        "message": {"text": finding.message},
        **({"partialFingerprints": {"secret/v1": finding.fingerprint}} if finding.fingerprint else {}),
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(name.encode("utf-8", "surrogatepass"))},
                    "region": region,
                }
            }
        ],
    }


def _read_documentation_url() -> str:
    """Return the address of the documentation in the project's metadata; empty where there is none."""
    try:
        addresses = metadata("spanproof").get_all("Project-URL") or []
    except PackageNotFoundError:
        addresses = []
    for one in addresses:
        label, _, address = one.partition(", ")
        if label.lower() == "documentation":
            return str(address)
    return ""


def _read_version() -> str:
    try:
        return version("spanproof")
    except PackageNotFoundError:
        return "0.0.0"
