"""Sampling: the same trace is always chosen or always left out, and the share is what the rule says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.sampling import SampleBy, Sampling, SamplingRule
from spanproof.trace import Cohort, Layer, Run

TRACES = [f"{number:032x}" for number in range(2000)]


@pytest.mark.parametrize("by", SampleBy)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_share_is_what_the_rule_says(build, by, share):
    sampling = Sampling((SamplingRule(share, by=by),))
    kept = sum(
        Layer.EXECUTION not in sampling.get_left_out(build.run([], trace_id=trace)) for trace in TRACES
    )
    assert kept / len(TRACES) == pytest.approx(share, abs=0.03)


def test_by_trace_all_layers_of_a_trace_go_together_by_layer_each_for_itself(build):
    runs = [build.run([], trace_id=trace) for trace in TRACES]
    whole = Sampling((SamplingRule(0.5),))
    assert {len(whole.get_left_out(run)) for run in runs} == {0, len(Layer)}
    single = Sampling((SamplingRule(0.5, by=SampleBy.LAYER),))
    assert len({len(single.get_left_out(run)) for run in runs}) > 2


@given(st.integers(0, 2**128 - 1), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_keeps_what_a_smaller_one_kept(trace, one, other):
    small, large = sorted((one, other))
    run = Run(f"{trace:032x}", "0" * 16, "an agent", None, None, ())
    if not Sampling((SamplingRule(small),)).get_left_out(run):
        assert not Sampling((SamplingRule(large),)).get_left_out(run)


def test_the_first_rule_that_concerns_a_layer_of_a_run_decides(build):
    sampling = Sampling(
        (
            SamplingRule(1.0, layer=Layer.BOUNDARY),
            SamplingRule(0.0, cohort={"agent": "pricing"}),
        )
    )
    pricing = build.run([], cohort=Cohort(agent="pricing"))
    assert sampling.get_left_out(pricing).keys() == set(Layer) - {Layer.BOUNDARY}
    assert sampling.get_left_out(build.run([], cohort=Cohort(agent="other"))) == {}
