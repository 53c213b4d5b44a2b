"""Measure groundedness on truth sets: per set, label and kind, beside a comparison of number strings.

Usage: python tests/bench/groundedness.py DIRECTORY [--pairs FILE] [--rows N] [--set NAME]
       [--weights DIRECTORY] [--old FILE] [--show N]

DIRECTORY holds `SET.jsonl.xz`; a row has `outputs`, `answer`, `label` (grounded, contradicted, uncertain) and
`kind`, and may have `task`, `system`, `arguments` and `twin`. --pairs names a JSON Lines file of pairs with
`out`, `ans`, `label` and `kind`. Rows of one family stay together, and only the half of the families is
judged that no developer reads (`is_kept`). --weights names a directory of `SET.json`,
each trained without that set (`train.py --left-out`); without it the shipped weights judge. --old names a
JSON file of another engine's verdicts by row id; without it the figures of the engine of rules that this one
replaced are printed, as they were measured on all rows. Nothing of a row is executed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import random
import re
import statistics
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from spanproof.evaluators.layers.groundedness import Grounding, Verdict, explain, ground
from spanproof.evaluators.layers.groundedness.choose.model import read_choice

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
SEED = 23
# Of the engine before, on all rows of each set; of FaithBench and the statements of tables the decided ones.
BEFORE = {
    "real": "accepted .47, accused .23; rejected: digit .65, swap .68, status .46; changed ones passed .17",
    "pairs": "accepted .66, accused .14, rejected .50, passed .26",
    "tatqa": "accepted .40, accused .39, rejected .54",
    "tabfact": "right .62 of the decided, coverage .69",
    "scitab": "right .53 of the decided",
    "infotabs": "right .50 of the decided",
    "faithbench": "wrong ones passed .54",
}


def is_kept(family: str) -> bool:
    """Return whether a family is of the half that is measured; see `training/groundedness/data.py`."""
    return hashlib.md5(family.encode(), usedforsecurity=False).digest()[-1] % 2 == 1


def read_pairs(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of pairs."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        pair = json.loads(line)
        label = "grounded" if pair["label"] else "contradicted"
        rows.append(
            {"set": "pairs", "id": f"pair-{number}", "outputs": [pair["out"]], "answer": pair["ans"],
             "label": label, "kind": pair["kind"], "task": pair.get("q") or ""}
        )  # fmt: skip
    return rows


def read_rows(path: Path, at_most: int) -> list[dict[str, Any]]:
    """Return whole families of rows, drawn in a fixed order, until there are enough."""
    families: dict[str, list[dict[str, Any]]] = {}
    with lzma.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            families.setdefault(row.get("twin") or row["id"], []).append(row)
    keys = sorted(filter(is_kept, families))
    random.Random(SEED).shuffle(keys)
    rows: list[dict[str, Any]] = []
    for key in keys:
        if len(rows) >= at_most:
            break
        rows.extend(families[key])
    return rows


def has_all_numbers(row: dict[str, Any]) -> bool:
    """Return whether every number of the answer is a number of some output: what a simple check does."""
    known = {text.replace(",", "") for output in row["outputs"] for text in _NUMBER.findall(output)}
    return all(text.replace(",", "") in known for text in _NUMBER.findall(row["answer"]))


def arguments_of(row: dict[str, Any]) -> list[str]:
    """Return the arguments of a row's calls as texts."""
    found = []
    for call in row.get("arguments") or ():
        inner = call.get("arguments") if isinstance(call, dict) else call
        found.append(inner if isinstance(inner, str) else json.dumps(inner))
    return found


