"""Measure how much of honest code a preset stops: cells of notebooks, and examples in packages' docstrings.

    python tests/bench/cells.py [--policy NAME] [--package NAME …] [--misses] [NOTEBOOK …]

In: notebooks, whose code cells are scanned one by one, each after the imports of those before it; and
installed packages, where the examples of one docstring are one cell. Out: how many cells the policy allows,
reviews and denies, and by which rules. Nothing of them is executed.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

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
    parser.add_argument("--policy", default="data-analysis")
    parser.add_argument(
        "--misses", action="store_true", help="show the beginning of each cell that is stopped"
    )
    arguments = parser.parse_args()
    pipeline = Pipeline(load_policy(arguments.policy))
    groups = {str(path): iter_notebook_cells(path) for path in arguments.notebooks}
    groups |= {name: iter_package_cells(name) for name in arguments.packages}
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


def _format_counts(counts: Counter[Verdict]) -> str:
    total = counts.total()
    stopped = (counts[Verdict.REVIEW] + counts[Verdict.DENY]) / total if total else 0.0
    reviewed, denied = counts[Verdict.REVIEW], counts[Verdict.DENY]
    return f"{total} cells, {reviewed} reviewed, {denied} denied, {stopped:.1%} stopped"


if __name__ == "__main__":
    main()
