"""Modules and functions that act, and that other modules hold: judged as called by their own name.

The modules of the standard library and of the packages that analysts use most are walked as installed.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Final

import pytest

from spanproof.sandbox.scanners.python.names import LEAKED_MODULES, SINKS, normalise_name

_DEPTH: Final = 3
_PACKAGES: Final = (
    "aiohttp", "duckdb", "httpx", "joblib", "jinja2", "matplotlib", "networkx", "numpy", "openpyxl",
    "pandas", "PIL", "polars", "pyarrow", "pydantic", "requests", "rich", "scipy", "seaborn",
    "sqlalchemy", "tqdm", "yaml",
)  # fmt: skip
_STANDARD: Final = (
    "asyncio", "collections", "contextlib", "csv", "ctypes", "dataclasses", "enum", "fileinput",
    "ftplib", "glob", "gzip", "http", "importlib", "inspect", "json", "logging", "mailbox",
    "multiprocessing", "pathlib", "pdb", "pickle", "pkgutil", "platform", "random", "shelve", "shutil",
    "smtplib", "socketserver", "ssl", "statistics", "sysconfig", "tarfile", "tempfile", "tokenize",
    "traceback", "unittest", "urllib", "uuid", "webbrowser", "xml", "zipfile",
)  # fmt: skip
# What is judged the same under any name: it starts nothing and reaches nothing by itself.
_HARMLESS: Final = frozenset({"inspect.signature", "mmap.mmap", "threading.Thread", "urllib.request.Request"})


def _find_acting_functions() -> dict[int, tuple[object, str]]:
    """Return the functions of the standard library that the catalogue judges, by identity."""
    found: dict[int, tuple[object, str]] = {}
    for name in SINKS:
        module, _, attribute = name.rpartition(".")
        if module.partition(".")[0] in sys.stdlib_module_names and "(" not in name and name not in _HARMLESS:
            try:
                with warnings.catch_warnings(action="ignore"):
                    function = getattr(importlib.import_module(module), attribute)
            except (ImportError, AttributeError):
                continue
            found.setdefault(id(function), (function, name))
    return found


def _walk(package: str) -> Iterator[tuple[str, object]]:
    """Yield what the modules of a package hold, by its dotted name."""
    with warnings.catch_warnings(action="ignore"):
        root = importlib.import_module(package)
    seen, pending = {id(root)}, [(root, package, 0)]
    while pending:
        module, path, depth = pending.pop()
        for name, value in list(vars(module).items()):
            if name.startswith("__"):
                continue
            yield f"{path}.{name}", value
            if not isinstance(value, ModuleType) or id(value) in seen or depth == _DEPTH:
                continue
            if value.__name__.partition(".")[0] == package:
                seen.add(id(value))
                pending.append((value, f"{path}.{name}", depth + 1))


@pytest.mark.parametrize("package", [*_STANDARD, *_PACKAGES])
def test_what_a_module_holds_is_judged_as_the_direct_call(package: str) -> None:
    modules = {id(sys.modules[name]): name for name in LEAKED_MODULES if name in sys.modules}
    functions = _find_acting_functions()
    missed: list[str] = []
    for name, value in _walk(package):
        meant = normalise_name(name)
        if isinstance(value, ModuleType) and id(value) in modules:
            if normalise_name(f"{name}.x") != normalise_name(f"{modules[id(value)]}.x"):
                missed.append(f"{name} is {modules[id(value)]}")
        elif id(value) in functions and functions[id(value)][0] is value:
            own = functions[id(value)][1]
            if SINKS.get(meant) != SINKS.get(normalise_name(own)) and SINKS.get(meant) != SINKS[own]:
                missed.append(f"{name} is {own}")

    assert not missed
