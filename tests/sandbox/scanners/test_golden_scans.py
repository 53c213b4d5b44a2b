"""The golden files read as the specification: each source stands beside the findings it must give.

`SPANPROOF_WRITE_GOLDEN=1 pytest …` writes the expectation anew, to be read before it is kept.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spanproof.sandbox.scanners.pipeline import Pipeline

_GOLDEN = Path(__file__).parents[2] / "golden" / "scanners"
_LANGUAGES = {".py": "python", ".sh": "bash", ".sql": "sql", ".js": "javascript", ".ts": "typescript"}
_SOURCES = sorted(path for path in _GOLDEN.iterdir() if path.suffix in _LANGUAGES)


@pytest.mark.parametrize("path", _SOURCES, ids=[path.name for path in _SOURCES])
def test_a_source_gives_exactly_the_expected_findings(path: Path) -> None:
    scan = Pipeline().scan(_LANGUAGES[path.suffix], path.read_text(encoding="utf-8"))
    told = {
        "verdict": scan.verdict.value,
        "findings": [
            {
                "rule": finding.rule,
                "verdict": finding.verdict.value,
                "severity": finding.severity.value,
                "place": f"{finding.line}:{finding.column}-{finding.end_line}:{finding.end_column}",
                "message": finding.message,
            }
            for finding in scan.findings
        ],
    }
    beside = path.with_name(f"{path.name}.expected.json")
    if os.environ.get("SPANPROOF_WRITE_GOLDEN"):
        beside.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    assert told == json.loads(beside.read_text(encoding="utf-8"))
