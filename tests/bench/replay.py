"""Measure replays: runs of 1, 3 and 10 steps with a tool call each, beside plain interpreters.

Usage: python tests/bench/replay.py [--runs N] [--json]

The baseline is `python -I -c` over the same sources in one program, with the tool's results written in: no
wall, no tape, nothing compared. Prints p50, p95, runs per second, and the ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from spanproof.evaluators.replay.sources import run_sources
from spanproof.sandbox import FailureClass
from spanproof.sandbox.registry import open_sandbox
from spanproof.trace import Payload, RecordedCall

STEPS = (1, 3, 10)
SOURCE = """price_{n} = price_of('item {n}')
known = list(globals().items())
total = sum(value for name, value in known if name.removeprefix('price_').isdigit())
print(total)"""


def main() -> None:
    """Run both, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=100, help="of each kind")
    parser.add_argument("--json", action="store_true", help="one JSON line per row")
    options = parser.parse_args()
    rows = []
    with open_sandbox("jail") as sandbox:
        for steps in STEPS:
            sources = [SOURCE.format(n=n) for n in range(steps)]
            tape = [
                RecordedCall("price_of", (f"item {n}",), {}, Payload(str(n), n, typed=True))
                for n in range(steps)
            ]
            plain = "def price_of(name): return int(name.split()[1])\n" + "\n".join(sources)

            def replayed(sources: list[str] = sources, tape: list[RecordedCall] = tape) -> None:
                found = run_sources(sources, tape, {"price_of": ["name"]}, sandbox)
                assert all(step.execution.failure_class is FailureClass.OK for step in found)

            def ran(plain: str = plain) -> None:
                subprocess.run([sys.executable, "-I", "-c", plain], check=True, capture_output=True)

            replays, baselines = timed(replayed, ran, options.runs)
            rows.append(row_of(steps, replays, baselines))
    if options.json:
        for row in rows:
            print(json.dumps(row))
    else:
        show(rows)


def timed(one: Callable[[], None], other: Callable[[], None], runs: int) -> tuple[list[float], list[float]]:
    """Seconds of each, taken in turns so that both see the same machine; the first of each is a warm-up."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs + 1):
        for which, run in enumerate((one, other)):
            began = time.perf_counter()
            run()
            seconds[which].append(time.perf_counter() - began)
    return seconds[0][1:], seconds[1][1:]


def row_of(steps: int, replays: list[float], baselines: list[float]) -> dict[str, float]:
    """One line of the table; milliseconds."""
    p50, baseline = statistics.median(replays), statistics.median(baselines)
    return {
        "steps": steps,
        "p50_ms": p50 * 1e3,
        "p95_ms": statistics.quantiles(replays, n=20)[-1] * 1e3,
        "replays_per_s": len(replays) / sum(replays),
        "steps_per_s": steps * len(replays) / sum(replays),
        "plain_p50_ms": baseline * 1e3,
        "ratio": p50 / baseline,
    }


def show(rows: list[dict[str, float]]) -> None:
    """Print the table."""
    table = Table("steps", "p50 ms", "p95 ms", "replays/s", "steps/s", "python -I -c, p50 ms", "ratio")
    for row in rows:
        table.add_row(
            f"{row['steps']:.0f}", *(f"{value:.2f}" for name, value in row.items() if name != "steps")
        )
    Console().print(table)


if __name__ == "__main__":
    main()
