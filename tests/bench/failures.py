"""Measure the clusters of failures: does one cause end in one cluster, and in one alone?

Usage: python tests/bench/failures.py [ERRORS.jsonl] [--json]

ERRORS: {"label", "stderr"} a line: errors with the cause that was injected. Printed, for that file and for
failures_kinds.yaml beside this script: the adjusted Rand index (1: the clusters are the causes; 0: as by
chance) over all, each half of the lines and each half of the causes. It is measured with the rules of
causes.yaml; with those of one cause at a time left out, which is a failure that no rule knows among others
that are known (the mean, and the worst cause); and without any rule. Then the time per error.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import comb
from pathlib import Path

import yaml

from spanproof.failures import Signature, build_signature, group_signatures, read_raised
from spanproof.trace import Layer, digest

KINDS = Path(__file__).with_name("failures_kinds.yaml")

FORM = (
    "{set:7} {part:22} {rows:4} rows {causes:3} causes  ARI {ari:.3f}  one cause unknown {one_out:.3f}"
    " (worst {worst:.3f})  no rules {no_rules:.3f}  {us:4.0f} µs/error"
)

Row = tuple[str, str]
"""A label and an error's text."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("errors", nargs="?", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sets = {"kinds": read_kinds()}
    if options.errors is not None:
        lines = map(json.loads, options.errors.read_text("utf-8").splitlines())
        sets["errors"] = [(line["label"], line["stderr"]) for line in lines]
    found = [result for name, rows in sets.items() for result in measure(name, rows)]
    for result in found:
        if options.json:
            print(json.dumps(result))
        else:
            print(FORM.format(**result))


def read_kinds() -> list[Row]:
    """Return the rows of failures_kinds.yaml."""
    kinds = yaml.safe_load(KINDS.read_text("utf-8"))
    return [(label, text) for label, texts in kinds.items() for text in texts]


def measure(name: str, rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return a result for the whole, each half of the rows and each half of the causes."""
    parts = {
        "all": list(rows),
        "first half of rows": [row for row in rows if _half(row[1] + row[0])],
        "second half of rows": [row for row in rows if not _half(row[1] + row[0])],
        "first half of causes": [row for row in rows if _half(row[0])],
        "second half of causes": [row for row in rows if not _half(row[0])],
    }
    found: list[dict[str, object]] = []
    for part, chosen in parts.items():
        labels = [label for label, _ in chosen]
        began = time.thread_time()
        with_rules = rand_without(chosen, frozenset())
        spent = time.thread_time() - began
        left_out = [rand_without(chosen, frozenset([cause])) for cause in sorted(set(labels))]
        found.append(
            {
                "set": name, "part": part, "rows": len(chosen), "causes": len(set(labels)), "ari": with_rules,
                "one_out": sum(left_out) / len(left_out), "worst": min(left_out),
                "no_rules": rand_without(chosen, frozenset(labels)), "us": spent / len(chosen) * 1e6,
            }
        )  # fmt: skip
    return found


def rand_without(rows: Sequence[Row], unknown: AbstractSet[str]) -> float:
    """Return the index of the clusters, where no rule is tried on errors of these causes."""
    signatures = [signature_of(text, rules=label not in unknown) for label, text in rows]
    found = group_signatures({each.fingerprint: each for each in signatures})
    return adjusted_rand([label for label, _ in rows], [found[each.fingerprint] for each in signatures])


def signature_of(text: str, *, rules: bool = True) -> Signature:
    raised = read_raised(text)
    return build_signature(
        Layer.EXECUTION, "outcome", failure_class="exception", error_type=raised.error_type,
        message=raised.message, package=raised.package, rules=rules,
    )  # fmt: skip


def adjusted_rand(labels: Sequence[str], groups: Sequence[str]) -> float:
    """Return the adjusted Rand index of two partitions (Hubert and Arabie, 1985)."""
    pairs = sum(comb(count, 2) for count in Counter(zip(labels, groups, strict=True)).values())
    of_labels = sum(comb(count, 2) for count in Counter(labels).values())
    of_groups = sum(comb(count, 2) for count in Counter(groups).values())
    total = comb(len(labels), 2)
    expected = of_labels * of_groups / total if total else 0.0
    most = (of_labels + of_groups) / 2
    return 1.0 if most == expected else (pairs - expected) / (most - expected)


def _half(text: str) -> bool:
    return digest("half", text)[0] in "01234567"


if __name__ == "__main__":
    main()
