"""`spanproof show TRACE`, `show --last`: one stored trace, run by run: the verdict, why, and the steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import (
    NO_TRACE_REMEDY,
    find_newest_trace,
    get_run,
    get_trace,
    opened_store,
    store_option,
)
from spanproof.cli.output.console import console, write_json, write_remark, write_report
from spanproof.cli.output.run_page import build_run_page
from spanproof.cli.output.words import format_count, format_duration
from spanproof.cli.problems import UsageProblem
from spanproof.cli.waiting import iter_waiting_sentences, read_assembly, write_waiting
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.store import Feedback, Store, Waiting
from spanproof.trace.codec import to_plain


@click.command("show")
@click.argument("trace", required=False)
@click.option("--last", is_flag=True, help="Show the newest evaluated trace.")
@store_option
@click.option("--project", help="Only this project.")
@click.option("--run", "run", help="Only this run: the start of its span id, or its name.")
@click.option("--full", is_flag=True, help="Show the evidence of layers that pass too.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the console's page of the trace to one file that needs no other.",
)
@click.option("--json", "as_json", is_flag=True, help="The whole evaluation as JSON on stdout.")
def command(
    trace: str | None,
    last: bool,
    project: str | None,
    location: str,
    run: str | None,
    full: bool,
    html: Path | None,
    as_json: bool,
) -> int:
    """Show one stored trace: the verdict, why, and the steps.

    TRACE is its id or the start of it; with --last it is the newest one. A trace is evaluated some seconds
    after its run has ended; until then the command says how long it takes.
    """
    if (trace is None) is not last:
        raise UsageProblem("show takes a trace or --last", "Give the start of an id, or --last.")
    with opened_store(location) as store:
        if trace is None:
            evaluation, newer = _get_newest(store, project)
        else:
            evaluation, newer = _get_trace(store, trace, project), Waiting()
        feedback = store.feedback(evaluation.key)
        name = store.name
    runs = (get_run(evaluation, run),) if run else evaluation.runs
    if html is not None:
        # The console's packages are loaded only where a page is written.
        from spanproof.api.report import format_trace_report

        write_report(html, format_trace_report(evaluation, feedback, runs[0] if run else None))
    if as_json:
        _write_json(evaluation, runs, feedback)
        write_waiting(newer)
        return EXIT_PASS
    for position, shown in enumerate(runs):
        if position:
            console.rule(style="dim")
        about = [rating for rating in feedback if rating.is_about(shown.run.span_id)]
        console.print(build_run_page(evaluation, shown, about, full=full))
    if not runs:
        spans = format_count(len(evaluation.trace.spans), "span")
        console.print(f"trace {evaluation.trace.trace_id} has no agent run in its {spans}")
    if last:
        # Below the page, where it is seen.
        age = format_duration(time.time_ns() - min(span.start_ns for span in evaluation.trace.spans))
        write_remark(f"the newest evaluated trace of {name}; it started {age} ago")
        write_waiting(newer)
    return EXIT_PASS


def _write_json(
    evaluation: TraceEvaluation, runs: Sequence[RunEvaluation], feedback: Sequence[Feedback]
) -> None:
    """Print the evaluation as the store has it, with the state of the trace and of each of its runs."""
    shown = [to_plain(run) | {"state": run.state.value} for run in runs]
    write_json(
        {
            **to_plain(evaluation),
            "state": evaluation.state.value,
            "runs": shown,
            "feedback": to_plain(feedback),
        }
    )


def _get_trace(store: Store, id_start: str, project: str | None) -> TraceEvaluation:
    """Return the trace whose id starts so.

    Raises:
        UsageProblem: none or several do, or it is not evaluated yet.
    """
    try:
        return get_trace(store, id_start, project)
    except UsageProblem:
        prefix = id_start.strip().lower()
        waiting = store.waiting_traces(project) if prefix else Waiting()
        named = tuple(trace for trace in waiting.traces if trace.trace_id.startswith(prefix))
        if not named:
            raise
        raise _build_waiting_problem(replace(waiting, traces=named)) from None


def _get_newest(store: Store, project: str | None) -> tuple[TraceEvaluation, Waiting]:
    """Return the newest trace that is evaluated, and what waits and began after it.

    Raises:
        UsageProblem: none is evaluated.
    """
    evaluation, waiting = find_newest_trace(store, project), store.waiting_traces(project)
    if evaluation is None:
        if waiting.traces:
            raise _build_waiting_problem(waiting)
        raise UsageProblem(f"no trace in {store.name} is evaluated yet", NO_TRACE_REMEDY)
    start_ns = min(span.start_ns for span in evaluation.trace.spans)
    newer = tuple(trace for trace in waiting.traces if trace.start_ns >= start_ns)
    return evaluation, replace(waiting, traces=newer)


def _build_waiting_problem(waiting: Waiting) -> UsageProblem:
    sentences = iter_waiting_sentences(waiting, time.time_ns(), read_assembly())
    return UsageProblem("; ".join(sentences), "Run the same command again then.")
