"""The folder of an experiment.

    experiment.json     suite, agent, settings, and the environment it ran in
    trials.jsonl        a trial a line, in the order in which they ended
    traces/             a file of OTLP for each trial: `spanproof eval` reads them

A trial counts once its line is on the disk, so that an experiment that was interrupted goes on where it
stopped.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.trial import Trial, read_trial, write_trial
from spanproof.trace import digest

FORMAT = 1


class ExperimentFolder:
    """Writes an experiment, and reads what is there of one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def traces(self) -> Path:
        """Where the trials' traces are."""
        return self.path / "traces"

    def begin(self, head: Mapping[str, Any]) -> list[Trial]:
        """Make the folder, or go on with the experiment that is there; returns its trials.

        Raises:
            ExperimentError: another experiment is there: another agent, suite or way to run them.
        """
        file = self.path / "experiment.json"
        if not file.exists():
            self.traces.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"format": FORMAT, **head, "environment": describe_environment()}, indent=1)
            file.write_text(f"{text}\n", encoding="utf-8")
            return []
        known = self.read_head()
        for key, value in head.items():
            if known.get(key) != value:
                raise ExperimentError(
                    f"{self.path} holds another experiment: its {key} is {known.get(key)!r}, not {value!r};"
                    " give another folder, or the same arguments"
                )
        return self.read_trials()

    def read_head(self) -> dict[str, Any]:
        """Return what `experiment.json` holds.

        Raises:
            ExperimentError: there is none, or it cannot be read.
        """
        file = self.path / "experiment.json"
        try:
            head = json.loads(file.read_text(encoding="utf-8"))
        except OSError as problem:
            raise ExperimentError(
                f"{self.path} holds no experiment: {problem.strerror}; `spanproof suite run --agent` writes"
                " one"
            ) from problem
        except ValueError as problem:
            raise ExperimentError(f"{file}: not JSON: {problem}") from problem
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise ExperimentError(f"{file}: this Spanproof reads format {FORMAT}")
        return head

    def read_trials(self) -> list[Trial]:
        """Return the trials in the order in which they ended; a last line that was cut off is left out.

        Raises:
            ExperimentError: a line is no trial.
        """
        file = self.path / "trials.jsonl"
        if not file.exists():
            return []
        lines = file.read_bytes().split(b"\n")
        trials = []
        for number, line in enumerate(lines[:-1], start=1):
            try:
                trials.append(read_trial(json.loads(line)))
            except (ValueError, KeyError, TypeError) as problem:
                raise ExperimentError(f"{file}, line {number}: {problem}") from problem
        if lines[-1]:
            file.write_bytes(b"\n".join([*lines[:-1], b""]))
        return trials

    def append(self, trial: Trial) -> None:
        """Write a trial, durably."""
        line = json.dumps(write_trial(trial), ensure_ascii=True, default=str) + "\n"
        with (self.path / "trials.jsonl").open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def describe_environment() -> dict[str, Any]:
    """Return interpreter, platform and packages, with one digest of all packages."""
    packages = sorted({f"{each.name}=={each.version}" for each in distributions() if each.name})
    return {
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
        "image": os.environ.get("SPANPROOF_IMAGE", ""),
        "packages_digest": digest(*packages),
        "packages": packages,
    }
