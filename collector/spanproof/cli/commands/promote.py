"""`spanproof promote`: add stored runs to a suite as hermetic cases: by trace, query or cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import click
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.cluster import get_cluster
from spanproof.cli.options.store import (
    NO_TRACE_REMEDY,
    StoreQuery,
    find_newest_trace,
    get_run,
    get_trace,
    opened_store,
    with_store_query_options,
)
from spanproof.cli.output.console import console, select_attributes, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_pairs
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.model import TraceEvaluation
from spanproof.gate import ScoreQuery, parse_query
from spanproof.store import Store
from spanproof.suites import Case, Change, Promoting, Promotion, iter_promotions
from spanproof.trace.project import TraceKey, get_score_key

_Run = tuple[TraceEvaluation, str]


@click.command("promote")
@click.argument("traces", metavar="[TRACE]...", nargs=-1)
@click.option("--last", is_flag=True, help="Instead of traces, the newest evaluated trace.")
@click.option(
    "--suite",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the suite; created where it does not exist.",
)
@click.option(
    "--run", help="The run: the start of its span id, or its name; needed if the trace has several."
)
@click.option(
    "--where",
    help="Instead of traces, all runs that match, newest first: \"layer = 'boundary' and label = 'fail'\".",
)
@click.option(
    "--cluster", help="Instead of traces, runs of the cluster of failures whose id starts like this."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="With --where or --cluster: add at most this many cases.",
)
@click.option(
    "--keep-duplicates",
    is_flag=True,
    help="With --where or --cluster: also add runs that behave like a case of the suite.",
)
@click.option(
    "--redact",
    multiple=True,
    metavar="PATTERN",
    help="Besides secrets, replace what this pattern (RE2) matches. May be given several times.",
)
@click.option("--replace", is_flag=True, help="Write existing cases again; their notes stay.")
@with_store_query_options
@click.option("--json", "as_json", is_flag=True, help="A JSON line per run on stdout.")
def command(
    traces: tuple[str, ...],
    last: bool,
    suite: Path,
    run: str | None,
    where: str | None,
    cluster: str | None,
    limit: int,
    keep_duplicates: bool,
    redact: tuple[str, ...],
    replace: bool,
    query: StoreQuery,
    as_json: bool,
) -> int:
    """Add stored runs to a suite, as hermetic cases.

    TRACE is its id or the start of it. With --cluster, the runs that represent the cluster are added: they
    differ in agent, model, release and wording. Secrets are replaced by made-up ones of the same form.
    Promoting the same runs again changes nothing. Example: spanproof promote --last --suite suites/refunds
    """
    _check_choice(traces, last, where, cluster, query)
    is_named = last or bool(traces)
    how = Promoting(replace, redact, duplicates=is_named or keep_duplicates)
    with opened_store(query.location) as store:
        if where is not None:
            runs: Iterable[_Run] = iter_matching_runs(store, parse_query(where), query)
        elif cluster is not None:
            runs = _list_cluster_runs(store, cluster, limit)
        elif last:
            runs = [_get_newest_run(store, query.project, run)]
        else:
            runs = [_get_named_run(store, trace, run) for trace in traces]
        found = list_promotions(iter_promotions(runs, suite, how), (1 if last else len(traces)) or limit)
    if as_json:
        for promotion in found:
            write_json(_to_row(promotion, suite))
    elif is_named:
        for promotion in found:
            _write_promotion(promotion, suite)
    else:
        write_summary(found, suite)
    return EXIT_PASS


def _check_choice(
    traces: tuple[str, ...], last: bool, where: str | None, cluster: str | None, query: StoreQuery
) -> None:
    """Refuse anything but one of traces, `--last`, `--where` and `--cluster`."""
    ways = (("traces", traces), ("--last", last), ("--where", where), ("--cluster", cluster))
    chosen = [name for name, value in ways if value or value == ""]
    if len(chosen) != 1:
        raise UsageProblem(
            f"{chosen[1]} is given with {chosen[0]}"
            if chosen
            else "give traces, --last, --where or --cluster",
            "Name traces, take the newest one by --last, runs by --where \"layer = 'boundary' and label ="
            " 'fail'\", or a cluster that `spanproof failures list` lists.",
        )
    if query.since_ns is not None and where is None:
        raise UsageProblem(f"--since is given with {chosen[0]}", "It is for --where.")
    if query.project and where is None and not last:
        raise UsageProblem(f"--project is given with {chosen[0]}", "It is for --where and --last.")


def _get_named_run(store: Store, trace: str, run: str | None) -> _Run:
    evaluation = get_trace(store, trace)
    return evaluation, get_run(evaluation, run).run.span_id


def _get_newest_run(store: Store, project: str | None, run: str | None) -> _Run:
    evaluation = find_newest_trace(store, project)
    if evaluation is None:
        raise UsageProblem(
            f"no trace in {store.name} is evaluated yet",
            NO_TRACE_REMEDY,
        )
    return evaluation, get_run(evaluation, run).run.span_id


def _list_cluster_runs(store: Store, cluster: str, limit: int) -> list[_Run]:
    """Return runs that represent a cluster of failures; those whose trace is gone are left out."""
    runs = store.failing_runs(get_cluster(store, cluster), limit=limit)
    evaluations = {
        evaluation.key: evaluation for evaluation in store.evaluations([run.trace_id for run in runs])
    }
    return [(evaluations[run.key], run.run_span_id) for run in runs if run.key in evaluations]


def iter_matching_runs(store: Store, wanted: ScoreQuery, query: StoreQuery) -> Iterator[_Run]:
    """Yield the runs that a query means, newest first; of equal time in the order of their ids."""
    cohort = {"project": query.project} if query.project else {}
    times: dict[tuple[TraceKey, str], int] = {}
    for score in store.scores(layer=wanted.layer, cohort=cohort, start_ns=query.since_ns):
        if wanted.takes(score):
            key = (get_score_key(score), score.run_span_id)
            times[key] = max(score.span_time_ns, times.get(key, 0))
    for trace, run_span_id in sorted(times, key=lambda key: (-times[key], key)):
        evaluation = store.evaluation(trace.trace_id, trace.project)
        if evaluation is not None:
            yield evaluation, run_span_id


def list_promotions(promotions: Iterator[Promotion], limit: int) -> list[Promotion]:
    """Return what became of the runs until so many cases are in the suite: a repetition adds no more."""
    found: list[Promotion] = []
    cases = 0
    for promotion in promotions:
        found.append(promotion)
        cases += promotion.change is not Change.DUPLICATE
        if cases == limit:
            break
    return found


def _to_row(promotion: Promotion, suite: Path) -> dict[str, object]:
    """Return what `--json` prints of a run."""
    case = promotion.case
    expectation = {
        expected.layer.value: expected.verdict for expected in case.expectations if expected.is_of_layer
    }
    return {
        "id": case.id,
        "folder": str(suite / "cases" / case.id),
        **select_attributes(case, "agent task"),
        "trace_id": case.origin.trace_id if case.origin else None,
        "run_span_id": case.origin.run_span_id if case.origin else None,
        "snippets": len(case.snippets),
        "expectation": expectation,
        "change": promotion.change.value,
        "redacted": promotion.redacted,
        "same_as": promotion.same_as or None,
    }


def _write_promotion(promotion: Promotion, suite: Path) -> None:
    write_case(promotion.case, suite / "cases" / promotion.case.id)
    if promotion.redacted:
        secrets = format_count(promotion.redacted, "secret")
        console.print(f"  {secrets} replaced by made-up values of the same form")
    if promotion.change is Change.KNOWN:
        write_remark(
            f"{promotion.case.id} was in the suite already and is unchanged; --replace writes it anew"
        )
    if promotion.same_as:
        write_remark(f"{promotion.case.id} behaves as {promotion.same_as} does: the suite may not need both")


def write_summary(found: list[Promotion], suite: Path) -> None:
    """Print the first of the new cases, and how many runs became what."""
    new = [promotion for promotion in found if promotion.change in (Change.ADDED, Change.REPLACED)]
    for promotion in islice(new, 20):
        line = Text.assemble((f"{promotion.change.value:9}", "green"), "  ", (promotion.case.id, "bold"))
        line.append("  ")
        line.append_text(format_line(promotion.case.task or "no task on the trace"))
        console.print(line, soft_wrap=True)
    if len(new) > 20:
        console.print(Text(f"and {len(new) - 20} more", style="dim"))
    counts = [(change, sum(promotion.change is change for promotion in found)) for change in Change]
    words = ", ".join(f"{count} {change.value}" for change, count in counts if count)
    secrets = sum(promotion.redacted for promotion in found)
    redacted = f"; {format_count(secrets, 'secret')} replaced" if secrets else ""
    console.print(f"{format_count(len(found), 'run')}: {words or 'none matched'}{redacted}; {suite}")


def write_case(case: Case, folder: Path) -> None:
    """Print a case in a few lines."""
    calls = sum(len(snippet.tape) for snippet in case.snippets)
    console.print(Text.assemble(("case ", "bold"), case.id), soft_wrap=True)
    console.print(Text.assemble("  files  ", str(folder)), soft_wrap=True)
    grid = build_pairs()
    grid.add_row("  task", format_line(case.task or "not on the trace"))
    snippets = format_count(len(case.snippets), "snippet")
    grid.add_row("  holds", f"{snippets}, {format_count(calls, 'tool call')} on tape")
    for expected in case.expectations:
        if expected.is_of_layer:
            style = {"fail": "bold red", "pass": "green"}.get(expected.verdict, "dim")
            reason = Text.assemble(f"{expected.layer.value}: ", format_line(expected.explanation))
            grid.add_row(Text(f"  {expected.verdict}", style=style), reason)
    console.print(grid)
