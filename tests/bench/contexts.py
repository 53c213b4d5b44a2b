"""Count the verdicts that change where a trace has more context that says nothing about the answer.

    python -m tests.bench.contexts [--set s01] [--runs] [--pairs] [--every 10] [--only NAME] [--show]

In: the answers of `answer_sets`, with `--runs` the golden runs of real frameworks, with `--pairs` the golden
pairs of `tests/golden/groundedness`; `--every 10` takes each tenth. The variations are those of
`tests/plugins/irrelevant_context.py`: default prompts of the frameworks that are installed, earlier turns,
code, a failed call, long outputs of another matter, another order, a time before each line.

Out: for each variation, the shares of equal verdicts of answers and of equal sentences, and how many right
answers are accused, wrong ones no longer rejected, and wrong ones accepted because of it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / "plugins"), str(Path(__file__).parents[2])]

from agents_of_a_shop import traced
from golden_runs import iter_golden_runs
from golden_yaml import load_golden
from irrelevant_context import Variation, list_variations, remove_prompts
from tests.bench.answers import SETS, build_trace, iter_cases

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Layer, Scored, State, Trace, get_state

_PAIRS = Path(__file__).parents[1] / "golden" / "groundedness"


@dataclass(frozen=True)
class Case:
    """An answer with its trace; `is_right` is None where it is labelled neither right nor wrong."""

    name: str
    trace: Trace
    is_right: bool | None


@dataclass(frozen=True)
class Verdicts:
    """The verdict on an answer, and those on its sentences."""

    answer: str
    sentences: tuple[str, ...]
    why: str = ""


def iter_set_cases(sets: list[str]) -> Iterator[Case]:
    """Yield the answers of the sets, by default of all."""
    for path in sorted(SETS.glob("*.json")):
        if not sets or path.stem in sets:
            for case in iter_cases(path, 0):
                yield Case(f"{path.stem}-{case.id}", case.trace, case.is_right)


def iter_run_cases() -> Iterator[Case]:
    """Yield the labelled golden runs, without the prompts of their frameworks."""
    with traced() as run_agent:
        for golden in iter_golden_runs():
            if golden.is_right is not None:
                trace = run_agent(golden.framework, golden.task, golden.turns, golden.tools)
                yield Case(golden.name, remove_prompts(trace), golden.is_right)


def iter_pair_cases() -> Iterator[Case]:
    """Yield the golden pairs, as runs that looked their outputs up."""
    for path in sorted(_PAIRS.rglob("*.yaml")):
        for number, scenario in enumerate(load_golden(path)):
            steps = [{"tool": "look_up", "output": output} for output in scenario["outputs"]]
            situation = {"task": scenario.get("task") or "What did you find?", "steps": steps}
            wrong = [answer for answers in scenario.get("contradicted", {}).values() for answer in answers]
            for is_right, answers in ((True, scenario.get("grounded", ())), (False, wrong)):
                for answer in answers:
                    name = f"{path.stem}-{number}: {answer[:60]}"
                    yield Case(name, build_trace(situation, answer), is_right)


def judge_trace(engine: Engine, trace: Trace) -> Verdicts:
    """Return the verdicts on the answer of the last run of a trace."""
    outcome = engine.evaluate(trace).runs[-1].layers.get(Layer.GROUNDEDNESS)
    state = {State.PASS: "pass", State.FAIL: "fail"}.get(get_state(outcome), "open") if outcome else "open"
    if not isinstance(outcome, Scored):
        return Verdicts(state, (), str(outcome))
    marks = [(each.sentence.start, each.sentence.verdict.value) for each in outcome.evidence if each.sentence]
    return Verdicts(state, tuple(verdict for _, verdict in sorted(marks)), outcome.explanation)


def main() -> None:
    """Judge each answer with and without each variation, and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", action="append", dest="sets", default=[])
    parser.add_argument("--runs", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    variations = [
        each for each in list_variations()
        if not options.only or any(each.name.startswith(name) for name in options.only)
    ]  # fmt: skip
    engine = Engine(pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,))
    counts: dict[str, Counter[str]] = {each.name: Counter() for each in variations}
    sources = [iter_run_cases()] if options.runs else []
    sources += [iter_pair_cases()] if options.pairs else []
    for cases in sources or [iter_set_cases(options.sets)]:
        for number, case in enumerate(cases):
            if number % options.every == 0:
                _compare(engine, case, variations, counts, is_shown=options.show)
    for name, count in counts.items():
        print(
            f"{name:32} answers {count['answers']:5} equal {count['equal'] / max(1, count['answers']):.4f}"
            f" sentences {count['equal sentences'] / max(1, count['sentences']):.4f} | accused"
            f" {count['accused']} opened {count['opened']} accepted {count['accepted']}"
            f" passed {count['passed']}"
        )


def _compare(
    engine: Engine,
    case: Case,
    variations: list[Variation],
    counts: dict[str, Counter[str]],
    *,
    is_shown: bool,
) -> None:
    before = judge_trace(engine, case.trace)
    for variation in variations:
        changed = variation.change(case.trace)
        if changed == case.trace:
            continue
        after = judge_trace(engine, changed)
        count = counts[variation.name]
        count["answers"] += 1
        count["equal"] += after.answer == before.answer
        count["sentences"] += max(1, len(before.sentences))
        count["equal sentences"] += max(1, len(before.sentences)) - _count_differences(before, after)
        if after.answer != before.answer:
            count["accused"] += case.is_right is True and after.answer == "fail"
            count["opened"] += case.is_right is False and before.answer == "fail"
            count["passed"] += case.is_right is False and after.answer == "pass"
            count["accepted"] += before.answer != "pass" and after.answer == "pass"
        if is_shown and (after.answer, after.sentences) != (before.answer, before.sentences):
            label = {True: "right", False: "wrong", None: "open"}[case.is_right]
            print(f"--- {variation.name}: {case.name} ({label}) {before.answer} -> {after.answer}")
            print(f"    {before.sentences} {before.why}\n    {after.sentences} {after.why}", flush=True)


def _count_differences(before: Verdicts, after: Verdicts) -> int:
    if len(before.sentences) != len(after.sentences):
        return max(1, len(before.sentences))
    return sum(one != other for one, other in zip(before.sentences, after.sentences, strict=True))


if __name__ == "__main__":
    main()
