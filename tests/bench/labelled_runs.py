"""Count how many golden runs of real frameworks groundedness judges as their answers are labelled.

    python tests/bench/labelled_runs.py [FILE ...] [--judge none|perfect] [--without RULE]

In: the runs of `tests/golden/outcomes`, whose answers were labelled right or wrong before anything was run.
Out: how many are *as labelled* (no right answer fails, no wrong one passes), and how many are *decided* as
labelled (a right answer passes, a wrong one fails; open is neither); then the answers that are not decided.
With `--judge perfect` a scripted judge rules on open sentences: those of a right answer are true, those of a
wrong one false. `--without` switches a rule off, for an ablation. Nothing is replayed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / "plugins"), str(Path(__file__).parents[2])]

from agents_of_a_shop import traced
from golden_runs import is_as_labelled, iter_golden_runs
from tests.bench.scripted_judge import MODEL, ScriptedJudge, serve_judge

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.judge import Judge, JudgeSettings, SentenceJudge, load_rubrics
from spanproof.evaluators.model import UserHints
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, Scored


class _AnswerJudge(ScriptedJudge):
    """Rules on each sentence of an answer as the whole answer is labelled."""

    is_right = True

    def _rule_on(self, sentence: str) -> str:
        return "true" if self.is_right else "false"


def main() -> None:
    """Judge each run and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--judge", choices=("none", "perfect"), default="none")
    parser.add_argument("--without", type=GroundednessRule, action="append", default=[], metavar="RULE")
    options = parser.parse_args()
    hints = UserHints(without_rules=frozenset(options.without))
    judge = _AnswerJudge(1.0, seed=0)
    with serve_judge(judge) as endpoint:
        client = Judge(JudgeSettings(model=MODEL, endpoint=endpoint))
        rulings = SentenceJudge(client, load_rubrics()["Groundedness"], 0.0)
        evaluators = (rulings,) if options.judge == "perfect" else ()
        engine = Engine(pipeline=Pipeline(), sandbox=None, hints=hints, evaluators=evaluators)
        counts, undecided = _count_verdicts(engine, judge, options.files)
    for name, count in sorted(counts.items()):
        print(f"{name:24} {count:4}  {count / counts['runs']:.3f}")
    for line in undecided:
        print(line)


def _count_verdicts(
    engine: Engine, judge: _AnswerJudge, files: Sequence[str]
) -> tuple[Counter[str], list[str]]:
    """Return how many runs are judged how, and a line for each that is not decided as labelled."""
    counts: Counter[str] = Counter()
    undecided: list[str] = []
    with traced() as run_agent:
        for golden in iter_golden_runs(*files):
            if golden.is_right is None:
                continue
            trace = run_agent(golden.framework, golden.task, golden.turns, golden.tools)
            judge.is_right = golden.is_right
            outcome = engine.evaluate(trace).runs[-1].layers.get(Layer.GROUNDEDNESS)
            label = outcome.label if isinstance(outcome, Scored) else None
            kind = "right" if golden.is_right else "wrong"
            is_decided = label is (Label.PASS if golden.is_right else Label.FAIL)
            counts[f"{kind} answers, {label.value if label is not None else 'open'}"] += 1
            counts["as labelled"] += is_as_labelled(label, is_right=golden.is_right)
            counts["decided as labelled"] += is_decided
            counts["runs"] += 1
            if not is_decided:
                why = outcome.explanation if isinstance(outcome, Scored) else outcome
                undecided.append(f"{kind} {golden.name}: {why}")
    return counts, undecided


if __name__ == "__main__":
    main()
