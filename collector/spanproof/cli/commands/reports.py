"""`spanproof report`: reports on many stored runs.

Comes in: a store. Goes out: where a judge and execution differ, or code whose failure class changed with its
executor; a table, or JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import click
from rich.text import Text

from spanproof.cli.commands.calibration import command as calibration
from spanproof.cli.commands.report_bisect import command as bisect
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.store import StoreQuery, opened_store, with_limit_option, with_store_query_options
from spanproof.cli.output.console import (
    build_progress,
    console,
    select_attributes,
    write_json,
    write_remark,
    write_warning,
)
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_pairs
from spanproof.cli.output.verdicts import write_confusion
from spanproof.cli.output.words import describe_outcome, format_count
from spanproof.evaluators.drift import Drift, list_drifts
from spanproof.evaluators.judge import BESIDE
from spanproof.evaluators.judge.agreement import Agreement, Confusion, compute_agreement
from spanproof.evaluators.layers.common import describe_executor
from spanproof.evaluators.redact import with_masked_formats
from spanproof.sandbox import FailureClass
from spanproof.store import Store
from spanproof.trace import Label, Layer, Run, Score, Scored

# Traces read at once: whole documents, and the bar moves with each batch.
_BATCH = 32


@click.group()
def command() -> None:
    """Report on many stored runs."""


command.add_command(bisect)
command.add_command(calibration)


@command.command()
@with_store_query_options
@with_limit_option(100, "Compare at most this many snippets, the newest ones.")
@click.option("--check", is_flag=True, help="Exit with 1 if the outcome of any snippet changed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def drift(query: StoreQuery, limit: int, check: bool, as_json: bool) -> int:
    """Show code whose outcome changed with its executor.

    For the same code, after the same earlier code and with the same results of its tools, the recorded
    failure class changed with the executor: its type, its version, or its image by digest.
    """
    with opened_store(query.location) as store, build_progress(as_json=as_json) as bar:
        task = bar.add_task("looking for changed code", total=None)
        ids = store.traces_of_changed_code(project=query.project, since_ns=query.since_ns, limit=limit)
        bar.update(task, description="reading traces", total=len(ids))
        found = list_drifts(_iter_runs(store, ids, query.project, lambda: bar.advance(task)))
    if as_json:
        write_json({"drifts": [_to_drift_row(item) for item in found]})
    for item in [] if as_json else found:
        _write_drift(item)
    if not found and not as_json:
        write_remark("no code ended otherwise where another executor ran it")
    if check and found:
        return EXIT_GATE_FAILED
    return EXIT_PASS


def _iter_runs(
    store: Store, ids: Sequence[str], project: str | None, advance: Callable[[], None]
) -> Iterator[Run]:
    for first in range(0, len(ids), _BATCH):
        for evaluation in store.evaluations(ids[first : first + _BATCH], project):
            yield from (run.run for run in evaluation.runs)
            advance()


def _to_drift_row(found: Drift) -> dict[str, object]:
    endings = [
        {
            "failure_class": ending.failure_class.value,
            "executor": ending.executor.type,
            "executor_version": ending.executor.version,
            **select_attributes(ending.executor, "image_name image_digest"),
            "time": _format_time(ending.time_ns),
            **select_attributes(ending, "trace_id span_id"),
        }
        for ending in found.endings
    ]
    return {
        **select_attributes(found, "code_sha256 language"),
        "source": with_masked_formats(found.source),
        "endings": endings,
    }


def _write_drift(found: Drift) -> None:
    console.print(
        Text.assemble(
            (f"{found.language} ", "bold"),
            format_line(found.source),
            (f"  {found.code_sha256[:12]}", "dim"),
        )
    )
    table = build_pairs(4)
    for ending in found.endings:
        well = ending.failure_class is FailureClass.OK
        table.add_row(
            Text(f"  {ending.failure_class}", style="green" if well else "red"),
            format_line(describe_executor(ending.executor)),
            Text(_format_time(ending.time_ns)[:19], style="dim"),
            Text(f"trace {ending.trace_id[:8]}", style="dim"),
        )
    console.print(table)


def _format_time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat()


@command.command(name="judge-vs-execution")
@with_store_query_options
@click.option(
    "--threshold",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Score from which the judge passes a run; `spanproof judge calibrate` finds it.",
)
@with_limit_option(20, "Show at most this many differences.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def judge_vs_execution(query: StoreQuery, threshold: float, limit: int, as_json: bool) -> int:
    """Show where a judge and execution differ.

    Compares the advice a judge gave beside execution (`judge.beside_share`) with the verdict on correctness.
    """
    with opened_store(query.location) as store:
        pairs, unanswered = _read_pairs(store, query)
    verdicts = [(pair.ran, pair.judged >= threshold) for pair in pairs]
    agreed = compute_agreement(*zip(*verdicts, strict=True)) if verdicts else None
    differing = [pair for pair in pairs if pair.ran != (pair.judged >= threshold)][:limit]
    if as_json:
        write_json({**_to_agreement_row(agreed, differing), "not_answered": len(unanswered)})
        return EXIT_PASS
    if agreed:
        _write_agreement(agreed, differing)
    else:
        write_remark(
            "no run has both a judge's score and a verdict of execution;"
            " set judge.model and judge.beside_share to get them"
        )
    if unanswered:
        runs = format_count(len(unanswered), "run")
        write_warning(f"the judge gave no answer on {runs}: {format_line(unanswered[0])}")
    return EXIT_PASS


@dataclass(frozen=True, slots=True)
class _Pair:
    """One run: whether its code passed when it ran, the judge's score, and why each."""

    trace_id: str
    run_span_id: str
    ran: bool
    judged: float
    execution_says: str
    judge_says: str


