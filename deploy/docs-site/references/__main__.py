"""Write the references that are made from the code: `python deploy/docs-site/references [--check]`.

Each page, or the part of a page between two marks, is what its module returns. `--check` writes nothing,
prints the pages that differ, and exits with 1 where there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import attributes
import conventions
import http_api
import metrics
import presets
import python_api
import scanner_rules
import scores
from click.testing import CliRunner

from spanproof.cli.app import app
from spanproof.cli.reference import build_reference as commands

DOCS = Path(__file__).parents[3] / "docs"
BEGIN, END = "<!-- written by `make reference` -->\n", "<!-- end of what is written -->\n"

PAGES: Mapping[str, Callable[[str], str]] = {
    "cli.md": commands,
    "configuration.md": lambda _: CliRunner().invoke(app, ["config", "reference"]).stdout,
    "semconv.md": lambda _: conventions.render(),
    "dialects.md": lambda page: _replace_part(page, attributes.render()),
    "policy.md": lambda page: _replace_part(page, presets.render()),
    "scanners.md": lambda page: _replace_part(page, scanner_rules.render()),
    "reference/http-api.md": lambda _: http_api.render(),
    "reference/metrics.md": lambda _: metrics.render(),
    "reference/python-api.md": lambda _: python_api.render(),
    "reference/scores.md": lambda _: scores.render(),
}
"""The page, to a function from its present text to what it must be."""


def _replace_part(page: str, part: str) -> str:
    """Return the page with another text between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks the marks {BEGIN.strip()!r} and {END.strip()!r}")
    return f"{before}{begin}\n{part}\n{end}{after}"


def main(arguments: list[str]) -> int:
    """Write the pages that differ, or name them."""
    check = arguments == ["--check"]
    differ = 0
    for name, make in PAGES.items():
        path = DOCS / name
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        made = make(page)
        if made != page:
            differ += 1
            sys.stdout.write(f"docs/{name} {'differs from the code' if check else 'is written'}\n")
            if not check:
                path.write_text(made, encoding="utf-8")
    if check and differ:
        sys.stdout.write("run: make reference\n")
    return int(check and bool(differ))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
