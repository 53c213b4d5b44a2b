"""A patch in an answer: the files that it is about, as it leaves them.

In: an answer with a unified diff, fenced or not, and files by path. Out: the files after it, or None where
the answer has no patch, or one of its hunks fits no place: a patch is applied whole or not at all. Line
numbers and counts of models are often wrong, so a hunk is placed by its lines: at its number where they stand
there, else at the nearest place that has them. A patch that the files hold already changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from pathlib import PurePosixPath
from typing import Final

_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_HEAD: Final = re.compile(r"^--- (?P<old>[^\n]+)\n\+\+\+ (?P<new>[^\n]+)\n(?=@@)", re.MULTILINE)
_HUNK: Final = re.compile(r"^@@ ?(?:-(\d+)[^@]*)?@@[^\n]*\n", re.MULTILINE)
_NOTHING: Final = "/dev/null"
# An answer beyond this is no patch that a person would review.
_MAX_CHARACTERS: Final = 1024 * 1024


@dataclass(slots=True)
class _Hunk:
    """Lines with their marks, and the line that they are said to begin at, from 0."""

    at: int
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def old(self) -> list[str]:
        """The lines before it."""
        return [content for mark, content in self.lines if mark != "+"]

    @property
    def new(self) -> list[str]:
        """The lines after it."""
        return [content for mark, content in self.lines if mark != "-"]

    def build_lines(self, there: list[str]) -> list[str]:
        """Return the lines after it; those that it only shows stay as they are there."""
        rest = iter(there)
        after: list[str] = []
        for mark, content in self.lines:
            if mark == "+":
                after.append(content)
                continue
            line = next(rest)
            if mark != "-":
                after.append(line)
        return after


def compute_patched_files(answer: str, files: Mapping[str, str]) -> dict[str, str] | None:
    """Return the files after the patch in an answer; None where it has none that applies.

    Args:
        answer: words with one or several unified diffs in fences, or a diff itself.
        files: text by relative path.
    """
    if len(answer) > _MAX_CHARACTERS:
        return None
    fenced = [match[2] for match in _FENCE.finditer(answer)]
    patch = "\n".join(block for block in fenced if _HEAD.search(block)) or answer
    heads = list(_HEAD.finditer(patch))
    if not heads:
        return None
    found = dict(files)
    ends = [*(following.start() for following in heads[1:]), len(patch)]
    for head, end in zip(heads, ends, strict=True):
        old, new = _read_path(head["old"], "a/"), _read_path(head["new"], "b/")
        after = _compute_patched_file(found, old, new, _read_hunks(patch[head.end() : end]))
        if after is None:
            return None
        if old not in (_NOTHING, new):
            del found[old]
        if new != _NOTHING:
            found[new] = after
    return found


def _compute_patched_file(files: Mapping[str, str], old: str, new: str, hunks: list[_Hunk]) -> str | None:
    """Return the text of one file after its hunks; None where they do not apply, or lead out of the files."""
    if not (_is_inside(old) and _is_inside(new)) or old == new == _NOTHING:
        return None
    before = "" if old == _NOTHING else files.get(old)
    if before is not None and hunks:
        return _compute_patched_text(before, hunks)
    return None


def _read_path(text: str, prefix: str) -> str:
    path = text.partition("\t")[0].strip().strip('"')
    if path != _NOTHING:
        return path.removeprefix(prefix)
    return path


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return path == _NOTHING or not (parts.is_absolute() or ".." in parts.parts)


def _read_hunks(text: str) -> list[_Hunk]:
    heads = list(_HUNK.finditer(text))
    ends = [*(following.start() for following in heads[1:]), len(text)][: len(heads)]
    return [
        _read_hunk(int(head[1] or 1), text[head.end() : end]) for head, end in zip(heads, ends, strict=True)
    ]


def _read_hunk(first: int, text: str) -> _Hunk:
    hunk = _Hunk(max(first - 1, 0))
    lines = text.split("\n")
    # What follows the last line of a hunk: blank lines, and the head of the next file in git's form.
    lines = list(takewhile(lambda line: not line.startswith(("diff --git ", "index ")), lines))
    lines = list(dropwhile(lambda line: not line.strip(), reversed(lines)))[::-1]
    hunk.lines += [(line[:1], line[1:]) for line in lines if line[:1] in ("-", "+", " ", "")]
    return hunk


def _compute_patched_text(text: str, hunks: list[_Hunk]) -> str | None:
    """Return a text after hunks; None where one of them fits nowhere."""
    lines = text.split("\n")
    moved = 0
    for hunk in hunks:
        if _find_place(lines, hunk.new, hunk.at + moved) is not None and len(hunk.new) > len(hunk.old):
            continue  # it is there already
        at = _find_place(lines, hunk.old, hunk.at + moved)
        if at is None:
            if _find_place(lines, hunk.new, hunk.at + moved) is None:
                return None
            continue
        lines[at : at + len(hunk.old)] = hunk.build_lines(lines[at : at + len(hunk.old)])
        moved += len(hunk.new) - len(hunk.old)
    return "\n".join(lines)


def _find_place(lines: list[str], wanted: list[str], near: int) -> int | None:
    """Return where lines stand, blanks at their ends aside: the place nearest to a line number."""
    if not wanted:
        return min(near, len(lines) - 1)
    bare = [line.rstrip() for line in lines]
    sought = [line.rstrip() for line in wanted]
    places = [at for at in range(len(bare) - len(sought) + 1) if bare[at : at + len(sought)] == sought]
    return min(places, key=lambda at: abs(at - near), default=None)
