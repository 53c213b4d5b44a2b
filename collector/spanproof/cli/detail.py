"""One run in detail: each snippet with its findings, recorded beside replayed, then the evidence per score.

Takes one evaluation; gives rich renderables. Text out of a trace goes through `plain` or `visible`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from spanproof.cli.hostile import visible
from spanproof.cli.report import layer_scores, outcome_words, plain, verdict_text
from spanproof.evaluators.layers.common import first_to_leave
from spanproof.evaluators.model import NoReplay, ReplayedStep, RunEvaluation, TraceEvaluation
from spanproof.evaluators.redact import mask_formats
from spanproof.evaluators.replay.record import class_beside, record_of
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.store import Feedback
from spanproof.trace import Label, Language, Layer, Scored, Snippet

_MAX_SOURCE_LINES = 40
_MAX_SOURCE = 20_000
_MAX_FACTS = 12
_VERDICT_STYLE = {Verdict.ALLOW: "green", Verdict.REVIEW: "yellow", Verdict.DENY: "red"}


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
    shown = record.stdout if record.stdout is not None else record.shown
    recorded = {
        "class": Text(record.failure_class or "not on the trace"),
        "printed": plain(shown or ""),
        "value": plain(record.output.text if record.output is not None else ""),
    }
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("", "recorded", "replayed"):
        table.add_column(column)
    step = None if isinstance(run.replay, NoReplay) else run.replay.step(snippet.id)
    if step is None:
        replayed = {"class": plain(f"not replayed: {_why_not(run, snippet)}")}
    else:
        replayed = _replayed(step)
    for name, cell in recorded.items():
        table.add_row(name, cell, replayed.get(name, Text()))
    for name, told in _beside(step) if step is not None else ():
        table.add_row(name, "", plain(told))
    return table


def _why_not(run: RunEvaluation, snippet: Snippet) -> str:
    if isinstance(run.replay, NoReplay):
        return run.replay.reason
    return run.replay.unreplayed.get(snippet.id, "not reached")


def _replayed(step: ReplayedStep) -> dict[str, Text]:
    execution = step.execution
    raised = f" ({execution.raised.type}: {execution.raised.message})" if execution.raised else ""
    return {
        "class": plain(f"{class_beside(record_of(step.snippet), execution)}{raised}"),
        "printed": plain(execution.stdout),
        "value": plain(execution.result_text or ""),
    }


def _beside(step: ReplayedStep) -> Iterator[tuple[str, str]]:
    """What a replay tells that no record has: attempts, calls off the tape, where it differs."""
    for attempt in step.execution.attempts:
        yield "tried", f"{attempt.kind} {attempt.target}: {'allowed' if attempt.allowed else 'stopped'}"
    for divergence in step.divergences:
        yield "off tape", f"{divergence.tool}: {divergence.reason}"
    if step.difference:
        yield "differs" if step.agrees is False else "note", step.difference


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
