"""What code reads that no replay can give again: its surroundings, and chance.

Takes the dotted names a snippet uses and the names it binds; decides whether its output may depend on the
environment, the file system, the network, the clock or an unseeded generator, by itself or through a variable
of an earlier snippet. Where it does, a difference from the record proves nothing. Never runs anything.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from spanproof.evaluators.replay.names import Names
from spanproof.evaluators.replay.uses import Use

# Modules and functions whose results belong to a machine or a moment.
_SURROUNDINGS = (
    "aiohttp",
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "getpass",
    "glob",
    "httpx",
    "importlib.metadata",
    "locale",
    "multiprocessing",
    "os",
    "pathlib.Path.cwd",
    "pathlib.Path.home",
    "platform",
    "psutil",
    "requests",
    "resource",
    "shutil",
    "socket",
    "subprocess",
    "sys.argv",
    "sys.executable",
    "sys.getsizeof",
    "sys.modules",
    "sys.path",
    "sys.platform",
    "sys.version",
    "sys.version_info",
    "tempfile",
    "threading",
    "time",
    "timeit",
    "tracemalloc",
    "urllib.request",
)

_PURE = ("os.path.", "os.linesep", "os.sep", "os.fspath", "time.strptime", "time.mktime", "time.gmtime")
_NOT_PURE = (
    "os.path.exists",
    "os.path.get",
    "os.path.is",
    "os.path.realpath",
    "os.path.abspath",
    "os.path.expand",
)

# Generators, with the call that makes them repeat.
_CHANCE = {"random": "random.seed", "numpy.random": "numpy.random.seed", "uuid": None, "secrets": None}

_BUILTINS = frozenset({"id", "hash", "input"})


@dataclass(slots=True)
class Chance:
    """Follows the snippets of one run: which of its variables hold something no replay gives again.

    Attributes:
        pinned: the replay has the packages the run had, at their versions.
    """

    pinned: bool = False
    _tainted: dict[str, str] = field(default_factory=dict)
    _seeded: set[str] = field(default_factory=set)
    makes_sets: bool = False

    def handle_snippet(self, source: str, names: Names, uses: Iterable[Use]) -> str | None:
        """Return why the next snippet's output may differ from the record; None where nothing is seen."""
        self.makes_sets = self.makes_sets or makes_sets(source)
        uses = list(uses)
        dotted = [use.name for use in uses if use.name != use.module]
        self._seeded |= {module for module, seed in _CHANCE.items() if seed in dotted}
        found = self._find_reason(dotted, names) or self._find_unpinned(uses)
        if found is None:
            for name in names.assigned:
                self._tainted.pop(name, None)
            return None
        self._tainted.update(dict.fromkeys(names.assigned, found))
        return found

    def record_tainted(self, names: Iterable[str], why: str) -> None:
        """Record that these variables differ from the recorded ones from here on."""
        self._tainted.update(dict.fromkeys(names, why))

    def _find_reason(self, dotted: list[str], names: Names) -> str | None:
        for name in dotted:
            if _is_below(name, _SURROUNDINGS) and not _is_pure(name):
                return _format_reason(name)
            if any(_is_below(name, (module,)) for module in _CHANCE if module not in self._seeded):
                return _format_reason(name)
        called = names.called & _BUILTINS
        if called:
            return _format_reason(f"{min(called)}()")
        through = names.used & self._tainted.keys()
        return self._tainted[min(through)] if through else None

    def _find_unpinned(self, uses: Iterable[Use]) -> str | None:
        """Return that a package is not pinned: another version of it may come to another result."""
        if self.pinned:
            return None
        packages = {use.module.split(".")[0] for use in uses} - sys.stdlib_module_names
        if packages:
            return f"it uses {min(packages)}, whose version the fixtures do not pin"
        return None


def _format_reason(name: str) -> str:
    return f"it depends on {name}, which no replay gives again"


def _is_below(name: str, prefixes: Iterable[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def _is_pure(name: str) -> bool:
    return name.startswith(_PURE) and not name.startswith(_NOT_PURE)


def makes_sets(source: str) -> bool:
    """Whether code has sets, whose order is that of its strings' hashes."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(node, ast.Set | ast.SetComp)
        or (isinstance(node, ast.Name) and node.id in ("set", "frozenset"))
        for node in ast.walk(tree)
    )
