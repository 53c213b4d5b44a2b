"""What a run in the jail costs, beside other ways to run the same program, in one run of this script.

Usage: `python tests/bench/sandbox.py [RUNS] [--only PART …] [--json]`. Prints p50 and p95 in milliseconds and
the ratio of the p50 to that of `python -I -c`, then runs per second on one core and on two, each part as soon
as it is measured; all of it takes two to three minutes, on a busy machine ten. The ways take
turns of ten runs, so that other load on the machine falls on all of them alike, and each is measured as one
who runs snippets all day meets it, not behind another program that has had the processor's caches. What is
not there (bubblewrap, a docker daemon) is reported with the remedy, and left out.

A part is a snippet (`trivial`, `typical`, `pandas`), a way by its name in the table (`"jail, warm"`), or
`throughput`. Of snippets, and of ways, all are measured where none is named: `--only trivial "jail, warm"`
takes seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from spanproof.sandbox import Program, Sandbox
from spanproof.sandbox.registry import open_sandbox

sys.path.append(str(Path(__file__).parents[1] / "plugins"))
from docker_daemon import write_image

SNIPPETS = {
    "trivial": "print(1)",
    "typical": "import json, re, statistics\nrows = [{'n': i, 's': str(i)} for i in range(1000)]\n"
    "print(json.dumps(rows)[:20], statistics.mean(r['n'] for r in rows), len(re.findall('1', repr(rows))))",
    "pandas": "import pandas as pd\nprint(pd.DataFrame({'a': range(100)}).describe())",
}
BASE = "python -I -c"
WARM = "jail, warm"
THROUGHPUT = "throughput"
IN_A_ROW = 10
"""Runs of a turn."""
SLOW = ("jail, cold", "docker run")
"""Ways that run once a turn."""
PAUSE_S = 0.01
"""Between runs, so that a supervisor is armed again, as for a caller that uses a result."""
IMAGE = "spanproof-bench"

Way = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One way to run one snippet; times in milliseconds."""

    snippet: str
    way: str
    p50: float
    p95: float
    ratio: float


@dataclass(frozen=True)
class Throughput:
    """Runs of the trivial snippet on some cores, by as many callers at once."""

    way: str
    cores: int
    per_second: float


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def plain(source: str) -> None:
    run([sys.executable, "-I", "-c", source])


def plain_with_site(source: str) -> None:
    run([sys.executable, "-c", source])


def jailed(sandbox: Sandbox, source: str) -> None:
    execution = sandbox.run(Program("python", source))
    assert execution.exit_code == 0, execution


def cold(source: str) -> None:
    with open_sandbox() as sandbox:
        jailed(sandbox, source)


def bubblewrapped(source: str) -> None:
    """What bubblewrap is mostly given: a read-only root, its own everything, nothing writable but a tmpfs."""
    walls = ["--ro-bind", "/", "/", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]
    run(["bwrap", *walls, "--unshare-all", "--die-with-parent", sys.executable, "-I", "-c", source])


@contextmanager
def docker_ways(console: Console) -> Iterator[dict[str, Way]]:
    """`docker run` and `docker exec`, of an image made from this interpreter; none without a daemon."""
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        remedy = "start a docker daemon" if docker else "apt-get install docker.io, and start its daemon"
        console.print(f"docker run, docker exec: left out, no daemon answers ({remedy})")
        yield {}
        return
    with tempfile.TemporaryDirectory() as place:
        archive = Path(place, "image.tar")
        write_image(archive)
        run([docker, "import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin", str(archive), IMAGE])
    walls = ["--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL"]
    start = [docker, "run", "-d", *walls, IMAGE, "sleep", "3600"]
    container = subprocess.run(start, capture_output=True, check=True, text=True).stdout.strip()
    try:
        yield {
            "docker run": lambda source: run(
                [docker, "run", "--rm", *walls, IMAGE, "python3", "-I", "-c", source]
            ),
            "docker exec": lambda source: run([docker, "exec", container, "python3", "-I", "-c", source]),
        }
    finally:
        run([docker, "rm", "-f", container])
        run([docker, "rmi", "-f", IMAGE])


