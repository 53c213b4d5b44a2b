"""`spanproof show TRACE`: one stored trace, run by run: snippets, findings, replay beside record, scores."""

from __future__ import annotations

import click

from spanproof.cli import EXIT_PASS
from spanproof.cli.console import console, print_json
from spanproof.cli.detail import feedback_text, run_detail
from spanproof.cli.stored import opened_store, run_of, store_option, trace_by_prefix
from spanproof.trace.codec import to_plain


@click.command("show")
@click.argument("trace")
@store_option
@click.option("--run", "run", help="Only this run: the start of its span id, or its name.")
@click.option("--json", "as_json", is_flag=True, help="The whole evaluation as JSON on stdout.")
def command(trace: str, location: str, run: str | None, as_json: bool) -> int:
    """Show one stored trace; TRACE is its id or the start of it."""
    with opened_store(location) as store:
        evaluation = trace_by_prefix(store, trace)
        told = store.feedback(evaluation.trace.trace_id)
    runs = (run_of(evaluation, run),) if run else evaluation.runs
    if as_json:
        plain = to_plain(evaluation)
        plain["runs"] = to_plain(runs)
        plain["feedback"] = to_plain(told)
        print_json(plain)
        return EXIT_PASS
    for position, each in enumerate(runs):
        if position:
            console.rule(style="dim")
        console.print(run_detail(evaluation, each))
        for said in told:
            if said.is_about(each.run.span_id):
                console.print(feedback_text(said))
    if not runs:
        console.print(f"trace {evaluation.trace.trace_id}: no run in its {len(evaluation.trace.spans)} spans")
    return EXIT_PASS
