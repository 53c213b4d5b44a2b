"""Count how many golden runs of real frameworks groundedness judges as their answers are labelled.

    python tests/bench/labelled_runs.py [FILE ...] [--without RULE]

In: the runs of `tests/golden/outcomes`, whose answers were labelled right or wrong before anything was run.
Out: how many are *as labelled* (no right answer fails, no wrong one passes), and how many are *decided* as
labelled (a right answer passes, a wrong one fails; open is neither). `--without` switches a rule off, for an
ablation. Nothing is replayed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "plugins"))

from agents_of_a_shop import traced
from golden_runs import is_as_labelled, iter_golden_runs

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.model import UserHints
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, Scored


def main() -> None:
    """Judge each run and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--without", type=GroundednessRule, action="append", default=[], metavar="RULE")
    options = parser.parse_args()
    hints = UserHints(without_rules=frozenset(options.without))
    engine = Engine(pipeline=Pipeline(), sandbox=None, hints=hints)
    counts: Counter[str] = Counter()
    with traced() as run_agent:
        for golden in iter_golden_runs(*options.files):
            if golden.is_right is None:
                continue
            trace = run_agent(golden.framework, golden.task, golden.turns, golden.tools)
            outcome = engine.evaluate(trace).runs[-1].layers.get(Layer.GROUNDEDNESS)
            label = outcome.label if isinstance(outcome, Scored) else None
            answer = "right" if golden.is_right else "wrong"
            counts[f"{answer} answers, {label.value if label is not None else 'open'}"] += 1
            counts["as labelled"] += is_as_labelled(label, is_right=golden.is_right)
            counts["decided as labelled"] += label is (Label.PASS if golden.is_right else Label.FAIL)
            counts["runs"] += 1
    for name, count in sorted(counts.items()):
        print(f"{name:24} {count:4}  {count / counts['runs']:.3f}")


if __name__ == "__main__":
    main()
