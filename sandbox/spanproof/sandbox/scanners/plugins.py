"""Scanners of the user: from installed packages, by entry point, and from Python files a policy names.

In: the entry points of the group `spanproof.scanners`, or a file. Out: scanners, as the pipeline runs its
own. Both are code with the rights of the user: a policy file is as trusted as the program itself. Called in
the process of `plugin_worker`, and nowhere else.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.scanners.scanner import Scanner

GROUP: Final = "spanproof.scanners"

_SHAPE: Final = "a Scanner, a list of them, or a function without arguments that gives either"


def installed_scanners() -> tuple[Scanner, ...]:
    """The scanners of installed packages, in the order of their names.

    Raises:
        PolicyError: an entry point cannot be loaded or gives no scanner.
    """
    found: list[Scanner] = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        origin = f"entry point {point.name!r} of {GROUP}"
        try:
            loaded = point.load()
        except Exception as problem:
            raise PolicyError(
                f"{origin}: cannot be loaded: {problem}; mend or remove the package"
            ) from problem
        found += _scanners_of(loaded, origin)
    return tuple(found)


def scanners_in(file: str) -> tuple[Scanner, ...]:
    """The scanners a Python file names `SCANNERS`.

    Raises:
        PolicyError: the file cannot be run, or names no scanners.
    """
    try:
        names = runpy.run_path(file)
    except Exception as problem:
        raise PolicyError(f"scanner file {file}: cannot be run: {problem}; mend the file") from problem
    if "SCANNERS" not in names:
        raise PolicyError(f"scanner file {file}: binds no SCANNERS; give it {_SHAPE}")
    return tuple(_scanners_of(names["SCANNERS"], f"scanner file {file}"))


def _scanners_of(given: object, origin: str) -> list[Scanner]:
    if not isinstance(given, Scanner) and callable(given):
        try:
            given = given()
        except Exception as problem:
            raise PolicyError(f"{origin}: failed: {problem}; mend it") from problem
    found = [given] if isinstance(given, Scanner) else list(given) if isinstance(given, Iterable) else []
    if not found or not all(isinstance(one, Scanner) for one in found):
        raise PolicyError(f"{origin}: gives {type(given).__name__}; give {_SHAPE}")
    return found
