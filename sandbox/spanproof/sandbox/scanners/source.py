"""The text of a snippet, and where things stand in it.

In: any text a trace can hold, NUL bytes and lone surrogates included. Out: the same text, and lines and
columns counted from 1 in characters, as editors count. Never changes the text it was given.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """A stretch of a source: lines and columns from 1, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


START = Place(1, 1, 1, 1)
"""Where findings about a source as a whole stand."""


@dataclass(slots=True)
class Source:
    """One snippet's text. Line starts are counted when first asked for."""

    language: str
    text: str
    _starts: list[int] = field(default_factory=list)

    def place(self, start: int, end: int) -> Place:
        """The place of the characters from offset `start` up to `end`."""
        line, column = self._position(start)
        end_line, end_column = self._position(end)
        return Place(line, column, end_line, end_column)

    def _position(self, offset: int) -> tuple[int, int]:
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
