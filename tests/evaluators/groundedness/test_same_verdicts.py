"""The order in which sets of text are walked through differs from process to process; verdicts must not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RECORDS = """
import json
from spanproof.evaluators.layers.groundedness import build_ledger

orders = [{"id": f"#W{i}", "status": ("pending", "delivered", "cancelled")[i % 3], "total": 12.5 * i,
           "prices": {"economy": 40 + i, "business": 90 + i}} for i in range(12)]
for answer in (
    "Order #W4 is delivered and costs $50.00; order #W5 is pending.",
    "There are 12 orders, 4 of them cancelled, with a total of $825.00 and a mean of 68.75.",
    "- #W7: business, $97\\n- #W8: economy, $49\\nTogether that is $146.",
    "Sales rose from 40 to 37.5 in business.",
):
    outputs = [json.dumps(orders), "region,sales\\nnorth,40\\nsouth,37.5\\n"]
    print(build_ledger(outputs, answer, "Which orders?"))
"""

SAMPLE = """
from tests.bench.answers import SETS, iter_cases
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline

engine = Engine(pipeline=Pipeline(), sandbox=None)
for path in sorted(SETS.glob("*.json")):
    for number, case in enumerate(iter_cases(path, 0)):
        if number % 75 == 0:
            for score in engine.evaluate(case.trace).scores:
                print(case.id, score.layer, score.name, score.outcome)
"""
# Two rates of code give amounts that round to one figure: which of them is blamed is the same everywhere.
RATES = """
from tests.bench.answers import build_trace
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline

lines = ["net = sum(run_sql('SELECT total FROM orders'))"]
lines += [f"rate_{at} = 0.918{at}\\nprint('at rate {at}:', net * rate_{at})" for at in range(3, 9)]
printed = [f"at rate {at}: {214.75 * (0.918 + at / 10_000):.6f}" for at in range(3, 9)]
steps = [
    {"tool": "run_sql", "arguments": {"sql": "SELECT total FROM orders"}, "output": "[200.25, 14.5]"},
    {"python": "\\n".join(lines), "output": "\\n".join(printed)},
]
task = "What is the revenue in euros?"
trace = build_trace({"task": task, "steps": steps}, "The revenue is 197 EUR.")
print(Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace).scores)
"""
PROGRAMS = {"records": RECORDS, "a sample of the answer sets": SAMPLE, "rates of code": RATES}


def verdicts(program: str, seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[3],
    ).stdout  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_verdict_is_the_same_in_every_process(program):
    of_one_process = verdicts(program, "0")
    assert of_one_process
    assert [verdicts(program, seed) == of_one_process for seed in ("1", "4242")] == [True, True]
