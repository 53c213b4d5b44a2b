"""What is done to a package as soon as something imports it: none is imported for its own sake."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


def on_import(package: str, act: Callable[[], None]) -> None:
    """Call a function once the package is imported, before the importing code goes on; now, if it is already.

    Args:
        package: a top-level one.
        act: what it raises reaches the importing code.
    """
    if package in sys.modules:
        act()
    else:
        sys.meta_path.insert(0, _Finder(package, act))


class _Finder(MetaPathFinder):
    """Finds one package as the finders behind it do, and then has no part in further imports."""

    def __init__(self, package: str, act: Callable[[], None]) -> None:
        self._package, self._act = package, act

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._package:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute, act = spec.loader.exec_module, self._act

        def exec_module(module: ModuleType) -> None:
            execute(module)
            act()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
