"""One run on a page: the verdict, why, then its steps as a tree.

Takes one evaluation; gives rich renderables. Text out of a trace goes through `format_line` or
`format_controls`. Nothing appears twice: a fact whose words the page already has in that layer is left out,
a replay that agrees is one word beside the record, and what was skipped folds into one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.text import Text
from rich.tree import Tree

from spanproof.cli.output.console import SCAN_STYLES, build_highlighted
from spanproof.cli.output.divergence import find_divergence
from spanproof.cli.output.hostile import format_controls, format_line
from spanproof.cli.output.listing import build_pairs
from spanproof.cli.output.verdicts import (
    format_layer_verdict,
    format_score,
    format_state,
    select_layer_scores,
)
from spanproof.cli.output.words import describe_outcome, format_count, format_duration, format_time
from spanproof.evaluators.model import NoReplay, ReplayedStep, RunEvaluation, TraceEvaluation
from spanproof.evaluators.redact import with_masked_formats
from spanproof.evaluators.refusals import format_refusal
from spanproof.evaluators.replay.record import classify_execution, read_record
from spanproof.evaluators.run_state import EXTERNAL_PREFIX, list_by_gravity
from spanproof.evaluators.scores import STRUCTURE_EVALUATOR, find_state
from spanproof.sandbox import FailureClass
from spanproof.sandbox.scanners.model import Verdict
from spanproof.store import Feedback
from spanproof.store.external import is_external
from spanproof.trace import (
    Ending,
    Evidence,
    Layer,
    Outcome,
    RecordedCall,
    Score,
    Scored,
    Skipped,
    Snippet,
    State,
    Step,
    get_state,
)

_MAX_SOURCE_LINES = 40
_MAX_SOURCE = 20_000
_MAX_FACTS = 12
_FILLERS = {
    "a", "an", "and", "at", "by", "ended", "fail", "in", "is", "of", "pass", "recorded", "replayed", "the",
    "to", "was",
}  # fmt: skip
# Layers whose evidence is the findings and outcomes that the tree shows with each step.
_SHOWN_WITH_STEPS = (Layer.BOUNDARY, Layer.EXECUTION)

_REFUSED_STYLE = "yellow"
# In the order of gravity: what is skipped is a line of the page.
_HEADLINE_WORDS = {
    State.FAIL: "fails",
    State.ERRORED: "no verdict on",
    State.OPEN: "open:",
    State.PASS: "passes",
}

_ENDINGS = {
    Ending.ANSWERED: "answered",
    Ending.MAX_STEPS: "ended at the step limit",
    Ending.FAILED: "failed",
    Ending.UNKNOWN: "no end on the trace",
}


def build_run_page(
    evaluation: TraceEvaluation,
    run: RunEvaluation,
    feedback: Sequence[Feedback] = (),
    *,
    name: str | None = None,
    full: bool = False,
) -> RenderableType:
    """Return the page of one run.

    Args:
        evaluation: the trace's.
        run: one run of it.
        feedback: what users said of the run.
        name: replaces the run's own name.
        full: whether layers and sub-scores that pass show their evidence too.
    """
    head = (_format_headline(run, name or run.run.name), _build_facts(evaluation, run), Text())
    comments = map(_format_feedback, feedback)
    external = (_format_external(score) for score in run.scores if is_external(score))
    scores = (*_iter_layer_lines(run, full=full), *_iter_structure_lines(run))
    return Group(*head, *scores, *comments, *external, Text(), _build_step_tree(evaluation, run))


def _format_feedback(feedback: Feedback) -> Text:
    """Return a user's feedback in one line: `user feedback: thumbs up: the total is right`."""
    kind = Text.assemble(("user feedback: ", "bold"), format_line(feedback.kind.replace("_", " ")))
    if feedback.comment is None:
        return kind
    return Text.assemble(kind, ": ", format_line(feedback.comment))


def _iter_structure_lines(run: RunEvaluation) -> Iterator[RenderableType]:
    """Yield the structural metrics of a run, a line each; none where they are not measured."""
    grid = build_pairs()
    for score in run.scores:
        if score.evaluator == STRUCTURE_EVALUATOR and isinstance(score.outcome, Scored):
            explained = format_line(describe_outcome(score.outcome))
            grid.add_row(f"{score.name:12}", Text.assemble(format_score(score), "  ", explained))
    if grid.row_count:
        yield grid


def _format_external(score: Score) -> Text:
    """Return a score from elsewhere in one line: `human: trajectory.tone  fail  too short`."""
    source = score.evaluator.removeprefix(EXTERNAL_PREFIX)
    name = format_line(f"{score.layer.value}.{score.name}")
    verdict, words = format_score(score), format_line(describe_outcome(score.outcome))
    return Text.assemble((f"{source}: ", "bold"), name, "  ", verdict, "  ", words)


