"""Measures the pre-execution gate on labelled snippets: recall, false alarms and time, beside its peers.

    python tests/bench/scanners.py DATA_DIRECTORY [--misses] [--sizes] [--bandit PATH] [--detect-secrets PATH]
        [--gitleaks PATH] [--guarddog PATH] [--eslint PATH] [--sqlfluff PATH] [--secrets FILE]
    python tests/bench/scanners.py --set FILE [--policy NAME] [--misses]

`DATA_DIRECTORY` holds `redcode-dev.jsonl`, `benign-twins-dev.jsonl` and `humaneval.jsonl`; where one is
absent its rows are left out. The repository's own evasions and benign snippets come on top. `FILE` has lines
of `{"id", "language", "source", "secret"}`, where `secret` is whether the text holds one. Snippets are text:
nothing of them is executed. Times are of the processor; those of the clock grow with what else runs.
With `--set` one file of `snippet_sets` is measured, or another of its form (`snippet_set.py`), under a policy
of that name.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

sys.path.append(str(Path(__file__).parents[2]))  # run as a script, as the docs do

from tests.bench.snippet_set import format_report, load_set, scan_set

Row = dict[str, object]

MISLABELLED = {
    "python-24_5": "jsonpickle decodes what it encoded itself, an object of its own class",
    "python-24_9": "unpickles the text it pickled itself",
    "python-24_13": "json out of gzip and base64: builds no objects, and the text is its own",
    "python-24_15": "unpickles the text it pickled itself, out of gzip",
    "python-24_17": "json out of lzma and base64: builds no objects, and the text is its own",
    "python-24_20": "yaml.safe_load builds no objects, and the text is its own",
    "python-24_22": "reads an XML element it made itself, without entities",
    "python-24_24": "reads a CSV line it wrote itself",
    "python-24_25": "reads a CSV line it wrote itself, out of base64",
    "python-24_26": "compiles and runs a constant that prints a constant",
}
"""Rows labelled as crossing a boundary that cross none, with the reason: each was read."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One snippet of a set."""

    id: str
    language: str
    category: str
    source: str


@dataclass(frozen=True, slots=True)
class Case:
    """A set of snippets and the verdict each should get."""

    name: str
    wanted: Verdict
    samples: list[Sample]


@dataclass(frozen=True, slots=True)
class Measured:
    """One snippet's scan and what it took: of the processor and on the clock, in milliseconds."""

    sample: Sample
    scan: Scan
    cpu_ms: float
    wall_ms: float


def main() -> None:
    """Print one row per set, then pairs, shares and sizes."""
    arguments = _arguments()
    if arguments.set is not None:
        scanned = scan_set(load_set(arguments.set), load_policy(arguments.policy))
        print("\n".join(format_report(scanned, misses=arguments.misses)))
        return
    pipeline = Pipeline()
    for language in ("python", "bash", "sql", "javascript", "typescript", "text"):
        pipeline.scan(language, "x = 1")  # parsers are imported outside the measured time
    print(f"{'':43}{'':7}{'':8}{'':6}{'as':>9}{'cpu ms':>14}{'clock ms':>16}")
    print(
        f"{'set':38}{'n':>5}{'allow':>7}{'review':>8}{'deny':>6}{'wanted':>9}{'p50':>7}{'p99':>7}{'p50':>9}{'p99':>7}"
    )
    found: dict[str, list[Measured]] = {}
    for case in _cases(arguments.data):
        found[case.name] = _measure(pipeline, case, show=arguments.misses)
        _peers(case, found[case.name], arguments)
    _print_shares(found)
    _print_pairs(found)
    if arguments.sizes:
        _sizes(pipeline)
    if arguments.secrets is not None:
        for name, wanted, held in (("secrets", Verdict.DENY, True), ("like secrets", Verdict.ALLOW, False)):
            rows = [row for row in _rows(arguments.secrets) if row["secret"] is held]
            samples = [Sample(str(row["id"]), str(row["language"]), "", str(row["source"])) for row in rows]
            if samples:
                case = Case(name, wanted, samples)
                _peers(case, _measure(pipeline, case, show=arguments.misses), arguments)


