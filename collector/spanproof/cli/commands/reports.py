"""`spanproof report`: reports on many stored runs.

Comes in: a store. Goes out: a table, or JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.commands.drift import drift
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import limit_option, opened_store, since_ns, since_option, store_option
from spanproof.cli.output.console import console, inform, print_json, warn
from spanproof.cli.output.hostile import plain
from spanproof.cli.output.words import describe_outcome, format_count
from spanproof.evaluators.judge import BESIDE
from spanproof.evaluators.judge.agreement import Agreement, Confusion, agreement
from spanproof.store import Store
from spanproof.trace import Label, Layer, Score, Scored

_NOTHING = Agreement(math.nan, math.nan, math.nan, Confusion(0, 0, 0, 0))
"""Where there is nothing to compare."""


@click.group()
def command() -> None:
    """Report on many stored runs."""


command.add_command(drift)


@command.command(name="judge-vs-execution")
@store_option
@since_option
@click.option(
    "--threshold",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="The judge passes from this score on; `spanproof judge calibrate` finds it.",
)
@limit_option(20, "Differences shown at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def judge_vs_execution(location: str, since: str | None, threshold: float, limit: int, as_json: bool) -> int:
    """Show where a judge and execution differ.

    Compares the advice a judge gave beside execution (`judge.beside_share`) with the verdict on correctness.
    """
    with opened_store(location) as store:
        pairs, unanswered = _pairs(store, since_ns(since))
    verdicts = [(pair.ran, pair.judged >= threshold) for pair in pairs]
    agreed = agreement(*zip(*verdicts, strict=True)) if verdicts else _NOTHING
    differing = [pair for pair in pairs if pair.ran != (pair.judged >= threshold)][:limit]
    if as_json:
        print_json({**_json(agreed, differing), "not_answered": len(unanswered)})
        return EXIT_PASS
    if pairs:
        _show(agreed, differing)
    else:
        inform(
            "no run has both a judge's score and a verdict of execution;"
            " set judge.model and judge.beside_share to get them"
        )
    if unanswered:
        runs = format_count(len(unanswered), "run")
        warn(f"the judge gave no answer on {runs}: {plain(unanswered[0], 300)}")
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


def _pairs(store: Store, start_ns: int | None) -> tuple[list[_Pair], list[str]]:
    """Return the runs that have both, and why the judge gave no answer on others."""
    verdicts = _by_run(store, Layer.CORRECTNESS.value, start_ns)
    advice = _by_run(store, BESIDE, start_ns)
    unanswered = [
        describe_outcome(said.outcome) for said in advice.values() if not isinstance(said.outcome, Scored)
    ]
    pairs = [_pair(verdicts[run], said) for run, said in advice.items() if _settled(verdicts.get(run), said)]
    return pairs, unanswered


def _by_run(store: Store, name: str, start_ns: int | None) -> Mapping[tuple[str, str], Score]:
    scores = store.scores(layer=Layer.CORRECTNESS, name=name, start_ns=start_ns)
    return {(score.trace_id, score.run_span_id): score for score in scores}


def _settled(verdict: Score | None, advice: Score) -> bool:
    outcome = verdict.outcome if verdict is not None else None
    return isinstance(outcome, Scored) and outcome.label is not None and isinstance(advice.outcome, Scored)


def _pair(verdict: Score, advice: Score) -> _Pair:
    assert isinstance(verdict.outcome, Scored)
    assert isinstance(advice.outcome, Scored)
    return _Pair(
        verdict.trace_id,
        verdict.run_span_id,
        verdict.outcome.label is Label.PASS,
        advice.outcome.value,
        describe_outcome(verdict.outcome),
        describe_outcome(advice.outcome),
    )


def _json(agreed: Agreement, differing: list[_Pair]) -> dict[str, object]:
    confusion = agreed.confusion
    return {
        "runs": confusion.total,
        "both_pass": confusion.both_pass,
        "only_execution_passes": confusion.only_people_pass,
        "only_judge_passes": confusion.only_judge_passes,
        "both_fail": confusion.both_fail,
        "kappa": None if math.isnan(agreed.kappa) else agreed.kappa,
        "differences": [
            {
                "trace_id": pair.trace_id,
                "run_span_id": pair.run_span_id,
                "execution": "pass" if pair.ran else "fail",
                "judge": pair.judged,
                "execution_says": pair.execution_says,
                "judge_says": pair.judge_says,
            }
            for pair in differing
        ],
    }


def _show(agreed: Agreement, differing: list[_Pair]) -> None:
    confusion = agreed.confusion
    table = Table("", "judge: pass", "judge: fail", box=None, pad_edge=False)
    table.add_row("execution: pass", str(confusion.both_pass), str(confusion.only_people_pass))
    table.add_row("execution: fail", str(confusion.only_judge_passes), str(confusion.both_fail))
    console.print(table)
    kappa = "not defined, as one side never changes" if math.isnan(agreed.kappa) else f"{agreed.kappa:.2f}"
    console.print(f"κ {kappa} over {format_count(confusion.total, 'run')}")
    for pair in differing:
        console.print(
            Text.assemble(
                (pair.trace_id[:12], "bold"),
                f"  execution {'pass' if pair.ran else 'FAIL'}, judge {pair.judged:.2f}",
            )
        )
        console.print(Text("  ran:   ").append(plain(pair.execution_says)), soft_wrap=True)
        console.print(Text("  judge: ").append(plain(pair.judge_says)), soft_wrap=True)
