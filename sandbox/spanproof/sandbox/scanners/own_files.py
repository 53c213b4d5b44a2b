"""Files that a program writes itself: what they hold when it runs, loads or reads them again.

In: the texts and objects that a program writes, by path. Out: what a file may hold, in the languages that the
program and the scripts that it starts are written in. A write that is not followed makes a file's content
unknown, and what is unknown is judged as before: reviewed where it is run or loaded.
"""

from __future__ import annotations

from typing import Any

MOST_FILES = 64
"""Files that are followed; a program that writes more of them is read without this knowledge."""

MOST_NAMES = 256
"""Files whose names are kept; of a program that writes more of them, any module may be its own."""


class OwnFiles:
    """What a program has written, by absolute path.

    Contents only grow: what is written on one way through the program may be there on every other.
    """

    __slots__ = ("_ends", "_is_closed", "_objects", "_opened", "_texts", "_unknown", "is_full")

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._objects: dict[str, list[Any]] = {}
        self._unknown: set[str] = set()
        self._opened: set[str] = set()
        # Of paths that are known in part, by the names that they have here: how they begin and end.
        self._ends: dict[str, tuple[str, str]] = {}
        self._is_closed = False
        # Whether more files are written than names are kept.
        self.is_full = False

    def add_text(self, path: str, text: str) -> None:
        """Note a text at the end of a file."""
        if len(self._texts) < MOST_FILES:
            self._texts[path] = self._texts.get(path, "") + text
        else:
            self._add_name(self._unknown, path)

    def add_object(self, path: str, written: Any) -> None:
        """Note an object that a file holds in serialised form."""
        if len(self._objects) < MOST_FILES:
            self._objects.setdefault(path, []).append(written)
        else:
            self._add_name(self._unknown, path)

    def record_unknown(self, path: str | None) -> None:
        """Note a write that is not followed: to a file, below a folder, or (None) anywhere."""
        if path is not None:
            self._add_name(self._unknown, path)
        for other in (*self._texts, *self._objects):
            if path is None or other.startswith(f"{path}/"):
                self._unknown.add(other)

    def record_unknown_like(self, name: str, start: str, end: str) -> None:
        """Note a write to a path that is known in part: any other file may be the same one.

        Args:
            name: the name that the path has here.
            start: how the absolute path begins; empty where that is not known.
            end: how it ends.
        """
        self._ends[name] = start, end
        for other in (*self._texts, *self._objects):
            its_start, its_end = self._ends.get(other, (other, other))
            is_alike = its_start.startswith(start) or start.startswith(its_start)
            if other != name and is_alike and (its_end.endswith(end) or end.endswith(its_end)):
                self._unknown.add(other)

    def close(self) -> None:
        """Note that any file may hold anything from here on: what a relative path names is not sure."""
        self._is_closed = True

    def record_emptied(self, path: str) -> None:
        """Note that a file is emptied to be written; what one holds that is written twice is not known."""
        if path in self._opened:
            self._add_name(self._unknown, path)
        self._add_name(self._opened, path)

    def _add_name(self, names: set[str], path: str) -> None:
        if path in names or len(names) < MOST_NAMES:
            names.add(path)
        else:
            self.is_full = self._is_closed = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known of what any file holds."""
        return not self._texts and not self._objects

    def holds(self, path: str) -> bool:
        """Whether anything that was written to a file is known."""
        return path in self._texts or path in self._objects

    def list_written(self) -> list[str]:
        """Return the paths of all files that are written, whether what they hold is known or not."""
        return [*{**self._texts, **self._objects, **dict.fromkeys(self._unknown | self._opened)}]

    def list_modules(self, module: str) -> list[str]:
        """Return the paths of own files that the import of a module may run: `/pkg/a.py` for `pkg.a`."""
        path = "/" + module.replace(".", "/")
        if self.is_full:
            return [f"{path}.py"]
        return [one for one in self.list_written() if one.endswith((f"{path}.py", f"{path}/__init__.py"))]

    def find_text(self, path: str) -> str | None:
        """Return the whole text of a file; None where it is not known."""
        is_known = not self._is_closed and path not in self._unknown and path not in self._objects
        return self._texts.get(path) if is_known else None

    def list_objects(self, path: str) -> list[Any]:
        """Return the objects one of which a file holds; none where that is not known."""
        is_known = not self._is_closed and path not in self._unknown and path not in self._texts
        return self._objects.get(path, []) if is_known else []
