"""Why no case has the score that an assertion is about: misspelt, of another layer, or not asked for.

Takes the assertion and the names of the scores there are; gives one sentence with the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches

from spanproof.gate.assertion import Assertion
from spanproof.trace import Layer

_OF_SUITES = "`spanproof suite run` alone gives it, to cases that have tests"

_ASKED_FOR: Mapping[tuple[Layer, str], str] = {
    (Layer.CORRECTNESS, "lint"): "evaluation.lint switches it on",
    (Layer.CORRECTNESS, "tests_pass"): _OF_SUITES,
    (Layer.CORRECTNESS, "inputs_unchanged"): _OF_SUITES,
    (Layer.CORRECTNESS, "within_budget"): _OF_SUITES,
    (Layer.CORRECTNESS, "judge_correctness"): "judge.beside_share says of how many runs a judge is asked",
    (Layer.BOUNDARY, "no_code"): "evaluation.without_code names the cohorts that have it",
    (
        Layer.EXECUTION,
        "stable",
    ): "only runs that were replayed twice have it, and evaluation.repeat_share says how many are",
    (Layer.EXECUTION, "drift"): "only runs whose code ended otherwise on another executor have it",
    (Layer.TRAJECTORY, "feedback"): "only a store has it, of runs that a user told something of",
}
"""Scores that a run has only where something asks for them, and what does."""


def why_missing(assertion: Assertion, names: Mapping[Layer, AbstractSet[str]]) -> str:
    """One sentence; `names` are those of the scores that are there, by layer."""
    article = "an" if assertion.metric[0] in "aeiou" else "a"
    told = f"no case has {article} {assertion.metric} score"
    if why := _ASKED_FOR.get((assertion.layer, assertion.name)):
        return f"{told}: {why}"
    meant = _meant(assertion, names)
    return f"{told}; did you mean {meant}?" if meant else told


def _meant(assertion: Assertion, names: Mapping[Layer, AbstractSet[str]]) -> str | None:
    """The nearest score, of its layer first, else one of the same name in another."""
    known = {(layer, name) for layer in Layer for name in names[layer]} | _ASKED_FOR.keys()
    here = [name for layer, name in known if layer is assertion.layer and name != assertion.name]
    if near := get_close_matches(assertion.name, here, n=1):
        return f"{assertion.layer.value}.{near[0]}"
    others = sorted(layer.value for layer, name in known if name == assertion.name)
    return f"{others[0]}.{assertion.name}" if others else None
