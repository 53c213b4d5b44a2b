"""The measures: size, complexity, duplication, dead code, and what is broken of an API, of files of code.

Pure functions of sources. Size and complexity are lizard's, in every language that it reads; dead code is
vulture's and the API is griffe's, of Python alone. None runs code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import griffe
from lizard import FileAnalyzer, get_extensions
from lizard_languages import get_reader_for
from vulture import Vulture

from spanproof.evaluators.structure.left import CodeFile, Files

# Lines in a row that have to repeat to be a duplicate: fewer repeat by chance.
_WINDOW: Final = 6

# What lizard calls the code outside functions.
_TOP: Final = "*global*"

# Strings, numbers and comments of a line: rows of data differ in nothing else.
_NOT_CODE: Final = re.compile(r'"[^"]*"|\'[^\']*\'|`[^`]*`|\b\d[\w.]*|#.*$|//.*$')

_IMPORTS: Final = re.compile(r"\s*(?:import|from|use|using|package|require|#include)\b")
_WORD: Final = re.compile(r"[^\W\d]")
_NOQA: Final = re.compile(r"#\s*noqa", re.IGNORECASE)
_PRIVATE: Final = re.compile(r"_(?!_)")
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class FunctionSize:
    """One function, or the code outside functions: its lines of code, and the paths through it."""

    file: str
    name: str
    line: int
    lines: int
    paths: int

    @property
    def is_top(self) -> bool:
        """Whether it is the code outside functions."""
        return self.name == _TOP


@dataclass(frozen=True, slots=True)
class Size:
    """Lines of code, without blanks and comments, and the functions they are in."""

    lines: int
    functions: tuple[FunctionSize, ...]

    @property
    def paths(self) -> int:
        """The paths through all functions together."""
        return sum(function.paths for function in self.functions)


@dataclass(frozen=True, slots=True)
class Finding:
    """Lines of a file, and what is said of them."""

    file: str
    line: int
    lines: int
    what: str


@dataclass(frozen=True, slots=True)
class ApiChange:
    """How many public names the files of two runs had, and which broke how."""

    names: int
    broken: Mapping[str, str]


def select_readable(files: Iterable[CodeFile]) -> list[CodeFile]:
    """Return the files that lizard reads, and of those in Python the ones that parse."""
    return [
        file
        for file in files
        if get_reader_for(file.name) is not None and (not file.is_python or _find_module(file) is not None)
    ]


def _find_module(file: CodeFile) -> ast.Module | None:
    try:
        return ast.parse(file.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def compute_size(files: Sequence[CodeFile]) -> Size:
    """Return lines and paths of files that can be read."""
    analyse = FileAnalyzer(get_extensions(["outside"]))
    lines = 0
    functions: list[FunctionSize] = []
    for file in files:
        found = analyse.analyze_source_code(file.name, file.source)
        lines += found.nloc
        functions += [
            FunctionSize(
                file.name,
                function.name,
                function.start_line,
                function.nloc,
                function.cyclomatic_complexity,
            )
            for function in found.function_list
        ]
    return Size(lines, tuple(functions))


def count_duplicates(files: Sequence[CodeFile]) -> tuple[int, list[Finding]]:
    """Return how many lines say something, and the blocks of them that repeat an earlier block."""
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    total = 0
    found: list[Finding] = []
    for file in files:
        kept = list(_iter_code_lines(file))
        total += len(kept)
        at = 0
        while at + _WINDOW <= len(kept):
            block = tuple(text for _, text in kept[at : at + _WINDOW])
            first = seen.setdefault(block, (file.name, kept[at][0]))
            if first == (file.name, kept[at][0]):
                at += 1
                continue
            length = _count_repeated(kept, at, seen)
            found.append(Finding(file.name, kept[at][0], length, f"repeats line {first[1]} of {first[0]}"))
            at += length
    return total, found


def _count_repeated(
    kept: Sequence[tuple[int, str]], at: int, seen: Mapping[tuple[str, ...], tuple[str, int]]
) -> int:
    """Return how many lines from here repeat, window after window."""
    end = at + _WINDOW
    while end < len(kept) and tuple(text for _, text in kept[end - _WINDOW + 1 : end + 1]) in seen:
        end += 1
    return end - at


def _iter_code_lines(file: CodeFile) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file.source.splitlines(), 1):
        if _WORD.search(_NOT_CODE.sub("", line)) and not _IMPORTS.match(line):
            yield number, line.strip()


def list_dead_code(files: Sequence[CodeFile]) -> list[Finding]:
    """Return what no line of these Python files uses or reaches: imports, code after a return, private names.

    A public name of a file may be used elsewhere, and one at the top of a session by the user.
    """
    vulture = Vulture()
    trees: dict[str, ast.Module] = {}
    for file in files:
        tree = _find_module(file)
        if tree is not None:
            trees[file.name] = tree
            # A snippet cannot excuse itself.
            vulture.scan(_NOQA.sub("# ", file.source), file.name)
    return [
        Finding(
            str(item.filename),
            item.first_lineno,
            item.size,
            f"{_describe_kind(item.typ)} {item.name}".strip(),
        )
        for item in vulture.get_unused_code(min_confidence=60)
        if _is_dead(item.typ, item.name, item.first_lineno, str(item.filename), trees)
    ]


def _describe_kind(kind: str) -> str:
    if kind == "unreachable_code":
        return "unreachable code after"
    return f"unused {kind}"


def _is_dead(kind: str, name: str, line: int, file: str, trees: Mapping[str, ast.Module]) -> bool:
    if kind == "unreachable_code":
        return True
    if kind == "import":
        return Path(file).name != "__init__.py"
    if kind == "variable":
        return _is_within_function(trees[file], line)
    if kind in ("function", "class"):
        return (
            bool(_PRIVATE.match(name))
            or CodeFile(file, "").is_session
            or _is_within_function(trees[file], line)
        )
    return bool(_PRIVATE.match(name)) and kind in ("method", "property")


def _is_within_function(tree: ast.Module, line: int) -> bool:
    return any(
        isinstance(node, _FUNCTION) and node.lineno < line <= (node.end_lineno or node.lineno)
        for node in ast.walk(tree)
    )


def compare_api(before: Files, after: Files) -> ApiChange:
    """Return what became of the public names of the Python files that both have.

    Of a session only names count that both define: it has no callers elsewhere.
    """
    names = 0
    broken: dict[str, str] = {}
    for name in sorted(before.keys() & after.keys()):
        if not before[name].is_python or not (_find_module(before[name]) and _find_module(after[name])):
            continue
        old, new = _parse_module(before[name]), _parse_module(after[name])
        in_session = before[name].is_session
        public = {
            path
            for path in _list_public_paths(old)
            if not in_session or path.partition(".")[0] in new.members
        }
        names += len(public)
        for breakage in griffe.find_breaking_changes(old, new):
            path = breakage.obj.path.partition(".")[2]
            where = path if path in public else path.rpartition(".")[0]
            if where in public:
                broken.setdefault(f"{name}: {where}", breakage.kind.value.lower())
    return ApiChange(names, broken)


def _parse_module(file: CodeFile) -> griffe.Module:
    return griffe.visit("module", filepath=Path("module.py"), code=file.source)


def _list_public_paths(module: griffe.Module) -> set[str]:
    found: set[str] = set()
    for name, member in module.members.items():
        if not member.is_public or member.is_alias:
            continue
        found.add(name)
        if member.is_class:
            found |= {
                f"{name}.{inner}"
                for inner, below in member.members.items()
                if below.is_public and not below.is_alias
            }
    return found
