"""Correctness: whether the code an agent wrote is valid, and whether its results hold.

Takes the evidence about a run; gives, per snippet, what `checks.py` evaluates (syntax, imports, attributes,
replay), what the case's tests say where it has some, and the layer's value for the run from the strongest
evidence at hand. A snippet that failed and that a later one recovered from counts half and fails
nothing: agents work by trial. What failed and what recovered is decided in `outcomes`, not here.
docs/layers/correctness.md holds the rules with examples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from spanproof.evaluators.layers.common import (
    add_refusals,
    build_skip_without_code,
    describe_failure,
    find_all_refused,
    find_replay,
    format_count,
    get_step_number,
    is_lost,
    list_executed,
    select_working,
)
from spanproof.evaluators.layers.correctness.cases import evaluate_case_tests
from spanproof.evaluators.layers.correctness.checks import (
    evaluate_attributes,
    evaluate_imports,
    evaluate_replay,
    evaluate_syntax,
)
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.recorded import PROGRAMS
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    Errored,
    Evidence,
    Judgement,
    Label,
    Layer,
    Outcome,
    Run,
    Scored,
    Skipped,
    Snippet,
)

EVALUATOR = "spanproof.correctness"
VERSION = "5"

RECOVERED = 0.5
"""What a snippet counts that failed and that a later one recovered from."""

# So many problems are named; all are in the evidence.
_MAX_NAMED = 2

_CHECKS = {
    "compiles": evaluate_syntax,
    "imports_exist": evaluate_imports,
    "attributes_exist": evaluate_attributes,
    "replay_agrees": evaluate_replay,
}


class _Ground(StrEnum):
    """What speaks for a snippet, in words for people."""

    REPLAY_AGREES = "the replay agrees with the record"
    RECORDED_WELL = "recorded as successful"
    REPLAYED_WELL = "the replay succeeded"
    COMPILES = "it compiles"
    COMPILES_UNRUN = "it compiles, and did not run"


_WEAK = frozenset({_Ground.COMPILES, _Ground.COMPILES_UNRUN})


@dataclass(frozen=True, slots=True)
class _Found:
    """What speaks for or against one snippet; `problem` is a clause, None where nothing speaks against it."""

    snippet: Snippet
    ground: _Ground | None
    problem: str | None = None
    recovered: bool = False
    evidence: tuple[Evidence, ...] = ()

    @property
    def value(self) -> float:
        if self.problem is None:
            return 1.0
        return RECOVERED if self.recovered else 0.0


def evaluate_correctness(evidence: RunEvidence) -> list[Judgement]:
    """Judge every program of the run, and the run."""
    run = evidence.run
    case = evaluate_case_tests(evidence)
    of_tests = [_build_judgement(name, run.span_id, outcome) for name, outcome in case.items()]
    executed = list_executed(run)
    refused = find_all_refused(evidence)
    judged = executed if executed or refused is not None else _list_proposed(run)
    if not judged:
        without_code = _build_judgement("correctness", run.span_id, refused or build_skip_without_code(run))
        return [_with_tests(without_code, case.get("tests_pass")), *of_tests]
    outcomes = {snippet.id: _run_checks(evidence, snippet) for snippet in judged}
    judgements = [
        _build_judgement(name, snippet.span_id, outcome, snippet.id)
        for snippet in judged
        for name, outcome in outcomes[snippet.id].items()
    ]
    working = select_working(evidence) if executed else judged
    if not working and refused is None:
        working = judged
    # Code that a refused call ended neither holds nor fails.
    results = [
        _find_evidence(evidence, snippet, outcomes[snippet.id])
        for snippet in working
        if evidence.account.get_snippet_outcome(snippet).refusal is None
    ]
    outcome = refused if refused is not None and not results else _evaluate_run(results)
    of_run = _build_judgement("correctness", run.span_id, add_refusals(evidence, outcome))
    return [_with_tests(of_run, case.get("tests_pass")), *of_tests, *judgements]


def _run_checks(evidence: RunEvidence, snippet: Snippet) -> dict[str, Outcome]:
    return {name: check(evidence, snippet) for name, check in _CHECKS.items()}


def _list_proposed(run: Run) -> list[Snippet]:
    """Return the programs of a run, none of which ran."""
    return [s for s in run.snippets if s.language in PROGRAMS and s.refusal is None]


def _with_tests(of_run: Judgement, tested: Outcome | None) -> Judgement:
    """Return the layer's own judgement with what the case's tests say, where it has some.

    Tests say what the code is for: no other evidence is as strong. Tests that could not be run leave a
    failure as it is, and no pass.
    """
    if isinstance(tested, Scored):
        return replace(of_run, outcome=_add_facts(tested, of_run.outcome))
    if isinstance(tested, Errored) and _find_failure(of_run.outcome) is None:
        return replace(of_run, outcome=tested)
    return of_run


def _find_failure(outcome: Outcome) -> Scored | None:
    """Return an outcome that is a failure, None for another."""
    if isinstance(outcome, Scored) and outcome.label is Label.FAIL:
        return outcome
    return None


def _add_facts(tested: Scored, otherwise: Outcome) -> Scored:
    """Return the outcome of the tests; what else was found is added."""
    if not isinstance(otherwise, Scored):
        return tested
    explanation = f"{tested.explanation} Beside: {otherwise.explanation}"
    return replace(tested, explanation=explanation, evidence=(*tested.evidence, *otherwise.evidence))


def _evaluate_run(examined: list[_Found | None]) -> Outcome:
    results = [found for found in examined if found is not None]
    if not results:
        return Skipped(
            "nothing can be said about the code: it is cut, or no evidence of its outcome exists",
            Cause.CONTENT_CUT,
        )
    value = sum(found.value for found in results) / len(results)
    facts = tuple(fact for found in results for fact in _list_facts(found))
    sentence = _describe_results(results, len(examined))
    if any(found.problem is not None and not found.recovered for found in results):
        return Scored(value, Label.FAIL, sentence, facts)
    if all(found.ground in _WEAK for found in results):
        # That it compiles says that the code is valid, and nothing about its result.
        return Scored(OPEN_VALUE, None, _describe_unknown_results(results), facts, cause=Cause.CODE_NOT_RUN)
    return Scored(value, Label.PASS, sentence, facts)


def _describe_results(results: list[_Found], total: int) -> str:
    """Return how many snippets passed, on what grounds, and what is wrong with the others."""
    wrong = [found for found in results if found.problem is not None]
    broken = [found for found in wrong if not found.recovered]
    counted = format_count(len(results), "snippet")
    if wrong:
        counted = f"{len(results) - len(wrong)} of {counted}"
    clauses = [f"{counted} passed{_format_grounds(results) if not broken else ''}"]
    ranked = (*broken, *(found for found in wrong if found.recovered))
    problems = list(dict.fromkeys(str(found.problem) for found in ranked))
    clauses += problems[:_MAX_NAMED]
    if len(problems) > _MAX_NAMED:
        clauses.append(f"{len(problems) - _MAX_NAMED} more did not pass")
    if len(results) < total:
        clauses.append(f"{total - len(results)} could not be judged")
    return f"{'; '.join(clauses)}."


def _describe_unknown_results(results: list[_Found]) -> str:
    compiling = "1 snippet compiles" if len(results) == 1 else f"{len(results)} snippets compile"
    if all(found.ground is _Ground.COMPILES_UNRUN for found in results):
        return f"{compiling} and did not run, so that nothing is known of the result."
    return f"{compiling}; how the code ended is neither on the trace nor replayed."


def _format_grounds(results: list[_Found]) -> str:
    """Return what speaks for the snippets that passed: `: the replay agrees with the record`."""
    grounds = Counter(found.ground for found in results if found.ground is not None)
    on = [f"{ground} ({count})" if len(grounds) > 1 else str(ground) for ground, count in grounds.items()]
    return f": {', '.join(on)}" if on else ""


def _list_facts(found: _Found) -> tuple[Evidence, ...]:
    if found.problem is None:
        return (Evidence(f"passed: {found.ground}", found.snippet.span_id),)
    if found.evidence and not found.recovered:
        return found.evidence
    return (Evidence(found.problem, found.snippet.span_id),)


def _find_evidence(evidence: RunEvidence, snippet: Snippet, outcomes: dict[str, Outcome]) -> _Found | None:
    """Return what is found about a snippet, by its strongest evidence; None where there is none."""
    agrees, account = outcomes["replay_agrees"], evidence.account
    outcome = account.get_snippet_outcome(snippet)
    name = f"step {get_step_number(evidence.run, snippet)}"
    differs = _find_failure(agrees)
    if differs is not None:
        step = find_replay(evidence, snippet)
        difference = step.difference if step is not None else None
        return _Found(
            snippet, None, f"the replay of {name} differs ({difference})", evidence=differs.evidence
        )
    failed = snippet.executed and outcome.ok is False
    recovered = failed and not is_lost(account, snippet.span_id)
    failure = describe_failure(account, name, snippet.span_id, outcome) if failed else name
    for check in ("compiles", "imports_exist", "attributes_exist"):
        found = _find_failure(outcomes[check])
        if found is not None:
            problem = found.explanation[0].lower() + found.explanation[1:].rstrip(".")
            return _Found(snippet, None, f"{failure}: {problem}", recovered, found.evidence)
    if failed:
        return _Found(snippet, None, failure, recovered)
    if isinstance(agrees, Scored):
        return _Found(snippet, _Ground.REPLAY_AGREES)
    if snippet.executed and outcome.ok:
        is_recorded = outcome.recorded is not None
        return _Found(snippet, _Ground.RECORDED_WELL if is_recorded else _Ground.REPLAYED_WELL)
    if isinstance(outcomes["compiles"], Scored):
        return _Found(snippet, _Ground.COMPILES if snippet.executed else _Ground.COMPILES_UNRUN)
    return None


def _build_judgement(name: str, span_id: str, outcome: Outcome, snippet_id: str | None = None) -> Judgement:
    return Judgement(Layer.CORRECTNESS, name, span_id, outcome, EVALUATOR, VERSION, snippet_id)
