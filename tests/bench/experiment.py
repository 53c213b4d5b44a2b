"""Measure an experiment: 1,000 cases of 5 trials each on two cores, with its memory.

Usage: python tests/bench/experiment.py [--cases N] [--trials N] [--jobs N] [--agent plain|coder] [--json]

`plain` is a function that answers; `coder` is a CodeAgent of smolagents on a scripted model, whose code is
replayed in the sandbox. Prints trials per second, and the resident memory of this process after a tenth, a
half and all of the trials: bounded means that it does not grow with their number.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from spanproof.experiments import Settings, Tools, build_module_agent, run_experiment
from spanproof.experiments.notebook import open_engine
from spanproof.experiments.trial import Trial

_SUPPORT = Path(__file__).parents[1] / "experiments"
_AGENTS = {"plain": "plain_agents:plain", "coder": "support_agents:mended"}
_MIB = 1024 * 1024


def main() -> None:
    """Run it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--agent", choices=list(_AGENTS), default="coder")
    parser.add_argument("--json", action="store_true", help="one JSON line")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spanproof-bench-") as folder:
        found = measure(Path(folder), options.cases, options.trials, options.jobs, options.agent)
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:24} {value:,.1f}" if isinstance(value, float) else f"{name:24} {value}")


def measure(folder: Path, cases: int, trials: int, jobs: int, agent: str) -> dict[str, Any]:
    """Run an experiment of so many cases and trials; returns its figures."""
    suite = write_suite(folder / "suite", cases)
    # Where the agents' modules are: the agent's process imports from the working directory.
    os.chdir(_SUPPORT)
    total, marks = cases * trials, {}
    ended = 0

    def report(_trial: Trial) -> None:
        nonlocal ended
        ended += 1
        for name, share in (("tenth", 10), ("half", 2), ("all", 1)):
            if ended == max(1, total // share):
                marks[name] = resident_bytes() / _MIB

    settings = Settings(trials, jobs, timeout_s=120, tools=Tools.RECORDED)
    started, cpu = time.monotonic(), time.process_time()
    with open_engine("jail") as engine:
        target = build_module_agent(_AGENTS[agent])
        experiment = run_experiment(target, suite, folder / "out", engine, settings, report)
        passed = sum(trial.passed for trial in experiment.trials)
        wall = time.monotonic() - started
        text = sum(len(json.dumps(case)) for case in experiment.iter_json_cases())
    return {
        "agent": agent,
        "cases": cases,
        "trials": len(experiment.trials),
        "passed": passed,
        "wall_s": wall,
        "trials_per_s": total / wall,
        "cpu_s_of_judging": time.process_time() - cpu,
        **{f"resident_mib_{name}": value for name, value in marks.items()},
        "resident_mib_json": resident_bytes() / _MIB,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "json_mib": text / _MIB,
    }


def write_suite(suite: Path, cases: int) -> Path:
    """Write a suite of so many cases that differ in their task."""
    lines = [{"item": "tea", "cents": 3000}, {"item": "cup", "cents": 1500}]
    recorded = [{"tool": "refund_lines", "args": {"order_id": "A-17"}, "result": lines}]
    for number in range(cases):
        folder = suite / "cases" / f"case-{number:05d}"
        folder.mkdir(parents=True)
        task = f"What is the total refund in dollars for order A-17? Asked for the {number}th time."
        head = {"format": 1, "task": task, "recorded": recorded, "must": [{"answer": {"contains": "45.00"}}]}
        (folder / "case.yaml").write_text(yaml.safe_dump(head))
    (suite / "suite.yaml").write_text("format: 1\nname: suite\n")
    return suite


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