def kinds_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what a row is counted under."""
    names = [row["label"], f"{row['label']} {row['kind']}"]
    if row["set"] == "real":
        place = "airline" if row["source"] == "tau" else "other"
        names.append(f"{row['label']}, {place}")
    return tuple(dict.fromkeys(names))


def main() -> None:
    """Read the sets, judge each row, print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--set", action="append", dest="sets")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many accused faithful answers to print")
    options = parser.parse_args()
    old = json.loads(options.old.read_text(encoding="utf-8")) if options.old else {}
    sets = {path.name.partition(".")[0]: path for path in sorted(options.directory.glob("*.jsonl.xz"))}
    if options.pairs:
        sets["pairs"] = options.pairs
    for name, path in sets.items():
        if options.sets and name not in options.sets:
            continue
        choice = None
        if options.weights:
            choice = read_choice((options.weights / f"{name}.json").read_text(encoding="utf-8"))
        judged: dict[str, Counter[str]] = defaultdict(Counter)
        simple: dict[str, Counter[bool]] = defaultdict(Counter)
        before: dict[str, Counter[str]] = defaultdict(Counter)
        seconds: list[float] = []
        shown = 0
        for row in read_pairs(path) if name == "pairs" else read_rows(path, options.rows):
            begun = time.thread_time()
            grounding = ground(
                row["outputs"], row["answer"], row.get("task") or None, system=row.get("system"),
                arguments=arguments_of(row), choice=choice,
            )  # fmt: skip
            seconds.append(time.thread_time() - begun)
            for kind in kinds_of(row):
                judged[kind][grounding.verdict.value] += 1
                simple[kind][has_all_numbers(row)] += 1
                if row["id"] in old:
                    before[kind][old[row["id"]]] += 1
            if (
                row["label"] == "grounded"
                and grounding.verdict is Verdict.CONTRADICTED
                and shown < options.show
            ):
                shown += 1
                show(row, grounding)
        print_table(name, judged, simple, before)
        print_decided(name, judged, simple)
        cuts = statistics.quantiles(seconds, n=100)
        print(
            f"  CPU time an answer: p50 {statistics.median(seconds) * 1e3:.1f} ms, p99 {cuts[98] * 1e3:.1f} ms\n",  # noqa: E501
            flush=True,
        )


def print_table(
    name: str,
    judged: dict[str, Counter[str]],
    simple: dict[str, Counter[bool]],
    before: dict[str, Counter[str]],
) -> None:
    """Print the shares of each verdict, by label and kind."""
    print(
        f"{name:34}{'rows':>6}{'accepted':>10}{'rejected':>10}{'open':>8}{'numbers in':>12}{'old acc.':>10}{'old rej.':>10}"  # noqa: E501
    )
    for kind, counted in sorted(judged.items()):
        rows = counted.total()
        shares = [
            counted[verdict.value] / rows
            for verdict in (Verdict.GROUNDED, Verdict.CONTRADICTED, Verdict.UNCERTAIN)
        ]
        line = f"  {kind:32}{rows:6}{shares[0]:10.2f}{shares[1]:10.2f}{shares[2]:8.2f}{simple[kind][True] / rows:12.2f}"  # noqa: E501
        if before[kind]:
            known = before[kind].total()
            line += f"{before[kind]['grounded'] / known:10.2f}{before[kind]['contradicted'] / known:10.2f}"
        print(line)


def print_decided(name: str, judged: dict[str, Counter[str]], simple: dict[str, Counter[bool]]) -> None:
    """Print how many of the decided are right, at what coverage, beside the check of numbers and the old engine."""  # noqa: E501
    right = judged["grounded"]["grounded"] + judged["contradicted"]["contradicted"]
    labels = ("grounded", "contradicted")
    decided = sum(judged[label][verdict] for label in labels for verdict in labels)
    rows = sum(judged[label].total() for label in labels)
    plain = simple["grounded"][True] + simple["contradicted"][False]
    if rows:
        print(
            f"  decided: right {right / max(1, decided):.2f} at coverage {decided / rows:.2f}; "
            f"numbers in: right {plain / rows:.2f} of all; "
            f"engine of rules: {BEFORE.get(name, 'not measured')}"
        )


def show(row: dict[str, Any], grounding: Grounding) -> None:
    """Print an accused answer with the claims that were contradicted."""
    print(f"\n{row['id']}: {row['answer'][:300]!r}")
    for claim in grounding.claims:
        if claim.verdict is Verdict.CONTRADICTED:
            print(f"    {explain(claim)}")


if __name__ == "__main__":
    main()
