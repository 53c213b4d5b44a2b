"""What the folder of a search keeps of it: what it searches, and the proposals by round."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.optimise.model import Candidate


class Proposals:
    """The proposals of a search, those of an interrupted one first; None is a round that came to nothing."""

    def __init__(self, folder: Path, search: Mapping[str, object]) -> None:
        """Begin a search in a folder, or go on with the one that is there.

        Raises:
            ExperimentError: another search is there.
        """
        folder.mkdir(parents=True, exist_ok=True)
        _start_file(folder / "search.json", search)
        self._file = folder / "proposals.jsonl"
        if self._file.exists():
            lines = self._file.read_text(encoding="utf-8").splitlines()
        else:
            lines = []
        self._kept = [json.loads(line) for line in lines if line.endswith("}") or line == "null"]

    def load(self, number: int, propose: Callable[[int], Candidate | None]) -> Candidate | None:
        """Return the proposal of a round, which is made and kept where there is none yet."""
        if number >= len(self._kept):
            made = propose(number)
            self._kept.append(asdict(made) if made else None)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(self._kept[-1]) + "\n")
        found = self._kept[number]
        return None if found is None else Candidate(**found)


def _start_file(file: Path, search: Mapping[str, object]) -> None:
    if not file.exists():
        file.write_text(json.dumps(search, indent=1) + "\n", encoding="utf-8")
        return
    stored = json.loads(file.read_text(encoding="utf-8"))
    for name, value in search.items():
        if stored.get(name) != value:
            raise ExperimentError(
                f"{file.parent} holds another search: its {name} is {stored.get(name)!r}, not {value!r};"
                " give another folder, or the same arguments"
            )
