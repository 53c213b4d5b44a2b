"""The text of a snippet, and places in it.

In: any text a trace can hold, NUL bytes and lone surrogates included. Out: the same text, and lines and
columns counted from 1 in characters, as editors count. Never changes the text it was given.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from spanproof.sandbox.catalogue import build_word_index, split_entry
from spanproof.sandbox.scanners.catalogue import read_sections

if TYPE_CHECKING:
    import ast

    from spanproof.sandbox.scanners.python.parse import Parsed


_LANGUAGES: Final = read_sections("languages")
_ALIASES: Final = build_word_index(_LANGUAGES["aliases"])
DATA_LANGUAGES: Final = split_entry(_LANGUAGES["kinds"], "data")
"""What is read, not run: the text scanners are enough."""

KNOWN_LANGUAGES: Final = tuple(_LANGUAGES["kinds"]["known"].split())
"""Names of languages, for errors that name the nearest one; others are taken too."""


LONG: Final = 8_192
"""Bytes above which code is read in a process that can be ended; the worst shorter text found takes 0.3 s."""


def normalise_language(name: str) -> str:
    """Return the one name of a language that fences and callers give many: `sh` is `bash`."""
    name = name.strip().lower()
    return _ALIASES.get(name, name)


def to_lower_case(text: str) -> str:
    """Return the text in lower case, as long as it was: a letter that becomes two stays."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := one.lower()) == 1 else one for one in text)


class Place(NamedTuple):
    """A stretch of a source: lines and columns from 1, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


START = Place(1, 1, 1, 1)
"""The place of findings about a source as a whole."""


@dataclass(slots=True)
class Source:
    """One snippet's text. What is derived from it is computed on first use, and once."""

    language: str
    text: str
    _starts: list[int] = field(default_factory=list)
    _lowered: str | None = None
    _python: Parsed | None = None
    _nodes: list[ast.AST] | None = None

    @property
    def lowered(self) -> str:
        """The text in lower case, for the keywords of patterns; offsets are those of the text."""
        if self._lowered is None:
            self._lowered = to_lower_case(self.text)
        return self._lowered

    @property
    def is_long(self) -> bool:
        """Whether the text is longer than what every scanner reads in bounded time."""
        text = self.text
        return len(text) > LONG or (not text.isascii() and len(text.encode("utf-8", "replace")) > LONG)

    @property
    def python(self) -> Parsed:
        """The text as a Python tree: one for all scanners, which must not change it."""
        if self._python is None:
            from spanproof.sandbox.scanners.python.parse import parse_program

            self._python = parse_program(self.text)
        return self._python

    @property
    def python_nodes(self) -> list[ast.AST]:
        """The nodes of that tree, breadth first, without operators and contexts; none without a tree."""
        if self._nodes is None:
            from spanproof.sandbox.scanners.python.parse import list_nodes

            module = self.python.module
            self._nodes = [] if module is None else list_nodes(module)
        return self._nodes

    def place(self, start: int, end: int) -> Place:
        """Return the place of the characters from offset `start` up to `end`."""
        line, column = self._compute_position(start)
        end_line, end_column = self._compute_position(end)
        return Place(line, column, end_line, end_column)

    def _compute_position(self, offset: int) -> tuple[int, int]:
        if not self._starts:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
