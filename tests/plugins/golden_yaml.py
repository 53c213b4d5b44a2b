"""Reads golden files with libyaml where PyYAML has it: in Python each worker would take ten times as long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_golden(path: Path) -> Any:
    """Return the document of a file."""
    return yaml.load(path.read_text(encoding="utf-8"), _LOADER)


def iter_golden(path: Path) -> Iterator[Any]:
    """Yield the documents of a file, which `---` separates."""
    yield from yaml.load_all(path.read_text(encoding="utf-8"), _LOADER)
