"""Raising a tool's exception inside a session as the class that the program's own `except` names.

In: the name of a class, with its module where that is known, and a message. Out: an exception of that class
where the session has it: a builtin, one of the standard library's or of a module that was imported, one that
the program has under this name; else of a class made for the name, the same one each time.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

_made: dict[str, type[BaseException]] = {}


def build_exception(name: str, message: str) -> BaseException:
    """Return the exception to raise."""
    module, _, short = name.rpartition(".")
    kind = (_find_in_module(module, short) if module else None) or _find_in_session(short)
    if kind is None:
        kind = _made.setdefault(name, type(short, (Exception,), {"__module__": "__main__"}))
    return _build_instance(kind, message)


def _find_in_module(module: str, name: str) -> type[BaseException] | None:
    """Find a class by its whole name; what was not imported is so for the standard library alone."""
    if module not in sys.modules and module.partition(".")[0] in sys.stdlib_module_names:
        try:
            importlib.import_module(module)
        except Exception:  # noqa: BLE001 - the name comes from a record, and may be none of a module
            return None
    found = sys.modules.get(module)
    return _as_exception_class(found.__dict__.get(name)) if found is not None else None


def _find_in_session(name: str) -> type[BaseException] | None:
    """Find a class by its short name: the program's, a builtin, or the one that its modules know by it."""
    main = sys.modules["__main__"].__dict__
    exception_class = _as_exception_class(main.get(name)) or _as_exception_class(
        getattr(builtins, name, None)
    )
    if exception_class is not None:
        return exception_class
    modules = [value for value in list(main.values()) if isinstance(value, ModuleType)]
    found = _list_distinct(_as_exception_class(module.__dict__.get(name)) for module in modules)
    return found[0] if len(found) == 1 else None


def _list_distinct(kinds: Iterable[type[BaseException] | None]) -> list[type[BaseException]]:
    return list(dict.fromkeys(kind for kind in kinds if kind is not None))


def _as_exception_class(value: object) -> type[BaseException] | None:
    return value if isinstance(value, type) and issubclass(value, BaseException) else None


def _build_instance(kind: type[BaseException], message: str) -> BaseException:
    """Return one with this message, whatever else its class is made with (as `UnicodeDecodeError`)."""
    try:
        plain = kind(message)
        if str(plain) in (message, repr(message)):
            return plain
    except Exception:  # noqa: BLE001, S110 - a class may request more than a message
        pass
    members: dict[str, Any] = {
        "__init__": lambda _self, *_args: None,
        "__str__": lambda _self: message,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    try:
        built: BaseException = type(kind.__name__, (kind,), members)(message)
    except Exception:  # noqa: BLE001 - as a group of exceptions does
        built = type(kind.__name__, (Exception,), {"__module__": kind.__module__})(message)
    return built
