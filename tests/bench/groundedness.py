"""Measure claim binding on pairs of outputs and answers.

Usage: python tests/bench/groundedness.py PAIRS.jsonl [--show N]

Each line is {"out", "ans", "label", "kind"} with an optional "q": label 1 is a faithful answer, 0 one that
was corrupted in the way `kind` names. Prints, per kind, how many were grounded, contradicted and left
uncertain, then the shares the layer is held to and the CPU time per pair (what other processes take from the
machine is left out), beside that of a peer in the same run: a comparison of number strings, which tells how
fast the machine is just then. With --show, the first pairs that were
judged wrongly, with their claims.
"""

from __future__ import annotations

import argparse
import collections
import json
import statistics
import time
from pathlib import Path

from spanproof.evaluators.layers.groundedness import Grounding, Verdict, ground

NUMERIC = frozenset(
    (
        "digit_flip",
        "magnitude",
        "sign",
        "derived_wrong",
        "count_wrong",
        "drift",
        "prior_knowledge",
        "date_shift",
    )
)
BOUND = frozenset(("swap", "unit", "direction"))


def main() -> None:
    """Read the pairs, judge each, print the table."""
    from groundedness_blind import passes_as_strings  # the script beside this one

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=Path, help="JSON Lines with out, ans, label, kind")
    parser.add_argument("--show", type=int, default=0, help="how many wrongly judged pairs to print")
    options = parser.parse_args()
    verdicts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    seconds: list[float] = []
    plain: list[float] = []
    wrong: list[tuple[dict[str, str], Grounding]] = []
    for line in options.pairs.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        started = time.thread_time()
        grounding = ground([pair["out"]], pair["ans"], pair.get("q") or None)
        seconds.append(time.thread_time() - started)
        started = time.thread_time()
        passes_as_strings([pair["out"]], pair["ans"])
        plain.append(time.thread_time() - started)
        verdicts[pair["kind"]][grounding.verdict.value] += 1
        expected = Verdict.GROUNDED if pair["label"] else Verdict.CONTRADICTED
        if grounding.verdict is not expected:
            wrong.append((pair, grounding))
    show(verdicts)
    print(times(seconds, plain))
    for pair, grounding in wrong[: options.show]:
        print(
            f"\n{pair['kind']}: {grounding.verdict.value}\n  out: {pair['out'][:300]}\n  ans: {pair['ans']}"
        )
        for claim in grounding.claims:
            print(f"    {claim.text!r}: {claim.verdict.value}: {claim.reason}")


def show(verdicts: dict[str, collections.Counter[str]]) -> None:
    """Print the table."""
    print(f"{'kind':18}{'pairs':>6}{'grounded':>10}{'contradicted':>14}{'uncertain':>11}")
    for kind, counted in sorted(verdicts.items()):
        print(
            f"{kind:18}{counted.total():6}{counted['grounded']:10}{counted['contradicted']:14}{counted['uncertain']:11}"
        )
    print(f"faithful accepted   {share(verdicts, frozenset(('faithful',)), 'grounded')}")
    print(f"numeric rejected    {share(verdicts, NUMERIC, 'contradicted')}")
    print(f"swap/unit/direction {share(verdicts, BOUND, 'contradicted')}")


def times(seconds: list[float], plain: list[float]) -> str:
    """The spread of the CPU time per pair, in words, and how it compares with the peer's."""
    cuts = statistics.quantiles(seconds, n=100)
    p50, p95, p99 = (cut * 1e3 for cut in (statistics.median(seconds), cuts[94], cuts[98]))
    told = f"CPU time per pair: p50 {p50:.2f} ms, p95 {p95:.2f} ms, p99 {p99:.2f} ms"
    peer = statistics.median(plain) * 1e3
    return f"{told}; p50 is {p50 / peer:.0f} times the peer's {peer:.3f} ms, p95 {p95 / p50:.1f} times p50"


def share(verdicts: dict[str, collections.Counter[str]], kinds: frozenset[str], verdict: str) -> str:
    """The share of these kinds with this verdict, in words."""
    total = sum(verdicts[kind].total() for kind in kinds if kind in verdicts)
    hit = sum(verdicts[kind][verdict] for kind in kinds if kind in verdicts)
    return f"{hit} of {total} ({hit / total:.1%})" if total else "no such pairs"


if __name__ == "__main__":
    main()
