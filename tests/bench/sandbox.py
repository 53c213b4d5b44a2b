"""What a run in the jail costs, beside a plain interpreter in the same run of this script.

Usage: `python tests/bench/sandbox.py [RUNS]`. Prints p50 and p95 in milliseconds and the ratio of the p50 to
that of `python -I -c`; the ways take turns, so that other load on the machine falls on all of them alike.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from spanproof.sandbox import Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

SNIPPETS = {
    "trivial": "print(1)",
    "typical": "import json, re, statistics\nrows = [{'n': i, 's': str(i)} for i in range(1000)]\n"
    "print(json.dumps(rows)[:20], statistics.mean(r['n'] for r in rows), len(re.findall('1', repr(rows))))",
    "pandas": "import pandas as pd\nprint(pd.DataFrame({'a': range(100)}).describe())",
}
PAUSE_S = 0.01
"""Between runs, so that a slot is armed again, as it is for a caller that does something with a result."""


def plain(source: str) -> None:
    subprocess.run([sys.executable, "-I", "-c", source], check=True, capture_output=True)


def jailed(sandbox: Sandbox, source: str) -> None:
    assert sandbox.run(Program("python", source)).exit_code == 0


def cold(source: str) -> None:
    with open_sandbox() as sandbox:
        jailed(sandbox, source)


def timed(ways: dict[str, Callable[[], None]], runs: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            time.sleep(PAUSE_S)
            started = time.perf_counter()
            way()
            found[name].append((time.perf_counter() - started) * 1000)
    return {name: sorted(times) for name, times in found.items()}


def table(runs: int) -> None:
    print(f"{'snippet':10}{'way':16}{'p50 ms':>9}{'p95 ms':>9}{'ratio':>8}")
    with open_sandbox() as sandbox:
        for name, source in SNIPPETS.items():
            jailed(sandbox, source)  # warm
            ways: dict[str, Callable[[], None]] = {
                "python -I -c": lambda source=source: plain(source),  # type: ignore[misc]
                "jail, warm": lambda source=source: jailed(sandbox, source),  # type: ignore[misc]
            }
            times = timed(ways, runs)
            times["jail, cold"] = timed({"": lambda source=source: cold(source)}, 3)[""]  # type: ignore[misc]
            base = times["python -I -c"][runs // 2]
            for way, values in times.items():
                p50, p95 = values[len(values) // 2], values[int(len(values) * 0.95)]
                print(f"{name:10}{way:16}{p50:9.2f}{p95:9.2f}{p50 / base:8.3f}")


def throughput(runs: int, workers: int) -> None:
    with open_sandbox(workers=workers) as sandbox, ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: jailed(sandbox, SNIPPETS["trivial"]), range(2 * workers)))
        started = time.perf_counter()
        list(pool.map(lambda _: jailed(sandbox, SNIPPETS["trivial"]), range(runs)))
        print(f"{workers} workers: {runs / (time.perf_counter() - started):.0f} runs/s")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    table(count)
    for number in (1, 2):
        throughput(2 * count, number)