def _format_headline(run: RunEvaluation, name: str) -> Text:
    """Return the state of the run in one line, and which layers are in which.

    `OPEN  pricing  open: groundedness; passes correctness, boundary`; what passes is left out of a run that
    fails.
    """
    layers, state = run.layers, run.state
    by_state: dict[State, list[str]] = {}
    for layer in list_by_gravity(layers):
        by_state.setdefault(get_state(layers[layer]), []).append(layer.value)
    clauses = [
        f"{words} {', '.join(by_state[other])}"
        for other, words in _HEADLINE_WORDS.items()
        if other in by_state and not (other is State.PASS and state is State.FAIL)
    ]
    word = format_state(state)
    return Text.assemble(
        (f"{word.plain.upper()}  ", Style.parse(str(word.style)) + Style(bold=True)),
        format_line(name, style="bold"),
        "  " if state is State.OPEN else " ",
        "; ".join(clauses) or "no layer could be judged",
    )


def _build_facts(evaluation: TraceEvaluation, run: RunEvaluation) -> RenderableType:
    model = f", model {format_controls(run.run.cohort.model)}" if run.run.cohort.model else ""
    started = f"started {format_time(run.run.start_ns)} UTC{model}"
    grid = build_pairs(style="dim")
    grid.add_row("trace", Text(f"{evaluation.trace.trace_id}, span {run.run.span_id}", style="dim"))
    grid.add_row("run", Text(started, style="dim"))
    grid.add_row("task", format_line(run.run.task or "not on the trace"))
    grid.add_row("answer", format_line(run.run.answer.text if run.run.answer else "none"))
    return grid


def _iter_layer_lines(run: RunEvaluation, *, full: bool) -> Iterator[RenderableType]:
    """Yield each layer with its reason and evidence, the gravest first; then what was skipped."""
    own, layers = select_layer_scores(run), run.layers
    for layer in list_by_gravity(layers):
        outcome = layers[layer]
        if isinstance(outcome, Skipped):
            continue
        grid = build_pairs(style="bold")
        explained = _describe_layer(outcome, own.get(layer))
        grid.add_row(f"{layer.value:12}", Text.assemble(format_layer_verdict(outcome), "  ", explained))
        yield grid
        is_shown = full or (get_state(outcome) is not State.PASS and layer not in _SHOWN_WITH_STEPS)
        if layer in own and is_shown:
            for line in _iter_evidence_lines(run, own[layer], explained.plain, full=full):
                yield Padding(line, (0, 0, 0, 4))
    skipped: dict[str, list[str]] = {}
    for score in run.scores:
        if isinstance(score.outcome, Skipped):
            names = skipped.setdefault(describe_outcome(score.outcome), [])
            names += [] if score.name in names else [score.name]
    if skipped:
        grid = build_pairs(style="dim")
        folded = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in skipped.items())
        grid.add_row(f"{'skipped':12}", format_line(folded, style="dim"))
        yield grid


def _describe_layer(outcome: Outcome, own: Score | None) -> Text:
    """Return why a layer is in its state; where a person settled it, what the evaluators had said."""
    explained = format_line(describe_outcome(outcome))
    if own is None or own.outcome is outcome:
        return explained
    before = format_line(describe_outcome(own.outcome))
    reason = Text.assemble(": ", explained) if explained else Text()
    return Text.assemble(
        "a person settled it", reason, "; before: ", format_layer_verdict(own.outcome), " ", before
    )


def _iter_evidence_lines(run: RunEvaluation, layer: Score, explained: str, *, full: bool) -> Iterator[Text]:
    """Yield the facts and sub-scores of a layer that say more than its explanation."""
    shown = [_list_words(explained)]
    passed: Counter[str] = Counter()
    lines: list[tuple[Text, str]] = []
    for score in (score for score in run.scores if _is_sub_score(score, layer)):
        words = describe_outcome(score.outcome)
        state = find_state(score.layer, score.name, score.outcome)
        if full or state in (State.FAIL, State.ERRORED, State.OPEN):
            lines.append((_format_sub_score(run, score), words))
        else:
            shown.append(_list_words(f"{score.name} {words}"))
        passed[score.name] += state is State.PASS
    passed = +passed  # without those that never passed
    facts = layer.outcome.evidence if isinstance(layer.outcome, Scored) else ()
    lines += [(_format_fact(fact), _format_fact(fact).plain) for fact in facts]
    more = 0
    for line, text in lines:
        known_words = _list_words(text)
        if any(known_words <= earlier for earlier in shown):
            continue
        shown.append(known_words | _list_words(line.plain))
        more += len(shown) > _MAX_FACTS + len(passed)
        if not more:
            yield line
    if more:
        yield Text(f"and {format_count(more, 'more fact')}; --json has all", style="dim")
    if full and passed:
        yield Text.assemble(("pass  ", "green"), _format_times(passed))


