"""Find words that the code base no longer uses; `words.yaml` beside this file lists them.

`python tests/lint/words.py` prints each use as `file:line: word: say instead` and exits with 1 where there is
any. `--shrink` lowers the numbers of the rooms that are still being cleaned, and never raises one.

Python files are read as tokens: names are split into their words, comments and docstrings are read whole, and
so are messages, which are the other string literals of the product (those of tests are data). All other files
are read as text.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).with_name("words.yaml")
_TEXT = {".md", ".sh", ".toml", ".yaml", ".yml", ".txt", ".cfg", ""}
_NOT_OURS = re.compile(
    r"(^|/)(LICENSE|words\.yaml|constraints\.txt|weights\.txt|gitleaks\.toml|golden/.*|web/.*)$"
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SHOWN = 40


@dataclass(frozen=True)
class Use:
    """One use of a word: the file relative to the root, and its line, from 1."""

    path: str
    line: int
    word: str


@dataclass(frozen=True)
class Lists:
    """What `words.yaml` says; its head documents the keys."""

    words: dict[str, str]
    exceptions: dict[str, re.Pattern[str]]
    vocabulary: tuple[str, ...]
    rooms: dict[str, int]


def read_lists(path: Path = LISTS) -> Lists:
    """Return the lists of a file."""
    given: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    exceptions = {word: re.compile("|".join(some)) for word, some in given["exceptions"].items()}
    return Lists(given["words"], exceptions, tuple(given["vocabulary"]), given["rooms"])


def tracked_files(root: Path = ROOT, *, every: bool = False) -> list[str]:
    """Return the files of a checkout that a person writes, or every one, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = sorted(name for name in listed.split("\0") if name and (root / name).is_file())
    return names if every else [name for name in names if _is_written(name)]


def _is_written(name: str) -> bool:
    return not _NOT_OURS.search(name) and Path(name).suffix in {*_TEXT, ".py"}


def find_uses(root: Path, names: Iterable[str], lists: Lists) -> Iterator[Use]:
    """Yield each use of a word of the lists in these files."""
    for name in names:
        text = (root / name).read_text(encoding="utf-8")
        if name.endswith(".py"):
            pieces = _pieces(text, messages=not name.startswith("tests/") and name not in lists.vocabulary)
        else:
            pieces = enumerate(text.splitlines(), start=1)
        for line, piece in pieces:
            for word in _words_in(piece, lists):
                yield Use(name, line, word)


def _words_in(line: str, lists: Lists) -> Iterator[str]:
    parts = [part.lower() for part in _PART.findall(line)]
    spaced = f" {' '.join(parts)} "
    for word in lists.words:
        count = spaced.count(f" {word} ") if " " in word else parts.count(word)
        if count and (exception := lists.exceptions.get(word)):
            count -= len(exception.findall(line))
        yield from [word] * count


def _pieces(source: str, *, messages: bool) -> Iterator[tuple[int, str]]:
    """Yield line number and text of names with what touches them, comments, docstrings, and messages."""
    docstrings = _docstring_lines(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        row = token.start[0]
        if kind == "NAME":
            yield row, token.line[max(0, token.start[1] - 1) : token.end[1] + 2]  # `.stem`, `.tell()`
        elif kind == "COMMENT":
            yield row, token.string
        elif kind in {"STRING", "FSTRING_MIDDLE"} and (
            row in docstrings or (messages and " " in token.string)
        ):
            for number, line in enumerate(token.string.splitlines()):
                yield row + number, line


def _docstring_lines(source: str) -> set[int]:
    """Return the lines on which docstrings begin."""
    return {
        node.value.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def room_of(path: str, rooms: Iterable[str]) -> str | None:
    """Return the innermost room that holds a file, or is it."""
    return max((room for room in rooms if f"{path}/".startswith(f"{room}/")), key=len, default=None)


def find_faults(uses: Iterable[Use], lists: Lists) -> list[str]:
    """Return a line for each use outside of the rooms, and for each room that has more than its number."""
    inside: dict[str, list[Use]] = {room: [] for room in lists.rooms}
    faults = []
    for use in uses:
        room = room_of(use.path, lists.rooms)
        if room is None:
            faults.append(_describe(use, lists))
        else:
            inside[room].append(use)
    for room, found in inside.items():
        allowed = lists.rooms[room]
        if len(found) > allowed:
            faults.append(
                f"{room}: {len(found)} uses, where {allowed} are left to remove; one of these is new:"
            )
            faults += [f"  {_describe(use, lists)}" for use in found[:_SHOWN]]
            if len(found) > _SHOWN:
                faults.append(f"  and {len(found) - _SHOWN} more: `git diff` shows which are yours")
    return faults


def _describe(use: Use, lists: Lists) -> str:
    return f"{use.path}:{use.line}: {use.word}: say {lists.words[use.word]}"


def shrink(uses: Iterable[Use], lists: Lists) -> dict[str, int]:
    """Return the rooms with their present numbers, where these are lower; without those that are clean."""
    counted = Counter(room_of(use.path, lists.rooms) for use in uses)
    return {room: min(allowed, counted[room]) for room, allowed in lists.rooms.items() if counted[room]}


def write_rooms(rooms: dict[str, int], path: Path = LISTS) -> None:
    """Write the rooms into the file, whose other parts stay as they are."""
    head = path.read_text(encoding="utf-8").partition("\nrooms:")[0]
    listed = [f"  {room}: {allowed}" for room, allowed in sorted(rooms.items())]
    tail = "\n".join(["rooms:", *listed]) if listed else "rooms: {}"
    path.write_text(f"{head}\n{tail}\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the faults; return 1 where there are any."""
    parser = argparse.ArgumentParser(description="Find words that the code base no longer uses.")
    parser.add_argument(
        "--shrink", action="store_true", help="lower the numbers of rooms that have fewer uses"
    )
    shrinks = parser.parse_args(arguments).shrink
    lists = read_lists()
    uses = list(find_uses(ROOT, tracked_files(), lists))
    if shrinks:
        write_rooms(shrink(uses, lists))
    faults = find_faults(uses, lists)
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
