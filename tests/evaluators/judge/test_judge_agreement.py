"""Kappa, thresholds, comparisons, labels and rubrics."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.judge import Judge, JudgeSettings, JudgeUnavailable, RubricError, load_rubrics
from spanproof.evaluators.judge.agreement import compute_agreement, compute_threshold
from spanproof.evaluators.judge.calibration import BadLabels, Split, compute_calibration, read_labels
from spanproof.evaluators.judge.pairs import Preference, compare_answers, load_preference_rubric
from spanproof.evaluators.judge.rubric import parse_rubric
from spanproof.trace import Label, Layer

RUBRICS = load_rubrics()


def test_kappa_and_its_interval_are_those_of_a_worked_example():
    """45 + 15 agree, 25 + 15 do not: kappa = (0.60 - 0.54) / (1 - 0.54) = 0.1304."""
    people = [True] * 70 + [False] * 30
    judged = [True] * 45 + [False] * 25 + [True] * 15 + [False] * 15
    found = compute_agreement(people, judged)
    assert found.kappa == pytest.approx(0.1304, abs=1e-4)
    assert found.high - found.kappa == pytest.approx(1.96 * 0.1000, abs=0.005)
    assert (found.confusion.both_pass, found.confusion.only_judge_passes) == (45, 15)


def test_two_hundred_labels_give_the_interval_that_is_reported_of_them():
    """At kappa 0.80 and 200 labels the half-width is about 0.08."""
    people = [True] * 100 + [False] * 100
    judged = [True] * 90 + [False] * 10 + [True] * 10 + [False] * 90
    found = compute_agreement(people, judged)
    assert found.kappa == pytest.approx(0.80)
    assert found.high - found.kappa == pytest.approx(0.083, abs=0.003)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_kappa_is_a_number_from_minus_one_to_one_or_none(pairs):
    people, judged = zip(*pairs, strict=True)
    found = compute_agreement(people, judged)
    assert math.isnan(found.kappa) or -1 <= found.low <= found.kappa <= found.high <= 1
    assert found.confusion.total == len(pairs)


def test_a_few_rows_that_all_agree_are_no_certainty():
    """Fleiss' error is 0 where nothing differs: then the interval is that of the agreement itself."""
    few, many = (compute_agreement([True, False] * half, [True, False] * half) for half in (2, 100))
    assert (few.kappa, few.high) == (1.0, 1.0)
    assert few.low == pytest.approx(2 * 4 / (4 + 1.96**2) - 1, abs=1e-3)
    assert few.low < 0.1
    assert 0.95 < many.low < 1.0
    constant = compute_agreement([True, False] * 2, [True] * 4)
    assert (constant.low < -0.5, constant.kappa, constant.high > 0.5) == (True, 0.0, True)


def test_the_threshold_parts_what_people_part():
    assert 0.4 < compute_threshold([False, False, True, True], [0.1, 0.4, 0.7, 0.9]) < 0.7


def test_nothing_to_compare_is_reported():
    with pytest.raises(ValueError, match="nothing to compare"):
        compute_agreement([], [])


def rows(number, seed=0):
    chance = random.Random(seed)
    for at in range(number):
        label = "pass" if chance.random() < 0.5 else "fail"
        yield json.dumps(
            {"id": at, "rubric": "CodeCorrectness", "material": {"answer": f"{label} {at}"}, "label": label}
        )


def judge():
    return Judge(JudgeSettings(model="gpt-4.1-mini-2025-04-14", timeout_s=60.0))


def test_a_judge_that_says_what_people_say_agrees_wholly(endpoint):
    labelled = read_labels(rows(40), RUBRICS)
    assert {row.split for row in labelled} == set(Split)
    endpoint.next = lambda request: (
        '{"reasoning": "", "quotes": [], "score": %s}'
        % (0.9 if "pass" in request["messages"][1]["content"] else 0.2)
    )
    found = compute_calibration(judge(), RUBRICS["CodeCorrectness"], labelled)
    assert found.agreement.kappa == 1.0
    assert 0.2 < found.threshold < 0.9
    assert found.errors == {}


def test_rows_the_judge_fails_on_are_named_and_count_for_nothing(endpoint):
    labelled = read_labels(rows(40), RUBRICS)
    endpoint.next = lambda request: (
        "nonsense" if " 7\n" in request["messages"][1]["content"] else
        '{"reasoning": "", "quotes": [], "score": 0.9}'
    )  # fmt: skip
    found = compute_calibration(judge(), RUBRICS["CodeCorrectness"], labelled)
    assert found.errors.keys() == {"7"}


def test_a_judge_that_never_answers_gives_no_figure_and_the_labels_are_not_blamed(endpoint):
    endpoint.answers = [500]
    with pytest.raises(JudgeUnavailable, match=r"0 of the 10 rows .* first error: the endpoint answered 500"):
        compute_calibration(judge(), RUBRICS["CodeCorrectness"], read_labels(rows(10), RUBRICS))


def test_labels_of_one_split_alone_are_reported_before_the_judge_is_called(endpoint):
    labelled = [replace(row, split=Split.REPORT) for row in read_labels(rows(10), RUBRICS)]
    with pytest.raises(BadLabels, match=r"0 rows to choose a threshold on, 10 to report on"):
        compute_calibration(judge(), RUBRICS["CodeCorrectness"], labelled)
    assert endpoint.requests == []


