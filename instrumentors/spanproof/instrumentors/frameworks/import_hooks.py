"""Actions that wait for the import of a module: no framework is imported that the program does not use.

A finder at the head of `sys.meta_path` wraps the loader of a module that an action waits for. The module's
own loader runs it, and is what the module shows; then the action runs, before the import statement ends.
Actions must not raise. The finder leaves `sys.meta_path` when nothing waits any more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Action = Callable[[], None]


def add_import_action(module: str, action: Action) -> None:
    """Let an action run once, after the next import of a module, in place of one that waits for it."""
    _finder.actions[module] = action
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def remove_import_actions() -> None:
    """Let no action wait any more."""
    _finder.actions.clear()
    _finder.remove_if_idle()


def list_awaited() -> tuple[str, ...]:
    """Return the modules that an action waits for."""
    return tuple(_finder.actions)


class _Finder:
    """Finds what the other finders find, with a loader that runs the action."""

    def __init__(self) -> None:
        self.actions: dict[str, Action] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module that an action waits for; None for any other."""
        if name not in self.actions:
            return None
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                # A loader of the old protocol, without `exec_module`, is left alone.
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _NotifyingLoader(spec.loader, lambda: self._run_action(name))
                return spec
        return None

    def remove_if_idle(self) -> None:
        """Leave the path of finders, if nothing waits."""
        if not self.actions:
            with suppress(ValueError):
                sys.meta_path.remove(self)

    def _run_action(self, name: str) -> None:
        action = self.actions.pop(name, None)
        self.remove_if_idle()
        if action is not None:
            action()


class _NotifyingLoader(Loader):
    """A loader that runs a module by its own loader, gives that back to it, and notifies."""

    def __init__(self, loader: Any, notify: Action) -> None:
        self._loader = loader
        self._notify = notify

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the module's own loader makes for it."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; it sees its own loader from the first line on."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._notify()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


_finder = _Finder()
