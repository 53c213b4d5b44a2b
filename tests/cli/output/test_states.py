"""States in words and colours: rows, headlines, totals. Only what passed is green."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from spanproof.cli.output.run_page import build_run_page
from spanproof.cli.output.runs_table import RunLine, write_runs
from spanproof.cli.output.verdicts import STATE_STYLES, format_reason, format_state, iter_totals
from spanproof.cli.output.words import to_outcome_row
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.trace import (
    Cause,
    ClaimMark,
    ClaimVerdict,
    Cohort,
    Errored,
    Evidence,
    Label,
    Layer,
    Outcome,
    Payload,
    Run,
    Score,
    Scored,
    Skipped,
    Span,
    SpanKind,
    State,
    trace_of,
)

TRACE_ID, RUN_ID = "0af7651916cd43dd8448eb211c80319c", "a" * 16
ANSWER = "The refund of order A-17 is $77.31."
PASSED, FAILED = Scored(1.0, Label.PASS, "Fine."), Scored(0.0, Label.FAIL, "Wrong.")
OPEN = Scored(
    0.5,
    None,
    "1 of 2 claims agree with the outputs; The answer says $77.31; no source has it or gives it",
    (
        Evidence("uncertain: $77.31 is in no output", claim=ClaimMark(28, 34, ClaimVerdict.UNCERTAIN)),
        Evidence("grounded: A-17 is in the task", recorded="A-17"),
    ),
    cause=Cause.VALUE_NOT_FOUND,
    detail="$77.31",
)
ERRORED = Errored("ValueError", "broken")
SKIPPED = Skipped("no code on the trace", Cause.NO_CODE)
ALL_PASS = dict.fromkeys(Layer, PASSED)


def score(layer: Layer, outcome: Outcome, name: str = "", evaluator: str = "e") -> Score:
    return Score(
        "id",
        TRACE_ID,
        RUN_ID,
        RUN_ID,
        None,
        layer,
        name or layer.value,
        evaluator,
        "1",
        outcome,
        Cohort(),
        0,
        "d",
    )


def evaluate(layers: dict[Layer, Outcome], *more: Score) -> TraceEvaluation:
    run = Run(TRACE_ID, RUN_ID, "refund_clerk", "What is the refund?", Payload(ANSWER, ANSWER), ())
    scores = (*(score(layer, outcome) for layer, outcome in layers.items()), *more)
    span = Span(TRACE_ID, RUN_ID, None, "run", SpanKind.AGENT, 0, 1)
    return TraceEvaluation(trace_of([span]), (RunEvaluation(run, {}, NoReplay("off"), scores),), ())


def page(layers: dict[Layer, Outcome], *more: Score) -> list[str]:
    evaluation = evaluate(layers, *more)
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(build_run_page(evaluation, evaluation.runs[0]))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def table(*runs: dict[Layer, Outcome], width: int = 80, color: str | None = None) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=color is not None, color_system=color)
    write_runs(console, [RunLine("refund_clerk", TRACE_ID, 0, layers) for layers in runs])
    return console.file.getvalue()


def test_the_page_of_an_open_run_says_what_is_open_why_and_what_was_checked() -> None:
    lines = page(ALL_PASS | {Layer.GROUNDEDNESS: OPEN})
    assert lines[0] == (
        "OPEN  refund_clerk  open: groundedness; passes correctness, boundary, execution, trajectory"
    )
    why = "1 of 2 claims agree with the outputs; The answer says $77.31; no source has"
    assert lines[6:10] == [
        f"groundedness  open 0.50  {why}",
        "              it or gives it",
        "    uncertain: $77.31 is in no output",
        "    grounded: A-17 is in the task  recorded A-17",
    ]
    assert lines[10].startswith("correctness   pass 1.00")


@pytest.mark.parametrize(
    ("layers", "headline"),
    [
        (ALL_PASS, "PASS  refund_clerk passes correctness, boundary, execution, groundedness, trajectory"),
        (
            ALL_PASS | {Layer.CORRECTNESS: FAILED, Layer.BOUNDARY: FAILED, Layer.GROUNDEDNESS: OPEN},
            "FAIL  refund_clerk fails boundary, correctness; open: groundedness",
        ),
        (
            {Layer.BOUNDARY: PASSED, Layer.TRAJECTORY: ERRORED, Layer.GROUNDEDNESS: OPEN},
            "ERROR  refund_clerk no verdict on trajectory; open: groundedness; passes boundary",
        ),
        (dict.fromkeys(Layer, SKIPPED), "SKIPPED  refund_clerk no layer could be judged"),
        ({}, "SKIPPED  refund_clerk no layer could be judged"),
    ],
)
def test_the_headline_shows_the_state_of_the_run(layers, headline: str) -> None:
    assert page(layers)[0] == headline


def test_a_verdict_of_a_person_settles_the_layer_on_the_page() -> None:
    settled = score(Layer.GROUNDEDNESS, Scored(0.0, Label.FAIL, "it was 45.00"), "verdict", "external.ann")
    lines = page(ALL_PASS | {Layer.GROUNDEDNESS: OPEN}, settled)
    assert lines[0] == "FAIL  refund_clerk fails groundedness"
    assert lines[6].startswith(
        "groundedness  FAIL 0.00  a person settled it: it was 45.00; before: open 0.50"
    )
    assert "ann: groundedness.verdict  FAIL 0.00  it was 45.00" in lines


def test_a_score_from_elsewhere_without_a_label_is_advice_and_not_open() -> None:
    tone = score(Layer.TRAJECTORY, Scored(0.7, None, "polite"), "tone", "external.ann")
    lines = page(ALL_PASS, tone)
    assert lines[0].startswith("PASS")
    assert "ann: trajectory.tone  0.70  polite" in lines


def test_a_row_begins_with_its_state_and_totals_are_grouped_by_cause() -> None:
    lines = table(
        ALL_PASS,
        ALL_PASS | {Layer.GROUNDEDNESS: OPEN},
        ALL_PASS | {Layer.GROUNDEDNESS: replace(OPEN, explanation="Another sentence.", detail="12")},
        ALL_PASS | {Layer.CORRECTNESS: FAILED, Layer.BOUNDARY: Scored(0.0, Label.FAIL, "Holds a secret.")},
        ALL_PASS | {Layer.TRAJECTORY: ERRORED},
        dict.fromkeys(Layer, SKIPPED),
    ).splitlines()
    rows = [line.split()[:2] for line in lines if TRACE_ID[:8] in line]
    assert [row[0] for row in rows] == ["PASS", "OPEN", "OPEN", "FAIL", "ERROR", "skipped"]
    assert "    boundary: Holds a secret." in [line.rstrip() for line in lines]
    assert [line.rstrip() for line in lines[-4:]] == [
        "    no code on the trace",
        "6 runs: 1 passes, 1 fails, 1 errored, 2 open, 1 skipped",
        "  2 answers hold a value that no source has",
        "  1 run has no code",
    ]


def test_one_run_has_no_line_of_totals() -> None:
    assert "1 run:" not in table(ALL_PASS | {Layer.GROUNDEDNESS: OPEN})


def test_the_line_of_totals_has_the_forms_of_one_and_of_many() -> None:
    many = [line.plain for line in iter_totals([ALL_PASS, ALL_PASS, ALL_PASS | {Layer.BOUNDARY: FAILED}])]
    assert many == ["3 runs: 2 pass, 1 fails"]


def test_open_is_yellow_and_only_what_passed_is_green() -> None:
    assert [state for state, style in STATE_STYLES.items() if "green" in style] == [State.PASS]
    assert STATE_STYLES[State.OPEN] == "yellow"
    yellow, green = "\x1b[33m", "\x1b[32m"
    row = table(dict.fromkeys(Layer, OPEN), color="standard").splitlines()[1]
    assert f"{yellow}OPEN" in row
    assert row.count(f"{yellow}open") == len(Layer)
    assert green not in row


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = table(ALL_PASS | {Layer.GROUNDEDNESS: OPEN}, color="standard")
    assert "OPEN" in shown
    assert "\x1b[3" not in shown


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_word(state: State) -> None:
    assert format_state(state).plain in {"PASS", "FAIL", "OPEN", "ERROR", "skipped"}


def test_the_reason_is_that_of_the_gravest_layer() -> None:
    layers = {Layer.CORRECTNESS: OPEN, Layer.GROUNDEDNESS: FAILED, Layer.TRAJECTORY: ERRORED}
    assert format_reason(layers).plain == "groundedness: Wrong."
    assert format_reason(ALL_PASS).plain == ""
    assert format_reason({}).plain == ""


def test_an_open_outcome_as_json_has_its_cause() -> None:
    row = to_outcome_row(OPEN)
    assert (row["state"], row["outcome"], row["label"]) == ("open", "scored", None)
    assert (row["cause"], row["detail"]) == ("value-not-found", "$77.31")
    assert to_outcome_row(ERRORED)["state"] == "errored"
