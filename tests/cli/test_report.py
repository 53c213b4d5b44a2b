from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from spanproof.cli.detail import run_detail
from spanproof.cli.hostile import visible
from spanproof.cli.report import plain, runs_table
from spanproof.evaluators.model import (
    Divergence,
    DivergenceReason,
    Replay,
    ReplayedStep,
    RunEvaluation,
    TraceEvaluation,
)
from spanproof.sandbox import Attempt, AttemptKind, Execution, FailureClass
from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.trace import (
    Cohort,
    Errored,
    Evidence,
    Label,
    Language,
    Layer,
    Payload,
    Run,
    Score,
    Scored,
    Skipped,
    Snippet,
    Span,
    SpanKind,
    Step,
    trace_of,
)

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
HOSTILE = "x = 1  # [bold red]owned[/] \x1b[2J\x1b]0;title\x07\u202etxt.exe\ud800 [/nope]"


def shown(renderable, width=200):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(renderable)
    return console.file.getvalue()


def score(layer, outcome, name=None, span_id="a" * 16):
    return Score(
        "id",
        TRACE_ID,
        "a" * 16,
        span_id,
        None,
        layer,
        name or layer.value,
        "e",
        "1",
        outcome,
        Cohort(),
        0,
        "d",
    )


@pytest.fixture
def evaluation():
    snippet = Snippet(
        "s", TRACE_ID, "b" * 16, "spanproof.code.source", Language.PYTHON, HOSTILE, True, observation=HOSTILE
    )
    run = Run(
        TRACE_ID,
        "a" * 16,
        f"agent {HOSTILE}",
        HOSTILE,
        Payload(HOSTILE, HOSTILE),
        (Step(1, "b" * 16, snippets=(snippet,)),),
    )
    span = Span(TRACE_ID, "a" * 16, None, "run", SpanKind.AGENT, 0, 1)
    finding = Finding(HOSTILE, Severity.HIGH, Verdict.DENY, 1, 1, 1, 2, HOSTILE)
    execution = Execution(
        FailureClass.OK, stdout=HOSTILE, attempts=(Attempt(AttemptKind.FILE, HOSTILE, allowed=False),)
    )
    step = ReplayedStep(
        snippet, execution, (Divergence("t", (), {}, DivergenceReason.EXHAUSTED),), False, HOSTILE
    )
    scores = (
        score(Layer.CORRECTNESS, Scored(1.0, Label.PASS, "Fine.")),
        score(Layer.BOUNDARY, Scored(0.0, Label.FAIL, HOSTILE, (Evidence(HOSTILE, None, HOSTILE, HOSTILE),))),
        score(Layer.EXECUTION, Skipped(HOSTILE)),
        score(Layer.GROUNDEDNESS, Scored(0.5, None, "Uncertain.")),
        score(Layer.TRAJECTORY, Errored("KeyError", HOSTILE)),
        score(Layer.TRAJECTORY, Scored(1.0, Label.PASS, "Fine."), "loops"),
    )
    evaluated = RunEvaluation(
        run, {"s": Scan(Verdict.DENY, (finding,))}, Replay("a" * 16, "jail", (step,)), scores
    )
    return TraceEvaluation(trace_of([span]), (evaluated,), ("b" * 16,))


def test_the_table_has_a_verdict_per_layer_and_the_first_failure_in_words(evaluation):
    text = shown(runs_table([evaluation]))
    for cell in ("pass 1.00", "FAIL 0.00", "skipped", "open 0.50", "error", "boundary: x = 1"):
        assert cell in text


def test_hostile_text_reaches_the_terminal_as_text_only(evaluation):
    for text in (shown(runs_table([evaluation])), shown(run_detail(evaluation, evaluation.runs[0]))):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
        assert "[bold red]owned[/]" in text
        text.encode()


def test_the_detail_shows_recorded_beside_replayed(evaluation):
    text = shown(run_detail(evaluation, evaluation.runs[0]))
    for part in ("recorded", "replayed", "scan: deny", "stopped", "exhausted", "loops"):
        assert part in text


def test_the_detail_of_a_long_snippet_is_cut_and_says_so(evaluation):
    run = evaluation.runs[0]
    long = replace(run.run.steps[0].snippets[0], source="\n".join(f"x = {i}" for i in range(100)))
    changed = replace(run, run=replace(run.run, steps=(replace(run.run.steps[0], snippets=(long,)),)))
    assert "60 more lines" in shown(run_detail(evaluation, changed))


def test_plain_is_one_bounded_line():
    assert plain("a\n\tb" + "c" * 500, 10).plain == "a bcccccc…"


def test_visible_keeps_line_breaks_and_tabs():
    assert visible("a\r\n\tb\x00") == "a\n\tb<U+0000>"
