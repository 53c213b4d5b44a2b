"""Names outside the program: the one spelling of each, and what calls of them do, from the data files.

In: dotted names as the program spells them (`posix.system`, `np.load`, `subprocess.os.environ`). Out: the
canonical one (`os.system`, `numpy.load`, `os.environ`) and its effects. Never looks at what is installed.
"""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.reader.effects import read_effects

KNOWLEDGE: Final = read_sections("python")
LIBRARIES: Final = read_sections("libraries")


SINKS: Final = read_effects(KNOWLEDGE["calls"] | LIBRARIES["calls"])
"""Effects by resolved name."""

METHOD_SINKS: Final = read_effects(KNOWLEDGE["methods"] | LIBRARIES["methods"])
"""Effects by method name, where the receiver's class is not known."""

TARGETS: Final = split_entry(LIBRARIES["inert"], "targets")
"""Arguments, entries and attributes of objects of libraries that say where they go."""


BUILTINS: Final = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {
    "__import__", "__builtins__", "__build_class__", "get_ipython",
}  # fmt: skip

_SAME_MODULE: Final = KNOWLEDGE["modules"]
_SAME_NAME: Final = KNOWLEDGE["names"]

COMMON_ALIASES: Final = KNOWLEDGE["aliases"]
"""Names agents bind in an earlier step of the same session, in their common spelling."""

KNOWN_MODULES: Final = split_entry(KNOWLEDGE["known"], "free")
"""Modules a free name may mean: what an earlier step of the session imported."""

SENSITIVE: Final = split_entry(KNOWLEDGE["known"], "sensitive")
"""Modules whose functions reach outside: what is taken out of them by an unknown name may be one."""

OWN_PROCESSES: Final = split_entry(KNOWLEDGE["known"], "processes")
"""Numbers of processes that the program is, or has started itself: it may signal them."""

LEAKED_MODULES: Final = split_entry(KNOWLEDGE["known"], "leaked")
"""Modules that other modules hold as an attribute (`glob.os`), which is a way around an import list."""

# By its last word, a function that modules of other packages hold by that word.
HELD: Final = {name.rpartition(".")[2]: name for name in split_entry(KNOWLEDGE["known"], "held")}

# Attributes of every module that load others and read files.
_LOADERS: Final = frozenset({"__loader__", "__spec__"})


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """Return the one spelling of a dotted name."""
    name = _strip_builtins(_rename_module(name))
    parts = name.split(".")
    inner = _find_inner_module(parts)
    if inner is not None:
        return normalise_name(inner)
    if "(" not in name and name not in SINKS:
        held = HELD.get(parts[-1]) if len(parts) > 1 and parts[0] != "?" else None
        shortened = f"{parts[0]}.{parts[-1]}" if len(parts) > 2 else ""  # `pandas.io.parsers.read_csv`
        if held is not None or shortened in SINKS:
            return held or shortened
    for prefix, same in _SAME_NAME.items():
        if name == prefix or name.startswith(prefix + "."):
            return normalise_name(same + name[len(prefix) :])
    return name


def _find_inner_module(parts: list[str]) -> str | None:
    """Return a name from the last module on that another one holds: `os.system` of `glob.os.system`."""
    for index in range(len(parts) - 1, 0, -1):
        module = parts[index]
        if module in _LOADERS:
            return ".".join(parts[index:])
        if _is_leaked_module(parts, index):
            if module not in LEAKED_MODULES and not module.endswith("__"):
                module = module.strip("_")
            return ".".join([module, *parts[index + 1 :]])
    return None


def _rename_module(name: str) -> str:
    """Return a name with its module spelled as the catalogue does: `posix.system` is `os.system`."""
    head, dot, tail = name.partition(".")
    return f"{_SAME_MODULE.get(head, head)}{dot}{tail}"


def _strip_builtins(name: str) -> str:
    """Return the name of a built-in function without its module."""
    if not name.startswith("builtins."):
        return name
    short = name.removeprefix("builtins.")
    is_special = short.startswith("__") and short != "__import__"
    if not is_special and (short in BUILTINS or "." not in short):
        return short
    return name


def _is_leaked_module(parts: list[str], index: int) -> bool:
    """Whether a part of a name is a module that another holds: `glob.os`, `random._os`."""
    part, owner = parts[index], parts[index - 1]
    is_module = part in LEAKED_MODULES or (part.startswith("_") and part.strip("_") in KNOWN_MODULES)
    if not is_module or part == owner or _is_column(parts, index):
        return False
    # A class of its own module, or a method of an object: `zmq.Context().socket`.
    return part != "socket" or not any("()" in one for one in parts)


def _is_column(parts: list[str], index: int) -> bool:
    """Whether an attribute is a column of a table rather than a module: `pandas.read_csv().os`."""
    return parts[0] == "?" or (parts[0] == "pandas" and any("(" in part for part in parts[:index]))


def find_top_module(name: str) -> str:
    """Return the top-level module of a canonical name."""
    return name.partition(".")[0].removesuffix("()")
