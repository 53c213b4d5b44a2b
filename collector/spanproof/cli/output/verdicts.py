"""Verdicts as people read them: a cell per layer, and the one reason for a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from spanproof.cli.output.console import console
from spanproof.cli.output.hostile import clean_line, escape_controls
from spanproof.cli.output.words import describe_outcome, format_amount
from spanproof.evaluators.model import RunEvaluation
from spanproof.evaluators.scores import BUILT_IN
from spanproof.trace import Errored, Label, Layer, Outcome, Score, Scored, Skipped

if TYPE_CHECKING:
    # The package of the judge loads every evaluator, which a list of traces does without.
    from spanproof.evaluators.judge.agreement import Confusion


def select_layer_scores(run: RunEvaluation) -> Mapping[Layer, Score]:
    """Return each layer's own score of this run."""
    return {
        score.layer: score
        for score in run.scores
        if score.name == score.layer.value and score.span_id == run.run.span_id
    }


def format_verdict(outcome: Outcome | None, *, advisory: bool = False, with_value: bool = True) -> Text:
    """Return an outcome as a cell: `pass 1.00`, `FAIL 0.25`, `skipped`, `open 0.50`, `error`.

    Args:
        outcome: None where the layer did not judge.
        advisory: a score without a verdict is advice, so that nothing is open.
        with_value: whether the value follows the verdict.
    """
    match outcome:
        case None:
            return Text("–", style="dim")
        case Skipped():
            return Text("skipped", style="dim")
        case Errored():
            return Text("error", style="magenta")
        case Scored(raw=float(raw), unit=unit):
            return Text(format_amount(raw, unit))
        case Scored(value=value, label=None) if advisory:
            return Text(f"{value:.2f}")
        case Scored(value=value, label=label):
            word, style = {
                Label.PASS: ("pass", "green"), Label.FAIL: ("FAIL", "bold red"), None: ("open", "yellow")
            }[label]  # fmt: skip
            return Text(f"{word} {value:.2f}" if with_value else word, style=style)


def format_reason(layers: Mapping[Layer, Outcome]) -> Text:
    """Return why the first layer that fails does; else why one errored or stays open; else nothing."""
    in_order = [(layer, layers[layer]) for layer in Layer if layer in layers]
    for is_wanted in (fails, has_errored, is_open):
        for layer, outcome in in_order:
            if is_wanted(outcome):
                return Text.assemble((f"{layer}: ", "bold"), clean_line(describe_outcome(outcome)))
    if in_order and all(isinstance(outcome, Skipped) for _, outcome in in_order):
        return clean_line(describe_outcome(in_order[0][1]))
    return Text()


def format_own_evaluators(scores: Iterable[Score]) -> list[Text]:
    """Return a line for each of the user's evaluators that fails or errors, with its worst outcome."""
    worst: dict[str, Score] = {}
    for score in scores:
        if is_own(score) and (fails(score.outcome) or has_errored(score.outcome)):
            known = worst.get(score.name)
            if known is None or (fails(score.outcome) and not fails(known.outcome)):
                worst[score.name] = score
    return [
        Text.assemble(
            (f"{escape_controls(name)} ", "bold"),
            format_verdict(score.outcome),
            ": ",
            clean_line(describe_outcome(score.outcome)),
        )
        for name, score in worst.items()
    ]


def print_confusion(other: str, counted: Confusion) -> None:
    """Print a judge's verdicts as columns, and those of `other` (people, execution) as rows."""
    table = Table("", "judge: pass", "judge: fail", box=None, pad_edge=False)
    table.add_row(f"{other}: pass", str(counted.both_pass), str(counted.only_people_pass))
    table.add_row(f"{other}: fail", str(counted.only_judge_passes), str(counted.both_fail))
    console.print(table)


def is_own(score: Score) -> bool:
    """Return whether an evaluator of the user's gave this score: none of theirs has a registered name."""
    return score.name not in BUILT_IN


def fails(outcome: Outcome) -> bool:
    """Return whether the verdict is fail."""
    return isinstance(outcome, Scored) and outcome.label is Label.FAIL


def passes(outcome: Outcome) -> bool:
    """Return whether the verdict is pass."""
    return isinstance(outcome, Scored) and outcome.label is Label.PASS


def has_errored(outcome: Outcome) -> bool:
    """Return whether the evaluator errored."""
    return isinstance(outcome, Errored)


def is_open(outcome: Outcome) -> bool:
    """Return whether it was scored without a verdict."""
    return isinstance(outcome, Scored) and outcome.label is None
