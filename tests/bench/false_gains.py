"""How often a comparison of unchanged agents shows a gain, or a bisection a drop: docs/experiments.md.

    python tests/bench/false_gains.py

Draws 10,000 pairs of experiments of one agent for each number of cases and trials. The pass rates of its
cases are drawn from 0 to 1 alike, or are mostly near 0 and 1, as those of agents are. `--baseline` and
`compare` use that test. `optimise` chooses the best of its candidates on validation cases and tests it on
held-out ones; here none is better than the start. `report bisect` looks for a drop in the runs of one agent.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

from spanproof.evaluators.bisect_drop import Dimension, Observation, compute_bisection
from spanproof.experiments.optimise.model import build_split
from spanproof.experiments.statistics import Change, compare_pairs

PAIRS = 10_000
# Cases, and trials of each.
SIZES = ((1, 1), (3, 1), (6, 1), (12, 1), (24, 1), (3, 5), (6, 5), (12, 5))
# Cases of a search, and trials of each.
SEARCHES = ((24, 1), (24, 5), (48, 1))
CANDIDATES = 10
# Runs of one agent in order, and its pass rate.
BISECTED = ((12, 0.7), (20, 0.7), (20, 0.95))
# Parameters of the beta distribution of the cases' pass rates.
SHAPES = {"from 0 to 1": (1.0, 1.0), "mostly near 0 and 1": (0.3, 0.3)}


@cache
def compare_sorted(differences: tuple[float, ...]) -> Change:
    return compare_pairs([0.0] * len(differences), differences).change


def count_false_gains(cases: int, trials: int, shape: tuple[float, float], pairs: int) -> int:
    draw = random.Random(f"{cases} {trials} {shape}")
    gains = 0
    for _ in range(pairs):
        rates = [draw.betavariate(*shape) for _ in range(cases)]
        now, before = (
            [sum(draw.random() < rate for _ in range(trials)) / trials for rate in rates] for _ in range(2)
        )
        differences = (round(new - old, 9) for new, old in zip(now, before, strict=True))
        # Cases that came out the same turn no sum around.
        changed = tuple(sorted(each for each in differences if each))
        gains += bool(changed) and compare_sorted(changed) is Change.BETTER
    return gains


def count_false_searches(cases: int, trials: int, shape: tuple[float, float], searches: int) -> int:
    draw = random.Random(f"search {cases} {trials} {shape}")
    split = build_split([str(number) for number in range(cases)], seed=0)

    def measure(part: Sequence[float]) -> list[float]:
        return [sum(draw.random() < rate for _ in range(trials)) / trials for rate in part]

    gains = 0
    for _ in range(searches):
        validation = [draw.betavariate(*shape) for _ in split.validation]
        held_out = [draw.betavariate(*shape) for _ in split.held_out]
        start, *others = (sum(measure(validation)) for _ in range(1 + CANDIDATES))
        if max(others) <= start:
            continue  # the start stays the best: nothing is claimed
        pairs = zip(measure(held_out), measure(held_out), strict=True)
        changed = tuple(sorted(round(new - old, 9) for new, old in pairs if new != old))
        gains += bool(changed) and compare_sorted(changed) is Change.BETTER
    return gains


def count_false_drops(runs: int, rate: float, agents: int) -> int:
    draw = random.Random(f"{runs} {rate}")
    drops = 0
    for _ in range(agents):
        observations = [
            Observation(str(number), number, draw.random() < rate, dict.fromkeys(Dimension, "same"), {})
            for number in range(runs)
        ]
        drop = compute_bisection(observations).drop
        drops += drop is not None and drop.is_certain
    return drops


def main() -> None:
    print("| runs | pass rate | false drops |\n|---|---|---|")
    for runs, rate in BISECTED:
        print(f"| {runs} | {rate:.0%} | {count_false_drops(runs, rate, PAIRS) / PAIRS:.2%} |", flush=True)
    print("| cases of a search | trials | pass rates of cases | false gains |\n|---|---|---|---|")
    for name, shape in SHAPES.items():
        for cases, trials in SEARCHES:
            gains = count_false_searches(cases, trials, shape, PAIRS)
            print(f"| {cases} | {trials} | {name} | {gains / PAIRS:.2%} |", flush=True)
    print("| cases | trials | pass rates of cases | false gains |\n|---|---|---|---|")
    for name, shape in SHAPES.items():
        for cases, trials in SIZES:
            gains = count_false_gains(cases, trials, shape, PAIRS)
            print(f"| {cases} | {trials} | {name} | {gains / PAIRS:.2%} |", flush=True)


if __name__ == "__main__":
    main()
