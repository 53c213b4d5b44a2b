from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from spanproof.sandbox.scanners.rules import RULES

_DOCUMENTATION = Path(__file__).parents[3] / "docs" / "scanners.md"


def test_each_rule_is_documented() -> None:
    text = _DOCUMENTATION.read_text(encoding="utf-8")

    assert [rule for rule in RULES if f"`{rule}`" not in text] == []


def test_each_rule_says_what_to_do() -> None:
    assert all(rule.remedy for rule in RULES.values())


def test_the_pipeline_is_light_to_import() -> None:
    code = (
        "import sys; import spanproof.sandbox.scanners.pipeline; import spanproof.sandbox.scanners.python;"
        "heavy = {'tree_sitter', 'sqlglot', 'yaml', 'pydantic', 'click', 'rich'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
