"""The code that the trials of an earlier experiment left, which structural metrics compare with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.judge import load_trace

if TYPE_CHECKING:
    from spanproof.evaluators.structure import Files


def read_earlier_code(folder: Path) -> dict[str, Files]:
    """Return the code that the trials of an experiment left, by task; of a case the last trial counts.

    Raises:
        ExperimentError: there is no experiment.
    """
    # Structural metrics are a plug-in: an experiment without a baseline loads none of it.
    from spanproof.evaluators.structure import read_code

    results = ExperimentFolder(folder)
    results.read_head()
    traces = (load_trace(results.get_trace_file(trial.case, trial.number)) for trial in results.read_trials())
    return read_code(trace for trace in traces if trace is not None)
