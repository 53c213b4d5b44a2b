"""The scores of an experiment's runs: what the gate checks."""

from __future__ import annotations

import json

from spanproof.experiments.experiment import Experiment
from spanproof.gate import read_scores
from spanproof.trace import Score


def scores_of(experiment: Experiment) -> tuple[Score, ...]:
    """Return the scores of all trials that left a run."""
    rows = (experiment.row_of(trial) for trial in experiment.trials)
    return tuple(read_scores((json.dumps(row) for row in rows if row), experiment.folder))
