"""A budget of processor time for each layer: what is over it is skipped, and the other layers are judged."""

from __future__ import annotations

from contextlib import suppress

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Cost, Evaluator
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Cause, Judgement, Layer, Scored, Skipped


class Endless(Evaluator):
    """Rules that do not end, and take every exception for one of their own."""

    name, version, layer, cost = "endless", "1", Layer.TRAJECTORY, Cost.RULES

    def judge(self, evidence, so_far):
        while True:
            with suppress(Exception):
                sum(range(1000))


class Later(Evaluator):
    """Queries a model, after the rules."""

    name, version, layer, cost = "later", "1", Layer.TRAJECTORY, Cost.MODEL

    def judge(self, evidence, so_far):
        score = Scored(1.0, None, "asked")
        return [Judgement(self.layer, self.name, evidence.run.span_id, score, self.name, self.version)]


def test_what_is_over_the_budget_of_its_layer_is_skipped_with_that_reason(misquote):
    engine = Engine(pipeline=Pipeline(), sandbox=None, evaluators=[Endless(), Later()], layer_budget_s=0.3)
    outcomes = {score.name: score.outcome for score in engine.evaluate(misquote).scores}
    reason = "judging trajectory took longer than evaluation.layer_budget_s, 0.3 s"
    assert outcomes["endless"] == outcomes["later"] == Skipped(reason, Cause.BUDGET_SPENT)
    unlimited = Engine(pipeline=Pipeline(), sandbox=None).evaluate(misquote)
    assert {name: outcomes[name] for name in Layer} == {
        score.name: score.outcome for score in unlimited.scores if score.name in set(Layer)
    }


def test_a_budget_that_is_not_spent_changes_nothing(misquote):
    engine = Engine(pipeline=Pipeline(), sandbox=None, evaluators=[Later()], layer_budget_s=60.0)
    unlimited = Engine(pipeline=Pipeline(), sandbox=None, evaluators=[Later()])
    assert engine.evaluate(misquote).scores == unlimited.evaluate(misquote).scores
