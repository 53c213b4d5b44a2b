"""What names in Python say of the values that code shows: data of `python_names.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class PythonNames:
    """Names of modules, functions and settings, and numbers that say nothing; the file says what each is."""

    pure_modules: frozenset[str]
    readers: frozenset[str]
    chance: frozenset[str]
    clock: frozenset[str]
    fillers: frozenset[str]
    parametrised: frozenset[str]
    value_keywords: frozenset[str]
    text_parsers: frozenset[str]
    elements: frozenset[str]
    settings: frozenset[str]
    borders: frozenset[str]
    problem_numbers: tuple[float, ...]
    unit_factors: tuple[float, ...]


def _load_names() -> PythonNames:
    data = tomllib.loads(Path(__file__).with_name("python_names.toml").read_text(encoding="utf-8"))
    names: dict[str, Any] = {
        key: frozenset(item.split()) if isinstance(item, str) else tuple(item) for key, item in data.items()
    }
    return PythonNames(**names)


NAMES = _load_names()
"""The names, loaded once."""
