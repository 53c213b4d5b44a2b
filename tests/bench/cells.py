"""Measure how much of honest code a preset stops: cells of notebooks, and examples in packages' docstrings.

    python tests/bench/cells.py [--policy NAME] [--package NAME …] [--sets] [--misses] [--times]
        [NOTEBOOK …]

In: notebooks, whose code cells are scanned one by one, each after the imports of those before it; and
installed packages, where the examples of one docstring are one cell; with `--sets` the Python snippets of
`snippet_sets`, of which many are harmful. Out: how many cells the policy allows, reviews and denies, and by
which rules; with `--times`, the processor time of one scan and of bandit in the same process. Nothing of them
is executed.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import quantiles

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.plugins import build_bandit_scanner
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import Source

sys.path.append(str(Path(__file__).parents[2]))  # run as a script, as the docs do

from tests.bench.snippet_set import FOLDER, load_set

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_IMPORT = re.compile(r"(?m)^(?:import|from)\s.*$")
# What the documentation of these packages takes as imported, as their examples are run.
_IMPLIED = "import numpy as np\nimport pandas as pd\n"


def iter_notebook_cells(path: Path) -> Iterator[str]:
    """Yield the code cells of a notebook, each with the imports of the cells before it."""
    imports = ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            yield imports + source
            imports += "".join(f"{line}\n" for line in _IMPORT.findall(source))


def iter_package_cells(name: str) -> Iterator[str]:
    """Yield the examples of each docstring of an installed package, its tests left out."""
    spec = find_spec(name)
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        for path in sorted(Path(folder).rglob("*.py")):
            if "tests" not in path.parts:
                yield from _iter_examples(path)


def _iter_examples(path: Path) -> Iterator[str]:
    try:
        module = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    except SyntaxError:
        return
    for node in ast.walk(module):
        text = ast.get_docstring(node) if isinstance(node, _DOCUMENTED) else None
        if text is None or ">>>" not in text:
            continue
        try:
            examples = doctest.DocTestParser().get_examples(text)
        except ValueError:
            continue
        if examples:
            yield _IMPLIED + "".join(example.source for example in examples)


def main() -> None:
    """Print the counts of each notebook and package, and the rules that stopped cells."""
    parser = argparse.ArgumentParser(description="Measure how much of honest code a policy stops.")
    parser.add_argument("notebooks", type=Path, nargs="*")
    parser.add_argument("--package", action="append", default=[], dest="packages")
    parser.add_argument("--sets", action="store_true", help="take the Python snippets of the labelled sets")
    parser.add_argument("--policy", default="data-analysis")
    parser.add_argument(
        "--misses", action="store_true", help="show the beginning of each cell that is stopped"
    )
    parser.add_argument("--times", action="store_true", help="time one scan beside bandit in this process")
    arguments = parser.parse_args()
    pipeline = Pipeline(load_policy(arguments.policy))
    groups = {str(path): [*iter_notebook_cells(path)] for path in arguments.notebooks}
    groups |= {name: [*iter_package_cells(name)] for name in arguments.packages}
    for path in sorted(FOLDER.glob("*.jsonl")) if arguments.sets else ():
        groups[path.stem] = [one.source for one in load_set(path) if one.language == "python"]
    if arguments.times:
        _print_times(pipeline, [cell for cells in groups.values() for cell in cells])
    whole: Counter[Verdict] = Counter()
    rules: Counter[str] = Counter()
    for name, cells in groups.items():
        counts: Counter[Verdict] = Counter()
        for cell in cells:
            scan = pipeline.scan("python", cell)
            counts[scan.verdict] += 1
            stopping = [one for one in scan.findings if one.verdict is not Verdict.ALLOW]
            rules.update({one.rule for one in stopping})
            for one in stopping[:1] if arguments.misses else ():
                print(f"    {one.rule} {one.message}: {cell.removeprefix(_IMPLIED)[:120]!r}")
        whole += counts
        print(f"{name}: {_format_counts(counts)}")
    print(f"all: {_format_counts(whole)}")
    print(", ".join(f"{rule} {count}" for rule, count in rules.most_common(12)))


def _print_times(pipeline: Pipeline, cells: Sequence[str]) -> None:
    """Print the processor time of one scan, of ours and of bandit in turn, under the same load."""
    bandit = build_bandit_scanner()
    boundary = Boundary(Policy())

    def run_bandit(cell: str) -> None:
        bandit.scan(Context(boundary, Report(), clock() + 60), Source("python", cell))

    times: dict[str, list[float]] = {"spanproof": [], "bandit": []}
    for cell in cells:
        times["spanproof"].append(_measure_ms(lambda one: pipeline.scan("python", one), cell))
        times["bandit"].append(_measure_ms(run_bandit, cell))
    for name, taken in times.items():
        cuts = quantiles(taken, n=10)
        print(f"{name}: p50 {cuts[4]:.2f} ms, p90 {cuts[8]:.2f} ms of the processor, {len(taken)} cells")


def _measure_ms(scan: Callable[[str], object], cell: str) -> float:
    started = time.process_time()
    scan(cell)
    return (time.process_time() - started) * 1000


def _format_counts(counts: Counter[Verdict]) -> str:
    total = counts.total()
    stopped = (counts[Verdict.REVIEW] + counts[Verdict.DENY]) / total if total else 0.0
    reviewed, denied = counts[Verdict.REVIEW], counts[Verdict.DENY]
    return f"{total} cells, {reviewed} reviewed, {denied} denied, {stopped:.1%} stopped"


if __name__ == "__main__":
    main()