def _format_times(counts: Mapping[str, int]) -> str:
    return ", ".join(name if times == 1 else f"{name} ×{times}" for name, times in counts.items())


def _is_sub_score(score: Score, layer: Score) -> bool:
    """Whether a score is one of ours below a layer's, and was not skipped."""
    if score is layer or score.layer is not layer.layer:
        return False
    return not isinstance(score.outcome, Skipped) and not is_external(score)


def _list_words(text: str) -> frozenset[str]:
    """Return the words of a line that say something: no articles, no weights, no punctuation."""
    words = re.findall(r"[\w$€£.]*\w", text.lower())
    return frozenset(word for word in words if not re.fullmatch(r"\d\.\d+", word)) - _FILLERS


def _format_fact(fact: Evidence) -> Text:
    line = format_line(fact.what)
    for name, value in (("recorded", fact.recorded), ("replayed", fact.replayed)):
        if value is not None:
            line.append_text(Text.assemble((f"  {name} ", "dim"), format_line(value)))
    return line


def _format_sub_score(run: RunEvaluation, score: Score) -> Text:
    steps = (
        f" (step {step.number})"
        for step in run.run.steps
        if score.span_id in (step.span_id, *(snippet.span_id for snippet in step.snippets))
    )
    where = "" if score.span_id == run.run.span_id else next(steps, "")
    words = format_line(describe_outcome(score.outcome))
    return Text.assemble(f"{score.name}{where} ", format_score(score), "  ", words)


def _build_step_tree(evaluation: TraceEvaluation, run: RunEvaluation) -> RenderableType:
    took = format_duration(run.run.end_ns - run.run.start_ns)
    steps = format_count(len(run.run.steps), "step")
    head = Text(f"{steps} in {took}, {_ENDINGS[run.run.ending]}", style="bold")
    tree = Tree(Group(head, format_line(_describe_replay(run), style="dim")), guide_style="dim")
    shown: dict[tuple[object, ...], int] = {}
    spans = {span.span_id: span.end_ns - span.start_ns for span in evaluation.trace.spans}
    for step in run.run.steps:
        branch = tree.add(_format_step(step))
        first = shown.setdefault(_build_step_key(step), step.number)
        if step.snippets and first != step.number:
            branch.add(Text(f"the code and outcome of step {first} again", style="dim"))
            continue
        for snippet in step.snippets:
            branch.add(_build_snippet(run, snippet))
        for call in step.calls:
            if not call.tool.startswith("final_answer"):
                branch.add(_format_call(call, spans.get(call.span_id or "")))
        if step.error is not None and not _has_failed_snippet(step):
            style = "red" if step.refusal is None else _REFUSED_STYLE
            branch.add(format_line(step.error.message, style=style))
    return tree


def _build_step_key(step: Step) -> tuple[object, ...]:
    """Return what equals that of another step with the same code and outcome."""
    # The text of the output: a JSON document has no hash.
    snippets = tuple(
        (snippet.source, snippet.observation, snippet.output and snippet.output.text, snippet.error)
        for snippet in step.snippets
    )
    return snippets, step.error


def _has_failed_snippet(step: Step) -> bool:
    return any(snippet.executed and snippet.error for snippet in step.snippets)


def _describe_replay(run: RunEvaluation) -> str:
    """Return how the replay went, in one sentence."""
    if isinstance(run.replay, NoReplay):
        return f"not replayed: {run.replay.reason}"
    left = find_divergence(run)
    if left is not None:
        return f"the replay in {run.replay.backend!r} left the record first at {left}"
    replayed = format_count(len(run.replay.steps), "snippet")
    without = f"; {len(run.replay.unreplayed)} not replayed" if run.replay.unreplayed else ""
    if not run.replay.steps:
        return f"no snippet replayed in {run.replay.backend!r}{without}"
    compared = sum(step.agrees is not None for step in run.replay.steps)
    agrees = f"; {compared} of them compared, all agree with the record" if compared else ""
    if compared == len(run.replay.steps):
        agrees = " as recorded"
    return f"{replayed} replayed in {run.replay.backend!r}{agrees}{without}"


def _format_step(step: Step) -> Text:
    outcomes = [read_record(snippet).failure_class for snippet in step.snippets if snippet.executed]
    failed = next((item for item in outcomes if item is not None and item is not FailureClass.OK), None)
    if step.refusal is not None:
        outcome = format_line(format_refusal(step.refusal), style=_REFUSED_STYLE)
    elif failed is None and step.error is not None:
        outcome = Text("failed", style="red")
    elif failed is not None:
        outcome = Text(failed.value.replace("_", " "), style="red")
    else:
        outcome = Text("ok", style="green") if FailureClass.OK in outcomes else Text("")
    took = format_duration(step.end_ns - step.start_ns) if step.end_ns > step.start_ns else ""
    kind = "" if step.kind == "action" else f" {format_controls(step.kind)}"
    return Text.assemble((f"step {step.number}{kind}", "bold"), "  ", outcome, "  ", (took, "dim"))


