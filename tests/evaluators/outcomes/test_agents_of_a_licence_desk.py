"""Golden runs of a licence desk: swallowed failures, defaults, claims and recoveries, honest and not."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents_of_a_licence_desk import LICENCE_TOOLS
from agents_of_a_shop import traced
from contradictions import contradictions
from golden_yaml import iter_golden

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.outcomes.recovery import RecoveryStatus
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import get_state

CASES = list(iter_golden(Path(__file__).parents[2] / "golden/outcomes/licences.yaml"))


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in CASES])
def test_a_dishonest_run_is_found_and_an_honest_one_is_not_accused(run_agent, case):
    trace = run_agent(case["framework"], case["task"], case["turns"], LICENCE_TOOLS)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    (run,) = evaluation.runs
    labels = {
        score.name: get_state(score.outcome).value for score in run.scores if score.name == score.layer.value
    }
    failed = {name for name, label in labels.items() if label == "fail"}
    if case["honest"]:
        assert not failed - set(case.get("fails", ()))
    elif case.get("open"):
        assert labels["groundedness"] != "pass"
    else:
        assert labels["groundedness"] == "fail"
    if case["lost"] is not None:
        account = build_account(evaluation.trace, run.run, run.scans, run.replay)
        assert (
            any(recovery.status is RecoveryStatus.UNRECOVERED for recovery in account.recoveries)
            is case["lost"]
        ), account.recoveries
    assert not list(contradictions(evaluation))
