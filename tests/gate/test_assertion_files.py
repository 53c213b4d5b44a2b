from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanproof.gate import GateError, OpenPolicy, parse_assertion, parse_gate, read_gate_file

FIELD = """
assertions:
- groundedness.score >= 0.85 for at_least 90% of cases
- code_correctness.score >= 0.85 for all cases
- metric: sandbox_boundary
  threshold: pass
  for: at_least 95% of cases
  where: {agent: checkout, task: say "hi"}
- {metric: execution.wall_s, aggregation: p95, operator: "<=", threshold: 10s}
- {metric: groundedness, threshold: 0.85}
- pass@5 >= 0.8
- {metric: pass^3, threshold: 0.5, where: {agent: checkout}}
required_sandbox_pass_rate: 0.95
"""


def written(folder: Path, text: str, name: str = "gate.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_yaml_says_the_same_as_the_grammar(tmp_path):
    assert list(read_gate_file(written(tmp_path, FIELD)).assertions) == [
        parse_assertion("groundedness.score >= 0.85 for at_least 90% of cases"),
        parse_assertion("correctness.score >= 0.85 for all cases"),
        parse_assertion(
            'boundary.score == pass for at_least 95% of cases where agent = "checkout"'
            ' and task = "say \\"hi\\""'
        ),
        parse_assertion("p95(execution.wall_s) <= 10s"),
        parse_assertion("groundedness.score >= 0.85 for all"),
        parse_assertion("pass@5 >= 0.8"),
        parse_assertion('pass^3 >= 0.5 where agent = "checkout"'),
        parse_assertion("sandbox_pass_rate >= 95%"),
    ]


def test_a_file_says_what_open_counts_as(tmp_path):
    assert read_gate_file(written(tmp_path, FIELD)).open_policy is None
    assert read_gate_file(written(tmp_path, f"{FIELD}open: ignore\n")).open_policy is OpenPolicy.IGNORE


def test_a_file_of_another_suffix_holds_an_assertion_a_line(tmp_path):
    path = written(tmp_path, "# release\nboundary.score == pass for all\n", "gate.txt")
    assert read_gate_file(path).assertions == (parse_assertion("boundary.score == pass for all"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "not YAML"),
        ("- a", "failure_fields, open or least_judged"),
        ("asserts: []", "expected a mapping with assertions"),
        ("assertions: text", "assertions must be a list"),
        ("assertions: [{metric: groundedness}]", "entry 1: expected an assertion as text, or metric and"),
        ("assertions: [{metric: x, threshold: 1, per: 2}]", "entry 1"),
        ("assertions: [{metric: a, threshold: 1, aggregation: avg, for: all}]", "leave out `for`"),
        ("assertions: [{metric: pass@5, threshold: 1, for: all}]", "leave out `aggregation` and `for`"),
        ("assertions: [groundedness.score => 1 for all]", "column 20"),
        ("assertions: [{metric: groundedness, threshold: 85, for: all}]", "write 85% or 0.85"),
        ("required_sandbox_pass_rate: 95", "write 95% or 0.95"),
        ("required_sandbox_pass_rate: yes", "expected a number"),
        ("open: maybe", "open must be one of not-passed, pass, fail, ignore, got 'maybe'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_file(tmp_path, text, words):
    path = written(tmp_path, text)
    with pytest.raises(GateError) as caught:
        read_gate_file(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_without_an_end_is_refused():
    with pytest.raises(GateError, match=r"/dev/zero has more than .* bytes"):
        read_gate_file(Path("/dev/zero"))


RELEASE = {
    "presence_eval": "ContainsCode",
    "required_sandbox_pass_rate": 0.95,
    "failure_fields": ["tests_passed", "exit_code", "stderr_class", "execution_seconds"],
}


@pytest.mark.parametrize(
    ("has_baseline", "presence"),
    [(False, "code_presence > 0"), (True, "code_presence no_worse_than baseline by 5%")],
)
def test_a_release_gate_is_a_mapping(tmp_path, has_baseline, presence):
    found = parse_gate(RELEASE, has_baseline=has_baseline)
    assert found.assertions == (parse_assertion("sandbox_pass_rate >= 95%"), parse_assertion(presence))
    assert found.failure_fields == ("tests_passed", "exit_code", "stderr_class", "execution_seconds")
    path = written(tmp_path, json.dumps(RELEASE), "gate.json")
    assert read_gate_file(path, has_baseline=has_baseline) == found


def test_presence_may_be_that_of_a_score():
    found = parse_gate({"presence_eval": "trajectory.steps"}).assertions
    assert found == (parse_assertion("presence_rate(trajectory.steps) > 0"),)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"presence_eval": 3}, "presence_eval must name an evaluator"),
        ({"presence_eval": "Poetry"}, "gate: assertion 'presence_rate(Poetry) > 0'"),
        ({"failure_fields": ["exit", "exit_code"]}, "failure_fields must list any of tests_passed"),
        ({"failure_fields": "exit_code"}, "failure_fields must list any of tests_passed"),
    ],
)
def test_what_a_release_gate_cannot_mean_is_refused(given, words):
    with pytest.raises(GateError) as caught:
        parse_gate(given)
    assert words in str(caught.value)