def _measure(pipeline: Pipeline, case: Case, *, show: bool) -> list[Measured]:
    measured = []
    for sample in case.samples:
        started, clock = time.process_time(), time.perf_counter()
        scan = pipeline.scan(sample.language, sample.source)
        cpu, wall = time.process_time() - started, time.perf_counter() - clock
        measured.append(Measured(sample, scan, cpu * 1000, wall * 1000))
    counts = Counter(one.scan.verdict for one in measured)
    cpus, walls = sorted(one.cpu_ms for one in measured), sorted(one.wall_ms for one in measured)
    n = len(measured)
    print(
        f"{case.name:38}{n:>5}{counts[Verdict.ALLOW]:>7}{counts[Verdict.REVIEW]:>8}{counts[Verdict.DENY]:>6}"
        f"{counts[case.wanted] / n:>9.1%}{cpus[n // 2]:>7.2f}{cpus[int(n * 0.99)]:>7.2f}"
        f"{walls[n // 2]:>9.2f}{walls[int(n * 0.99)]:>7.2f}"
    )
    for one in measured:
        if show and one.scan.verdict is not case.wanted:
            print(f"    {one.sample.id}: {one.scan.verdict} {_format_findings(one.scan)}")
    return measured


def _peers(case: Case, ours: list[Measured], arguments: argparse.Namespace) -> None:
    """The same snippets, as files, through the peers: a snippet with any finding counts as flagged."""
    language = case.samples[0].language
    for peer in _PEERS:
        program = getattr(arguments, peer.option)
        if (peer.languages and language not in peer.languages) or shutil.which(program) is None:
            continue
        with tempfile.TemporaryDirectory() as directory:
            for number, sample in enumerate(case.samples):
                text = sample.source.encode("utf-8", "replace")
                (Path(directory) / f"snippet_{number}{_SUFFIXES.get(language, '.txt')}").write_bytes(text)
            line = [one.format(config=_write_config(directory, program)) for one in peer.line]
            started = time.perf_counter()
            done = subprocess.run([program, *line], cwd=directory, capture_output=True, check=False)
            took_ms = (time.perf_counter() - started) * 1000 / len(case.samples)
        flagged = peer.flagged(json.loads(done.stdout))
        n = len(case.samples)
        right = (len(flagged) if case.wanted is Verdict.DENY else n - len(flagged)) / n
        ratio = took_ms * n / sum(one.wall_ms for one in ours)
        print(
            f"    {peer.name:34}{n:>5}{n - len(flagged):>7}{'':>8}{len(flagged):>6}{right:>9.1%}"
            f"   {took_ms:.1f} ms each with start-up, {ratio:.0f} times ours"
        )


_SUFFIXES = {"python": ".py", "bash": ".sh", "javascript": ".js", "typescript": ".ts", "sql": ".sql"}


def _write_config(directory: str, eslint: str) -> str:
    """Write what ESLint needs to find the plugin that is installed beside it; return the file."""
    modules = Path(shutil.which(eslint) or "").absolute().parents[1]
    config = Path(directory) / "eslint.config.cjs"
    config.write_text(
        f"const security = require({str(modules / 'eslint-plugin-security')!r});\n"
        "module.exports = [{ ignores: ['eslint.config.cjs'] }, security.configs.recommended];\n"
    )
    return str(config)


def _flagged_by_guarddog(report: Any) -> set[str]:
    findings = [one for rule in report["results"].values() if isinstance(rule, list) for one in rule]
    return {Path(one["location"].rpartition(":")[0]).name for one in findings}


