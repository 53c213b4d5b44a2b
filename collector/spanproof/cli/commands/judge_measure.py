"""`spanproof judge measure` and `judge compare`: judges held against people's labels.

Comes in: a store with labels, or labelled answers in JSON Lines. Goes out: precision and recall of each judge
with 95 % Wilson intervals, by week, or of two judges side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.config import with_config_options
from spanproof.cli.options.store import StoreQuery, opened_store, with_limit_option, with_store_query_options
from spanproof.cli.output.console import build_progress, console, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.config.added_evaluators import build_local_model, find_judge
from spanproof.config.model import Config
from spanproof.evaluators.evaluator import Evaluator
from spanproof.evaluators.judge import SentenceJudge, load_rubrics
from spanproof.evaluators.judge.compare import (
    Comparison,
    JudgeFigures,
    LabelledAnswer,
    compare_judges,
    list_judged_answers,
    read_labelled_answers,
)
from spanproof.evaluators.judge.measure import JudgeMeasurement, Share, list_judge_measurements
from spanproof.evaluators.judge_bounds import is_below_bound
from spanproof.store import Store
from spanproof.store.labelled import iter_labelled_scores, list_person_labels
from spanproof.trace import Layer

LOCAL_PREFIX: Final = "local:"
"""What the name of a local model begins with; its directory follows."""

# Below it a difference is not taken for chance.
_SIGNIFICANT: Final = 0.05


@click.command("measure")
@with_store_query_options
@with_config_options
@click.option("--weekly", is_flag=True, help="Also print a row for each week.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per judge, layer and week.")
def measure_command(query: StoreQuery, config: Config, weekly: bool, as_json: bool) -> int:
    """Measure each judge on people's labels of the store.

    Precision is the share of a judge's fails that people fail, recall the share of people's fails that it
    fails, of the runs that it was queried about. The exit code is 1 where a judge is below its bound,
    `judge.least_precision`: it fails nothing then.
    """
    with opened_store(query.location) as store:
        if query.project:
            limited = store.limited_to(query.project)
        else:
            limited = store
        labels = list_person_labels(limited, since_ns=query.since_ns)
        measured = list_judge_measurements(labels, iter_labelled_scores(limited, labels))
    below = [item for item in measured if not item.week and _is_below(item, config)]
    shown = [item for item in measured if weekly or not item.week]
    if as_json:
        for item in shown:
            write_json(_to_row(item, config))
    elif shown:
        console.print(_build_table(shown, config))
    else:
        write_remark(
            "no run has both a person's label and a judge's ruling; label some in the console's review"
        )
    return EXIT_GATE_FAILED if below else EXIT_PASS


def _is_below(measured: JudgeMeasurement, config: Config) -> bool:
    return is_below_bound(measured.fails, config.judge.least_precision)


def _to_row(measured: JudgeMeasurement, config: Config) -> dict[str, Any]:
    return {
        "judge": measured.judge,
        "layer": measured.layer.value,
        "week": measured.week or None,
        "labels": measured.labels,
        "undecided": measured.undecided,
        "precision": _to_share_row(measured.precision),
        "recall": _to_share_row(measured.recall),
        "below_bound": _is_below(measured, config),
    }


def _to_share_row(share: Share) -> dict[str, Any] | None:
    interval = share.interval
    if interval is None:
        return None
    return {"value": share.value, "low": interval.low, "high": interval.high, "n": share.whole}


def _build_table(measured: Sequence[JudgeMeasurement], config: Config) -> Table:
    table = build_listing("layer", "judge", "week", "labels", "undecided", "precision", "recall", "")
    for item in measured:
        table.add_row(
            item.layer.value,
            format_line(item.judge),
            item.week or "all",
            str(item.labels),
            str(item.undecided),
            _format_share(item.precision),
            _format_share(item.recall),
            Text("below its bound", style="bold red") if _is_below(item, config) else "",
        )
    return table


def _format_share(share: Share) -> str:
    interval = share.interval
    if interval is None or share.value is None:
        return "–"
    return f"{share.value:.0%} ({interval.low:.0%} to {interval.high:.0%}) of {share.whole}"


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@with_store_query_options
@with_config_options
@click.option(
    "--answers",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="JSON Lines of labelled answers, instead of the store's labelled runs.",
)
@with_limit_option(500, "Use at most this many labelled runs, the newest ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def compare_command(
    first: str,
    second: str,
    query: StoreQuery,
    config: Config,
    answers: Path | None,
    limit: int,
    as_json: bool,
) -> int:
    """Show two judges side by side on labelled answers.

    A and B are models at the endpoint of the configuration, or `local:DIRECTORY` for a local model. They rule
    on the groundedness of the runs that people labelled, or of lines
    {"id"?, "task"?, "outputs": [text], "answer": text, "label": "pass" or "fail"}.
    """
    judges = [build_named_judge(name, config) for name in (first, second)]
    if answers is not None:
        with answers.open(encoding="utf-8") as lines:
            labelled = read_labelled_answers(lines)
    else:
        with opened_store(query.location) as store:
            if query.project:
                limited = store.limited_to(query.project)
            else:
                limited = store
            labelled = _read_labelled_runs(limited, query.since_ns, limit)
    if not labelled:
        raise UsageProblem(
            "there is no labelled answer to compare judges on",
            "Label runs on groundedness in the console's review, or give --answers.",
        )
    with build_progress(as_json=as_json) as bar:
        task = bar.add_task("judging", total=2 * len(labelled))
        judged = [
            list_judged_answers(judge, labelled, config.judge.at_once, lambda: bar.advance(task))
            for judge in judges
        ]
    found = compare_judges((first, second), labelled, judged[0], judged[1])
    if as_json:
        write_json(_to_comparison_row(found))
        return EXIT_PASS
    _write_comparison(found)
    errors = [answer.error for answers_of in judged for answer in answers_of if answer.error]
    if errors:
        replies = format_count(len(errors), "answer")
        console.print(Text(f"no usable reply on {replies}: {format_line(errors[0])}", style="yellow"))
    return EXIT_PASS


def build_named_judge(name: str, config: Config) -> Evaluator:
    """Return the judge of this name, which is queried about passed answers as well.

    Raises:
        EvaluatorError: a local model cannot be used.
        JudgeUnavailable: there is a budget for the judge, and no price.
    """
    if name.startswith(LOCAL_PREFIX):
        return build_local_model(config, Path(name.removeprefix(LOCAL_PREFIX)), verify_passed=True)
    judge = find_judge(config.judge.model_copy(update={"model": name}))
    assert judge is not None, "its model is named"
    return SentenceJudge(judge, load_rubrics(config.judge.rubrics)["Groundedness"], verify_passed=1.0)


def _read_labelled_runs(store: Store, since_ns: int | None, limit: int) -> list[LabelledAnswer]:
    """Return the runs whose groundedness people labelled."""
    labels = list_person_labels(store, layer=Layer.GROUNDEDNESS, since_ns=since_ns, limit=limit)
    found = []
    for label in labels:
        evaluation = store.evaluation(label.trace_id)
        if evaluation is not None:
            found.append(LabelledAnswer(label.trace_id, evaluation.trace, label.run_span_id, label.passes))
    return found


def _to_comparison_row(found: Comparison) -> dict[str, Any]:
    return {
        "answers": found.answers,
        "judges": [_to_figures_row(item) for item in (found.first, found.second)],
        "both_right": found.both_right,
        "only_first_right": found.only_first_right,
        "only_second_right": found.only_second_right,
        "neither_right": found.neither_right,
        "p_value": found.p_value,
    }


def _to_figures_row(figures: JudgeFigures) -> dict[str, Any]:
    shares = ("decided", "right", "precision", "recall")
    return {
        "judge": figures.name,
        **{name: _to_share_row(getattr(figures, name)) for name in shares},
        "dollars": figures.dollars,
        "errors": figures.errors,
    }


def _write_comparison(found: Comparison) -> None:
    names = ("judge", "decided", "right", "precision of its fails", "recall of fails", "cost")
    table = build_listing(*names)
    for item in (found.first, found.second):
        shares = (item.decided, item.right, item.precision, item.recall)
        table.add_row(format_line(item.name), *map(_format_share, shares), f"${item.dollars:.4f}")
    console.print(table)
    console.print(
        f"both right {found.both_right}, only A {found.only_first_right}, only B {found.only_second_right},"
        f" neither {found.neither_right}, of {format_count(found.answers, 'answer')}"
    )
    if found.p_value >= _SIGNIFICANT:
        console.print(f"the difference may be chance (p = {found.p_value:.2f})")
        return
    if found.only_first_right > found.only_second_right:
        better = found.first
    else:
        better = found.second
    console.print(f"{format_line(better.name)} is right more often (p = {found.p_value:.3f})")
