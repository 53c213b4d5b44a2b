"""Files that a program writes itself: what they hold when it runs, loads or reads them again.

In: the texts and objects that a program writes, by path. Out: what a file may hold, in the languages that the
program and the scripts that it starts are written in. A write that is not followed makes a file's content
unknown, and what is unknown is judged as before: reviewed where it is run or loaded.
"""

from __future__ import annotations

from typing import Any

MOST_FILES = 64
"""Files that are followed; a program that writes more of them is read without this knowledge."""


class OwnFiles:
    """What a program has written, by absolute path.

    Contents only grow: what is written on one way through the program may be there on every other.
    """

    __slots__ = ("_is_closed", "_objects", "_opened", "_texts", "_unknown")

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._objects: dict[str, list[Any]] = {}
        self._unknown: set[str] = set()
        self._opened: set[str] = set()
        self._is_closed = False

    def add_text(self, path: str, text: str) -> None:
        """Note a text at the end of a file."""
        if len(self._texts) < MOST_FILES:
            self._texts[path] = self._texts.get(path, "") + text
        else:
            self._unknown.add(path)

    def add_object(self, path: str, written: Any) -> None:
        """Note an object that a file holds in serialised form."""
        if len(self._objects) < MOST_FILES:
            self._objects.setdefault(path, []).append(written)
        else:
            self._unknown.add(path)

    def forget(self, path: str | None) -> None:
        """Note a write that is not followed: to a file, below a folder, or (None) anywhere."""
        if path is not None:
            self._unknown.add(path)
        for known in (*self._texts, *self._objects):
            if path is None or known.startswith(f"{path}/"):
                self._unknown.add(known)

    def close(self) -> None:
        """Note that any file may hold anything from here on: what a relative path names is not sure."""
        self._is_closed = True

    def open_new(self, path: str) -> None:
        """Note that a file is emptied to be written; what one holds that is written twice is not known."""
        if path in self._opened:
            self._unknown.add(path)
        self._opened.add(path)

    def holds(self, path: str) -> bool:
        """Whether anything that was written to a file is known."""
        return path in self._texts or path in self._objects

    def find_text(self, path: str) -> str | None:
        """Return the whole text of a file; None where it is not known."""
        known = not self._is_closed and path not in self._unknown and path not in self._objects
        return self._texts.get(path) if known else None

    def list_objects(self, path: str) -> list[Any]:
        """Return the objects one of which a file holds; none where that is not known."""
        known = not self._is_closed and path not in self._unknown and path not in self._texts
        return self._objects.get(path, []) if known else []
