"""Data files: what is known of libraries, programs, formats, rules and system calls, a line each.

In: a file. Out: its sections and their entries. `[name]` begins a section, `#` a comment; an entry is a key
and the rest of its line, and an indented line continues the entry before it. Only the standard library is
needed, because the inline guard reads these files in an agent's process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_sections(file: Traversable) -> dict[str, dict[str, str]]:
    """Read a file: section to key to value; blanks within a value are one blank each.

    Raises:
        ValueError: an entry precedes the first section, or a key is given twice; names file and line.
    """
    sections: dict[str, dict[str, str]] = {}
    entries: dict[str, str] | None = None
    key = ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            entries = sections.setdefault(line[1:-1], {})
            continue
        words = line.split()
        if entries is None or (line[0] != " " and words[0] in entries):
            raise ValueError(f"{file.name}, line {number}: {words[0]!r} has no section or is given twice")
        if line[0] == " ":
            entries[key] += " " + " ".join(words)
        else:
            key = words[0]
            entries[key] = " ".join(words[1:])
    return sections


def split_entry(entries: dict[str, str], key: str) -> frozenset[str]:
    """Return the words of one entry."""
    return frozenset(entries[key].split())


def build_word_index(entries: dict[str, str]) -> dict[str, str]:
    """Return each word of the values with the key of its entry."""
    return {word: key for key, value in entries.items() for word in value.split()}
