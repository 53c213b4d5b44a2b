"""Regular expressions mean the same in every Python that is supported."""

from __future__ import annotations

import re

import pytest

from .imports import ROOT
from .words import tracked_files

POSSESSIVE_GROUP = re.compile(r"[^(]\)(?:[*+?]|\{[0-9,]+\})\+")
"""Python 3.11.2, which is Debian's, goes on at a wrong place after such a group; `(?>(?:…)*)` is right."""
PACKAGES = ("collector", "evaluators", "instrumentors", "sandbox")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_group_is_repeated_possessively(package: str) -> None:
    files = [
        name
        for name in tracked_files(every=True)
        if name.startswith(f"{package}/spanproof/") and name.endswith((".py", ".txt"))
    ]
    found = [
        f"{name}:{number}"
        for name in files
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert files
    assert not found, f"write (?>(?:…)*) instead of (?:…)*+ in: {found}"
