"""How evaluations look to people: a table with a row per run, and one run in detail.

Takes evaluations; gives rich renderables. Everything out of a trace is hostile text: it is put into `Text`
objects, which read no markup, and control characters are made visible, so that no snippet can move the
cursor, change a colour or fake a verdict on the terminal of the one who looks. Secrets in a known format are
masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from spanproof.cli.hostile import visible
from spanproof.evaluators.layers.common import first_to_leave
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.evaluators.redact import mask_formats
from spanproof.evaluators.replay.record import record_of
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.store import Feedback
from spanproof.trace import Errored, Label, Language, Layer, Outcome, Score, Scored, Skipped, Snippet

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


def run_detail(evaluation: TraceEvaluation, run: RunEvaluation) -> RenderableType:
    """One run: each snippet with findings, recorded beside replayed outcome, then the evidence per score."""
    parts: list[RenderableType] = [_head(evaluation, run)]
    for snippet in run.run.snippets:
        parts.append(Text())
        parts.append(_snippet_detail(run, snippet))
    parts += [Text(), Text("Scores", style="bold"), _scores_detail(run)]
    return Group(*parts)


def feedback_text(told: Feedback) -> Text:
    """What a user told of a run, in one line."""
    text = Text.assemble(("the user told ", "bold"), plain(told.kind))
    return text if told.comment is None else Text.assemble(text, ": ", plain(told.comment))


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


def left_the_record(run: RunEvaluation) -> str | None:
    """At which step the replay left the record first, and how; None where it kept to it."""
    first = first_to_leave(run.run, run.replay)
    if first is None:
        return None
    number, step = first
    off_tape = [f"its call of {call.tool} is not on the tape ({call.reason})" for call in step.divergences]
    how = step.difference if step.agrees is False or not off_tape else off_tape[0]
    return f"step {number}: {how}"


def _head(evaluation: TraceEvaluation, run: RunEvaluation) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(Text("run", style="bold"), plain(run.run.name))
    grid.add_row(Text("trace"), Text(f"{evaluation.trace.trace_id}  span {run.run.span_id}", style="dim"))
    grid.add_row(Text("task"), plain(run.run.task or "not on the trace"))
    grid.add_row(Text("answer"), plain(run.run.answer.text if run.run.answer else "none"))
    grid.add_row(Text("ended"), Text(f"{run.run.ending} after {len(run.run.steps)} steps"))
    if isinstance(run.replay, NoReplay):
        grid.add_row(Text("replay"), plain(run.replay.reason))
    else:
        told = (
            f"{len(run.replay.steps)} replayed, {len(run.replay.unreplayed)} not, in {run.replay.backend!r}"
        )
        grid.add_row(Text("replay"), Text(told))
        left = left_the_record(run)
        if left is not None:
            grid.add_row(Text(), plain(f"left the record first at {left}"))
    return grid


def _snippet_detail(run: RunEvaluation, snippet: Snippet) -> RenderableType:
    ran = "ran" if snippet.executed else "proposed, did not run"
    title = Text.assemble(
        (f"{snippet.language} ", "bold"),
        (f"{ran}, span {snippet.span_id}, ", "dim"),
        plain(snippet.path, style="dim"),
    )
    source = visible(mask_formats(snippet.source[:_MAX_SOURCE]))
    lines = source.splitlines()
    if len(lines) > _MAX_SOURCE_LINES:
        source = "\n".join(lines[:_MAX_SOURCE_LINES])
    lexer = snippet.language.value if snippet.language is not Language.OTHER else "text"
    code = Syntax(source, lexer, line_numbers=True, word_wrap=True, background_color="default")
    parts: list[RenderableType] = [title, Padding(code, (0, 0, 0, 2))]
    if len(lines) > _MAX_SOURCE_LINES:
        parts.append(Text(f"    … {len(lines) - _MAX_SOURCE_LINES} more lines", style="dim"))
    parts.append(Padding(_findings(run.scans[snippet.id]), (0, 0, 0, 2)))
    if snippet.executed:
        parts.append(Padding(_side_by_side(run, snippet), (0, 0, 0, 2)))
    return Group(*parts)


def _findings(scan: Scan) -> RenderableType:
    head = Text.assemble("scan: ", (scan.verdict.value, _VERDICT_STYLE[scan.verdict]))
    lines = [
        Text.assemble(
            (f"  line {finding.line}: ", "dim"),
            plain(finding.rule, style="bold"),
            " ",
            plain(finding.message),
        )
        for finding in scan.findings
    ]
    return Group(head, *lines)


def _side_by_side(run: RunEvaluation, snippet: Snippet) -> RenderableType:
    record = record_of(snippet)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("recorded")
    table.add_column("replayed")
    step = None if isinstance(run.replay, NoReplay) else run.replay.step(snippet.id)
    shown = record.stdout if record.stdout is not None else record.shown
    recorded_value = record.output.text if record.output is not None else ""
    if step is None:
        reason = (
            run.replay.reason
            if isinstance(run.replay, NoReplay)
            else run.replay.unreplayed.get(snippet.id, "not reached")
        )
        table.add_row(
            "class", Text(record.failure_class or "not on the trace"), plain(f"not replayed: {reason}")
        )
        table.add_row("printed", plain(shown or ""), "")
        table.add_row("value", plain(recorded_value), "")
        return table
    execution = step.execution
    raised = f" ({execution.raised.type}: {execution.raised.message})" if execution.raised else ""
    table.add_row(
        "class",
        Text(record.failure_class or "not on the trace"),
        plain(f"{execution.failure_class}{raised}"),
    )
    table.add_row("printed", plain(shown or ""), plain(execution.stdout))
    table.add_row("value", plain(recorded_value), plain(execution.result_text or ""))
    for attempt in execution.attempts:
        verdict = "allowed" if attempt.allowed else "stopped"
        table.add_row("tried", "", plain(f"{attempt.kind} {attempt.target}: {verdict}"))
    for divergence in step.divergences:
        table.add_row("off tape", "", plain(f"{divergence.tool}: {divergence.reason}"))
    if step.difference:
        table.add_row("differs" if step.agrees is False else "note", "", plain(step.difference))
    return table


def _scores_detail(run: RunEvaluation) -> RenderableType:
    """Per layer its verdict with the evidence, then its sub-scores: what passes counted, the rest told."""
    own = layer_scores(run)
    parts: list[RenderableType] = []
    for layer in Layer:
        score = own.get(layer)
        if score is None:
            continue
        words = plain(outcome_words(score.outcome), 600)
        parts.append(Text.assemble((f"{layer.value}  ", "bold"), verdict_text(score), "  ", words))
        if isinstance(score.outcome, Scored):
            for fact in score.outcome.evidence[:_MAX_FACTS]:
                line = Text.assemble(("· ", "dim"), _fact(fact.what, fact.recorded, fact.replayed))
                parts.append(Padding(line, (0, 0, 0, 4)))
            more = len(score.outcome.evidence) - _MAX_FACTS
            if more > 0:
                parts.append(Text(f"    · {more} more", style="dim"))
        parts += [Padding(line, (0, 0, 0, 2)) for line in _sub_scores(run, layer)]
    return Group(*parts)


def _sub_scores(run: RunEvaluation, layer: Layer) -> list[Text]:
    passed: dict[str, int] = {}
    rest: list[Text] = []
    for score in run.scores:
        if score.layer is not layer or score.name == layer.value:
            continue
        if isinstance(score.outcome, Scored) and score.outcome.label is Label.PASS:
            passed[score.name] = passed.get(score.name, 0) + 1
            continue
        place = "" if score.span_id == run.run.span_id else f" of {score.span_id[:8]}"
        rest.append(
            Text.assemble(
                f"{score.name}{place}  ", verdict_text(score), "  ", plain(outcome_words(score.outcome), 300)
            )
        )
    if not passed:
        return rest
    counted = ", ".join(name if number == 1 else f"{name} ×{number}" for name, number in passed.items())
    return [Text.assemble(("pass  ", "green"), counted), *rest]


def _fact(what: str, recorded: str | None, replayed: str | None) -> Text:
    words = plain(what, 300)
    if recorded is not None:
        words.append_text(Text.assemble(("  recorded ", "dim"), plain(recorded)))
    if replayed is not None:
        words.append_text(Text.assemble(("  replayed ", "dim"), plain(replayed)))
    return words
