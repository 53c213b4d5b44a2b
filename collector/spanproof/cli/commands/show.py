"""`spanproof show TRACE`: one stored trace, run by run: the verdict, why, and the steps."""

from __future__ import annotations

from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import find_run, find_trace, opened_store, store_option
from spanproof.cli.output.console import console, print_json, write_report
from spanproof.cli.output.run_page import build_run_page
from spanproof.cli.output.words import format_count
from spanproof.trace.codec import to_plain


@click.command("show")
@click.argument("trace")
@store_option
@click.option("--run", "run", help="Only this run: the start of its span id, or its name.")
@click.option("--full", is_flag=True, help="Show the evidence of layers that pass too.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the trace as one file that needs nothing else, as the console shows it.",
)
@click.option("--json", "as_json", is_flag=True, help="The whole evaluation as JSON on stdout.")
def command(trace: str, location: str, run: str | None, full: bool, html: Path | None, as_json: bool) -> int:
    """Show one stored trace: the verdict, why, and the steps.

    TRACE is its id or the start of it.
    """
    with opened_store(location) as store:
        evaluation = find_trace(store, trace)
        feedback = store.feedback(evaluation.trace.trace_id)
    runs = (find_run(evaluation, run),) if run else evaluation.runs
    if html is not None:
        # The console's packages are loaded only where a page is written.
        from spanproof.api.report import format_trace_report

        write_report(html, format_trace_report(evaluation, feedback, runs[0] if run else None))
    if as_json:
        shown = {"runs": to_plain(runs), "feedback": to_plain(feedback)}
        print_json({**to_plain(evaluation), **shown})
        return EXIT_PASS
    for position, each in enumerate(runs):
        if position:
            console.rule(style="dim")
        about = [said for said in feedback if said.is_about(each.run.span_id)]
        console.print(build_run_page(evaluation, each, about, full=full))
    if not runs:
        spans = format_count(len(evaluation.trace.spans), "span")
        console.print(f"trace {evaluation.trace.trace_id} has no agent run in its {spans}")
    return EXIT_PASS
