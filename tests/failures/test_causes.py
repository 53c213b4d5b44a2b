from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from spanproof.evaluators.scores import SCORES
from spanproof.failures import build_explanation, build_signature, list_ratings, load_kinds
from spanproof.failures.causes import load_causes
from spanproof.failures.taxonomy import CAP, load_dimensions
from spanproof.sandbox import FailureClass
from spanproof.trace import Cohort, Label, Layer, Score, Scored, Skipped

BENCH = Path(__file__).parents[1] / "bench"


def score(layer: Layer, name: str, value: float, label: Label | None = Label.PASS) -> Score:
    outcome, span = Scored(value, label, "why"), "a" * 16
    return Score("id", "1" * 32, span, span, None, layer, name, "e", "1", outcome, Cohort(), 0, "digest")


def test_there_are_thirty_kinds_in_five_categories():
    assert len(load_kinds()) == 30
    assert len({kind.category for kind in load_kinds().values()}) == 5


def test_every_kind_has_a_rule_or_says_what_finds_it():
    found = {cause.kind for cause in load_causes().values()}
    missing = [kind.id for kind in load_kinds().values() if kind.id not in found and not kind.given]
    assert not missing, f"no rule gives: {missing}"


def test_classes_and_layers_of_rules_exist():
    ours = {
        "network",
        "file",
        "process",
        "privilege",
        "contradicted",
        "unsupported",
        "max_steps",
        "failed",
        "reported",
    }
    known = {*FailureClass, *ours}
    wrong = [cause.id for cause in load_causes().values() if not cause.classes <= known]
    assert not wrong, f"no failure has the classes of {wrong}"
    assert {layer for cause in load_causes().values() for layer in cause.layers} <= set(Layer)


def test_a_failure_that_a_rule_explains_has_name_cause_and_fix():
    signature = build_signature(
        Layer.EXECUTION, "outcome", failure_class="exception", error_type="AttributeError",
        message="'DataFrame' object has no attribute 'group'",
    )  # fmt: skip
    found = build_explanation(signature)
    assert found.name == "Attribute that DataFrame does not have"
    assert found.cause
    assert found.fix
    assert found.kind is load_kinds()["invalid_code"]


def test_every_rule_reads_as_a_sentence():
    for cause in load_causes().values():
        texts = (cause.title, cause.cause, cause.fix)
        assert all(text.strip() for text in texts), cause.id
        assert cause.cause.endswith("."), f"{cause.id}: the cause is a sentence"
        assert cause.fix.endswith("."), f"{cause.id}: the fix is a sentence"


def test_a_failure_without_a_rule_is_named_by_its_words():
    signature = build_signature(
        Layer.EXECUTION, "call", error_type="ShopError", message="no order 17 (yet)", subject="refund"
    )
    assert build_explanation(signature).name == "ShopError: no order <value> (yet) (tool refund)"


@pytest.mark.parametrize("dimension", load_dimensions(), ids=lambda each: each.id)
def test_dimensions_rest_on_registered_scores(dimension):
    known = {spec.id for spec in SCORES}
    assert not {*dimension.scores, *dimension.decisive} - known


def test_a_run_is_rated_from_one_to_five_with_what_it_rests_on():
    ratings = list_ratings(
        [score(Layer.GROUNDEDNESS, "groundedness", 1.0), score(Layer.BOUNDARY, "boundary", 0.5, None)]
    )
    by_id = {rating.dimension.id: rating for rating in ratings}
    assert by_id["factual_grounding"].value == 5.0
    assert by_id["factual_grounding"].rests_on == (("groundedness.score", 1.0),)
    assert by_id["privacy_and_safety"].value == 3.0
    assert by_id["optimal_plan"].value is None


def test_a_failed_decisive_score_caps_its_dimension():
    failed = score(Layer.BOUNDARY, "boundary", 0.9, Label.FAIL)
    (rating,) = [each for each in list_ratings([failed]) if each.dimension.id == "privacy_and_safety"]
    assert rating.value == CAP
    assert rating.capped_by == ("boundary.score",)


def test_skipped_scores_rate_nothing():
    skipped = replace(score(Layer.BOUNDARY, "boundary", 0.0), outcome=Skipped("no code"))
    assert all(rating.value is None for rating in list_ratings([skipped]))


def load_bench(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_clusters_are_the_causes_of_the_benchmark():
    bench = load_bench("failures")
    (whole, *_) = bench.measure("kinds", bench.read_kinds())
    assert whole["ari"] >= 0.95
    assert whole["one_out"] >= 0.9


def test_failed_runs_of_12_causes_are_12_clusters_each_with_cause_and_fix():
    bench = load_bench("failed_runs")
    found = bench.measure(runs_per_cause=5)
    assert len(bench.CAUSES) == 12
    assert 10 <= found.clusters <= 14
    assert found.rand_index >= 0.95
    assert found.memberships == 1.0
    assert found.unexplained == ()