def _read_pairs(store: Store, query: StoreQuery) -> tuple[list[_Pair], list[str]]:
    """Return the runs that have both, and why the judge gave no answer on others."""
    verdicts = _read_scores(store, Layer.CORRECTNESS.value, query)
    pairs, unanswered = [], []
    for run, advice in _read_scores(store, BESIDE, query).items():
        ran = verdicts[run].outcome if run in verdicts else None
        judged, judge_says = advice.outcome, describe_outcome(advice.outcome)
        if not isinstance(judged, Scored):
            unanswered.append(judge_says)
        elif isinstance(ran, Scored) and ran.label is not None:
            pairs.append(_Pair(*run, ran.label is Label.PASS, judged.value, ran.explanation, judge_says))
    return pairs, unanswered


def _read_scores(store: Store, name: str, query: StoreQuery) -> Mapping[tuple[str, str], Score]:
    """Return the scores of correctness of this name by trace and run."""
    cohort = {"project": query.project} if query.project else {}
    scores = store.scores(layer=Layer.CORRECTNESS, name=name, cohort=cohort, start_ns=query.since_ns)
    return {(score.trace_id, score.run_span_id): score for score in scores}


def _to_agreement_row(agreed: Agreement | None, differing: list[_Pair]) -> dict[str, object]:
    confusion = agreed.confusion if agreed else Confusion(0, 0, 0, 0)
    kappa = agreed.kappa if agreed else math.nan
    return {
        "runs": confusion.total,
        "both_pass": confusion.both_pass,
        "only_execution_passes": confusion.only_people_pass,
        "only_judge_passes": confusion.only_judge_passes,
        "both_fail": confusion.both_fail,
        "kappa": None if math.isnan(kappa) else kappa,
        "differences": [
            {
                **select_attributes(pair, "trace_id run_span_id"),
                "execution": "pass" if pair.ran else "fail",
                "judge": pair.judged,
                **select_attributes(pair, "execution_says judge_says"),
            }
            for pair in differing
        ],
    }


def _write_agreement(agreed: Agreement, differing: list[_Pair]) -> None:
    write_confusion("execution", agreed.confusion)
    if math.isnan(agreed.kappa):
        kappa = "not defined, as one side never changes"
    else:
        kappa = f"{agreed.kappa:.2f}"
    console.print(f"κ {kappa} over {format_count(agreed.confusion.total, 'run')}")
    for pair in differing:
        ran = "pass" if pair.ran else "FAIL"
        console.print(
            Text.assemble((pair.trace_id[:12], "bold"), f"  execution {ran}, judge {pair.judged:.2f}")
        )
        console.print(Text("  ran:   ").append(format_line(pair.execution_says)), soft_wrap=True)
        console.print(Text("  judge: ").append(format_line(pair.judge_says)), soft_wrap=True)
