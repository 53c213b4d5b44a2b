"""Tools of a project, which run its files by their names: tests, the rules of make, the scripts of npm.

In: a program and its operands. Out: the findings of the files that the script wrote and the program runs;
a review where what such a file holds is not known, or not read by any scanner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.pieces import MAX_TEXT
from spanproof.sandbox.scanners.shell.catalogue import PROJECT_FILES
from spanproof.sandbox.scanners.shell.interpreters import run_text
from spanproof.sandbox.scanners.shell.state import Words, find_known_text
from spanproof.sandbox.scanners.shell.walk import Shell

_LANGUAGES: Final = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript"}

_MAKEFILE: Final = re.compile(r"(?i)makefile$|\.mk$")
_ASSIGNED: Final = re.compile(r"^ *(?:export +)?([\w.]+) *[:?+]{0,2}= *(.*)$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\$[({]([\w.]+)[)}]")
_SHELL_FUNCTION: Final = re.compile(r"\$\(shell ((?:[^()]|\([^()]*\))*)\)")
# A recipe: lines behind a tab, and what follows the `;` of a rule's own line.
_RECIPE: Final = re.compile(r"^(?:\t[ \t@+-]*|[^\t#=:\n]+:[^=;\n]*;[ @+-]*)(.+)$", re.MULTILINE)
# How often variables may name one another.
_MOST_EXPANSIONS: Final = 8


def run_own_files(shell: Shell, program: str, arguments: Sequence[Words], node: Node) -> None:
    """Judge the files that the script wrote and that a tool runs, by their names or as its operands."""
    files = shell.context.own_files
    module = _find_module(program, arguments)
    tool = module or program
    patterns = PROJECT_FILES.get(tool, "").split()
    written = files.list_written() if patterns or module else []
    if files.is_full and patterns:
        shell.add("exec.dynamic", node, f"{tool} runs files, of which the script wrote too many to follow")
        return
    run = {shell.find_path(argument) for argument in arguments} if patterns else set()
    run |= set(files.list_modules(module) + files.list_modules(f"{module}.__main__")) if module else set()
    for path in written:
        name = path.rpartition("/")[2]
        if path in run or any(fnmatchcase(name, pattern) for pattern in patterns):
            _run_file(shell, path, tool, node)


def _find_module(program: str, arguments: Sequence[Words]) -> str | None:
    """Return the module that `python -m` runs."""
    texts = [find_known_text(argument) for argument in arguments]
    is_module = program.startswith(("python", "pypy", "ipython")) and "-m" in texts[:-1]
    return texts[texts.index("-m") + 1] if is_module else None


def _run_file(shell: Shell, path: str, program: str, node: Node) -> None:
    name = path.rpartition("/")[2]
    text = shell.context.own_files.find_text(path)
    language = _LANGUAGES.get(name[name.rfind(".") :])
    origin = f"{program} runs {name}: "
    if text is None:
        shell.add("exec.dynamic", node, f"{program} runs {name}, whose content is not known")
    elif language is not None:
        nested.scan(language, shell.build_nested_context(node, origin), text)
    elif _MAKEFILE.search(name):
        run_text(shell, "\n".join(_iter_recipes(text)), origin, node)
    elif name == "package.json":
        run_text(shell, "\n".join(_iter_package_scripts(text)), origin, node)
    else:
        shell.add("exec.dynamic", node, f"{program} runs {name}, which no scanner reads")


def _iter_recipes(text: str) -> Iterator[str]:
    """Yield the commands of a makefile, its variables replaced by their texts."""
    text = text.replace("\\\n", " ")
    values = dict(_ASSIGNED.findall(text))
    for _ in range(_MOST_EXPANSIONS):
        named = _VARIABLE.findall(text)
        if not named:
            break
        if len(text) + sum(len(values.get(name, "")) for name in named) > MAX_TEXT:
            yield "$__unknown"
            return
        text = _VARIABLE.sub(lambda found: values.get(found[1], f"${found[1]}"), text)
    yield from _SHELL_FUNCTION.findall(text)
    for command in _RECIPE.findall(text):
        yield command.replace("$$", "$")


def _iter_package_scripts(text: str) -> Iterator[str]:
    """Yield the commands of a package.json; one that cannot be read has one that is not known."""
    try:
        yield from map(str, json.loads(text)["scripts"].values())
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        yield "$__unknown" if "scripts" in text else ""
