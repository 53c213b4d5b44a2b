"""The scanners' data files, below `data`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from spanproof.sandbox import catalogue

_DIRECTORY: Final = Path(__file__).with_name("data")


def read_sections(name: str) -> dict[str, dict[str, str]]:
    """Read `data/<name>.txt`; see `spanproof.sandbox.catalogue`."""
    return catalogue.read_sections(_DIRECTORY / f"{name}.txt")


def describe_location(key: str, *names: str) -> str:
    """Return where an entry is, for a message: `python.txt, line 12`; the files alone where none has it."""
    for name in names:
        lines = (_DIRECTORY / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            if line.split(maxsplit=1)[:1] == [key]:
                return f"{name}.txt, line {number}"
    return " or ".join(f"{name}.txt" for name in names)
