"""Modules of the process that holds the tests: found where no program can write, and loaded before it exists.

In: the names of modules that tests import. Out: which of them are libraries, loaded; all others are the
program's own, and are imported over there. A name that lies in the work directory is the program's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any

# What libraries import only as it is used.
_LATER = {
    "asyncio": ("asyncio.runners",),
    "numpy": ("numpy.testing", "numpy.linalg", "numpy.random"),
    "pandas": ("pandas.testing", "pandas._testing"),
    "unittest": ("unittest.async_case", "unittest.loader", "unittest.runner"),
}
_SOURCE_FOLDER = "src"


class _Finder:
    """Finds modules in a fixed list of folders, whatever `sys.path` has become."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = [*folders]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, self.folders if path is None else path, target)


class TrustedImports:
    """What tests may import in their own process."""

    def __init__(self) -> None:
        """Search modules outside of the work directory only, in a process that no program has been in."""
        work = os.getcwd()  # noqa: PTH109 - what a string is compared with
        folders = [folder for folder in sys.path if _is_outside(folder, work)]
        self._read_only = [folder for folder in folders if not os.access(folder, os.W_OK)]
        self._finder = _Finder(folders)
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder]
        sys.meta_path.append(self._finder)
        sys.path[:] = folders
        self._own: frozenset[str] = frozenset()
        self._found: set[str] = set()

    def add_likely_modules(self, names: Iterable[str]) -> None:
        """Load modules that tests may need, before there are any tests."""
        for name in names:
            self._add_module(name)
        self._found.clear()

    def add_test_imports(self, names: Iterable[str], own: Iterable[str]) -> None:
        """Load modules that tests import, before the program runs.

        Args:
            names: of the modules; one that is not found is the program's.
            own: names at top level that are the program's.
        """
        self._own = frozenset(own)
        for name in names:
            self._add_module(name)
        self._finder.folders = self._read_only

    def _add_module(self, name: str) -> None:
        if name.partition(".")[0] in self._own:
            return
        try:
            import_module(name)
        except Exception:  # noqa: BLE001 - the tests' own import says why
            return
        self._found.add(name)
        for later in _LATER.get(name, ()):
            self._add_module(later)

    def has(self, name: str) -> bool:
        """Whether a module is a library of this process."""
        top = name.partition(".")[0]
        if top in self._own:
            return False
        return name in self._found or top in self._found or top in sys.stdlib_module_names

    def get_object(self, module: str, name: str) -> Any:
        """Return a module, or a function of it where a name is given; None where there is none."""
        try:
            found = import_module(module)
        except Exception:  # noqa: BLE001 - whatever a library does when it cannot be had
            return None
        return getattr(found, name, None) if name else found


def _is_outside(folder: str, work: str) -> bool:
    return folder.startswith(os.sep) and folder != work and not folder.startswith(f"{work}{os.sep}")


def list_own_modules(files: Iterable[str]) -> list[str]:
    """Return the names of modules and packages at the top of a program's files, or of its `src`."""
    paths = [PurePosixPath(name) for name in files]
    paths += [path.relative_to(_SOURCE_FOLDER) for path in paths if path.is_relative_to(_SOURCE_FOLDER)]
    modules = [path for path in paths if len(path.parts) > 1 or path.suffix == ".py"]
    return sorted({path.parts[0].partition(".")[0] for path in modules})
