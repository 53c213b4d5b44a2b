"""Find words that the code base no longer uses; `words.yaml` beside this file lists them.

`python tests/lint/words.py` prints each use as `file:line: word: say instead` and exits with 1 where there is
any.

Python files are read as tokens: names are split into their words, comments and docstrings are read whole, and
so are messages, which are the other string literals of the product (those of tests are data). All other files
are read as text.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).with_name("words.yaml")
_TEXT = {".md", ".sh", ".toml", ".yaml", ".yml", ".txt", ".cfg", ""}
_NOT_OURS = re.compile(
    r"(^|/)(LICENSE|words\.yaml|constraints\.txt|weights\.txt|reading/lexicon\.txt|gitleaks\.toml|(?:prompts|addresses)\.txt|golden/.*|ordinary/programs/.*|english_model/.*|web/.*)$"
)
_BEFORE_A_STATEMENT = {"NEWLINE", "INDENT", "DEDENT", "ENCODING"}
"""A string behind one of these is a docstring, or documents the assignment above it."""
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


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

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """The words that are several."""
        return tuple(word for word in self.words if " " in word)


def read_lists(path: Path = LISTS) -> Lists:
    """Return the lists of a file."""
    given: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    exceptions = {word: re.compile("|".join(some)) for word, some in given["exceptions"].items()}
    return Lists(given["words"], exceptions, tuple(given["vocabulary"]))


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
        if not _may_use(text, lists):
            continue  # most files: to read them as tokens would take ten times as long
        if name.endswith(".py"):
            pieces = _pieces(text, messages=not name.startswith("tests/") and name not in lists.vocabulary)
        else:
            pieces = enumerate(text.splitlines(), start=1)
        for line, piece in pieces:
            for word in _words_in(piece, lists):
                yield Use(name, line, word)


def _may_use(text: str, lists: Lists) -> bool:
    parts = {part.lower() for part in _PART.findall(text)}
    return any(parts.issuperset(word.split()) for word in lists.words)


def _words_in(line: str, lists: Lists) -> Iterator[str]:
    parts = [part.lower() for part in _PART.findall(line)]
    spaced = f" {' '.join(parts)} "
    for word in [*lists.words.keys() & parts, *(each for each in lists.phrases if f" {each} " in spaced)]:
        count = spaced.count(f" {word} ") if " " in word else parts.count(word)
        if exception := lists.exceptions.get(word):
            count -= len(exception.findall(line))
        yield from [word] * count


def _pieces(source: str, *, messages: bool) -> Iterator[tuple[int, str]]:
    """Yield line number and text of names with what touches them, comments, docstrings, and messages."""
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        row = token.start[0]
        if kind == "NAME":
            yield row, token.line[max(0, token.start[1] - 1) : token.end[1] + 2]  # `.stem`, `.tell()`
        elif kind == "COMMENT":
            yield row, token.string
        elif kind in {"STRING", "FSTRING_MIDDLE"} and (begins or (messages and " " in token.string)):
            for number, line in enumerate(token.string.splitlines()):
                yield row + number, line
        begins = kind in _BEFORE_A_STATEMENT or (begins and kind in {"COMMENT", "NL"})


def describe(use: Use, lists: Lists) -> str:
    """Return the line that names a use and what to say instead."""
    return f"{use.path}:{use.line}: {use.word}: say {lists.words[use.word]}"


def main() -> int:
    """Print the uses; return 1 where there are any."""
    lists = read_lists()
    uses = list(find_uses(ROOT, tracked_files(), lists))
    sys.stdout.write("".join(f"{describe(use, lists)}\n" for use in uses))
    return bool(uses)


if __name__ == "__main__":
    sys.exit(main())
