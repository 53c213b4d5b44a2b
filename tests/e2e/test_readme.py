"""The README shows what `spanproof demo` prints, and links to files that exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COLUMNS = "90"


def masked(text: str) -> str:
    """Return the text with ids, times and durations masked, and without the lines of headings."""
    text = re.sub(r"\b[0-9a-f]{8,32}\b", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"\d+(\.\d)? (ms|s)\b", "DURATION", text)
    return "\n".join(line.rstrip(" ─") for line in text.splitlines())


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    demo = subprocess.run(
        [sys.executable, "-m", "spanproof.cli", "demo"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": COLUMNS},
    )  # fmt: skip
    assert demo.returncode == 0, demo.stderr
    (block,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    printed = masked(demo.stdout)
    for part in masked(block).split("\n…\n"):
        assert part.strip("\n") in printed, f"update README.md:\n{part}\nis not in:\n{printed}"


def test_the_readme_links_to_files_that_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    missing = [link for link in links if not (ROOT / link).exists()]
    assert links
    assert not missing, f"README.md links to {missing}"