def measure(snippet: str, ways: dict[str, Way], runs: int) -> list[Row]:
    source = SNIPPETS[snippet]
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(0, runs, IN_A_ROW):
        for name, way in ways.items():
            for _ in range(1 if name in SLOW else IN_A_ROW):
                time.sleep(PAUSE_S)
                started = time.perf_counter()
                way(source)
                found[name].append((time.perf_counter() - started) * 1000)
    times = {name: sorted(values) for name, values in found.items()}
    base = times[BASE][len(times[BASE]) // 2]
    return [
        Row(snippet, name, p50 := values[len(values) // 2], values[int(len(values) * 0.95)], p50 / base)
        for name, values in times.items()
    ]


def throughput(cores: list[int], runs: int) -> list[Throughput]:
    """With this process, and all that it starts, on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        bare = per_second(len(cores), plain, runs // 2)
        with open_sandbox(workers=len(cores)) as sandbox:
            jail = per_second(len(cores), lambda source: jailed(sandbox, source), runs * 4)
    finally:
        os.sched_setaffinity(0, before)
    return [Throughput(BASE, len(cores), bare), Throughput(WARM, len(cores), jail)]


def per_second(callers: int, way: Way, runs: int) -> float:
    """With callers that do nothing but call, each as often as the others."""
    source, calls = SNIPPETS["trivial"], runs // callers

    def call(times: int) -> None:
        for _ in range(times):
            way(source)

    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(call, [8] * callers))
        started = time.perf_counter()
        list(pool.map(call, [calls] * callers))
        return callers * calls / (time.perf_counter() - started)


def table(rows: list[Row]) -> Table:
    shown = Table("snippet", "way")
    for name in ("p50 ms", "p95 ms", f"p50 / {BASE}"):
        shown.add_column(name, justify="right")
    for row in rows:
        shown.add_row(row.snippet, row.way, f"{row.p50:.2f}", f"{row.p95:.2f}", f"{row.ratio:.3f}")
    return shown


def named(names: Iterable[str], only: frozenset[str]) -> list[str]:
    """Those that are to be measured: all, where none is named."""
    return [name for name in names if name in only] or [*names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=100)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    only = frozenset(options.only)
    console = Console(stderr=options.json)
    rows: list[Row] = []
    with ExitStack() as stack:
        sandbox = stack.enter_context(open_sandbox())
        ways: dict[str, Way] = {
            "python -c": plain_with_site,
            BASE: plain,
            WARM: lambda source: jailed(sandbox, source),
            "jail, cold": cold,
        }
        if shutil.which("bwrap"):
            ways["bubblewrap"] = bubblewrapped
        else:
            console.print("bubblewrap: left out (apt-get install bubblewrap)")
        if not only or any(part.startswith("docker") for part in only):
            ways |= stack.enter_context(docker_ways(console))
        unknown = only - {*SNIPPETS, *ways, THROUGHPUT}
        if unknown:
            parser.error(f"--only: {', '.join(sorted(unknown))}: none of {', '.join([*SNIPPETS, *ways])}")
        chosen = {BASE: plain} | {name: ways[name] for name in named(ways, only)}
        for snippet in named(SNIPPETS, only) if only != {THROUGHPUT} else ():
            ways[WARM](SNIPPETS[snippet])
            measured = measure(snippet, chosen, options.runs)
            console.print(table(measured))
            rows += measured
    cores = sorted(os.sched_getaffinity(0)) if not only or THROUGHPUT in only else []
    rates: list[Throughput] = []
    for count in (1, 2):
        if len(cores) >= count:
            for rate in throughput(cores[:count], options.runs):
                console.print(f"{rate.way} on {rate.cores} core(s): {rate.per_second:.0f} runs/s")
                rates.append(rate)
    if options.json:
        report = {"rows": [asdict(row) for row in rows], "throughput": [asdict(rate) for rate in rates]}
        print(json.dumps(report))


if __name__ == "__main__":
    main()
