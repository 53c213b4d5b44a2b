"""A verdict depends on the answer and its sources alone, not on the process that gives it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GOLDEN = Path(__file__).parents[2] / "golden" / "groundedness"
_JUDGE = """
import sys, yaml
from pathlib import Path
from spanproof.evaluators.layers.groundedness import ground

for file in sorted(Path(sys.argv[1]).glob("blind/*.yaml")):
    for scenario in yaml.safe_load(file.read_text(encoding="utf-8"))[::4]:
        wrong = scenario.get("contradicted", {}).values()
        answers = [*scenario.get("grounded", ()), *(each for some in wrong for each in some)]
        for answer in answers:
            grounding = ground(scenario["outputs"], answer, scenario.get("task"))
            print(ascii((answer, grounding)))
"""


def judge(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-c", _JUDGE, str(GOLDEN)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_processes_with_other_hash_seeds_give_the_same_verdicts():
    first, second = judge("1"), judge("2")
    assert first.count("\n") > 50
    assert first == second
