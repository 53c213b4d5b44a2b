"""The options that name files of results, and the writing of those files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from spanproof.cli.output.console import write_report
from spanproof.gate.outputs import (
    ResultTable,
    format_annotations,
    format_junit,
    format_markdown,
    format_sarif,
)

SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file that GitHub Actions shows as the summary of a step."""

# Bytes; GitHub shows nothing of a summary of more than 1 MiB.
_MAX_SUMMARY = 1_000_000


@dataclass(frozen=True, slots=True)
class Outputs:
    """Which files are written, and whether GitHub is notified of each failure."""

    junit: Path | None = None
    sarif: Path | None = None
    html: Path | None = None
    markdown: Path | None = None
    github: bool = False

    @property
    def needs_code(self) -> bool:
        """Whether a form shows the code that is to blame."""
        return self.github or any((self.sarif, self.html, self.markdown))

    def write(
        self,
        table: ResultTable,
        *,
        as_json: bool,
        format_page: Callable[[ResultTable], str],
    ) -> None:
        """Write the files; annotations go to stdout, or to stderr where stdout holds JSON.

        Args:
            table: the results.
            as_json: whether stdout holds JSON.
            format_page: makes the HTML page.
        """
        for path, form in (
            (self.junit, format_junit),
            (self.sarif, format_sarif),
            (self.html, format_page),
            (self.markdown, format_markdown),
        ):
            if path is not None:
                write_report(path, form(table))
        if self.github:
            print(format_annotations(table), end="", file=sys.stderr if as_json else sys.stdout, flush=True)
            _write_summary(format_markdown(table))


def with_output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of its files; it is called with `outputs`."""

    @wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        names = ("junit", "sarif", "html", "markdown", "github")
        return command(*args, outputs=Outputs(**{name: values.pop(name) for name in names}), **values)

    decorated: Any = wrapped
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


_FILE = click.Path(path_type=Path, dir_okay=False)
_OPTIONS = (
    click.option("--junit", type=_FILE, help="Write a JUnit file."),
    click.option("--sarif", type=_FILE, help="Write a SARIF file that points into the snippets."),
    click.option("--html", type=_FILE, help="Write one page of the console that needs no other file."),
    click.option("--markdown", type=_FILE, help="Write Markdown for a comment on a pull request."),
    click.option(
        "--github", is_flag=True, help=f"Print annotations for GitHub Actions, and add to ${SUMMARY}."
    ),
)


def _write_summary(text: str) -> None:
    """Add to the step's summary; without the file, as outside of GitHub Actions, there is none."""
    name = os.environ.get(SUMMARY)
    if not name:
        return
    with Path(name).open("a", encoding="utf-8") as file:
        if file.tell() + len(text.encode()) <= _MAX_SUMMARY:
            file.write(f"{text}\n")
