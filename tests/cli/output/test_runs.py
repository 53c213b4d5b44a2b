from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from spanproof.cli.output.hostile import format_controls, format_line
from spanproof.cli.output.run_page import build_run_page
from spanproof.cli.output.runs_table import build_run_lines, write_runs
from spanproof.cli.output.words import format_amount, format_count, format_duration
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
from spanproof.store import Feedback
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


def table(evaluation, width=200, **of_line):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    write_runs(console, [replace(line, **of_line) for line in build_run_lines(evaluation)])
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
    text = table(evaluation)
    for cell in ("pass 1.00", "FAIL 0.00", "skipped", "open 0.50", "error", "boundary: x = 1"):
        assert cell in text


def test_hostile_text_reaches_the_terminal_as_text_only(evaluation):
    for text in (table(evaluation), shown(build_run_page(evaluation, evaluation.runs[0]))):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
        assert "[bold red]owned[/]" in text
        text.encode()


def test_the_detail_shows_recorded_beside_replayed(evaluation):
    text = shown(build_run_page(evaluation, evaluation.runs[0], full=True))
    for part in ("recorded", "replayed", "scan: deny", "stopped", "exhausted", "loops"):
        assert part in text


def test_the_detail_of_a_long_snippet_is_cut_and_says_so(evaluation):
    run = evaluation.runs[0]
    long = replace(run.run.steps[0].snippets[0], source="\n".join(f"x = {i}" for i in range(100)))
    changed = replace(run, run=replace(run.run, steps=(replace(run.run.steps[0], snippets=(long,)),)))
    assert "60 more lines" in shown(build_run_page(evaluation, changed))


def test_plain_is_one_bounded_line_that_counts_what_it_leaves_out():
    assert format_line("a\n\tb" + "c" * 500, 10).plain == "a bccccccc [+493 characters]"
    assert format_line("c" * 2_000).plain == "c" * 2_000


def test_visible_keeps_line_breaks_and_tabs():
    assert format_controls("a\r\n\tb\x00") == "a\n\tb<U+0000>"


@pytest.mark.parametrize("width", [80, 100, 120, 150, 200])
@pytest.mark.parametrize("feedback", ["", "thumbs up"])
def test_the_table_fits_the_terminal_and_has_every_verdict(evaluation, width, feedback):
    lines = table(evaluation, width, feedback=feedback, name="refund_clerk").splitlines()
    assert max(len(line) for line in lines) <= width
    for cell in ("refund_clerk", TRACE_ID[:8], "FAIL", "skipped", "error", feedback):
        assert cell in lines[1], f"show {cell!r} in a row of {width} columns: {lines[1]!r}"
    assert "boundary: x = 1" in "".join(lines)


def test_the_page_begins_with_the_verdict_then_why_then_the_steps(evaluation):
    page = shown(build_run_page(evaluation, evaluation.runs[0]))
    order = [
        "FAIL  agent",
        "boundary      FAIL 0.00",
        "correctness   pass 1.00",
        "skipped",
        "1 step in",
        "step 1",
    ]
    places = [page.index(part) for part in order]
    assert places == sorted(places), page


def test_the_page_says_once_what_was_skipped(evaluation):
    run = evaluation.runs[0]
    skipped = tuple(
        score(Layer.TRAJECTORY, Skipped("no tool was called"), name) for name in ("a1", "b2", "b2")
    )
    page = shown(build_run_page(evaluation, replace(run, scores=(*run.scores, *skipped))))
    assert "a1, b2 (no tool was called)" in page
    assert page.count("no tool was called") == 1


def test_a_step_that_repeats_an_earlier_one_refers_to_it(evaluation):
    run = evaluation.runs[0]
    again = replace(run.run.steps[0], number=2)
    page = shown(
        build_run_page(evaluation, replace(run, run=replace(run.run, steps=(run.run.steps[0], again))))
    )
    assert "the code and outcome of step 1 again" in page


def test_steps_whose_output_is_a_document_are_shown(evaluation):
    run = evaluation.runs[0]
    first = run.run.steps[0]
    one, two = Payload('{"sum": 2}', {"sum": 2}), Payload('{"sum": 3}', {"sum": 3})
    first = replace(first, snippets=(replace(first.snippets[0], output=one),))
    other = replace(first, number=2, snippets=(replace(first.snippets[0], output=two),))
    again = replace(first, number=3)
    page = shown(build_run_page(evaluation, replace(run, run=replace(run.run, steps=(first, other, again)))))
    assert page.count("the code and outcome of step 1 again") == 1


def test_feedback_is_on_the_page_in_words(evaluation):
    feedback = Feedback(TRACE_ID, None, "thumbs_down", "the total is wrong", 0)
    page = shown(build_run_page(evaluation, evaluation.runs[0], [feedback]))
    assert "user feedback: thumbs down: the total is wrong" in page


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 queries"), (1, "1 query"), (2, "2 queries"), (1000, "1,000 queries")]
)
def test_counts_have_their_plural(number, words):
    assert format_count(number, "query", "queries") == words


@pytest.mark.parametrize(
    ("nanoseconds", "words"),
    [
        (0, "0.0 ms"),
        (400_000, "0.4 ms"),
        (12_400_000, "12 ms"),
        (2_440_000_000, "2.4 s"),
        (185 * 10**9, "3 min 5 s"),
    ],
)
def test_durations_are_short(nanoseconds, words):
    assert format_duration(nanoseconds) == words


@pytest.mark.parametrize(
    ("amount", "unit", "words"),
    [
        (1.0, "steps", "1 step"),
        (10476.0, "tokens", "10,476 tokens"),
        (0.031, "USD", "0.031 USD"),
        (1.0, "s", "1 s"),
    ],
)
def test_amounts_have_their_unit(amount, unit, words):
    assert format_amount(amount, unit) == words
