"""The golden files read as the specification: each source is beside the findings it must give.

A policy beside a source (`….policy.yaml`) is the one it is judged by.

`SPANPROOF_WRITE_GOLDEN=1 pytest …` writes the expectation anew, to be read before it is kept.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.pipeline import Pipeline

_GOLDEN = Path(__file__).parents[2] / "golden" / "scanners"
_LANGUAGES = {
    ".py": "python",
    ".sh": "bash",
    ".sql": "sql",
    ".js": "javascript",
    ".ts": "typescript",
    ".txt": "text",
}
# In pieces, so that no scanner of a code host takes this file for a leak.
_MADE_UP = {
    "github-token": "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----MIIEpAIBAAKCAQEAq8Zr2LmX0pWv7TnB5cR1yE4uHs6gJf3K",
}
_SOURCES = sorted(path for path in _GOLDEN.iterdir() if path.suffix in _LANGUAGES)


@pytest.mark.parametrize("path", _SOURCES, ids=[path.name for path in _SOURCES])
def test_a_source_gives_exactly_the_expected_findings(path: Path) -> None:
    beside_it = path.with_name(f"{path.name}.policy.yaml")
    pipeline = Pipeline(load_policy(beside_it) if beside_it.exists() else Policy())
    text = path.read_text(encoding="utf-8")
    for name, secret in _MADE_UP.items():
        text = text.replace(f"<{name}>", secret)
    scan = pipeline.scan(_LANGUAGES[path.suffix], text)
    reported = {
        "verdict": scan.verdict.value,
        "findings": [
            {
                "rule": finding.rule,
                "verdict": finding.verdict.value,
                "severity": finding.severity.value,
                "place": f"{finding.line}:{finding.column}-{finding.end_line}:{finding.end_column}",
                "message": finding.message,
                **({"cwe": finding.cwe} if finding.cwe is not None else {}),
            }
            for finding in scan.findings
        ],
    }
    beside = path.with_name(f"{path.name}.expected.json")
    if os.environ.get("SPANPROOF_WRITE_GOLDEN"):
        beside.write_text(json.dumps(reported, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    assert reported == json.loads(beside.read_text(encoding="utf-8"))
