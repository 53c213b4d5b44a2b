"""The folder of an experiment.

    experiment.json     suite, agent, settings, and the environment it ran in
    trials.jsonl        a trial a line, in the order in which they ended
    traces/             a file of OTLP for each trial: `spanproof eval` reads them
    files/              of each trial the files that its case requires

A trial counts once its line is on the disk, so that an experiment that was interrupted goes on where it
stopped.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import IO, Any, Final

from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.trial import Trial, encode_trial, read_trial
from spanproof.trace import digest
from spanproof.trace.codec import load_json

# What is read of a package's metadata.
_HEADER = re.compile(r"^(Name|Version): *(.*\S)", re.MULTILINE)

FORMAT = 1

# Keys of the head that distinguish one experiment from another. Where all else changed, trials run again.
_IDENTITY: Final = ("suite", "agent", "seed", "rescored")


class ExperimentFolder:
    """Writes an experiment, and reads what is there of one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: dict[tuple[str, int], int] = {}

    @property
    def traces(self) -> Path:
        """Where the trials' traces are."""
        return self.path / "traces"

    def get_trace_file(self, case: str, number: int) -> Path:
        """Return where the spans of a trial are."""
        return self.traces / f"{case}-{number:03d}.pb"

    def write_files(self, case: str, number: int, files: Mapping[str, bytes]) -> None:
        """Keep the files of a trial that its case requires."""
        for name, content in files.items():
            path = self._get_files_folder(case, number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def read_files(self, case: str, number: int) -> dict[str, bytes]:
        """Return the files that were kept of a trial."""
        folder = self._get_files_folder(case, number)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    def _get_files_folder(self, case: str, number: int) -> Path:
        return self.path / "files" / f"{case}-{number:03d}"

    def load_trials(self, head: Mapping[str, Any]) -> list[Trial]:
        """Make the folder, or go on with the experiment that is there; returns its trials.

        Raises:
            ExperimentError: another experiment is there: another agent, suite or seed.
        """
        file = self.path / "experiment.json"
        if not file.exists():
            self._write_head(head)
            return []
        stored = self.read_head()
        for key in _IDENTITY:
            value = head.get(key)
            if stored.get(key) != value:
                raise ExperimentError(
                    f"{self.path} holds another experiment: its {key} is {stored.get(key)!r}, not {value!r};"
                    " give another folder, or --fresh to start anew in this one"
                )
        self._remove_unfinished_line()
        return self.read_trials()

    def remove_experiment(self) -> None:
        """Remove the experiment that is there; other files of the folder stay."""
        if not (self.path / "experiment.json").exists():
            return
        for name in ("traces", "files"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        (self.path / "trials.jsonl").unlink(missing_ok=True)
        (self.path / "experiment.json").unlink()

    def write_trials(self, trials: Collection[Trial], head: Mapping[str, Any]) -> None:
        """Remove all trials but these, and write the head anew."""
        wanted = {self._offsets[trial.case, trial.number] for trial in trials}
        file = self.path / "trials.jsonl"
        if file.exists():
            with file.open("rb") as lines:
                kept = [line for offset, line in _iter_lines(lines) if offset in wanted]
            part = file.with_name("trials.jsonl.part")
            part.write_bytes(b"".join(kept))
            part.replace(file)
        self._write_head(head)
        self._offsets.clear()
        self.read_trials()

    def _write_head(self, head: Mapping[str, Any]) -> None:
        self.traces.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **head, "environment": read_environment()}, indent=1)
        part = self.path / "experiment.json.part"
        part.write_text(f"{text}\n", encoding="utf-8")
        part.replace(self.path / "experiment.json")

    def read_head(self) -> dict[str, Any]:
        """Return what `experiment.json` holds.

        Raises:
            ExperimentError: there is none, or it cannot be read.
        """
        file = self.path / "experiment.json"
        try:
            head = load_json(file.read_bytes())
        except OSError as problem:
            raise ExperimentError(
                f"{self.path} holds no experiment: {problem.strerror}; `spanproof suite run --agent` writes"
                " one"
            ) from problem
        except ValueError as problem:
            raise ExperimentError(f"{file}: {problem}") from problem
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ExperimentError(f"{file}: this Spanproof reads format {FORMAT}")
        return head

    def read_trials(self) -> list[Trial]:
        """Return the trials in the order in which they ended, without their rows: `load_row` has those.

        The experiment may be running: a last line that is not whole yet is left out.

        Raises:
            ExperimentError: a line is no trial.
        """
        file = self.path / "trials.jsonl"
        if not file.exists():
            return []
        trials = []
        with file.open("rb") as lines:
            for number, (offset, line) in enumerate(_iter_lines(lines), start=1):
                if not line.endswith(b"\n"):
                    break
                try:
                    trial = read_trial(load_json(line))
                except (ValueError, KeyError, TypeError) as problem:
                    raise ExperimentError(f"{file}, line {number}: {problem}") from problem
                self._offsets[trial.case, trial.number] = offset
                trials.append(replace(trial, row=None))
        return trials

    def load_row(self, trial: Trial) -> Mapping[str, Any] | None:
        """Return the run of a trial with its scores; None where it left none."""
        offset = self._offsets.get((trial.case, trial.number))
        if offset is None:
            return trial.row
        with (self.path / "trials.jsonl").open("rb") as lines:
            lines.seek(offset)
            row: Mapping[str, Any] | None = load_json(lines.readline())["row"]
        return row

    def add_trial(self, trial: Trial) -> Trial:
        """Write a trial, durably; returns it without its row, so that memory does not grow with those."""
        line = json.dumps(encode_trial(trial), ensure_ascii=True, default=str) + "\n"
        with (self.path / "trials.jsonl").open("ab") as file:
            self._offsets[trial.case, trial.number] = file.tell()
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        return replace(trial, row=None)

    def _remove_unfinished_line(self) -> None:
        """Cut off what an interrupt left of a line, so that the next trial begins a line of its own."""
        file = self.path / "trials.jsonl"
        if not file.exists():
            return
        with file.open("r+b") as lines:
            lines.truncate(sum(len(line) for line in lines if line.endswith(b"\n")))


def _iter_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its offset."""
    offset = 0
    for line in file:
        yield offset, line
        offset += len(line)


def read_environment() -> dict[str, Any]:
    """Return interpreter, platform and packages, with one digest of all packages."""
    packages = _list_packages()
    return {
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
        "image": os.environ.get("SPANPROOF_IMAGE", ""),
        "packages_digest": digest(*packages),
        "packages": packages,
    }


@cache  # they stay the same while it runs
def _list_packages() -> list[str]:
    return sorted(filter(None, {_format_package(distribution) for distribution in distributions()}))


def _format_package(package: Distribution) -> str:
    """Return a package as `name==version`, or nothing where its metadata names none.

    `package.name` parses the whole description each time: half a second for the packages of an agent.
    """
    text = package.read_text("METADATA") or package.read_text("PKG-INFO") or ""
    headers = dict(_HEADER.findall(text.partition("\n\n")[0]))
    if "Name" in headers:
        return f"{headers['Name']}=={headers.get('Version')}"
    return ""