@pytest.mark.parametrize("split", list(Split))
def test_labels_that_are_all_alike_are_reported_before_the_judge_is_called(endpoint, split):
    labelled = [
        replace(row, label=Label.PASS) if row.split is split else row
        for row in read_labels(rows(40), RUBRICS)
    ]
    with pytest.raises(BadLabels, match=r"are all labelled pass: .* add some that people fail"):
        compute_calibration(judge(), RUBRICS["CodeCorrectness"], labelled)
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ("{", "line 1: no JSON: Expecting property name enclosed in double quotes at character 2"),
        ("[]", "must be a JSON object"),
        ('{"rubric": "Nonsense"}', "none of"),
        ('{"rubric": "Groundedness", "material": "x"}', "material"),
        ('{"rubric": "Groundedness", "material": {}, "label": 1}', "label"),
        ('{"rubric": "Groundedness", "material": {}, "label": "pass", "split": "x"}', "split"),
    ],
)
def test_bad_labels_are_reported_with_their_line(row, reported):
    with pytest.raises(BadLabels, match=reported):
        read_labels([row], RUBRICS)


@pytest.mark.parametrize(
    ("ahead", "behind", "preference", "consistent"),
    [
        (1.0, 0.0, Preference.FIRST, True),
        (0.0, 1.0, Preference.SECOND, True),
        (1.0, 1.0, Preference.TIE, False),  # the order decided
        (0.5, 0.5, Preference.TIE, True),
    ],
)
def test_a_preference_that_turns_with_the_order_is_none(endpoint, ahead, behind, preference, consistent):
    form = '{{"reasoning": "r", "quotes": [], "score": {}}}'
    endpoint.answers = [form.format(ahead), form.format(behind)]
    found = compare_answers(judge(), load_preference_rubric(), "a task", "one", "two")
    assert (found.preference, found.consistent) == (preference, consistent)
    first, second = (request["messages"][1]["content"] for request in endpoint.requests)
    assert first.index("one") < first.index("two")
    assert second.index("two") < second.index("one")


def test_four_rubrics_ship_one_for_each_layer_that_can_be_open():
    assert RUBRICS.keys() == {"CodeCorrectness", "SandboxBoundary", "Groundedness", "Recovery"}
    assert {rubric.layer for rubric in RUBRICS.values()} == set(Layer) - {Layer.EXECUTION}


def test_a_rubric_of_ones_own_takes_the_place_of_the_shipped_one(tmp_path):
    text = "---\nname: Recovery\nlayer: trajectory\nscore: recovery\npass_at: 0.9\n---\nBe strict."
    (tmp_path / "mine.md").write_text(text)
    found = load_rubrics(tmp_path)["Recovery"]
    assert (found.pass_at, found.instructions) == (0.9, "Be strict.")
    assert found.version != RUBRICS["Recovery"].version


@pytest.mark.parametrize(
    ("head", "reported"),
    [
        ("{name: Mine, layer: groundedness, score: groundednes", r"groundedness\.groundednes is never open"),
        ("{name: Mine, layer: correctness, score: compiles", r"correctness\.compiles is never open"),
        ("{name: Mine, layer: execution, score: recovery", r"execution\.recovery is never open"),
        (
            "{name: Mine, layer: trajectory, score: recovery",
            "name this one 'Recovery' to put it in its place",
        ),
    ],
)
def test_a_rubric_that_would_never_be_called_is_reported(tmp_path, head, reported):
    (tmp_path / "mine.md").write_text(f"---\n{head}, pass_at: 0.5}}\n---\nBe strict.")
    with pytest.raises(RubricError, match=reported):
        load_rubrics(tmp_path)


def test_two_rubrics_of_one_name_are_reported_and_one_of_an_own_score_is_taken(tmp_path):
    text = "---\n{name: Tone, layer: groundedness, score: acme_tone, pass_at: 0.5}\n---\nIs it polite?"
    (tmp_path / "a.md").write_text(text)
    assert load_rubrics(tmp_path)["Tone"].score == "acme_tone"
    (tmp_path / "b.md").write_text(text)
    with pytest.raises(RubricError, match=r"b\.md: a\.md is a rubric named 'Tone' already"):
        load_rubrics(tmp_path)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("no head", "starts with a head"),
        ("---\nname: [\n---\nx", "no YAML"),
        ("---\nname: A\n---\nx", "must have just"),
        ("---\nname: A\nlayer: none\nscore: s\npass_at: 0.5\n---\nx", "layer 'none'"),
        ("---\nname: A\nlayer: boundary\nscore: s\npass_at: 2\n---\nx", "pass_at"),
        ("---\nname: A\nlayer: boundary\nscore: s\npass_at: 0.5\n---\n", "no instructions"),
    ],
)
def test_a_rubric_that_does_not_say_what_it_must_is_named(text, reported):
    with pytest.raises(RubricError, match=reported):
        parse_rubric(text, "mine.md")


def test_a_directory_of_rubrics_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(RubricError, match="no such directory"):
        load_rubrics(tmp_path / "missing")


def test_a_rubric_that_is_a_link_out_of_its_directory_or_grows_is_reported(tmp_path):
    (tmp_path / "mine.md").symlink_to("/etc/passwd")
    with pytest.raises(RubricError, match=r"mine\.md: cannot be read: .*lies outside") as caught:
        load_rubrics(tmp_path)
    assert "root:" not in str(caught.value)
    (tmp_path / "mine.md").unlink()
    (tmp_path / "mine.md").write_text(f"---\n{'[' * 1000}\n---\nBe strict.")
    with pytest.raises(RubricError, match="no YAML: nested deeper"):
        load_rubrics(tmp_path)
