"""Replacing a framework's methods, and putting every original back.

`Patches` remembers what it replaced. Where somebody wrapped our replacement in the meantime it cannot be
taken out; then `active` is False and the replacement hands everything through. Never patches `object` or a
type that does not allow it. A class of `__main__` may be sent to another process by value (cloudpickle: Ray,
joblib, Dask): what stands in its methods' place goes along, and nothing of ours with it. The framework's own
classes are found by their names in every process: there our function stands itself, one call less, and has
to know when it is over.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any
from weakref import WeakSet

from spanproof.instrumentors.frameworks.diagnostics import swallowed

Method = Callable[..., Any]
Wrap = Callable[[Method], Method]
"""Given the original, the function to stand in its place."""


@dataclass(frozen=True, slots=True)
class _Replaced:
    owner: type | ModuleType
    name: str
    original: Any
    replacement: Any


_all: WeakSet[Patches] = WeakSet()


class Patches:
    """All that one instrumentor has replaced, in the framework of that top package and in what uses it."""

    def __init__(self, framework: str) -> None:
        self.active = True
        self._framework = framework
        self._replaced: list[_Replaced] = []
        self._known: dict[str, WeakSet[type]] = {}
        self._lock = threading.RLock()
        _all.add(self)

    def replace(self, owner: type | ModuleType, name: str, wrap: Wrap) -> None:
        """Put `wrap(original)` in the place of a method or function that `owner` itself defines."""
        with self._lock:
            original = vars(owner).get(name)
            if original is None or any(each.replacement is original for each in self._replaced):
                return
            if isinstance(original, staticmethod | property):
                return
            callee = _callee(original)
            wrapped = wrap(callee)
            known = self._is_frameworks(owner)
            replacement: Any = wraps(callee)(wrapped) if known else self._passing(callee, wrapped)
            if isinstance(original, classmethod):
                replacement = classmethod(replacement)
            setattr(owner, name, replacement)
            self._replaced.append(_Replaced(owner, name, original, replacement))

    def replace_along(self, kind: type, name: str, wrap: Wrap) -> None:
        """The same for each class that `kind` takes the method from; cheap when done before, or over."""
        known = self._known.setdefault(name, WeakSet())
        if kind in known or not self.active:
            return
        for owner in kind.__mro__:
            if owner is object or not callable(vars(owner).get(name)):
                continue
            try:
                self.replace(owner, name, wrap)
            except (TypeError, AttributeError) as error:
                # A type written in C, or one whose metaclass refuses.
                swallowed(f"patching.{name}", error)
        known.add(kind)

    def restore(self) -> None:
        """Put the originals back, the last replaced first."""
        with self._lock:
            self.active = False
            for each in reversed(self._replaced):
                if vars(each.owner).get(each.name) is each.replacement:
                    setattr(each.owner, each.name, each.original)
            self._replaced.clear()
            self._known.clear()

    def renew_lock(self) -> None:
        """After a fork: another thread may have held the lock, and nobody would release it in the child."""
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """What goes with a class of the host's into another process: that nothing is replaced there."""
        return SimpleNamespace, (), {"active": False}

    def _is_frameworks(self, owner: type | ModuleType) -> bool:
        """Whether every process finds it by its name, as it does not what a function has made."""
        if isinstance(owner, ModuleType):
            return owner.__name__.partition(".")[0] == self._framework
        module = owner.__module__  # whatever its author has put there
        return (
            type(module) is str
            and module.partition(".")[0] == self._framework
            and "<locals>" not in owner.__qualname__
        )

    def _passing(self, original: Method, replacement: Method) -> Method:
        replacement = _Kept(replacement)

        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            return replacement(*args, **kwargs) if self.active else original(*args, **kwargs)

        return call


class _Kept(partial[Any]):
    """A function that stays in this process, whatever it is a part of."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return object, ()


def _callee(original: Any) -> Method:
    """A method as a plain function of what it is called on; another vendor's wrapper is bound first."""
    if type(original) is FunctionType:  # `isinstance` is what such wrappers pass
        return original
    if type(original) is classmethod:
        return _callee(original.__func__)
    if isinstance(original, classmethod):

        @wraps(original.__func__)
        def call_of_class(kind: type, /, *args: Any, **kwargs: Any) -> Any:
            return original.__get__(None, kind)(*args, **kwargs)

        return call_of_class

    @wraps(original)
    def call(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
        return original.__get__(instance, type(instance))(*args, **kwargs)

    return call


def _unlock_in_child() -> None:
    for patches in list(_all):
        patches.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)
