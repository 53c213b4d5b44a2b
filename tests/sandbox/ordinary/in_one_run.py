"""Runs many Python programs in one run: each in a fork of an interpreter that has loaded what they import.

In: `programs.json` in the working directory, the source of each program by name. Out: a line of JSON for each
program: how it ended and what it printed. Each finds an empty directory, a `__main__` of its own and an
interpreter that ends as its own would, so that it prints what `python program.py` prints. Packages are
imported once.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import sys
import types
from collections.abc import Iterable
from pathlib import Path

LOADED_ONCE = frozenset(
    (
        "matplotlib",
        "networkx",
        "nltk",
        "numpy",
        "openpyxl",
        "pandas",
        "PIL",
        "plotly",
        "scipy",
        "seaborn",
        "sklearn",
        "spacy",
        "sqlalchemy",
        "statsmodels",
        "sympy",
    )
)
"""Packages whose import costs most and starts no thread, which a fork would lose."""


def main() -> None:
    """Run the programs one after the other."""
    programs = json.loads(Path("programs.json").read_text(encoding="utf-8"))
    for module in sorted(find_modules(programs.values())):
        importlib.import_module(module)
    # What the packages made is no garbage of a program's: to look through it would take longer than to run.
    gc.collect()
    gc.freeze()
    top = Path.cwd()
    for name, source in programs.items():
        directory = top / name
        directory.mkdir()
        child = os.fork()
        if child == 0:
            start(directory, source)
            return
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed = (top / f"{name}.stdout").read_text(encoding="utf-8", errors="backslashreplace")
        complained = (top / f"{name}.stderr").read_text(encoding="utf-8", errors="backslashreplace")
        answer = {"name": name, "status": status, "stdout": printed, "stderr": complained[-1000:]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def start(directory: Path, source: str) -> None:
    """Become a program: run it as `__main__`, from a file beside its working directory."""
    script = Path(f"{directory}.py")
    script.write_text(source, encoding="utf-8")
    os.chdir(directory)
    for number, name in ((1, "stdout"), (2, "stderr")):
        opened = os.open(f"{directory}.{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.argv = [str(script)]
    sys.path[0] = str(directory)
    main_module = types.ModuleType("__main__")
    main_module.__file__ = str(script)
    sys.modules["__main__"] = main_module
    exec(compile(source, str(script), "exec"), vars(main_module))


def find_modules(sources: Iterable[str]) -> set[str]:
    """Return the modules that programs import at their top from packages that are loaded once."""
    found: set[str] = set()
    for source in sources:
        for node in ast.parse(source).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found.update(name for name in names if name.partition(".")[0] in LOADED_ONCE)
    return found


if __name__ == "__main__":
    main()
