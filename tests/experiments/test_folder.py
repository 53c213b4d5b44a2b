"""The folder of an experiment: reading leaves its files as they are, going on removes an unfinished line."""

from __future__ import annotations

import pytest

from spanproof.experiments.comparison import read_baseline
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.trial import Trial, TrialVerdict

HEAD = {"suite": "/suites/refunds", "agent": {"kind": "module", "target": "shop:make_agent"}, "seed": 0}
UNFINISHED = b'{"case": "refund", "number": 2, "verd'


@pytest.fixture
def interrupted(tmp_path):
    """The folder of an experiment with one trial and a line that is being written."""
    results = ExperimentFolder(tmp_path / "x")
    results.load_trials(HEAD)
    results.add_trial(Trial("refund", 1, TrialVerdict.PASSED))
    with (tmp_path / "x" / "trials.jsonl").open("ab") as file:
        file.write(UNFINISHED)
    return tmp_path / "x"


def test_reading_an_experiment_that_runs_does_not_write(interrupted):
    file = interrupted / "trials.jsonl"
    before = file.read_bytes()
    assert [trial.number for trial in ExperimentFolder(interrupted).read_trials()] == [1]
    assert read_baseline(interrupted).rates == {"refund": 1.0}
    assert file.read_bytes() == before


def test_an_experiment_that_is_read_only_can_be_read(interrupted):
    (interrupted / "trials.jsonl").chmod(0o444)
    interrupted.chmod(0o555)
    try:
        assert len(ExperimentFolder(interrupted).read_trials()) == 1
    finally:
        interrupted.chmod(0o755)


def test_going_on_removes_the_unfinished_line(interrupted):
    results = ExperimentFolder(interrupted)
    assert [trial.number for trial in results.load_trials(HEAD)] == [1]
    results.add_trial(Trial("refund", 2, TrialVerdict.FAILED))
    assert [trial.number for trial in ExperimentFolder(interrupted).read_trials()] == [1, 2]
