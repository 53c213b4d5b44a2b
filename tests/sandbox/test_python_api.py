"""The sandbox from Python: what the pages show runs as written, and the example prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import spanproof.sandbox
from spanproof.sandbox import registry

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(from spanproof\.sandbox import .*?)```", re.DOTALL)


def run_python(*arguments: str) -> str:
    ran = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_example_runs_a_program_reports_its_attempts_and_keeps_a_session() -> None:
    first, second, third = run_python("examples/run_in_the_sandbox.py").splitlines()
    assert first == "ok 42"
    assert second == "permission_denied [('network', '203.0.113.9:80', False)]"
    assert third == "45.0"


@pytest.mark.parametrize("page", ["README.md", "docs/sandbox.md"])
def test_the_code_on_a_page_runs_as_written(page: str) -> None:
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        # The values that the comments promise are printed.
        shown = re.sub(
            r"^( +)(done\..*?|session\..*?\.result)\s+# .*$", r"\1print(\2)", block, flags=re.MULTILINE
        )
        printed = run_python("-c", shown)
        assert "42" in printed
        assert ("45.0" in printed) == ("get_refund" in block)


def test_the_package_offers_the_registry_without_loading_a_backend() -> None:
    assert spanproof.sandbox.open_sandbox is registry.open_sandbox
    loaded = run_python(
        "-c", "import sys, spanproof.sandbox; print('spanproof.sandbox.registry' in sys.modules)"
    )
    assert loaded == "False\n"
    with pytest.raises(AttributeError, match="no attribute 'open_sandbx'"):
        _ = spanproof.sandbox.open_sandbx


def test_every_public_name_is_there() -> None:
    assert all(hasattr(spanproof.sandbox, name) for name in spanproof.sandbox.__all__)
