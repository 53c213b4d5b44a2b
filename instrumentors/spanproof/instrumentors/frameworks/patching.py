"""Replacing a framework's methods by hooks, and restoring every original.

A hook is called as `hook(original, instance, args, kwargs)`, the convention of wrapt. Plain functions take
the place of the methods instead of wrapt's proxies: signatures and `inspect` keep working, and a class that
cloudpickle sends to another process by value takes nothing of ours along.

Where other code has wrapped our function in the meantime it stays in place, and calls the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any
from weakref import WeakSet

from spanproof.instrumentors.frameworks.diagnostics import build_lock, record_swallowed
from spanproof.instrumentors.spans.tracing import Tracing

Method = Callable[..., Any]
Args = Sequence[Any]
Kwargs = Mapping[str, Any]
Hook = Callable[[Method, Any, tuple[Any, ...], dict[str, Any]], Any]

_lock = build_lock()


@dataclass(frozen=True, slots=True)
class _Replaced:
    owner: type | ModuleType
    name: str
    original: Any
    replacement: Any


class Patches:
    """All that one instrumentor has replaced.

    Attributes:
        active: hooks are called; False once the originals are restored.
    """

    def __init__(self) -> None:
        self.active = True
        self._replaced: list[_Replaced] = []
        self._known: dict[str, WeakSet[type]] = {}

    def add_patch(self, owner: type | ModuleType, name: str, hook: Hook) -> None:
        """Replace a method or function that `owner` itself defines, so that calls of it go to the hook."""
        with _lock:
            original = vars(owner).get(name)
            if original is None or any(item.replacement is original for item in self._replaced):
                return
            if isinstance(original, staticmethod | property):
                return
            if isinstance(owner, ModuleType):
                replacement: Any = self._build_function(original, hook)
            else:
                replacement = self._build_method(_as_function(original), hook)
            if isinstance(original, classmethod):
                replacement = classmethod(replacement)
            setattr(owner, name, replacement)
            self._replaced.append(_Replaced(owner, name, original, replacement))

    def add_inherited_patches(self, kind: type, name: str, hook: Hook) -> None:
        """Replace the method in each class of `kind`'s MRO that defines it; cheap when repeated."""
        owners = self._known.setdefault(name, WeakSet())
        if kind in owners or not self.active:
            return
        for owner in kind.__mro__:
            if owner is object or not callable(vars(owner).get(name)):
                continue
            try:
                self.add_patch(owner, name, hook)
            except (TypeError, AttributeError) as error:
                # A type written in C, or one whose metaclass refuses.
                record_swallowed(f"patching.{name}", error)
        owners.add(kind)

    def remove_patches(self) -> None:
        """Restore the originals, the last replaced first."""
        with _lock:
            self.active = False
            for item in reversed(self._replaced):
                if vars(item.owner).get(item.name) is item.replacement:
                    setattr(item.owner, item.name, item.original)
            self._replaced.clear()
            self._known.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        # What another process gets of us with a class that is sent by value: nothing is replaced there.
        return SimpleNamespace, (), {"active": False}

    def _build_method(self, original: Method, hook: Hook) -> Method:
        hook = _NotPickled(hook)

        @wraps(original)
        # Positional-only: the host's own keyword argument may be named `instance`.
        def call(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
            if self.active:
                return hook(original, instance, args, kwargs)
            return original(instance, *args, **kwargs)

        return call

    def _build_function(self, original: Method, hook: Hook) -> Method:
        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self.active:
                return hook(original, None, args, kwargs)
            return original(*args, **kwargs)

        return call


class Instrumentor:
    """A framework under instrumentation, from `instrument` to `uninstrument`.

    Attributes:
        tracing: makes its spans.
        patches: what is replaced in it.
        own_provider: its provider was given for it alone, so `register()` does not change it.
    """

    def __init__(self, tracing: Tracing) -> None:
        self.tracing = tracing
        self.patches = Patches()
        self.own_provider = False

    def instrument(self) -> None:
        """Patch the framework, or patch what a reload has replaced.

        Raises:
            ImportError: it is not installed.
        """
        raise NotImplementedError

    def uninstrument(self) -> None:
        """Restore every original; hooks that other code still holds do nothing."""
        self.tracing.over = True
        self.patches.remove_patches()


class _NotPickled(partial[Any]):
    def __reduce__(self) -> tuple[type, tuple[()]]:
        return object, ()


def _as_function(original: Any) -> Method:
    """Return a method as a plain function of its instance; another vendor's wrapper is bound at each call."""
    if type(original) is FunctionType:  # such wrappers pass `isinstance`
        return original
    if type(original) is classmethod:
        return _as_function(original.__func__)
    of_class = isinstance(original, classmethod)

    @wraps(original.__func__ if of_class else original)
    def call(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
        if of_class:
            bound = original.__get__(None, instance)
        else:
            bound = original.__get__(instance, type(instance))
        return bound(*args, **kwargs)

    return call
