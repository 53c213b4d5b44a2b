"""`spanproof traces`: the latest stored traces, a row per run, and the totals."""

from __future__ import annotations

from collections.abc import Sequence

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.cohort import with_where_option
from spanproof.cli.options.store import (
    StoreQuery,
    list_traces,
    opened_store,
    with_limit_option,
    with_store_query_options,
)
from spanproof.cli.output.console import console, inform, pick, print_json
from spanproof.cli.output.runs_table import RunLine, print_runs
from spanproof.cli.output.words import format_count, to_outcome_row
from spanproof.cli.problems import UsageProblem
from spanproof.cli.waiting import warn_of_waiting
from spanproof.store import Feedback, RunRow, TraceRow
from spanproof.trace import Layer, State
from spanproof.trace.project import TraceKey


@click.command("traces")
@with_store_query_options
@with_where_option
@click.option("--failing", is_flag=True, help="Only traces with a run that fails a layer.")
@click.option(
    "--passing", is_flag=True, help="Only traces that pass: nothing in them fails, errored or is open."
)
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in State]),
    help="Only traces in this state; may be given several times.",
)
@click.option(
    "--layer",
    type=click.Choice([layer.value for layer in Layer]),
    help="With --failing or --state: this layer of a run is in that state, among the newest 50,000 traces.",
)
@with_limit_option(50, "Traces listed at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(
    query: StoreQuery,
    cohort: dict[str, str],
    failing: bool,
    passing: bool,
    states: tuple[str, ...],
    layer: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """List evaluated traces, newest first.

    A row is a run: its state, that of its layers, and why. Right after a run its trace waits for its
    evaluation: the command says for how long.
    """
    if failing and passing:
        raise UsageProblem("--failing and --passing leave no trace", "Give one of them.")
    chosen = {State(state) for state in states}
    chosen |= {State.FAIL} if failing else {State.PASS} if passing else set()
    if layer and not chosen:
        raise UsageProblem("--layer says which layer must fail", "Add --failing, or --state.")
    with opened_store(query.location) as store:
        name = store.name
        rows = list_traces(
            store,
            chosen,
            limit,
            layer=Layer(layer) if layer else None,
            project=query.project,
            since_ns=query.since_ns,
            cohort=cohort,
        )
        feedback = [] if as_json or not rows else store.feedback()
        waiting = store.waiting_traces(query.project)
    if as_json:
        for row in rows:
            print_json(_to_row(row))
    elif rows:
        _print(rows, feedback)
    else:
        inform(f"no trace in {name} matches")
    warn_of_waiting(waiting)
    return EXIT_PASS


def _print(rows: Sequence[TraceRow], feedback: Sequence[Feedback]) -> None:
    lines = [
        RunLine(run.agent, row.trace_id, row.start_ns, run.layers, _describe_feedback(row, run, feedback))
        for row in rows
        for run in row.runs
    ]
    if lines:
        print_runs(console, lines)
    if without := sum(not row.runs for row in rows):
        inform(f"{format_count(without, 'trace')} without an agent run; --json lists them too")


def _describe_feedback(row: TraceRow, run: RunRow, feedback: Sequence[Feedback]) -> str:
    """Return what users said of a run, the latest first."""
    kinds = [
        said.kind.replace("_", " ")
        for said in feedback
        if said.key == TraceKey(row.project, row.trace_id) and said.is_about(run.run_span_id)
    ]
    return ", ".join(dict.fromkeys(reversed(kinds)))


def _to_row(row: TraceRow) -> dict[str, object]:
    return {
        **pick(row, "trace_id project state"),
        "start_unix_ns": row.start_ns,
        "end_unix_ns": row.end_ns,
        **pick(row, "spans defects"),
        "runs": [
            {
                "span_id": run.run_span_id,
                **pick(run, "agent model state"),
                "layers": {layer.value: to_outcome_row(outcome) for layer, outcome in run.layers.items()},
            }
            for run in row.runs
        ],
    }