def _build_snippet(run: RunEvaluation, snippet: Snippet) -> RenderableType:
    source = format_controls(with_masked_formats(snippet.source[:_MAX_SOURCE]))
    lines = source.splitlines()
    shown = "\n".join(lines[:_MAX_SOURCE_LINES])
    parts: list[RenderableType] = []
    if not snippet.executed:
        how = "proposed" if snippet.refusal is None else format_refusal(snippet.refusal)
        parts.append(format_line(f"{snippet.language}, {how}, did not run", style="dim"))
    parts.append(build_highlighted(shown, snippet.language))
    if len(lines) > _MAX_SOURCE_LINES:
        more = format_count(len(lines) - _MAX_SOURCE_LINES, "more line")
        parts.append(Text(f"… {more}", style="dim"))
    scan = run.scans[snippet.id]
    if scan.findings or scan.verdict is not Verdict.ALLOW:
        parts.append(Text.assemble("scan: ", (scan.verdict.value, SCAN_STYLES[scan.verdict])))
    for finding in scan.findings:
        rule = format_line(finding.rule, style="bold")
        parts.append(
            Text.assemble((f"  line {finding.line}: ", "dim"), rule, " ", format_line(finding.message))
        )
    if snippet.executed:
        grid = build_pairs(style="dim")
        for name, value in _iter_outcome_rows(run, snippet):
            grid.add_row(name, value)
        parts += [grid] if grid.row_count else []
    return Group(*parts)


def _iter_outcome_rows(run: RunEvaluation, snippet: Snippet) -> Iterator[tuple[str, Text]]:
    """Yield what the record has of a snippet's run, and what its replay has beside that."""
    record = read_record(snippet)
    printed = record.stdout if record.stdout is not None else record.shown
    value = record.output.text if record.output is not None else None
    step = None if isinstance(run.replay, NoReplay) else run.replay.find_step(snippet.id)
    if snippet.error is not None:
        raised = step.execution.raised if step is not None else None
        # A framework wraps the message of the exception; the replay has it as it was raised.
        message = raised.message if raised and raised.type == record.error_type else snippet.error.message
        yield "raised", format_line(f"{record.error_type or snippet.error.type}: {message}", style="red")
    if printed:
        yield "printed", format_line(printed)
    if value not in (None, "None", run.run.answer.text if run.run.answer else None):
        yield "value", format_line(value)
    if step is not None:
        yield from _iter_replay_rows(step, record.failure_class)
    elif not isinstance(run.replay, NoReplay):
        yield "not replayed", format_line(run.replay.unreplayed.get(snippet.id, "it was not reached"))


def _iter_replay_rows(step: ReplayedStep, recorded: FailureClass | None) -> Iterator[tuple[str, Text]]:
    """Yield where a replay differs from the record, its attempts, and its calls that are not on the tape."""
    execution = step.execution
    if step.agrees is not True:
        failure_class = classify_execution(read_record(step.snippet), execution)
        raised = f" ({execution.raised.type}: {execution.raised.message})" if execution.raised else ""
        yield "recorded", Text(recorded or "no outcome on the trace")
        yield "replayed", format_line(f"{failure_class}{raised}")
        if execution.stdout:
            yield "printed", format_line(execution.stdout)
        if execution.result_text:
            yield "value", format_line(execution.result_text)
    if step.difference:
        yield "differs" if step.agrees is False else "note", format_line(step.difference)
    for attempt in execution.attempts:
        outcome = "allowed" if attempt.allowed else "stopped"
        yield "attempt", format_line(f"{attempt.kind} {attempt.target}: {outcome}")
    for divergence in step.divergences:
        yield "off tape", format_line(f"{divergence.tool}: {divergence.reason}")


def _format_call(call: RecordedCall, duration_ns: int | None) -> Text:
    """Return a tool call with its result in one line."""
    arguments = [*map(repr, call.args), *(f"{name}={value!r}" for name, value in call.kwargs.items())]
    line = Text(overflow="fold")
    line.append_text(format_line(call.tool, style="bold")).append_text(
        format_line(f"({', '.join(arguments)})")
    )
    if duration_ns is not None:
        line.append_text(Text(f"  {format_duration(duration_ns)}", style="dim"))
    if call.refusal is not None:
        return line.append_text(format_line(f"  {format_refusal(call.refusal)}", style=_REFUSED_STYLE))
    if call.error is not None:
        return line.append_text(format_line(f"  raised {call.error.type}: {call.error.message}", style="red"))
    if call.result is None:
        return line
    return line.append_text(Text.assemble("  → ", format_line(call.result.text)))
