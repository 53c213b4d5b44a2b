"""Functions as people have them already, run as written."""

from __future__ import annotations

import pytest

from spanproof.config.added_evaluators import load_function
from spanproof.config.engine import build_evaluators
from spanproof.config.model import Config, OwnEvaluator
from spanproof.evaluators.custom import Call, CustomEvaluator, Function, Wiring, evaluate, list_import_pins
from spanproof.evaluators.custom.modules import format_namespaces
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Payload, Span, SpanKind, trace_of

WITHOUT_IMPORT = """
def main(completion, target):
    found = json.loads(completion)
    wanted = json.loads(target)
    return sum(found.get(key) == value for key, value in wanted.items()) / len(wanted)
"""
BY_POSITION = """
function main(completion, target) {
    return completion.length <= target ? 1 : 0
}
"""
WITH_LODASH = """
import * as _ from "lodash";

export function main(completion: string, target: string): number {
    return _.isEqual(JSON.parse(completion), JSON.parse(target)) ? 1 : 0;
}
"""


def test_json_is_at_hand_without_an_import(jail):
    function = Function("fields", "python", WITHOUT_IMPORT, timeout_s=60.0)
    function.check()
    calls = [Call('{"a": 1, "b": 2}', '{"a": 1, "b": 3}'), Call("oops", "{}")]
    half, broken = evaluate(function, calls, jail)
    assert half.score == 0.5
    assert broken.error_type == "JSONDecodeError"


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_arguments_are_given_by_position_where_main_takes_two(jail, language):
    function = Function("short", language, BY_POSITION, timeout_s=60.0)
    short, long = evaluate(function, [Call("four", 4), Call("fifteen", 4)], jail)
    assert (short.score, long.score) == (1.0, 0.0)


def test_a_known_package_needs_no_pin():
    function = load_function(OwnEvaluator(name="same", source=WITH_LODASH, language="typescript"))
    assert isinstance(function, Function)
    assert function.packages is not None
    assert function.packages.pins == ("lodash@4.17.21",)
    pinned = OwnEvaluator(name="s", source=WITH_LODASH, language="typescript", packages=("lodash@4.17.20",))
    function = load_function(pinned)
    assert isinstance(function, Function)
    assert function.packages.pins == ("lodash@4.17.20",)
    assert list_import_pins("javascript", "import get from 'lodash/get'\n") == ("lodash@4.17.21",)
    assert list_import_pins("javascript", "// import x from 'lodash'\nconst a = \"import 'lodash'\"") == ()


@pytest.mark.parametrize(
    "source",
    [
        "import x from 'lodash'\n",
        "import * as fs from 'node:fs'\n",
        "import * as own from './own.js'\n",
        "import type * as types from 'lodash'\n",
        "const text = `\nimport * as _ from 'lodash'\n`\n",
        "// import * as _ from 'lodash'\n",
        "import {get} from 'lodash'\n",
        "function (",
    ],
)
def test_nothing_but_a_namespace_of_a_package_is_joined(source):
    assert format_namespaces("typescript", source) == source


def test_joining_a_namespace_moves_no_line():
    source = 'import * as _ from "lodash"\nimport * as é from "b"; const x = 1 // ü\n'
    joined = format_namespaces("typescript", source)
    assert joined.count("\n") == source.count("\n")
    assert 'import * as ___module from "lodash"; const _ = ' in joined
    assert "; const x = 1 // ü" in joined


@pytest.mark.parametrize(
    ("bounds", "returned", "value", "raw"),
    [
        ((1, 5), 4, 0.75, 4.0),
        ((0, 100), 55.5, 0.555, 55.5),
        ((10, 0), 2, 0.8, 2.0),
        ((-1, 1), -1, 0.0, -1.0),
        ((0, 1), 0.25, 0.25, None),
    ],
)
def test_a_score_of_a_declared_range_is_normalised_and_kept(jail, bounds, returned, value, raw):
    source = f"def main(completion, target):\n    return {returned}"
    (found,) = evaluate(Function("f", "python", source, timeout_s=60.0, range=bounds), [Call("x")], jail)
    assert (found.score, found.raw) == (pytest.approx(value), raw)


def test_a_score_beyond_its_range_is_an_error_that_names_it(jail):
    calls = [Call("x")]
    beyond = Function("f", "python", "def main(c, t): return 6", timeout_s=60.0, range=(1, 5))
    (found,) = evaluate(beyond, calls, jail)
    assert (found.score, found.error_type) == (None, "BadScore")
    assert "a number from 1 to 5" in found.message
    (undeclared,) = evaluate(Function("f", "python", "def main(c, t): return 6", timeout_s=60.0), calls, jail)
    assert "another range is declared by `range`" in undeclared.message


def test_the_range_makes_another_version():
    source = "def main(c, t): return 1"
    versions = {Function("f", "python", source, range=bounds).version for bounds in ((0, 1), (0, 5), (1, 5))}
    assert len(versions) == 3
    assert (
        Function("f", "python", source).version == Function("f", "python", source, range=(0.0, 1.0)).version
    )


def run_of(answer: str):
    payload = Payload(answer, answer)
    return trace_of([Span("7" * 32, "a" * 16, None, "shop", SpanKind.AGENT, 1, 9, output=payload)])


@pytest.mark.parametrize(
    ("pass_at", "returned", "bounds", "label"),
    [
        (4, 4, (1, 5), Label.PASS),
        (4, 3.9, (1, 5), Label.FAIL),
        (2, 2, (10, 0), Label.PASS),
        (2, 3, (10, 0), Label.FAIL),
    ],
)
def test_pass_at_is_in_the_range_of_the_function(jail, pass_at, returned, bounds, label):
    function = Function("stars", "python", f"def main(c, t): return {returned}", timeout_s=60.0, range=bounds)
    evaluator = CustomEvaluator(function, jail, Wiring(pass_at=pass_at))
    evaluation = Engine(pipeline=Pipeline(), sandbox=jail, evaluators=[evaluator]).evaluate(run_of("x"))
    (score,) = [each for each in evaluation.scores if each.name == "stars"]
    assert (score.outcome.label, score.outcome.raw) == (label, float(returned))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"range": (1, 1)}, "two numbers that differ"),
        ({"range": (0, float("inf"))}, "two numbers that differ"),
        ({"range": (1, 5), "pass_at": 0.5}, "pass_at must be from 1 to 5"),
        ({"pass_at": 4}, "pass_at must be from 0 to 1"),
        ({"check": "numeric", "target": 1}, "give one of `file`, `source`, `function`, `check` and"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        OwnEvaluator(name="x", source="def main(c, t): return 1", **given)


def test_a_checked_answer_is_judged_through_the_configuration_without_a_sandbox():
    choice = OwnEvaluator(name="right", check="numeric", target=45, tolerance=0.5, pass_at=1)
    (evaluator,) = [
        each for each in build_evaluators(Config(evaluators=(choice,)), None) if each.name == "custom:right"
    ]
    engine = Engine(
        pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not needed here", evaluators=[evaluator]
    )
    labels = []
    for answer in ("It is $45.30.", "It is $54.00."):
        (score,) = [each for each in engine.evaluate(run_of(answer)).scores if each.name == "right"]
        labels.append(score.outcome.label)
    assert labels == [Label.PASS, Label.FAIL]
