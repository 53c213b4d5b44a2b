"""The scanners' data files, below `data`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from spanproof.sandbox import catalogue

_DIRECTORY: Final = Path(__file__).with_name("data")


def read_sections(name: str) -> dict[str, dict[str, str]]:
    """Read `data/<name>.txt`; see `spanproof.sandbox.catalogue`."""
    return catalogue.read_sections(_DIRECTORY / f"{name}.txt")
