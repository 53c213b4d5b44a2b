"""The registry of scores: complete, documented, and what layers may give."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from spanproof.evaluators.evaluator import LayerRules
from spanproof.evaluators.judge import BESIDE
from spanproof.evaluators.layers import execution, trajectory
from spanproof.evaluators.lint import Lint
from spanproof.evaluators.model import UserHints
from spanproof.evaluators.scores import (
    SCORES,
    UNIT_FACTORS,
    ScoreKind,
    Unit,
    UnregisteredScore,
    check_registered,
    find_nearest,
    find_score,
    get_weights,
    list_layer_scores,
)
from spanproof.trace import Judgement, Label, Layer, Scored, Skipped, SpanError, Usage

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "layers.md").read_text(encoding="utf-8")


def sections() -> dict[str, str]:
    """The sections of docs/layers.md by the slug of their heading."""
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:]
    slugs = (re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in parts[::2])
    return dict(zip(slugs, parts[1::2], strict=True))


def test_every_registered_score_is_explained_in_its_section():
    missing = []
    for spec in SCORES:
        page, _, slug = spec.anchor.partition("#")
        assert page == "docs/layers.md"
        if f"\n| `{spec.name}` |" not in sections()[slug]:
            missing.append(f"{spec.id} in {spec.anchor}")
    assert not missing, f"document in docs/layers.md: {missing}"


def test_every_score_that_is_explained_is_registered():
    for layer in Layer:
        slug = list_layer_scores(layer)[0].anchor.partition("#")[2]
        explained = set(re.findall(r"^\| `(\w+)` \|", sections()[slug], re.MULTILINE))
        unknown = explained - {spec.name for spec in list_layer_scores(layer)}
        assert not unknown, f"register in spanproof.evaluators.scores: {unknown} of {layer}"


def test_ids_are_unique_and_each_layer_begins_with_its_own_value():
    assert len({spec.id for spec in SCORES}) == len(SCORES)
    assert [layer for layer, _ in groupby(SCORES, lambda spec: spec.layer)] == list(Layer)
    for layer in Layer:
        own, *others = list_layer_scores(layer)
        assert (own.id, own.kind) == (f"{layer}.score", ScoreKind.VERDICT)
        assert ScoreKind.VERDICT not in {spec.kind for spec in others}


def test_the_weights_of_every_composite_add_up_to_one():
    composites = {(spec.layer, spec.part_of) for spec in SCORES if spec.part_of}
    assert composites == {(Layer.TRAJECTORY, "trajectory"), (Layer.TRAJECTORY, "tool_calling")}
    for layer, composite in composites:
        assert sum(get_weights(layer, composite).values()) == pytest.approx(1)
        assert find_score(layer, composite) is not None


def test_a_metric_has_a_unit_and_its_normalised_value_another_name():
    metrics = [spec for spec in SCORES if spec.kind is ScoreKind.METRIC]
    assert {spec.id: spec.unit for spec in metrics} == {
        "correctness.complexity": Unit.PATHS,
        "correctness.code_lines": Unit.LINES,
        "boundary.blocks": Unit.BLOCKS,
        "execution.wall_s": Unit.SECONDS,
        "trajectory.steps": Unit.STEPS,
        "trajectory.consecutive_errors": Unit.ERRORS,
        "trajectory.tokens": Unit.TOKENS,
        "trajectory.cost_usd": Unit.USD,
        "trajectory.judge_usd": Unit.USD,
    }
    for spec in metrics:
        assert UNIT_FACTORS[spec.unit][spec.unit.value] == 1
        normalised = find_score(spec.layer, f"{spec.name}_score")
        assert normalised is not None
        assert (normalised.row_name, normalised.unit, normalised.high) == (spec.name, Unit.NONE, 1.0)
    assert all((spec.unit, spec.high) == (Unit.NONE, 1.0) for spec in SCORES if spec not in metrics)


def test_evaluators_beside_the_layers_give_registered_scores():
    assert find_score(Layer.CORRECTNESS, BESIDE) is not None
    assert find_score(Lint.layer, "lint") is not None
    assert find_score(Layer.BOUNDARY, "no_code") is not None


def judgement(name: str, outcome: object) -> Judgement:
    return Judgement(Layer.TRAJECTORY, name, "a" * 16, outcome, "test")  # type: ignore[arg-type]


STEPS = Scored(0.5, None, "7 steps", raw=7.0, unit=Unit.STEPS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (judgement("vibes", Skipped("x")), r"gave trajectory\.vibes: register it"),
        (judgement("outcome", Scored(1.0, Label.PASS, "x")), r"gave trajectory\.outcome: register it"),
        (judgement("steps_score", Scored(1.0, None, "x")), r"gave trajectory\.steps_score: register it"),
        (judgement("steps", replace(STEPS, raw=None, unit="")), r"trajectory\.steps with the raw value None"),
        (judgement("steps", replace(STEPS, unit="s")), r"7\.0 s; registered is steps"),
        (judgement("recovery", STEPS), r"7\.0 steps; registered is none"),
        (judgement("first_mistake", Scored(0.0, Label.FAIL, "x")), "registered as advisory"),
    ],
)
def test_a_layer_cannot_give_a_score_that_is_not_registered_so(build, given, words):
    rules = LayerRules(Layer.TRAJECTORY, lambda evidence: [given])
    with pytest.raises(UnregisteredScore, match=words):
        rules.judge(build.evidence(build.run([])), ())


def test_a_metric_that_was_skipped_needs_no_raw_value():
    check_registered([judgement("cost_usd", Skipped("the price is not known")), judgement("steps", STEPS)])


def test_a_run_has_its_metrics_raw_with_their_units(build, score_of):
    run = build.run(
        [build.snippet("1", observation="1"), build.snippet("2", observation="2")],
        usage=Usage(900, 100),
        start_ns=10**18,
        end_ns=10**18 + 2_400_000_000,
    )
    run = replace(run, cohort=replace(run.cohort, model="m"))
    evidence = replace(build.evidence(run), hints=UserHints(prices={"m": (30.0, 40.0)}))
    found = trajectory.evaluate_trajectory(evidence)
    assert [
        (score_of(found, name).raw, score_of(found, name).unit) for name in ("steps", "tokens", "cost_usd")
    ] == [(2.0, "steps"), (1000.0, "tokens"), (pytest.approx(0.031), "USD")]
    wall = score_of(execution.evaluate_execution(evidence), "wall_s")
    assert (wall.raw, wall.unit, wall.label) == (pytest.approx(2.4), "s", None)
    assert wall.value == pytest.approx(30 / 32.4)


def test_the_longest_row_of_errors_is_counted_and_located(build, score_of):
    boom = SpanError("KeyError", "'x'")
    ended = [boom, None, boom, boom, boom, None]
    run = build.run([build.snippet(f"f({n})", observation="1", error=e) for n, e in enumerate(ended)])
    found = score_of(trajectory.evaluate_trajectory(build.evidence(run)), "consecutive_errors")
    assert (found.raw, found.unit, found.value) == (3.0, "errors", 0.4)
    assert found.explanation == "3 errors in a row: steps 3 to 5"
    calm = build.run([build.snippet("1", observation="1")])
    found = score_of(trajectory.evaluate_trajectory(build.evidence(calm)), "consecutive_errors")
    assert (found.raw, found.value, found.explanation) == (0.0, 1.0, "no action ended in an error")


def test_a_run_without_times_has_no_wall_time(build):
    run = build.run([build.snippet("1", observation="1")], start_ns=0, end_ns=0)
    assert "wall_s" not in {each.name for each in execution.evaluate_execution(build.evidence(run))}


def test_a_raw_value_is_a_finite_number():
    with pytest.raises(ValueError, match="a raw value is a finite number, got nan"):
        replace(STEPS, raw=float("nan"))


@pytest.mark.parametrize(
    ("layer", "name", "meant"),
    [
        (Layer.TRAJECTORY, "recovry", "trajectory.recovery"),
        (Layer.TRAJECTORY, "stable", "execution.stable"),
        (Layer.CORRECTNESS, "compile", "correctness.compiles"),
        (Layer.CORRECTNESS, "politeness", None),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(layer, name, meant):
    assert find_nearest(layer, name) == meant


def test_the_users_own_scores_can_be_meant_too():
    assert find_nearest(Layer.CORRECTNESS, "politness", [(Layer.CORRECTNESS, "politeness")]) == (
        "correctness.politeness"
    )
