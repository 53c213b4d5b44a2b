"""How evaluations look to people: a table with a row per run, and the words for what came out.

Takes evaluations; gives rich renderables. Everything out of a trace is hostile text: it is put into `Text`
objects, which read no markup, and control characters are made visible, so that no snippet can move the
cursor, change a colour or fake a verdict on the terminal of the one who looks. Secrets in a known format are
masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spanproof.cli.hostile import visible
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.evaluators.redact import mask_formats
from spanproof.sandbox.scanners.model import Verdict
from spanproof.trace import Errored, Label, Layer, Outcome, Score, Scored, Skipped

_OURS = ("spanproof.", "judge:")
_MAX_SOURCE_LINES = 40
_MAX_SOURCE = 20_000
_MAX_CELL = 160
_MAX_FACTS = 12
_VERDICT_STYLE = {Verdict.ALLOW: "green", Verdict.REVIEW: "yellow", Verdict.DENY: "red"}


def runs_table(evaluations: Iterable[TraceEvaluation], titles: Mapping[str, str] | None = None) -> Table:
    """A row per run, a column per layer, and below a run in a few words why the first that fails does.

    Args:
        evaluations: what is shown.
        titles: by trace id, what to call a run where its own name tells little.
    """
    table = Table(box=None, show_header=False, pad_edge=False, expand=True)
    header = [Text(layer.value, style="bold") for layer in Layer]
    table.add_row(_cells(Text("run", style="bold"), Text("trace", style="bold"), header))
    for evaluation in evaluations:
        for run in evaluation.runs:
            own = layer_scores(run)
            table.add_row(
                _cells(
                    plain((titles or {}).get(run.run.trace_id, run.run.name), 40),
                    Text(run.run.trace_id[:8], style="dim"),
                    [verdict_text(own.get(layer)) for layer in Layer],
                )
            )
            why = reason_text(own)
            for line in (why, *own_evaluators_text(run)):
                if line:
                    table.add_row(Padding(line, (0, 0, 0, 2)))
    return table


def _cells(name: Text, trace: Text, verdicts: Iterable[Text]) -> Table:
    """A row whose columns have fixed widths, so that rows of their own stand below each other."""
    row = Table.grid(padding=(0, 1, 0, 0), expand=True)
    row.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
    for width in (8, *(max(len(layer.value), len("FAIL 0.00")) for layer in Layer)):
        row.add_column(no_wrap=True, min_width=width, width=width)
    row.add_row(name, trace, *verdicts)
    return row


def layer_scores(run: RunEvaluation) -> Mapping[Layer, Score]:
    """Each layer's own score for this run."""
    return {
        score.layer: score
        for score in run.scores
        if score.name == score.layer.value and score.span_id == run.run.span_id
    }


def verdict_text(score: Score | None) -> Text:
    """A layer's verdict in a cell: `pass 1.00`, `FAIL 0.25`, `skipped`, `open 0.50`, `error`."""
    if score is None:
        return Text("–", style="dim")
    match score.outcome:
        case Scored(raw=float(raw), unit=unit):
            return Text(f"{raw:.4g} {unit}")
        case Scored(value=value, label=Label.PASS):
            return Text(f"pass {value:.2f}", style="green")
        case Scored(value=value, label=Label.FAIL):
            return Text(f"FAIL {value:.2f}", style="bold red")
        case Scored(value=value):
            own = score.name == score.layer.value  # a sub-score without a verdict is advice, nothing open
            return Text(f"open {value:.2f}", style="yellow") if own else Text(f"{value:.2f}")
        case Skipped():
            return Text("skipped", style="dim")
        case Errored():
            return Text("error", style="magenta")


def reason_text(scores: Mapping[Layer, Score]) -> Text:
    """Why the first layer that fails does; else why one errored or stays open; else nothing."""
    in_order = [scores[layer] for layer in Layer if layer in scores]
    for wanted in (_fails, _errored, _open):
        for score in in_order:
            if wanted(score.outcome):
                return Text.assemble((f"{score.layer}: ", "bold"), plain(outcome_words(score.outcome)))
    if in_order and all(isinstance(score.outcome, Skipped) for score in in_order):
        return plain(outcome_words(in_order[0].outcome))
    return Text()


def own_evaluators_text(run: RunEvaluation) -> list[Text]:
    """What the user's own evaluators fail or could not judge: a line for each, with its worst outcome."""
    worst: dict[str, Score] = {}
    for score in run.scores:
        if is_own(score) and (_fails(score.outcome) or _errored(score.outcome)):
            known = worst.get(score.name)
            if known is None or (_fails(score.outcome) and not _fails(known.outcome)):
                worst[score.name] = score
    return [
        Text.assemble(
            (f"{visible(name)} ", "bold"), verdict_text(score), ": ", plain(outcome_words(score.outcome))
        )
        for name, score in worst.items()
    ]


def is_own(score: Score) -> bool:
    """Whether an evaluator of the user's gave it, a function or a class."""
    return not score.evaluator.startswith(_OURS)


def outcome_words(outcome: Outcome) -> str:
    """The explanation, the reason or the error of an outcome."""
    match outcome:
        case Scored(explanation=explanation):
            return explanation
        case Skipped(reason=reason):
            return reason
        case Errored(error_type=error_type, message=message):
            return f"{error_type}: {message}"


def verdict_word(outcome: Outcome) -> str:
    """`pass`, `fail`, `open` (scored without a verdict), `skipped` or `errored`."""
    if isinstance(outcome, Scored):
        return outcome.label.value if outcome.label else "open"
    return type(outcome).__name__.lower()


def plain(text: str, limit: int = _MAX_CELL, style: str = "") -> Text:
    """One line of hostile text: white space joined, control characters visible, secrets masked, cut."""
    line = " ".join(visible(mask_formats(text[: limit * 8])).split())
    return Text(line if len(line) <= limit else f"{line[: limit - 1]}…", style=style)


def _fails(outcome: Outcome) -> bool:
    return isinstance(outcome, Scored) and outcome.label is Label.FAIL


def _errored(outcome: Outcome) -> bool:
    return isinstance(outcome, Errored)


def _open(outcome: Outcome) -> bool:
    return isinstance(outcome, Scored) and outcome.label is None
