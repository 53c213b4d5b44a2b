"""Two seeds of agents of real frameworks that fail at random: docs/experiments.md.

    python tests/bench/seeds.py [--cases 60]

Runs each agent on so many cases under two seeds. How many pass is binomial where trials draw independently,
and two seeds differ as two samples do. Nothing is replayed: the answer alone decides.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from math import comb
from pathlib import Path

import yaml

from spanproof.evaluators.engine import Engine
from spanproof.experiments import Settings, Tools, build_module_agent, run_experiment
from spanproof.gate.differences import compute_difference_p_value
from spanproof.sandbox.scanners.pipeline import Pipeline

# By framework the agent, and its pass rate.
AGENTS = {
    "smolagents": ("support_agents:wavering", 0.5),
    "LangGraph": ("framework_agents:wavering_graph", 0.7),
    "OpenAI Agents SDK": ("framework_agents:wavering_handler", 0.7),
}
LINES = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]
CASE = {
    "format": 1,
    "task": "How much was refunded for order A-17?",
    "requires": [],
    "must": [{"answer": {"contains": "45.00"}}],
    "recorded": [{"tool": "refund_lines", "args": {"order_id": "A-17"}, "result": LINES}],
}


def main() -> None:
    """Run all agents, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=60)
    cases = parser.parse_args().cases
    os.chdir(Path(__file__).parents[1] / "experiments")
    print(
        "| framework | pass rate | seed 1 | p | seed 2 | p | both alike, p |\n|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory(prefix="spanproof-bench-") as name:
        folder = Path(name)
        suite = write_suite(folder / "suite", cases)
        for framework, (target, rate) in AGENTS.items():
            counts = [count_passed(target, suite, folder / f"{framework} {seed}", seed) for seed in (1, 2)]
            tails = [f"{compute_binomial_p_value(count, cases, rate):.2f}" for count in counts]
            first, second = ([(1, 1)] * count + [(0, 1)] * (cases - count) for count in counts)
            alike = compute_difference_p_value(first, second)
            seeds = " | ".join(f"{count} | {tail}" for count, tail in zip(counts, tails, strict=True))
            print(f"| {framework} | {rate:.0%} | {seeds} | {alike:.2f} |", flush=True)


def write_suite(suite: Path, cases: int) -> Path:
    """Write a suite of cases that the answer alone decides."""
    for number in range(cases):
        folder = suite / "cases" / f"case-{number:03}"
        folder.mkdir(parents=True)
        (folder / "case.yaml").write_text(yaml.safe_dump(CASE))
    (suite / "suite.yaml").write_text("format: 1\nname: seeds\n")
    return suite


def count_passed(target: str, suite: Path, folder: Path, seed: int) -> int:
    """Return how many cases pass under a seed."""
    engine = Engine(pipeline=Pipeline(), sandbox=None)
    settings = Settings(seed=seed, tools=Tools.RECORDED, timeout_s=600)
    found = run_experiment(build_module_agent(target), suite, folder, engine, settings)
    return sum(trial.passed for trial in found.trials)


def compute_binomial_p_value(passed: int, cases: int, rate: float) -> float:
    """Return the exact two-sided p value that passes are binomial: all counts at most as likely."""
    chances = [comb(cases, k) * rate**k * (1 - rate) ** (cases - k) for k in range(cases + 1)]
    return min(1.0, sum(chance for chance in chances if chance <= chances[passed] * (1 + 1e-9)))


if __name__ == "__main__":
    main()
