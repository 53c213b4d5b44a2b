"""Measures the pre-execution gate on labelled snippets: recall, false alarms and time.

    python tests/bench/scanners.py DATA_DIRECTORY [--misses] [--sizes] [--bandit PATH] [--detect-secrets PATH]

`DATA_DIRECTORY` holds `redcode-dev.jsonl`, `benign-twins-dev.jsonl` and `humaneval.jsonl`; where one is
absent its row is left out. Snippets are text here: nothing of them is executed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Sample:
    """One snippet of a set."""

    id: str
    language: str
    source: str


@dataclass(frozen=True, slots=True)
class Case:
    """A set of snippets and the verdict each should get."""

    name: str
    wanted: Verdict
    samples: list[Sample]


def main() -> None:
    """Print one row per set."""
    arguments = _arguments()
    pipeline = Pipeline()
    for language in ("python", "bash", "sql", "javascript"):
        pipeline.scan(language, "")  # parsers are imported outside the measured time
    print(
        f"{'set':28}{'n':>5}{'allow':>7}{'review':>8}{'deny':>6}{'as wanted':>11}{'p50 ms':>9}{'p99 ms':>9}"
    )
    for case in _cases(arguments.data):
        _measure(pipeline, case, show=arguments.misses)
        _peers(case, arguments)
    if arguments.sizes:
        _sizes(pipeline)


def _measure(pipeline: Pipeline, case: Case, *, show: bool) -> None:
    scans = [(sample, pipeline.scan(sample.language, sample.source)) for sample in case.samples]
    counts = Counter(scan.verdict for _, scan in scans)
    times = sorted(scan.elapsed_us for _, scan in scans)
    share = counts[case.wanted] / len(scans)
    print(
        f"{case.name:28}{len(scans):>5}{counts[Verdict.ALLOW]:>7}{counts[Verdict.REVIEW]:>8}{counts[Verdict.DENY]:>6}"
        f"{share:>11.1%}{times[len(times) // 2] / 1000:>9.2f}{times[int(len(times) * 0.99)] / 1000:>9.2f}"
    )
    for sample, scan in scans:
        if show and scan.verdict is not case.wanted:
            print(f"    {sample.id}: {scan.verdict} {_told(scan)}")


def _peers(case: Case, arguments: argparse.Namespace) -> None:
    """The same snippets, as files, through the peers: a snippet with any finding counts as flagged."""
    suffix = {"python": ".py", "bash": ".sh"}.get(case.samples[0].language, ".txt")
    for name, program, line in (
        ("bandit", arguments.bandit, ["-q", "-r", "-f", "json", "."]),
        ("detect-secrets", arguments.detect_secrets, ["scan", "--all-files", "."]),
    ):
        if name == "bandit" and suffix != ".py":
            continue
        if shutil.which(program) is None:
            print(f"    {name:24}not found: pip install {name}, or name its program with --{name}")
            continue
        with tempfile.TemporaryDirectory() as directory:
            for number, sample in enumerate(case.samples):
                text = sample.source.encode("utf-8", "replace")
                (Path(directory) / f"snippet_{number}{suffix}").write_bytes(text)
            started = time.perf_counter()
            done = subprocess.run([program, *line], cwd=directory, capture_output=True, check=False)
            took_ms = (time.perf_counter() - started) * 1000 / len(case.samples)
        results = json.loads(done.stdout)["results"]
        flagged = {Path(one["filename"]).name for one in results} if name == "bandit" else set(results)
        share = len(flagged) / len(case.samples)
        right = share if case.wanted is Verdict.DENY else 1 - share
        print(
            f"    {name:24}{len(case.samples):>5}{len(case.samples) - len(flagged):>7}"
            f"{'':>8}{len(flagged):>6}{right:>11.1%}{took_ms:>9.2f}  (mean, with start-up)"
        )


def _told(scan: Scan) -> str:
    asked = [finding for finding in scan.findings if finding.verdict is not Verdict.ALLOW]
    return "; ".join(f"{finding.rule}@{finding.line}" for finding in asked[:4])


def _cases(data: Path) -> Iterator[Case]:
    red = list(_rows(data / "redcode-dev.jsonl"))
    twins = list(_rows(data / "benign-twins-dev.jsonl"))
    for language in ("python", "bash"):
        yield from _case(
            f"crosses a boundary, {language}",
            Verdict.DENY,
            red,
            language,
            lambda row: row["crosses_boundary"],
        )
        yield from _case(
            f"stays inside, {language}", Verdict.ALLOW, red, language, lambda row: not row["crosses_boundary"]
        )
        yield from _case(f"harmless twins, {language}", Verdict.ALLOW, twins, language, lambda row: True)
    tasks = [
        {"id": row["task_id"], "language": "python", "source": row["prompt"] + row["canonical_solution"]}
        for row in _rows(data / "humaneval.jsonl")
    ]
    yield from _case("HumanEval solutions", Verdict.ALLOW, tasks, "python", lambda row: True)


def _crosses(row: Row) -> bool:
    return bool(row["crosses_boundary"])


def _case(
    name: str, wanted: Verdict, rows: Iterable[Row], language: str, keep: Callable[[Row], bool]
) -> Iterator[Case]:
    samples = [
        Sample(str(row["id"]), language, str(row["source"]))
        for row in rows
        if row["language"] == language and keep(row)
    ]
    if samples:
        yield Case(name, wanted, samples)


def _rows(path: Path) -> Iterator[Row]:
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def _sizes(pipeline: Pipeline) -> None:
    """Time over size: a source of plain analysis code, repeated."""
    block = {
        "python": "def mean_{n}(rows):\n    return sum(row['v'] for row in rows) / len(rows)\n\n\n",
        "bash": 'sort data_{n}.csv | uniq > out_{n}.txt\nif [ -f "out_{n}.txt" ]; then x_{n}=1; fi\n',
        "javascript": "function mean_{n}(rows) {{ return rows.reduce((a, b) => a + b.v, 0); }}\n",
    }
    print(f"\n{'language':12}{'1 KB':>10}{'10 KB':>10}{'100 KB':>10}{'1 MB':>10}   (ms)")
    for language, text in block.items():
        told = []
        for size in (1_000, 10_000, 100_000, 1_000_000):
            count = size // len(text) + 1
            source = "".join(text.format(n=n) for n in range(count))[:size].rpartition("\n")[0]
            started = time.perf_counter()
            pipeline.scan(language, source)
            told.append((time.perf_counter() - started) * 1000)
        print(f"{language:12}" + "".join(f"{one:>10.1f}" for one in told))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the pre-execution gate.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--misses", action="store_true", help="name each sample that did not get its verdict")
    parser.add_argument("--bandit", default="bandit", help="the program; where absent its rows are left out")
    parser.add_argument("--detect-secrets", default="detect-secrets", help="likewise")
    parser.add_argument("--sizes", action="store_true", help="time over the size of the source")
    return parser.parse_args()


if __name__ == "__main__":
    main()
