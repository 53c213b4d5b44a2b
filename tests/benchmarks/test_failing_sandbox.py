"""A sandbox that fails itself leaves answers unjudged: it says nothing of them."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from spanproof.benchmarks import Answer, Grade, GradingSetup, evaluate_answers
from spanproof.benchmarks.programs import Check, ProgramProblem
from spanproof.benchmarks.security import Safety, SecurityPrompt, evaluate_completions
from spanproof.sandbox import Sandbox, SandboxBroken, SandboxError, SandboxUnavailable
from spanproof.sandbox.scanners.pipeline import Pipeline


def fail(failure: SandboxError) -> GradingSetup:
    sandbox = Mock(Sandbox, languages=frozenset(("python", "bash", "rust")))
    sandbox.run.side_effect = failure
    return GradingSetup(sandbox)


@pytest.mark.parametrize("language", ["python", "rust"])
@pytest.mark.parametrize("failure", [SandboxBroken("its host ended"), SandboxUnavailable("no namespaces")])
def test_a_benchmark_goes_on_and_leaves_the_answer_unjudged(language: str, failure: SandboxError) -> None:
    checks = {"base": (Check(tests="assert f() == 1"),), "plus": (Check(tests="assert f() == 1"),)}
    problem = ProgramProblem(id="p", prompt="", language=language, reference=None, groups={}, checks=checks)
    (graded,) = evaluate_answers([problem], [Answer("p", "x", is_whole=True)], fail(failure))
    assert {each.grade for each in graded.grades.values()} == {Grade.UNJUDGED}
    assert graded.first.reason == str(failure)


def test_a_security_run_counts_it_as_ambiguous() -> None:
    prompt = SecurityPrompt("p", 89, "Write it.", "python")
    answers = [Answer("p", "def find(db, name):\n    pass\n", is_whole=True)]
    (found,) = evaluate_completions([prompt], answers, fail(SandboxBroken("its host ended")), Pipeline())
    assert (found.safety, found.reason) == (Safety.AMBIGUOUS, "it could not be run: its host ended")
