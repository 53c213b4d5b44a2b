"""The references that are made from the code are what the code makes now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "deploy" / "docs-site" / "references"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_no_reference_differs_from_the_code() -> None:
    done = subprocess.run(
        [sys.executable, str(GENERATOR), "--check"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reference/http-api.md", "## `GET /api/v1/traces/{trace_id}`"),
        ("reference/python-api.md", "`register("),
        ("reference/metrics.md", "| `spanproof_alerts_firing` | gauge |"),
        ("reference/metrics.md", "| `spanproof_evaluation_seconds` | histogram |"),
        ("reference/scores.md", "| `trajectory.cost_usd` | metric | USD |"),
        ("scanners.md", '| <a id="secret.provider"></a>`secret.provider` | deny | critical |'),
        ("dialects.md", "`gen_ai.tool.call.arguments`"),
        ("semconv.md", "| `spanproof.code.source` |"),
    ],
)
def test_a_reference_names_what_its_code_has(name: str, expected: str) -> None:
    assert expected in page(name)


def test_every_public_name_says_what_it_is() -> None:
    silent = re.findall(r"^- `([^`]+)`(?:\n|$)", page("reference/python-api.md"), re.MULTILINE)
    assert not silent, f"give a docstring to: {silent}"


def test_every_path_and_every_metric_says_what_it_is() -> None:
    silent = re.findall(r"^## (`[A-Z]+ \S+`)\n\n\n", page("reference/http-api.md"), re.MULTILINE)
    silent += re.findall(r"^\| (`\S+`) \|.*\|\s*\|$", page("reference/metrics.md"), re.MULTILINE)
    assert not silent, f"describe: {silent}"
