"""docs/demo.md shows what `spanproof demo` prints; `python tests/e2e/test_readme.py` writes it anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "demo.md"
_BLOCK = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)
_COLUMNS = "90"


def excerpt(directory: Path) -> str:
    """Run the demo in a directory and return the parts of its output that the page shows."""
    demo = subprocess.run(
        [sys.executable, "-m", "spanproof.cli", "demo"],
        cwd=directory, capture_output=True, text=True, timeout=300,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": _COLUMNS},
    )  # fmt: skip
    assert demo.returncode == 0, demo.stderr
    text = "\n".join(line.rstrip(" ─") for line in demo.stdout.splitlines())

    def part(start: str, end: str) -> str:
        found = re.search(rf"^{re.escape(start)}.*?(?=^{re.escape(end)})", text, re.DOTALL | re.MULTILINE)
        assert found, f"no part of the demo from {start!r} to {end!r} in:\n{text}"
        return found[0]

    agents_and_verdicts = part("2  ", "4  ")
    detail = part("4  ", "correctness ")
    steps = part("├── step 2", "└── step 4")
    return f"{agents_and_verdicts}{detail}…\n{steps}…\n\n{part('6  ', '7  ').rstrip()}\n"


def masked(text: str) -> str:
    """Return the text with ids, times and durations masked."""
    text = re.sub(r"\b[0-9a-f]{8,32}\b", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    return re.sub(r"\d+(\.\d)? (ms|s)\b", "DURATION", text)


def test_the_page_shows_what_the_demo_prints(tmp_path: Path) -> None:
    (block,) = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    printed = excerpt(tmp_path)
    assert masked(block) == masked(printed), "run: python tests/e2e/test_readme.py"


def test_the_readme_links_to_files_that_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    missing = [link for link in links if not (README.parent / link).exists()]
    assert links
    assert not missing, f"README.md links to {missing}"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        printed = excerpt(Path(directory))
    PAGE.write_text(_BLOCK.sub(lambda _: printed, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
