"""Measure groundedness on public truth sets, per label and kind, beside a comparison of number strings.

Usage: python tests/bench/groundedness_truth.py DIRECTORY [--rows N] [--set NAME]

DIRECTORY holds `SET.jsonl.xz`; a row has `outputs`, `answer`, `label` (grounded, contradicted, uncertain) and
`kind`, and may have `task` and `twin`. Rows of one family stay together. Nothing of a row is executed.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from spanproof.evaluators.layers.groundedness import Verdict, ground

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
SEED = 23


def read_rows(path: Path, at_most: int) -> list[dict[str, Any]]:
    """Return whole families of rows, drawn in a fixed order, until there are enough."""
    families: dict[str, list[dict[str, Any]]] = {}
    with lzma.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            families.setdefault(row.get("twin") or row["id"], []).append(row)
    keys = sorted(families)
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


def measure(rows: list[dict[str, Any]]) -> None:
    """Print a line for each label and kind of a set, what was decided, and the time."""
    verdicts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    simple: Counter[str] = Counter()
    times: list[float] = []
    decided = right = 0
    for row in rows:
        begun = time.perf_counter()
        verdict = ground(row["outputs"], row["answer"], row.get("task") or None).verdict
        times.append(time.perf_counter() - begun)
        for name in {row["label"], f"{row['label']} {row['kind']}"}:
            verdicts[name][verdict] += 1
            simple[name] += has_all_numbers(row)
        if verdict is not Verdict.UNCERTAIN and row["label"] != "uncertain":
            decided += 1
            right += verdict.value == row["label"]
    for name, counted in sorted(verdicts.items()):
        total = counted.total()
        shares = "  ".join(f"{verdict.value} {counted[verdict] / total:.2f}" for verdict in Verdict)
        print(f"  {name:28} {total:5}  {shares}  | all numbers found {simple[name] / total:.2f}")
    settled = sum(row["label"] != "uncertain" for row in rows)
    print(f"  decided {decided / settled:.2f}, right when decided {right / max(1, decided):.2f}")
    times.sort()
    print(f"  p50 {times[len(times) // 2] * 1e3:.1f} ms, p99 {times[int(len(times) * 0.99)] * 1e3:.1f} ms")


def main() -> None:
    """Measure every set of a directory, or the one named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--set", dest="sets", action="append")
    options = parser.parse_args()
    names = options.sets or [
        path.name.partition(".")[0] for path in sorted(options.directory.glob("*.jsonl.xz"))
    ]
    for name in names:
        print(name)
        measure(read_rows(options.directory / f"{name}.jsonl.xz", options.rows))


if __name__ == "__main__":
    main()
