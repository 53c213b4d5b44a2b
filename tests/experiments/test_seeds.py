"""Trials draw independently of each other, and each draws the same again."""

from __future__ import annotations

import random
from math import comb, sqrt

import pytest

from spanproof.experiments import Settings, build_module_agent, evaluate_again, run_experiment
from spanproof.experiments.seeds import compute_trial_seed

CASES, FAIL_RATE, SEEDS = 60, 0.3, 400
MUST = [{"answer": {"contains": "45.00"}}]


def count_passed(seed: int) -> int:
    draws = (random.Random(compute_trial_seed(seed, f"case-{case}", 1)).random() for case in range(CASES))
    return sum(draw >= FAIL_RATE for draw in draws)


def test_how_many_cases_pass_is_binomial_over_seeds():
    """Pearson's test over the classes below, at and above the middle; a seed for all cases gives 0 or 60."""
    counts = [count_passed(seed) for seed in range(SEEDS)]
    pass_rate = 1 - FAIL_RATE
    chance = [comb(CASES, k) * pass_rate**k * FAIL_RATE ** (CASES - k) for k in range(CASES + 1)]
    bounds = [(0, 38), (39, 40), (41, 42), (43, 44), (45, 60)]
    statistic = 0.0
    for low, high in bounds:
        wanted = SEEDS * sum(chance[low : high + 1])
        found = sum(low <= each <= high for each in counts)
        statistic += (found - wanted) ** 2 / wanted
    # The 99.9 % quantile of chi-square with 4 degrees of freedom.
    assert statistic < 18.47


def test_two_seeds_differ_as_two_samples_do():
    """The variance of the difference of two counts is twice that of one."""
    differences = [count_passed(seed) - count_passed(seed + 10_000) for seed in range(SEEDS)]
    variance = sum(each**2 for each in differences) / SEEDS
    wanted = 2 * CASES * FAIL_RATE * (1 - FAIL_RATE)
    # Four standard errors of a variance of so many normal draws.
    assert abs(variance / wanted - 1) < 4 * sqrt(2 / SEEDS)


def test_seeds_differ_by_case_by_trial_and_by_seed():
    seeds = {compute_trial_seed(*each) for each in [(0, "a", 1), (0, "a", 2), (0, "b", 1), (1, "a", 1)]}
    assert len(seeds) == 4
    assert all(0 <= each < 2**32 for each in seeds)


@pytest.mark.parametrize("name", ["gambling", "gambling_with_an_own_generator"])
def test_an_agent_that_fails_at_random_fails_in_some_cases(write_suite, engine, tmp_path, name):
    suite = write_suite(**{f"case-{number}": {"must": MUST} for number in range(20)})
    target = build_module_agent(f"plain_agents:{name}")
    first, again = (
        run_experiment(target, suite, tmp_path / out, engine, Settings(timeout_s=60)) for out in ("1", "2")
    )
    # Fewer than 6 or more than 19 of 20 have a chance of 0.1 % at 70 %.
    assert 6 <= sum(trial.passed for trial in first.trials) <= 19
    answers = [{trial.case: trial.answer for trial in each.trials} for each in (first, again)]
    assert answers[0] == answers[1]


def test_all_generators_of_the_agent_are_seeded_by_trial(write_suite, engine, tmp_path):
    suite = write_suite(one={}, two={})
    target = build_module_agent("plain_agents:drawing_from_all")
    first, again = (
        run_experiment(target, suite, tmp_path / out, engine, Settings(trials=2, timeout_s=60))
        for out in ("1", "2")
    )
    drawn = {(trial.case, trial.number): trial.answer.split() for trial in first.trials}
    assert drawn == {(trial.case, trial.number): trial.answer.split() for trial in again.trials}
    default, unseeded, seeded, late_numpy = zip(*drawn.values(), strict=True)
    assert [len(set(each)) for each in (default, unseeded, late_numpy)] == [4, 4, 4]
    # The agent's own seed is its own decision.
    assert len(set(seeded)) == 1


def test_the_replay_of_a_trial_draws_what_its_agent_drew(write_suite, engine, tmp_path):
    """The sandbox starts from the trial's seed, in a rescore, too."""
    suite = write_suite(one={"requires": []})
    target = build_module_agent("plain_agents:drawing_in_a_step")
    first = run_experiment(target, suite, tmp_path / "1", engine, Settings(trials=2, timeout_s=60))
    again = evaluate_again(tmp_path / "1", suite, tmp_path / "2", engine)
    assert len({trial.answer for trial in first.trials}) == 2
    for experiment in (first, again):
        rows = [experiment.load_row(trial) for trial in experiment.trials]
        scores = [score for row in rows for run in row["runs"] for score in run["scores"]]
        assert [each["label"] for each in scores if each["name"] == "reproduced"] == ["pass", "pass"]
