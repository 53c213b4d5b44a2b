"""What happened to the code of agents, by cohort."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from spanproof.cli.app import run
from spanproof.sandbox.model import FailureClass
from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.store import open_store
from spanproof.store.breakdown import Fact
from spanproof.trace import Cohort

NOW_NS = time.time_ns()
WEAK = Finding(
    "python.secret.assigned", Severity.MEDIUM, Verdict.ALLOW, 1, 0, 1, 1, "a secret is assigned", cwe=798
)
DENIED = Finding("python.process.start", Severity.HIGH, Verdict.DENY, 2, 0, 2, 1, "starts a program")
OWN = Finding("bandit.eval", Severity.LOW, Verdict.REVIEW, 3, 0, 3, 1, "another scanner's rule", cwe=78)


@pytest.fixture(scope="module")
def location(tmp_path_factory, evaluation):
    """Three runs of agent a, of which one times out and two are denied, and one clean run of agent b."""
    made = []
    for number, (agent, failure, findings) in enumerate(
        [
            ("a", FailureClass.TIMEOUT, (WEAK, WEAK, DENIED)),
            ("a", FailureClass.OK, (DENIED, OWN)),
            ("a", FailureClass.OK, ()),
            ("b", FailureClass.OK, ()),
        ],
        start=1,
    ):
        whole = evaluation(number << 100, start_ns=NOW_NS - 10**9, cohort=Cohort("shop", agent=agent))
        (judged,) = whole.runs
        (step,) = judged.replay.steps
        replay = replace(
            judged.replay, steps=(replace(step, execution=replace(step.execution, failure_class=failure)),)
        )
        scan = Scan(Verdict.DENY if DENIED in findings else Verdict.ALLOW, findings)
        judged = replace(judged, replay=replay, scans=dict.fromkeys(judged.scans, scan))
        made.append(replace(whole, runs=(judged,)))
    directory = tmp_path_factory.mktemp("stored")
    with open_store(directory) as store:
        store.write(made)
    return str(directory)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Fact.FAILURE_CLASS, {("a", "ok"): (2, 3), ("a", "timeout"): (1, 3), ("b", "ok"): (1, 1)}),
        (Fact.ATTEMPT, {("a", "network (blocked)"): (3, 3), ("b", "network (blocked)"): (1, 1)}),
        (Fact.BLOCKED, {("a", "python.process.start"): (2, 3)}),
        (Fact.CWE, {("a", "CWE-78"): (1, 3), ("a", "CWE-798"): (1, 3)}),
    ],
)
def test_each_fact_is_counted_by_cohort(location, fact, expected):
    with open_store(location) as store:
        found = store.break_down(fact, ["agent"], start_ns=0, end_ns=NOW_NS)
        assert {(*each.values, each.item): (each.snippets, each.whole) for each in found} == expected
        of_b = store.break_down(fact, cohort={"agent": "b"}, start_ns=0, end_ns=NOW_NS)
        assert {each.item: (each.snippets, each.whole) for each in of_b} == {
            item: counts for (agent, item), counts in expected.items() if agent == "b"
        }


def test_dimensions_of_code_itself_are_those_of_its_run(location):
    with open_store(location) as store:
        found = store.break_down(Fact.BLOCKED, ["project", "user"], start_ns=0, end_ns=NOW_NS)
    assert [(each.values, each.snippets, each.whole) for each in found] == [(("shop", ""), 2, 4)]


def test_the_command_shows_shares_with_intervals(location, capfd):
    arguments = ["breakdown", "blocked", "--by", "agent", "--store", location]
    assert run([*arguments, "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert (row["agent"], row["blocked"], row["snippets"], row["whole"]) == (
        "a",
        "python.process.start",
        2,
        3,
    )
    assert row["share"] == pytest.approx(2 / 3)
    assert row["low"] < row["share"] < row["high"]
    assert run(arguments) == 0
    assert "66.7%" in capfd.readouterr().out
    assert run([*arguments, "--csv"]) == 0
    assert capfd.readouterr().out.startswith("agent,blocked,snippets,whole,share,low,high")
    assert run([*arguments, "--where", "agent=b"]) == 0
    assert "no blocked in the last 24h" in capfd.readouterr().err
