"""The order in which sets of text are walked through differs from process to process; verdicts must not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import json
from spanproof.evaluators.layers.groundedness import ground

orders = [{"id": f"#W{i}", "status": ("pending", "delivered", "cancelled")[i % 3], "total": 12.5 * i,
           "prices": {"economy": 40 + i, "business": 90 + i}} for i in range(12)]
for answer in (
    "Order #W4 is delivered and costs $50.00; order #W5 is pending.",
    "There are 12 orders, 4 of them cancelled, with a total of $825.00 and a mean of 68.75.",
    "- #W7: business, $97\\n- #W8: economy, $49\\nTogether that is $146.",
    "Sales rose from 40 to 37.5 in business.",
):
    print(ground([json.dumps(orders), "region,sales\\nnorth,40\\nsouth,37.5\\n"], answer, "Which orders?"))
"""


def verdicts(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def of_one_process() -> str:
    return verdicts("0")


@pytest.mark.parametrize("seed", ["1", "4242"])
def test_a_verdict_is_the_same_in_every_process(of_one_process, seed):
    assert verdicts(seed) == of_one_process
