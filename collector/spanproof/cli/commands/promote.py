"""`spanproof promote TRACE --suite DIR`: freeze a stored run into a suite as a hermetic case."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli import EXIT_PASS
from spanproof.cli.console import UsageProblem, console, error_console, print_json
from spanproof.cli.report import plain
from spanproof.cli.stored import counted, opened_store, run_of, store_option, trace_by_prefix
from spanproof.evaluators.model import RunEvaluation
from spanproof.suites import Case, SuiteError, promote


@click.command("promote")
@click.argument("trace")
@click.option("--suite", required=True, type=click.Path(path_type=Path, file_okay=False), help="The suite.")
@click.option("--run", help="Which run: the start of its span id, or its name; not needed for a single one.")
@click.option("--replace", is_flag=True, help="Freeze anew a case that is there already; its notes stay.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The case as JSON on stdout.")
def command(
    trace: str,
    suite: Path,
    run: str | None,
    replace: bool,
    location: str,
    as_json: bool,
) -> int:
    """Freeze a run of a stored trace into a suite.

    TRACE is its id or the start of it.
    """
    with opened_store(location) as store:
        evaluation = trace_by_prefix(store, trace)
    chosen = run_of(evaluation, run)
    try:
        case = promote(evaluation, chosen.run.span_id, suite, replace=replace)
    except SuiteError as problem:
        raise UsageProblem(str(problem)) from problem
    except OSError as problem:
        raise UsageProblem(f"{problem.filename}: {problem.strerror}", "Name another folder.") from problem
    folder = suite / "cases" / case.id
    _warn_of_secrets(chosen, case)
    if as_json:
        print_json(case_json(case, folder))
    else:
        print_case(case, folder)
    return EXIT_PASS


def _warn_of_secrets(run: RunEvaluation, case: Case) -> None:
    """A case holds the code as it was: whoever commits it must know that a secret is in it."""
    for number, snippet in enumerate(case.snippets, start=1):
        scan = run.scans.get(snippet.id)
        for finding in scan.findings if scan else ():
            if finding.rule.startswith("secret."):
                error_console.print(
                    Text.assemble(
                        ("warning: ", "bold yellow"),
                        f"snippet {number}, line {finding.line}, holds a secret ({finding.rule}), and so"
                        " does the case: revoke it before the suite is shared",
                    ),
                    soft_wrap=True,
                )


def case_json(case: Case, folder: Path) -> dict[str, object]:
    """A case as `--json` prints it."""
    return {
        "id": case.id,
        "folder": str(folder),
        "agent": case.agent,
        "task": case.task,
        "trace_id": case.origin.trace_id,
        "run_span_id": case.origin.run_span_id,
        "snippets": len(case.snippets),
        "expectation": {each.layer.value: each.verdict for each in case.expectations if each.is_of_layer},
    }


def print_case(case: Case, folder: Path) -> None:
    """A case in a few lines."""
    calls = sum(len(snippet.tape) for snippet in case.snippets)
    console.print(Text.assemble(("case ", "bold"), case.id), soft_wrap=True)
    console.print(Text.assemble("  files  ", str(folder)), soft_wrap=True)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_row("  task", plain(case.task or "not on the trace"))
    grid.add_row(
        "  holds", f"{counted(len(case.snippets), 'snippet')}, {counted(calls, 'tool call')} on tape"
    )
    for each in case.expectations:
        if each.is_of_layer:
            style = {"fail": "bold red", "pass": "green"}.get(each.verdict, "dim")
            grid.add_row(
                Text(f"  {each.verdict}", style=style),
                Text.assemble(f"{each.layer.value}: ", plain(each.explanation)),
            )
    console.print(grid)
