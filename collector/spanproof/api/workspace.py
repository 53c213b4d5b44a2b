"""The folder of suites, experiments and gate reports that the console shows.

Everything in it is known by its path below the folder, and found by walking the folder: a name that a request
gives is only ever compared with what was found.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from spanproof.experiments import ExperimentError, Trial
from spanproof.experiments.folder import ExperimentFolder

_DEEPEST: Final = 4
_MOST_FOLDERS: Final = 5_000
_BIGGEST_REPORT: Final = 20_000_000
_REPORT_KEYS: Final = frozenset(("passed", "assertions", "failed_layers"))


@dataclass(frozen=True, slots=True)
class ExperimentFiles:
    """One experiment of the workspace: what `experiment.json` says, and its trials; `results` has rows."""

    name: str
    results: ExperimentFolder
    head: dict[str, Any]
    trials: tuple[Trial, ...]
    written_ns: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder with suites, experiments and gate reports, at most four folders deep."""

    root: Path

    def group_suites(self) -> dict[str, Path]:
        """Return the folders of suites, by name."""
        found = (folder for folder, files in self._iter_folders() if "suite.yaml" in files)
        return {self._get_name(folder): folder for folder in sorted(found)}

    def list_experiments(self, suite: Path | None = None) -> list[ExperimentFiles]:
        """Return the experiments, the latest first; of one suite, or all.

        Those that cannot be read are left out.
        """
        found = []
        for folder, files in self._iter_folders():
            if "experiment.json" not in files:
                continue
            try:
                results = ExperimentFolder(folder)
                head = results.read_head()
                if suite is not None and Path(str(head.get("suite", ""))) != suite.resolve():
                    continue
                trials = tuple(results.read_trials())
                written = (folder / "experiment.json").stat().st_mtime_ns
            except (ExperimentError, OSError, ValueError, KeyError, TypeError):
                continue
            found.append(ExperimentFiles(self._get_name(folder), results, head, trials, written))
        return sorted(found, key=lambda experiment: (-experiment.written_ns, experiment.name))

    def find_trial(self, experiment: str, case: str, number: int) -> tuple[ExperimentFiles, Trial] | None:
        """Return a trial with its row, and its experiment; None where there is none."""
        for item in self.list_experiments():
            if item.name != experiment:
                continue
            for trial in item.trials:
                if (trial.case, trial.number) == (case, number):
                    return item, replace(trial, row=item.results.load_row(trial))
        return None

    def group_gate_reports(self) -> dict[str, Path]:
        """Return the files that may be reports of `spanproof gate --json`, by name."""
        return {
            self._get_name(folder / file): folder / file
            for folder, files in self._iter_folders()
            for file in sorted(files)
            if file.endswith(".json") and file not in ("experiment.json", "trace.json", "tape.json")
        }

    def build_suite_path(self, name: str) -> Path:
        """Return the folder of a suite that may not be there yet; `name` is one plain word."""
        return self.group_suites().get(name, self.root / name)

    def _iter_folders(self) -> Iterator[tuple[Path, frozenset[str]]]:
        """Yield folders with their files; links are not followed."""
        for seen, (folder, below, files) in enumerate(os.walk(self.root), start=1):
            path = Path(folder)
            depth = len(path.relative_to(self.root).parts)
            is_leaf = depth >= _DEEPEST or "experiment.json" in files
            # The cases of a suite are read with it.
            skipped = "cases" if "suite.yaml" in files else None
            names = sorted(name for name in below if not name.startswith(".") and name != skipped)
            below[:] = [] if is_leaf else names
            yield path, frozenset(files)
            if seen >= _MOST_FOLDERS:
                return

    def _get_name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def load_gate_report(path: Path) -> dict[str, Any] | None:
    """Return what `spanproof gate --json` wrote; None of another file."""
    try:
        if path.stat().st_size > _BIGGEST_REPORT:
            return None
        report = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    is_report = isinstance(report, dict) and report.keys() >= _REPORT_KEYS
    return report if is_report and isinstance(report["assertions"], list) else None
