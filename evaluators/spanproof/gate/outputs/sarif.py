"""SARIF 2.1.0 (OASIS), which code hosts and editors show beside the code.

Each place that is to blame is a result. The snippets themselves are artifacts with their contents: an agent
wrote them at run time, and no checkout has the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote

from spanproof.gate.outputs.code import CodeMark
from spanproof.gate.outputs.table import ResultRow, ResultTable, Verdict
from spanproof.gate.outputs.text import format_printable

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_DOCS: Final = "https://github.com/spanproof/spanproof/blob/main/docs/layers.md"
_LEVELS: Final = {Verdict.FAILED: "error", Verdict.ERRORED: "error", Verdict.INCONCLUSIVE: "warning"}


def format_sarif(table: ResultTable) -> str:
    """Return the text of a SARIF file with one run."""
    results = [result for row in table.failing for result in _iter_results(row)]
    marks = {mark.uri: mark for row in table.failing for mark in row.marks}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "Spanproof",
                "version": version("spanproof"),
                "informationUri": "https://github.com/spanproof/spanproof",
                "rules": [
                    _build_rule(name) for name in dict.fromkeys(result["ruleId"] for result in results)
                ],
            }
        },
        "automationDetails": {"id": f"{format_printable(table.title)}/"},
        "artifacts": [_build_artifact(mark) for mark in marks.values()],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    if table.open or table.open_remark:
        run["properties"] = {"open": table.open, "openRemark": format_printable(table.open_remark)}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _iter_results(row: ResultRow) -> Iterable[dict[str, Any]]:
    """Yield a result for each mark of a row, with how many are open where some are."""
    more = {"properties": {"open": row.open}} if row.open else {}
    for result in _iter_marked_results(row):
        yield {**result, **more}


def _iter_marked_results(row: ResultRow) -> Iterable[dict[str, Any]]:
    """Yield a result for each mark of a row; one without a place in code where it has none."""
    text = format_printable(f"{row.name}: {row.reason}" if row.reason else row.name)
    level = _LEVELS[row.verdict]
    if not row.marks:
        where = {"uri": quote(row.file)} if row.file else None
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": where}} if where else {}
        logical = {"logicalLocations": [{"name": format_printable(row.name), "kind": "function"}]}
        yield _build_result(row.layer or row.group, level, text, location | logical, row.name)
        return
    for mark in row.marks:
        if mark.message:
            message = format_printable(f"{mark.message} ({row.name})")
        else:
            message = text
        location = {
            "physicalLocation": {
                "artifactLocation": {"uri": quote(mark.uri)},
                "region": {"startLine": mark.line, "endLine": mark.end_line},
            },
            "logicalLocations": [{"name": format_printable(row.name), "kind": "function"}],
        }
        yield _build_result(mark.rule, level, message, location, f"{row.name} {mark.uri} {mark.line}")


def _build_result(
    rule: str, level: str, text: str, location: dict[str, Any], identity: str
) -> dict[str, Any]:
    fingerprint = sha256(f"{rule} {identity}".encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": format_printable(rule),
        "level": level,
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"spanproof/v1": fingerprint},
    }


def _build_rule(name: str) -> dict[str, Any]:
    return {"id": name, "name": name, "shortDescription": {"text": name}, "helpUri": _DOCS}


def _build_artifact(mark: CodeMark) -> dict[str, Any]:
    return {
        "location": {"uri": quote(mark.uri)},
        "sourceLanguage": mark.language,
        "contents": {"text": format_printable(mark.source)},
    }
