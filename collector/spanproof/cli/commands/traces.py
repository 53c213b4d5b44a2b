"""`spanproof traces`: the latest stored traces, a row per run and a column per layer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli import EXIT_PASS
from spanproof.cli.console import UsageProblem, console, error_console, print_json
from spanproof.cli.report import outcome_words, plain
from spanproof.cli.stored import opened_store, since_ns, since_option, store_option
from spanproof.store import RunRow, TraceRow
from spanproof.trace import Errored, Label, Layer, Outcome, Scored, Skipped


@click.command("traces")
@store_option
@click.option("--project", help="Only traces of this project.")
@since_option
@click.option("--failing", is_flag=True, help="Only traces with a run that fails a layer.")
@click.option(
    "--layer", type=click.Choice([layer.value for layer in Layer]), help="With --failing: fails this layer."
)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="How many at most."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(
    location: str,
    project: str | None,
    since: str | None,
    failing: bool,
    layer: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """List evaluated traces, newest first."""
    if layer and not failing:
        raise UsageProblem("--layer says which layer must fail", "Add --failing.")
    chosen: Layer | bool | None = Layer(layer) if layer else (True if failing else None)
    with opened_store(location) as store:
        name = store.name
        rows = store.traces(project=project, since_ns=since_ns(since), failing=chosen, limit=limit)
    if as_json:
        for row in rows:
            print_json(trace_json(row))
    elif rows:
        console.print(_table(rows))
    else:
        error_console.print(f"no trace in {name} fits", highlight=False, markup=False)
    return EXIT_PASS


def trace_json(row: TraceRow) -> dict[str, object]:
    """One trace as `--json` prints it."""
    return {
        "trace_id": row.trace_id,
        "project": row.project,
        "start_unix_ns": row.start_ns,
        "end_unix_ns": row.end_ns,
        "spans": row.spans,
        "defects": list(row.defects),
        "runs": [
            {
                "span_id": run.run_span_id,
                "agent": run.agent,
                "model": run.model,
                "layers": {layer.value: _outcome_json(outcome) for layer, outcome in run.layers.items()},
            }
            for run in row.runs
        ],
    }


def _outcome_json(outcome: Outcome) -> dict[str, object]:
    words = outcome_words(outcome)
    match outcome:
        case Scored(value=value, label=label):
            return {
                "outcome": "scored",
                "value": value,
                "label": label.value if label else None,
                "explanation": words,
            }
        case Skipped():
            return {"outcome": "skipped", "reason": words}
        case Errored():
            return {"outcome": "errored", "reason": words}


def _table(rows: list[TraceRow]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("started (UTC)", no_wrap=True, style="dim")
    table.add_column("trace", no_wrap=True)
    table.add_column("agent", no_wrap=True, max_width=24, overflow="ellipsis")
    for layer in Layer:
        table.add_column(layer.value, no_wrap=True)
    table.add_column("why", ratio=1)
    for row in rows:
        for run in row.runs or (RunRow("", "no run", "", {}),):
            table.add_row(
                Text(_clock(row.start_ns)),
                Text(row.trace_id[:12]),
                plain(run.agent, 24),
                *(_verdict(run.layers.get(layer)) for layer in Layer),
                _why(run.layers),
            )
    return table


def _verdict(outcome: Outcome | None) -> Text:
    match outcome:
        case Scored(label=Label.PASS):
            return Text("pass", style="green")
        case Scored(label=Label.FAIL):
            return Text("FAIL", style="bold red")
        case Scored(value=value):
            return Text(f"open {value:.2f}", style="yellow")
        case Skipped():
            return Text("skipped", style="dim")
        case Errored():
            return Text("error", style="magenta")
        case None:
            return Text("–", style="dim")


def _why(layers: Mapping[Layer, Outcome]) -> Text:
    for layer in Layer:
        outcome = layers.get(layer)
        if isinstance(outcome, Scored) and outcome.label is Label.FAIL:
            return Text.assemble((f"{layer.value}: ", "bold"), plain(outcome_words(outcome)))
    return Text()


def _clock(ns: int) -> str:
    try:
        return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%m-%d %H:%M:%S")
    except (OverflowError, ValueError):
        return "?"
