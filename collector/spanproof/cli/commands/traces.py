"""`spanproof traces`: the latest stored traces, a row per run, and the totals."""

from __future__ import annotations

from collections.abc import Sequence

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.cohort import with_where_option
from spanproof.cli.options.store import (
    StoreQuery,
    opened_store,
    with_limit_option,
    with_store_query_options,
)
from spanproof.cli.output.console import console, select_attributes, write_json, write_remark
from spanproof.cli.output.runs_table import RunLine, write_runs
from spanproof.cli.output.words import format_count, to_outcome_row
from spanproof.cli.problems import UsageProblem
from spanproof.cli.waiting import write_waiting
from spanproof.store import Feedback, RunRow, Store, TraceRow
from spanproof.store.trace_list import TraceOrder, TraceTerms
from spanproof.store.trace_listing import TraceListing
from spanproof.trace import Layer, State
from spanproof.trace.project import TraceKey


@click.command("traces")
@with_store_query_options
@with_where_option
@click.option("--failing", is_flag=True, help="Only traces in which a run fails a layer.")
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
@click.option(
    "--text",
    "texts",
    multiple=True,
    help="Only traces with this in a task, an answer, code or an output, in any case. Of several, each"
    " must be there.",
)
@click.option("--feedback", help="Only traces with this rating of a user, such as thumbs_up or thumbs_down.")
@click.option(
    "--min-seconds", type=click.FloatRange(0), help="Only traces that took at least this many seconds."
)
@click.option("--min-tokens", type=click.IntRange(0), help="Only traces that used at least this many tokens.")
@click.option(
    "--min-cost-usd", type=click.FloatRange(0), help="Only traces that cost at least this many US dollars."
)
@click.option(
    "--order",
    default=TraceOrder.NEWEST.value,
    show_default=True,
    type=click.Choice([order.value for order in TraceOrder]),
    help="Which traces come first.",
)
@with_limit_option(50, "List at most this many traces.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(
    query: StoreQuery,
    cohort: dict[str, str],
    failing: bool,
    passing: bool,
    states: tuple[str, ...],
    layer: str | None,
    texts: tuple[str, ...],
    feedback: str | None,
    min_seconds: float | None,
    min_tokens: int | None,
    min_cost_usd: float | None,
    order: str,
    limit: int,
    as_json: bool,
) -> int:
    """List evaluated traces, newest first or in another order.

    A row is a run: its state, the state of each layer, and why. A trace is evaluated some seconds after its
    run has ended; until then the command says how long it takes. Example: spanproof traces --failing
    --since 24h --where agent=checkout
    """
    wanted = _parse_states(states, failing=failing, passing=passing)
    if layer and not wanted:
        raise UsageProblem("--layer says which layer must fail", "Add --failing, or --state.")
    with opened_store(query.location) as store:
        chosen = TraceTerms(
            project=query.project,
            since_ns=query.since_ns,
            states=[] if layer else wanted,
            cohort=cohort,
            texts=texts,
            feedback=feedback,
            min_latency_ns=None if min_seconds is None else int(min_seconds * 10**9),
            min_tokens=min_tokens,
            min_cost_usd=min_cost_usd,
        )
        layer_states = (Layer(layer), wanted) if layer else None
        rows = list(TraceListing(store, chosen, TraceOrder(order), layer_states).iter_rows(limit))
        ratings = [] if as_json or not rows else store.feedback()
        waiting = store.waiting_traces(query.project)
        why_none = "" if rows else _describe_empty_list(store)
    if as_json:
        for row in rows:
            write_json(_to_row(row))
    elif rows:
        _write_rows(rows, ratings)
    else:
        write_remark(why_none)
    write_waiting(waiting)
    return EXIT_PASS


def _describe_empty_list(store: Store) -> str:
    """Return whether the store holds no evaluated trace, or none that the options mean."""
    if store.trace_ids(limit=1):
        return f"no trace in {store.name} matches"
    return f"no trace in {store.name} is evaluated yet"


def _parse_states(states: Sequence[str], *, failing: bool, passing: bool) -> set[State]:
    if failing and passing:
        raise UsageProblem("--failing and --passing leave no trace", "Give one of them.")
    wanted = {State(state) for state in states}
    if failing:
        wanted.add(State.FAIL)
    if passing:
        wanted.add(State.PASS)
    return wanted


def _write_rows(rows: Sequence[TraceRow], feedback: Sequence[Feedback]) -> None:
    lines = [
        RunLine(run.agent, row.trace_id, row.start_ns, run.layers, _describe_feedback(row, run, feedback))
        for row in rows
        for run in row.runs
    ]
    if lines:
        write_runs(console, lines)
    if without := sum(not row.runs for row in rows):
        write_remark(f"{format_count(without, 'trace')} without an agent run; --json lists them too")


def _describe_feedback(row: TraceRow, run: RunRow, feedback: Sequence[Feedback]) -> str:
    """Return what users said of a run, the latest first."""
    kinds = [
        rating.kind.replace("_", " ")
        for rating in feedback
        if rating.key == TraceKey(row.project, row.trace_id) and rating.is_about(run.run_span_id)
    ]
    return ", ".join(dict.fromkeys(reversed(kinds)))


def _to_row(row: TraceRow) -> dict[str, object]:
    return {
        **select_attributes(row, "trace_id project state"),
        "start_unix_ns": row.start_ns,
        "end_unix_ns": row.end_ns,
        **select_attributes(row, "spans defects tokens cost_usd"),
        "feedback": dict(row.feedback),
        "runs": [
            {
                "span_id": run.run_span_id,
                **select_attributes(run, "agent model state"),
                **_build_run(row, run),
                "layers": {layer.value: to_outcome_row(outcome) for layer, outcome in run.layers.items()},
            }
            for run in row.runs
        ],
    }


def _build_run(row: TraceRow, run: RunRow) -> dict[str, object]:
    summary = row.summaries.get(run.run_span_id)
    if summary is None:
        return {}
    return select_attributes(summary, "task answer tokens cost_usd")
