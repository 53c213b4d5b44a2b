"""The pictures of the documentation are of the console as it is: the script that takes them runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
LARGEST = 120_000
LIT = (0xFF, 0xE0, 0x66)


@pytest.mark.peers
def test_the_pictures_are_taken(tmp_path: Path) -> None:
    script = ROOT / "deploy" / "docs-site" / "pictures.py"
    command = [
        sys.executable,
        str(script),
        "--out",
        str(tmp_path / "out"),
        "--directory",
        str(tmp_path / "kept"),
    ]
    done = subprocess.run(
        [*command, "--runs", "24", "--trials", "1"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    taken = {path.name: Image.open(path) for path in (tmp_path / "out").iterdir()}
    assert not shown_in_the_documentation() - taken.keys()
    assert {each.width for each in taken.values()} == {1440}
    shown = taken["console-trace.png"].convert("RGB").getcolors()
    assert any(is_near(colour, LIT) for _, colour in shown), "the output that contradicts the claim is lit up"


def test_each_picture_of_the_documentation_is_small() -> None:
    large = {
        name: size
        for name in shown_in_the_documentation()
        if (size := (ROOT / "docs" / "images" / name).stat().st_size) > LARGEST
    }
    assert not large


def is_near(colour: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a palette may hold one colour for the other."""
    return all(abs(a - b) <= 8 for a, b in zip(colour, other, strict=True))


def shown_in_the_documentation() -> set[str]:
    """Return the names of the console's pictures that pages show."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return {name for text in texts for name in re.findall(r"images/(console-\w+\.png)", text)}
