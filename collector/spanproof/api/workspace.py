"""The folder of suites, experiments and gate reports that the console shows.

Everything in it is known by its path below the folder, and found by walking the folder: a name that a request
gives is only ever compared with what was found.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from spanproof.experiments import ExperimentError, Trial
from spanproof.experiments.folder import ExperimentFolder

_DEEPEST: Final = 4
_MOST_FOLDERS: Final = 5_000


@dataclass(frozen=True, slots=True)
class ExperimentFiles:
    """One experiment of the workspace: what `experiment.json` says, and its trials; `results` has rows."""

    name: str
    results: ExperimentFolder
    head: dict[str, Any]
    trials: tuple[Trial, ...]
    written_ns: int

    @property
    def suite(self) -> Path:
        """Folder of the suite that it ran."""
        return _get_suite(self.head)


def _get_suite(head: Mapping[str, Any]) -> Path:
    return Path(str(head.get("suite", "")))


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder with suites, experiments and gate reports, at most four folders deep."""

    root: Path

    def group_suites(self) -> dict[str, Path]:
        """Return the folders of suites, by name."""
        found = (folder for folder, files in self._iter_folders() if "suite.yaml" in files)
        return {self._get_name(folder): folder for folder in sorted(found)}

    def list_experiments(
        self, suite: Path | None = None, problems: list[str] | None = None
    ) -> list[ExperimentFiles]:
        """Return the experiments, the latest first; those that cannot be read are left out.

        Args:
            suite: only of the suite in this folder.
            problems: gets the name of each that is left out, with the reason.
        """
        found = []
        for folder, files in self._iter_folders():
            if "experiment.json" not in files:
                continue
            try:
                experiment = self._find_experiment(folder, suite)
            except (ExperimentError, OSError) as problem:
                if problems is not None:
                    problems.append(f"{self._get_name(folder)}: {problem}")
                continue
            if experiment is not None:
                found.append(experiment)
        return sorted(found, key=lambda experiment: (-experiment.written_ns, experiment.name))

    def _find_experiment(self, folder: Path, suite: Path | None) -> ExperimentFiles | None:
        """Return the experiment of a folder; None where it is of another suite than the one wanted.

        Raises:
            ExperimentError, OSError: it cannot be read.
        """
        results = ExperimentFolder(folder)
        head = results.read_head()
        if suite is not None and _get_suite(head) != suite.resolve():
            return None
        trials = tuple(results.read_trials())
        written = (folder / "experiment.json").stat().st_mtime_ns
        return ExperimentFiles(self._get_name(folder), results, head, trials, written)

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
        """Return a path below the folder as text; bytes of it that are no UTF-8 become escapes."""
        return os.fsencode(path.relative_to(self.root)).decode("utf-8", "backslashreplace")
