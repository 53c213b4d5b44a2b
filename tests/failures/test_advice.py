"""Advice for each kind of failure is what a person has read and judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from golden_yaml import load_golden

from spanproof.failures import Signature, build_explanation, build_signature, load_kinds
from spanproof.trace import Layer

EXAMPLES: dict[str, dict[str, Any]] = load_golden(
    Path(__file__).parents[1] / "golden" / "failures" / "advice.yaml"
)


def sign_example(failure: dict[str, str]) -> Signature:
    return build_signature(
        Layer(failure["layer"]),
        failure["check"],
        failure_class=failure.get("class", "exception" if "type" in failure else ""),
        error_type=failure.get("type", ""),
        message=failure.get("message", ""),
        subject=failure.get("subject", ""),
    )


def test_each_of_the_thirty_kinds_has_a_reviewed_example():
    assert list(EXAMPLES) == list(load_kinds())
    assert len(EXAMPLES) == 30


@pytest.mark.parametrize("kind", EXAMPLES)
def test_advice_is_that_of_the_review(kind):
    example = EXAMPLES[kind]
    found = build_explanation(sign_example(example["failure"]))
    assert found.kind is load_kinds()[kind]
    assert found.fix == example["advice"]
    assert found.cause
    assert example["review"].endswith(".")


@pytest.mark.parametrize("kind", [kind.id for kind in load_kinds().values() if "policy" in kind.text])
def test_advice_for_what_a_policy_stopped_says_whom_to_ask(kind):
    assert "ask the owner of the policy" in EXAMPLES[kind]["advice"]
