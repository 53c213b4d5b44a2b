"""`spanproof promote TRACE --suite DIR`: add a stored run to a suite as a hermetic case."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import find_run, find_trace, opened_store, store_option
from spanproof.cli.output.console import console, pick, print_json, warn
from spanproof.cli.output.hostile import plain
from spanproof.cli.output.words import format_count
from spanproof.evaluators.model import RunEvaluation
from spanproof.suites import Case, promote


@click.command("promote")
@click.argument("trace")
@click.option("--suite", required=True, type=click.Path(path_type=Path, file_okay=False), help="The suite.")
@click.option(
    "--run", help="Which run: the start of its span id, or its name; needed where there are several."
)
@click.option("--replace", is_flag=True, help="Write a case that exists already anew; its notes stay.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The case as JSON on stdout.")
def command(trace: str, suite: Path, run: str | None, replace: bool, location: str, as_json: bool) -> int:
    """Add a run of a stored trace to a suite, as a hermetic case.

    TRACE is its id or the start of it.
    """
    with opened_store(location) as store:
        evaluation = find_trace(store, trace)
    chosen = find_run(evaluation, run)
    case = promote(evaluation, chosen.run.span_id, suite, replace=replace)
    folder = suite / "cases" / case.id
    _warn_of_secrets(chosen, case)
    if as_json:
        print_json(_case_row(case, folder))
    else:
        print_case(case, folder)
    return EXIT_PASS


def _warn_of_secrets(run: RunEvaluation, case: Case) -> None:
    """Warn where the code of a case has a secret, which would be committed with it."""
    for number, snippet in enumerate(case.snippets, start=1):
        scan = run.scans.get(snippet.id)
        for finding in scan.findings if scan else ():
            if finding.rule.startswith("secret."):
                warn(
                    f"snippet {number}, line {finding.line}, holds a secret ({finding.rule}), and so does"
                    " the case: revoke it before the suite is shared"
                )


def _case_row(case: Case, folder: Path) -> dict[str, object]:
    """Return a case as `--json` prints it."""
    return {
        "id": case.id,
        "folder": str(folder),
        **pick(case, "agent task"),
        "trace_id": case.origin.trace_id if case.origin else None,
        "run_span_id": case.origin.run_span_id if case.origin else None,
        "snippets": len(case.snippets),
        "expectation": {each.layer.value: each.verdict for each in case.expectations if each.is_of_layer},
    }


def print_case(case: Case, folder: Path) -> None:
    """Print a case in a few lines."""
    calls = sum(len(snippet.tape) for snippet in case.snippets)
    console.print(Text.assemble(("case ", "bold"), case.id), soft_wrap=True)
    console.print(Text.assemble("  files  ", str(folder)), soft_wrap=True)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row("  task", plain(case.task or "not on the trace"))
    snippets = format_count(len(case.snippets), "snippet")
    grid.add_row("  holds", f"{snippets}, {format_count(calls, 'tool call')} on tape")
    for each in case.expectations:
        if each.is_of_layer:
            style = {"fail": "bold red", "pass": "green"}.get(each.verdict, "dim")
            reason = Text.assemble(f"{each.layer.value}: ", plain(each.explanation))
            grid.add_row(Text(f"  {each.verdict}", style=style), reason)
    console.print(grid)
