"""Golden runs of agents that look values up or invent them: real frameworks, scripted models, real tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents_of_a_fleet import FLEET_TOOLS
from agents_of_a_shop import TOOLS as SHOP_TOOLS
from agents_of_a_shop import traced
from contradictions import contradictions
from golden_yaml import iter_golden

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.account import build_account
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, Scored

GOLDEN = Path(__file__).parents[2] / "golden/outcomes"
TOOLS = {"origins": SHOP_TOOLS, "fleet": FLEET_TOOLS}
CASES = [
    pytest.param(case, tools, id=case["case"])
    for name, tools in TOOLS.items()
    for case in iter_golden(GOLDEN / f"{name}.yaml")
]


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


def outcome_of(evaluation, layer, name):
    return next(each.outcome for each in evaluation.scores if (each.layer, each.name) == (layer, name))


@pytest.mark.parametrize(("case", "tools"), CASES)
def test_an_invented_value_is_found_and_a_sourced_one_is_none(run_agent, case, tools):
    trace = run_agent(case["framework"], case["task"], case["turns"], tools)
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace)
    (run,) = evaluation.runs
    made_up = build_account(evaluation.trace, run.run, run.scans, run.replay).fabricated
    grounded = outcome_of(evaluation, Layer.GROUNDEDNESS, "groundedness")
    label = grounded.label if isinstance(grounded, Scored) else None
    assert case["invented"] or not made_up, made_up
    if case.get("open"):
        assert label is not Label.PASS
    else:
        assert (label is Label.FAIL) is case["invented"], grounded
    if made_up:
        assert grounded.explanation.startswith(f"The answer says {made_up[0].value}"), grounded.explanation
        assert outcome_of(evaluation, Layer.TRAJECTORY, "answered").label is Label.FAIL
    assert not list(contradictions(evaluation))


@pytest.mark.parametrize(
    ("task", "turns", "sentence"),
    [
        (
            "What is the total of all orders in euros?",
            [
                "print(run_sql(query='SELECT SUM(total) FROM orders'))",
                "eur_rate = 0.9132\nprint(round(214.75 * eur_rate, 2))",
                "final_answer('All orders total 196.11 EUR.')",
            ],
            "The answer says 196.11; it rests on what line 1 of step 2 writes down (`eur_rate = 0.9132`).",
        ),
        (
            "What is the revenue of orders placed in 2019?",
            [
                "print(run_sql(query=\"SELECT SUM(total) FROM orders WHERE placed LIKE '2019%'\"))",
                "print(run_sql(query='SELECT SUM(total) FROM orders'))",
                "final_answer('The revenue of 2019 is 214.75.')",
            ],
            (
                "The answer says 214.75; step 2 gave it for more than the task is about"
                " (SELECT SUM(total) FROM orders leaves out 2019)."
            ),
        ),
        (
            "What is the average salary of the legal team?",
            [
                "try:\n    pay = fetch_page(url='http://hr')\nexcept Exception:\n    pay = 64250\nprint(pay)",
                "final_answer('The average salary is 64,250.')",
            ],
            "The answer says 64,250; line 4 of step 1 puts it in place of what failed (`pay = 64250`).",
        ),
    ],
)
def test_the_explanation_names_the_value_and_its_line(run_agent, task, turns, sentence):
    evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(run_agent("smolagents", task, turns))
    assert outcome_of(evaluation, Layer.GROUNDEDNESS, "groundedness").explanation == sentence
