"""The scores and the trials of an experiment: what the gate checks."""

from __future__ import annotations

import json

from spanproof.experiments.experiment import Experiment
from spanproof.gate import CaseTrials, iter_scores
from spanproof.trace import Score


def list_scores(experiment: Experiment) -> tuple[Score | CaseTrials, ...]:
    """Return the trials of every case, and the scores of those that left a run."""
    cases = json.dumps({"cases": list(experiment.iter_json_cases())})
    return tuple(iter_scores([cases], experiment.folder))
