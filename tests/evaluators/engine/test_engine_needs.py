"""What runs for what is requested: a replay where an outcome rests on one, and else nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.plugins.scripted_sandbox import ScriptedSandbox

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import NoReplay, NoReplayCause, Replay
from spanproof.evaluators.rescore import evaluate_again
from spanproof.evaluators.sampling import Sampling, SamplingRule
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, trace_of

from .runs import Failing, agent, layer_of, step


def test_only_the_layers_requested_are_judged(jail, misquote):
    engine = Engine(pipeline=Pipeline(), sandbox=jail, layers=[Layer.EXECUTION])
    assert {s.layer for s in engine.evaluate(misquote).scores} == {Layer.EXECUTION}


def test_what_is_not_sampled_is_skipped_with_the_share_and_nothing_of_it_runs(misquote):
    sampling = Sampling((SamplingRule(0.0),))
    evaluation = Engine(pipeline=Pipeline(), sandbox=ScriptedSandbox(), sampling=sampling).evaluate(misquote)
    assert [s.name for s in evaluation.scores] == [layer.value for layer in Layer]
    assert all("0.00%" in s.outcome.reason for s in evaluation.scores)


@pytest.mark.parametrize("layer", [Layer.GROUNDEDNESS, Layer.TRAJECTORY])
def test_nothing_runs_for_layers_that_the_record_settles(jail, misquote, layer):
    whole = Engine(pipeline=Pipeline(), sandbox=jail).evaluate(misquote)
    sandbox = ScriptedSandbox()
    evaluation = Engine(pipeline=Pipeline(), sandbox=sandbox, layers=[layer]).evaluate(misquote)
    assert (sandbox.programs, sandbox.specs) == ([], [])
    assert evaluation.runs[0].replay == NoReplay(
        "nothing that is judged of this run needs it", NoReplayCause.NOT_NEEDED
    )
    said = {s.name: (s.id, getattr(s.outcome, "value", s.outcome)) for s in evaluation.scores}
    assert said == {
        s.name: (s.id, getattr(s.outcome, "value", s.outcome)) for s in whole.scores if s.layer is layer
    }


@pytest.mark.parametrize("layer", [Layer.GROUNDEDNESS, Layer.TRAJECTORY])
def test_what_the_record_leaves_open_is_replayed_for_every_layer(jail, misquote, layer):
    silent = replace(
        misquote.spans[1], code=replace(misquote.spans[1].code, logs=None, output=None), observation=None
    )
    trace = trace_of([misquote.spans[0], silent, *misquote.spans[2:]])
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail, layers=[layer]).evaluate(trace)
    assert isinstance(evaluation.runs[0].replay, Replay)


def test_layers_that_need_a_replay_and_are_not_sampled_cause_none(misquote):
    sampling = Sampling(
        tuple(SamplingRule(0.0, layer=each) for each in (Layer.CORRECTNESS, Layer.BOUNDARY, Layer.EXECUTION))
    )
    sandbox = ScriptedSandbox()
    evaluation = Engine(pipeline=Pipeline(), sandbox=sandbox, sampling=sampling).evaluate(misquote)
    assert (sandbox.programs, sandbox.specs) == ([], [])
    assert layer_of(evaluation, Layer.GROUNDEDNESS).label is Label.FAIL


def test_names_are_looked_up_for_correctness_alone(jail, misquote):
    ran = []

    class Counted(Failing):
        def run(self, program):
            ran.append(program)
            return self.real.run(program)

    source = "import math\nprint(math.pi)"
    trace = trace_of([agent("3.14"), step(1, source, logs="3.141592653589793\n")])
    sandbox = Counted(jail, None, 0)
    Engine(pipeline=Pipeline(), sandbox=sandbox, layers=[Layer.EXECUTION]).evaluate(trace)
    assert ran == []
    Engine(pipeline=Pipeline(), sandbox=sandbox, layers=[Layer.CORRECTNESS]).evaluate(trace)
    assert len(ran) == 1


def test_scoring_again_keeps_the_replay_that_the_other_layers_scores_rest_on(jail, misquote):
    stored = Engine(pipeline=Pipeline(), sandbox=jail).evaluate(misquote)
    sandbox = ScriptedSandbox()
    engine = Engine(pipeline=Pipeline(), sandbox=sandbox, layers=[Layer.TRAJECTORY])
    again = evaluate_again(engine, stored, [Layer.TRAJECTORY])
    assert (sandbox.programs, sandbox.specs) == ([], [])
    assert again.runs[0].replay == stored.runs[0].replay
    assert {s.id for s in again.scores} == {s.id for s in stored.scores}
