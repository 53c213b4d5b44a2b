"""Verdicts as people read them: words and colours of states, cells of layers, reasons of runs, totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rich.text import Text

from spanproof.cli.output.console import console
from spanproof.cli.output.hostile import format_controls, format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import describe_outcome, format_amount, format_count
from spanproof.evaluators.model import RunEvaluation
from spanproof.evaluators.run_state import find_reason
from spanproof.evaluators.scores import BUILT_IN, find_state
from spanproof.trace import (
    GRAVITY,
    Layer,
    Outcome,
    Score,
    Scored,
    Skipped,
    State,
    describe_cause,
    fold_outcomes,
    get_state,
)

if TYPE_CHECKING:
    # The package of the judge loads every evaluator, which a list of traces does without.
    from spanproof.evaluators.judge.agreement import Confusion

STATE_STYLES: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.PASS: "green",
        State.FAIL: "bold red",
        State.OPEN: "yellow",
        State.ERRORED: "magenta",
        State.SKIPPED: "dim",
    }
)
"""Style by state: green is for what passed, and for nothing else."""

_CELLS: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.PASS: "pass",
        State.FAIL: "FAIL",
        State.OPEN: "open",
        State.ERRORED: "error",
        State.SKIPPED: "skipped",
    }
)
# What is said of one and of many, in the order of the line of totals.
_TOTALS: Final[Mapping[State, tuple[str, str]]] = MappingProxyType(
    {
        State.PASS: ("passes", "pass"),
        State.FAIL: ("fails", "fail"),
        State.ERRORED: ("errored", "errored"),
        State.OPEN: ("open", "open"),
        State.SKIPPED: ("skipped", "skipped"),
    }
)


def select_layer_scores(run: RunEvaluation) -> Mapping[Layer, Score]:
    """Return each layer's own score of this run."""
    return {
        score.layer: score
        for score in run.scores
        if score.name == score.layer.value and score.span_id == run.run.span_id
    }


def format_state(state: State) -> Text:
    """Return the state of a run, a trace or a conversation: `PASS`, `FAIL`, `OPEN`, `ERROR`, `skipped`."""
    word = _CELLS[state]
    return Text(word if state is State.SKIPPED else word.upper(), style=STATE_STYLES[state])


def format_verdict(outcome: Outcome | None, state: State | None, *, with_value: bool = True) -> Text:
    """Return an outcome as a cell: `pass 1.00`, `FAIL 0.25`, `skipped`, `open 0.50`, `error`.

    Args:
        outcome: None where the layer did not judge.
        state: of the outcome; None of advice, which has no verdict.
        with_value: whether the value follows the verdict.
    """
    match outcome:
        case None:
            return Text("–", style="dim")
        case Scored(raw=float(raw), unit=unit):
            return Text(format_amount(raw, unit))
        case Scored(value=value) if state is None:
            return Text(f"{value:.2f}")
    # Advice that was skipped or errored is so like a verdict.
    state = get_state(outcome) if state is None else state
    if with_value and isinstance(outcome, Scored):
        number = f" {outcome.value:.2f}"
    else:
        number = ""
    return Text(f"{_CELLS[state]}{number}", style=STATE_STYLES[state])


def format_layer_verdict(outcome: Outcome | None, *, with_value: bool = True) -> Text:
    """Return a layer's own outcome as a cell."""
    return format_verdict(outcome, get_state(outcome), with_value=with_value)


def format_score(score: Score) -> Text:
    """Return any score as a cell: a value alone where it is advice."""
    return format_verdict(score.outcome, find_state(score.layer, score.name, score.outcome))


def format_reason(layers: Mapping[Layer, Outcome]) -> Text:
    """Return why a run is in its state: the reason of its gravest layer; nothing for one that passes."""
    found = find_reason(layers)
    if found is None:
        return Text()
    layer, outcome = found
    words = format_line(describe_outcome(outcome))
    match get_state(outcome):
        case State.PASS:
            return Text()
        case State.SKIPPED:
            return words
    return Text.assemble((f"{layer}: ", "bold"), words)


def iter_totals(runs: Sequence[Mapping[Layer, Outcome]]) -> Iterator[Text]:
    """Yield how many runs are in which state, and why runs are open or skipped, grouped by cause.

    `5 runs: 2 pass, 1 fails, 2 open`, then `2 answers hold a value that no source has`.

    Args:
        runs: the layers' own outcomes of each.
    """
    states = Counter(fold_outcomes(layers.values()) for layers in runs)
    line = Text(f"{format_count(len(runs), 'run')}: ", style="bold")
    parts = [
        Text(f"{states[state]:,} {one if states[state] == 1 else many}", style=STATE_STYLES[state])
        for state, (one, many) in _TOTALS.items()
        if states[state]
    ]
    yield Text.assemble(line, Text(", ").join(parts))
    causes = Counter(
        found[1].cause
        for layers in runs
        if (found := find_reason(layers)) is not None and isinstance(found[1], Scored | Skipped)
    )
    for cause, count in causes.most_common():
        if cause is not None:
            yield Text(f"  {describe_cause(cause, count)}")


def build_own_evaluator_lines(scores: Iterable[Score]) -> list[Text]:
    """Return a line for each of the user's evaluators that fails or errors, with its worst outcome."""
    worst: dict[str, tuple[State, Score]] = {}
    for score in scores:
        state = find_state(score.layer, score.name, score.outcome)
        if is_own(score) and state in (State.FAIL, State.ERRORED):
            worst_score = worst.get(score.name)
            if worst_score is None or GRAVITY.index(state) < GRAVITY.index(worst_score[0]):
                worst[score.name] = (state, score)
    return [
        Text.assemble(
            (f"{format_controls(name)} ", "bold"),
            format_verdict(score.outcome, state),
            ": ",
            format_line(describe_outcome(score.outcome)),
        )
        for name, (state, score) in worst.items()
    ]


def write_confusion(other: str, counted: Confusion) -> None:
    """Print a judge's verdicts as columns, and those of `other` (people, execution) as rows."""
    table = build_listing("", "judge: pass", "judge: fail")
    table.add_row(f"{other}: pass", str(counted.both_pass), str(counted.only_people_pass))
    table.add_row(f"{other}: fail", str(counted.only_judge_passes), str(counted.both_fail))
    console.print(table)


def is_own(score: Score) -> bool:
    """Return whether an evaluator of the user's gave this score: none of theirs has a registered name."""
    return score.name not in BUILT_IN