def _flagged_by_eslint(report: Any) -> set[str]:
    return {
        one["filePath"]
        for one in report
        if any((message["ruleId"] or "").startswith("security/") for message in one["messages"])
    }


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program that finds something in code, and how it is run in a folder.

    `languages` are those it reads, none for any text; `flagged` gives the files in which it finds anything.
    """

    name: str
    languages: frozenset[str]
    line: list[str]
    flagged: Callable[[Any], set[str]]

    @property
    def option(self) -> str:
        """Its name among the arguments."""
        return self.name.replace("-", "_")


_PEERS = [
    Peer(
        "bandit",
        frozenset({"python"}),
        ["-q", "-r", "-f", "json", "."],
        lambda report: {Path(one["filename"]).name for one in report["results"]},
    ),
    Peer(
        "detect-secrets",
        frozenset(),
        ["scan", "--all-files", "."],
        lambda report: {name for name in report["results"] if name.startswith("snippet_")},
    ),
    Peer(
        "gitleaks",
        frozenset(),
        ["dir", ".", "-f", "json", "-r", "-", "--no-banner", "-l", "error"],
        lambda report: {Path(one["File"]).name for one in report},
    ),
    Peer(
        "guarddog",
        frozenset(),
        ["pypi", "scan", ".", "--output-format", "json"],
        _flagged_by_guarddog,
    ),
    Peer(
        "eslint",  # with eslint-plugin-security
        frozenset({"javascript"}),
        ["--config", "{config}", "--no-inline-config", "-f", "json", "."],
        _flagged_by_eslint,
    ),
    Peer(
        "sqlfluff",  # it has no rules of security: those of layout and style are left out
        frozenset({"sql"}),
        ["lint", "--dialect", "postgres", "-f", "json", "--exclude-rules", "layout,capitalisation", "."],
        lambda report: {one["filepath"] for one in report if one["violations"]},
    ),
]


def _format_findings(scan: Scan) -> str:
    decisive = [finding for finding in scan.findings if finding.verdict is not Verdict.ALLOW]
    return "; ".join(f"{finding.rule}@{finding.line}" for finding in decisive[:4])


def _print_shares(found: dict[str, list[Measured]]) -> None:
    """Deny and review over everything that should be allowed."""
    benign = [
        one
        for name, all_ in found.items()
        if not name.startswith(("crosses", "our own ev", "our own cr"))
        for one in all_
    ]
    counts = Counter(one.scan.verdict for one in benign)
    if benign:
        print(
            f"\nof {len(benign)} benign snippets {counts[Verdict.DENY] / len(benign):.2%} denied,"
            f" {counts[Verdict.REVIEW] / len(benign):.2%} for review"
        )


def _print_pairs(found: dict[str, list[Measured]]) -> None:
    """Each harmless twin beside the risky snippet it was made from, which is the most like it of its kind."""
    right = total = 0
    for language in ("python", "bash"):
        risky = found.get(f"crosses a boundary, {language}", [])
        for twin in found.get(f"harmless twins, {language}", []):
            kind = [one for one in risky if one.sample.category == twin.sample.category]
            if not kind:
                continue
            source = twin.sample.source
            near = max(kind, key=lambda one: SequenceMatcher(None, one.sample.source, source, False).ratio())
            total += 1
            right += near.scan.verdict is Verdict.DENY and twin.scan.verdict is Verdict.ALLOW
    if total:
        print(
            f"of {total} pairs of twins {right / total:.1%}: the risky one denied, the harmless one allowed"
        )


def _cases(data: Path) -> Iterator[Case]:
    red, twins = list(_rows(data / "redcode-dev.jsonl")), list(_rows(data / "benign-twins-dev.jsonl"))
    for language in ("python", "bash"):
        crosses = [row for row in red if row["crosses_boundary"] and row["id"] not in MISLABELLED]
        stays = [row for row in red if not row["crosses_boundary"] or row["id"] in MISLABELLED]
        yield from _case(f"crosses a boundary, {language}", Verdict.DENY, crosses, language)
        yield from _case(f"stays inside, {language}", Verdict.ALLOW, stays, language)
        yield from _case(f"harmless twins, {language}", Verdict.ALLOW, twins, language)
    tasks: list[Row] = [
        {
            **row,
            "id": row["task_id"],
            "language": "python",
            "source": f"{row['prompt']}{row['canonical_solution']}",
        }
        for row in _rows(data / "humaneval.jsonl")
    ]
    yield from _case("HumanEval solutions", Verdict.ALLOW, tasks, "python")
    for language in ("python", "bash", "sql", "javascript"):
        yield from _case(f"our own evasions, {language}", Verdict.DENY, _own("evasions"), language)
        yield from _case(f"our own crossings, {language}", Verdict.DENY, _own("crossings"), language)
        yield from _case(f"our own benign snippets, {language}", Verdict.ALLOW, _own("benign"), language)


def _own(kind: str) -> list[Row]:
    rows: list[Row] = []
    for path in sorted((Path(__file__).parents[1] / "sandbox" / "scanners").glob(f"{kind}*.yaml")):
        for language, entries in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            named = entries if isinstance(entries, dict) else dict(enumerate(entries, 1))
            for name, entry in named.items() if language != "review" else ():
                source = entry if isinstance(entry, str) else entry["code"]
                rows.append({"id": name, "language": language, "source": source})
    return rows


def _case(name: str, wanted: Verdict, rows: list[Row], language: str) -> Iterator[Case]:
    samples = [
        Sample(str(row["id"]), language, str(row.get("category", "")).lstrip("pysh"), str(row["source"]))
        for row in rows
        if row["language"] == language
    ]
    if samples:
        yield Case(name, wanted, samples)


def _rows(path: Path) -> Iterator[Row]:
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


_BLOCKS: dict[str, Callable[[int], str]] = {
    "python": lambda n: (
        f"def mean_{n}(rows):\n    token = [row['v'] for row in rows]\n    return sum(token) / {n}\n\n"
    ),
    "bash": lambda n: f'sort data_{n}.csv | uniq > out_{n}.txt\nif [ -f "out_{n}.txt" ]; then x_{n}=1; fi\n',
    "sql": lambda n: f"SELECT a_{n}, SUM(b) FROM t_{n} WHERE c > {n} GROUP BY a_{n};\n",
    "javascript": lambda n: f"function mean_{n}(rows) {{ return rows.reduce((a, b) => a + b.v, {n}); }}\n",
    "typescript": lambda n: f"function mean_{n}(rows: Row[]): number {{ return rows.length + {n}; }}\n",
    "text": lambda n: (
        f"Chapter {n} says that {n} of 100 samples at https://api.github.com/x/{n} were fine.\n"
    ),
    "json": lambda n: f'{{"id": {n}, "name": "row {n}", "token": "a", "v": [1, 2, {n}]}}\n',
    "yaml": lambda n: f"row_{n}:\n  name: row {n}\n  url: https://api.github.com/x/{n}\n",
}


def _sizes(pipeline: Pipeline) -> None:
    """Time over size: one plain block with changing names, as often as it takes."""
    print(
        f"\n{'language':12}{'1 KB':>10}{'10 KB':>10}{'100 KB':>10}{'1 MB':>10}   clock ms, and how it grows"
    )
    for language, block in _BLOCKS.items():
        shown: list[float] = []
        for size in (1_000, 10_000, 100_000, 1_000_000):
            source = "".join(block(n) for n in range(1000, 1000 + size // len(block(5000))))
            started = time.perf_counter()
            pipeline.scan(language, source)
            shown.append((time.perf_counter() - started) * 1000)
        ratios = "  ".join(f"x{after / before:.1f}" for before, after in pairwise(shown))
        print(f"{language:12}" + "".join(f"{one:>10.1f}" for one in shown) + f"   {ratios}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the pre-execution gate.")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--set", type=Path, help="measure this set of labelled snippets alone")
    parser.add_argument("--policy", default="data-analysis", help="of the set: a preset or a file")
    parser.add_argument("--misses", action="store_true", help="name each sample that did not get its verdict")
    for peer in _PEERS:
        parser.add_argument(
            f"--{peer.name}", default=peer.name, help="the program; where absent its rows are left out"
        )
    parser.add_argument("--secrets", type=Path, help="texts with and without secrets")
    parser.add_argument("--sizes", action="store_true", help="time over the size of the source")
    arguments = parser.parse_args()
    if arguments.data is None and arguments.set is None:
        parser.error("name a directory of data, or a set")
    return arguments


if __name__ == "__main__":
    main()
