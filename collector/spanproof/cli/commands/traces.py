"""`spanproof traces`: the latest stored traces, a row per run."""

from __future__ import annotations

from collections.abc import Sequence

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.cohort import with_where_option
from spanproof.cli.options.store import StoreQuery, opened_store, with_limit_option, with_store_query_options
from spanproof.cli.output.console import console, inform, pick, print_json
from spanproof.cli.output.runs_table import RunLine, print_runs
from spanproof.cli.output.words import format_count, to_outcome_row
from spanproof.cli.problems import UsageProblem
from spanproof.store import Feedback, RunRow, TraceRow
from spanproof.trace import Layer


@click.command("traces")
@with_store_query_options
@with_where_option
@click.option("--failing", is_flag=True, help="Only traces with a run that fails a layer.")
@click.option("--passing", is_flag=True, help="Only traces without a run that fails a layer.")
@click.option(
    "--layer", type=click.Choice([layer.value for layer in Layer]), help="With --failing: fails this layer."
)
@with_limit_option(50, "Traces listed at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(
    query: StoreQuery,
    cohort: dict[str, str],
    failing: bool,
    passing: bool,
    layer: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """List evaluated traces, newest first."""
    if layer and not failing:
        raise UsageProblem("--layer says which layer must fail", "Add --failing.")
    if failing and passing:
        raise UsageProblem("--failing and --passing leave no trace", "Give one of them.")
    chosen = Layer(layer) if layer else failing if failing or passing else None
    with opened_store(query.location) as store:
        name = store.name
        rows = store.traces(
            project=query.project, since_ns=query.since_ns, failing=chosen, limit=limit, cohort=cohort
        )
        feedback = [] if as_json or not rows else store.feedback()
    if as_json:
        for row in rows:
            print_json(_to_row(row))
    elif rows:
        _print(rows, feedback)
    else:
        inform(f"no trace in {name} matches")
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
        if said.trace_id == row.trace_id and said.is_about(run.run_span_id)
    ]
    return ", ".join(dict.fromkeys(reversed(kinds)))


def _to_row(row: TraceRow) -> dict[str, object]:
    return {
        **pick(row, "trace_id project"),
        "start_unix_ns": row.start_ns,
        "end_unix_ns": row.end_ns,
        **pick(row, "spans defects"),
        "runs": [
            {
                "span_id": run.run_span_id,
                **pick(run, "agent model"),
                "layers": {layer.value: to_outcome_row(outcome) for layer, outcome in run.layers.items()},
            }
            for run in row.runs
        ],
    }
