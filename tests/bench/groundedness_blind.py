"""Measure claim binding on pairs that were written before the rules had seen them.

Usage: python tests/bench/groundedness_blind.py [first|second|…|thirteenth] [--show N]

Each set was written, and its labels fixed, before any verdict on it was looked at; then it was measured once
(those figures stand in docs/layers/groundedness.md), and only then were rules made from its errors. So what
this prints today is no longer blind: it shows that nothing was lost. Beside it a peer that any guardrail can
compute: an answer passes where each of its numbers stands in the outputs as a string.
"""

from __future__ import annotations

import argparse
import collections
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from spanproof.evaluators.layers.groundedness import Grounding, Verdict, ground

SETS = Path(__file__).parents[1] / "golden" / "groundedness" / "blind"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Pair:
    """One answer with what it is held against; `kind` is "faithful" or how it was corrupted."""

    about: str
    outputs: list[str]
    answer: str
    kind: str
    task: str | None
    now: datetime | None

    def judged(self) -> Grounding:
        """The verdict on it."""
        return ground(self.outputs, self.answer, self.task, now=self.now)

    def wanted(self) -> Verdict:
        """What the verdict should be."""
        return Verdict.GROUNDED if self.kind == "faithful" else Verdict.CONTRADICTED

    def passes_as_strings(self) -> bool:
        """Whether each number of the answer stands in the outputs as it is written."""
        return passes_as_strings(self.outputs, self.answer)


def passes_as_strings(outputs: list[str], answer: str) -> bool:
    """The peer: whether each number of an answer stands in the outputs as it is written."""
    held = {number.replace(",", "") for number in _NUMBER.findall(" ".join(outputs))}
    return all(number.replace(",", "") in held for number in _NUMBER.findall(answer))


def pairs(name: str) -> Iterator[Pair]:
    """The pairs of one set."""
    for file in sorted(SETS.glob(f"{name}-*.yaml")):
        for scenario in yaml.safe_load(file.read_text(encoding="utf-8")):
            yield from _of_scenario(scenario)


def _of_scenario(scenario: dict[str, Any]) -> Iterator[Pair]:
    now = datetime.fromisoformat(scenario["now"]) if "now" in scenario else None
    kinds = {"faithful": scenario.get("grounded", []), **scenario.get("contradicted", {})}
    for kind, answers in kinds.items():
        for answer in answers:
            yield Pair(scenario["about"], scenario["outputs"], answer, kind, scenario.get("task"), now)


def main() -> None:
    """Judge the pairs, print the table."""
    from groundedness import times  # the script beside this one: on the path only where this is run

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("set", nargs="?", default="second", help="which of the sets")
    parser.add_argument("--show", type=int, default=0, help="how many wrongly judged pairs to print")
    options = parser.parse_args()
    verdicts: dict[str, collections.Counter[Verdict]] = collections.defaultdict(collections.Counter)
    as_strings: collections.Counter[tuple[bool, bool]] = collections.Counter()
    seconds: list[float] = []
    plain: list[float] = []
    left = options.show
    for pair in pairs(options.set):
        started = time.thread_time()
        grounding = pair.judged()
        seconds.append(time.thread_time() - started)
        verdicts[pair.kind][grounding.verdict] += 1
        started = time.thread_time()
        as_strings[pair.kind == "faithful", pair.passes_as_strings()] += 1
        plain.append(time.thread_time() - started)
        if grounding.verdict is not pair.wanted() and left > 0:
            left -= 1
            print(f"{pair.about} [{pair.kind}] {grounding.verdict.value}: {pair.answer}")
            for claim in grounding.claims:
                print(f"    {claim.text!r}: {claim.verdict.value}: {claim.reason}")
    _show(verdicts, as_strings)
    print(times(seconds, plain))


def _show(
    verdicts: dict[str, collections.Counter[Verdict]],
    as_strings: collections.Counter[tuple[bool, bool]],
) -> None:
    print(f"{'kind':15}{'pairs':>6}{'grounded':>10}{'contradicted':>14}{'uncertain':>11}")
    faithful = verdicts.pop("faithful")
    corrupted: collections.Counter[Verdict] = collections.Counter()
    for kind, counted in sorted(verdicts.items()):
        corrupted.update(counted)
        print(f"{kind:15}{_row(counted)}")
    print(f"{'faithful':15}{_row(faithful)}\n{'corrupted':15}{_row(corrupted)}")
    right = faithful[Verdict.GROUNDED] / faithful.total(), corrupted[Verdict.CONTRADICTED] / corrupted.total()
    peer = (
        as_strings[True, True] / (as_strings[True, True] + as_strings[True, False]),
        as_strings[False, False] / (as_strings[False, True] + as_strings[False, False]),
    )
    print(f"faithful grounded, corrupted contradicted: {right[0]:.1%}, {right[1]:.1%}")
    print(f"numbers as strings, accepted, rejected:    {peer[0]:.1%}, {peer[1]:.1%}")
    mine, theirs = statistics.fmean(right), statistics.fmean(peer)
    print(f"balanced accuracy: {mine:.3f}, {mine / theirs:.2f} times the peer's {theirs:.3f}")


def _row(counted: collections.Counter[Verdict]) -> str:
    order = (Verdict.GROUNDED, Verdict.CONTRADICTED, Verdict.UNCERTAIN)
    one, two, three = (counted[verdict] for verdict in order)
    return f"{counted.total():6}{one:10}{two:14}{three:11}"


if __name__ == "__main__":
    main()
