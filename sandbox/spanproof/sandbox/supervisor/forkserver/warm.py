"""The interpreter that guests are forked from: warm, with a single thread.

In: names of modules. Out: an interpreter in which what programs import is loaded, and what they do done once.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import linecache
import os
import platform
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from spanproof.sandbox.guest.ending import record_modules
from spanproof.sandbox.guest.rehearsal import run_rehearsal
from spanproof.sandbox.supervisor.namespaces.process_tree import NO_CORE_BYTES

_PRELOADED: frozenset[str] = frozenset(
    """
    abc array ast base64 bisect calendar cmath collections collections.abc contextlib copy csv dataclasses
    datetime decimal enum fractions functools glob hashlib heapq inspect io itertools json linecache math
    numbers operator os pathlib pprint queue random re secrets shutil signal socket statistics string struct
    subprocess tempfile textwrap threading time traceback types typing unicodedata urllib.parse uuid
    warnings zlib zoneinfo
    """.split()  # noqa: SIM905 - a table
)


def start_interpreter(extra: Sequence[str]) -> None:
    """Become such an interpreter; Ctrl-C is the host's.

    Raises:
        RuntimeError: a module started a thread.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(ValueError):  # a user may not raise the highest value where it is 0
        resource.setrlimit(resource.RLIMIT_CORE, (NO_CORE_BYTES, NO_CORE_BYTES))
    run_imports(extra)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - a count
        raise RuntimeError(f"a preloaded package started a thread, whose locks forks would inherit: {extra}")
    sys.dont_write_bytecode = True


def run_gc_freeze() -> None:
    """Keep all that is loaded now out of later garbage collections, which would write to it in each fork."""
    gc.collect()
    record_modules()


def run_imports(extra: Sequence[str]) -> None:
    """Import what programs import, and do once what they do, so that they need not."""
    for name in (*sorted(_PRELOADED), *extra):
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # warmth only: a program that imports it gets the error
    run_rehearsal()
    # `uuid` queried the name of the machine when it was loaded; a program is given another (`machine`).
    platform._uname_cache = None  # type: ignore[attr-defined]  # noqa: SLF001 - it has no other way before 3.14


def list_import_folders() -> tuple[str, ...]:
    """Return where this interpreter searches modules: its path, and what editable installations map."""
    finders = [module for name, module in sys.modules.items() if name.startswith("__editable__")]
    mapped = [str(path) for finder in finders for path in getattr(finder, "MAPPING", {}).values()]
    folders = (path.removesuffix(".py") for path in (*sys.path, *mapped))
    return tuple(folder for folder in folders if folder.count("/") > 1)


def remove_own_source() -> None:
    """Keep tracebacks through the runner from looking for its files, which a program may not read."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name.startswith("spanproof.") and path:
            linecache.cache[path] = (0, None, [], path)


def update_import_path(site: str) -> None:
    """Use a package set in the place of the interpreter's own, for whatever Python runs in the jail."""
    sys.path[:] = [path for path in sys.path if Path(path).name not in ("site-packages", "dist-packages")]
    sys.path.append(site)
    os.environ["PYTHONPATH"] = site
