"""The file of graded answers: a line for each as it is graded, so that an interrupted run goes on from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.report import encode_graded, read_graded
from spanproof.benchmarks.run import GradedAnswer

Done: TypeAlias = Mapping[tuple[str, int], GradedAnswer]
"""Graded answers by problem and number."""


class Journal:
    """Graded answers in a file.

    `mark` is in every line: what a grade rests on beside the answer. A run only goes on from lines that have
    the same.
    """

    def __init__(self, path: Path, mark: Mapping[str, Any]) -> None:
        self.path = path
        self._mark = dict(mark)

    def start(self) -> None:
        """Begin an empty file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")

    def load(self) -> Done:
        """Return what the file holds; a last line that an interrupt left unfinished is removed.

        Raises:
            BenchmarkError: a line is no graded answer, or one of another run.
        """
        if not self.path.exists():
            self.start()
            return {}
        found: dict[tuple[str, int], GradedAnswer] = {}
        end = 0
        with self.path.open("r+b") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                graded = self._read(line, f"{self.path}, line {number}")
                found[graded.answer.problem, graded.number] = graded
            lines.truncate(end)
        return found

    def write(self, graded: GradedAnswer) -> None:
        """Write one answer with its grades."""
        with self.path.open("ab") as file:
            file.write(self._encode_line(graded))

    def write_all(self, graded: Iterable[GradedAnswer]) -> None:
        """Put all answers in the place of those that were appended, in their order."""
        whole = self.path.with_name(f"{self.path.name}.part")
        whole.write_bytes(b"".join(map(self._encode_line, graded)))
        whole.replace(self.path)

    def _encode_line(self, graded: GradedAnswer) -> bytes:
        return json.dumps({**self._mark, **encode_graded(graded)}).encode() + b"\n"

    def _read(self, line: bytes, location: str) -> GradedAnswer:
        try:
            row = json.loads(line)
            graded = read_graded(row)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise BenchmarkError(f"{location}: no graded answer of this version: {problem!r}") from problem
        for key, value in self._mark.items():
            if row.get(key) != value:
                raise BenchmarkError(
                    f"{location}: it is of another run: its {key} is {row.get(key)!r}, not {value!r};"
                    " give another file, or the same arguments"
                )
        return graded
