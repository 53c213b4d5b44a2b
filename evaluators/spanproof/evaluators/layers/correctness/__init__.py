"""Correctness: whether the code an agent wrote is valid, and whether what it came to stands.

Takes the evidence about a run; gives, per snippet, `compiles`, `imports_exist`, `attributes_exist` and
`replay_agrees`, what the case's tests say where it has some, and the layer's value for the run from the
strongest evidence at hand. A snippet that failed
and was mended by a later one counts half and fails nothing: agents work by trial. docs/layers/correctness.md
holds the rules with examples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from spanproof.evaluators.layers.common import PROGRAMS, counted, ended, executed, replayed, why_no_code
from spanproof.evaluators.layers.correctness.cases import of_case
from spanproof.evaluators.layers.correctness.checks import (
    attributes_exist,
    compiles,
    imports_exist,
    replay_agrees,
)
from spanproof.evaluators.model import RunEvidence
from spanproof.trace import Evidence, Judgement, Label, Layer, Outcome, Scored, Skipped, Snippet

EVALUATOR = "spanproof.correctness"
VERSION = "2"

MENDED = 0.5
"""What a snippet counts that failed and was followed by one that worked."""

_COMPILES = "compiles"

_CHECKS = {
    "compiles": compiles,
    "imports_exist": imports_exist,
    "attributes_exist": attributes_exist,
    "replay_agrees": replay_agrees,
}


@dataclass(frozen=True, slots=True)
class _Standing:
    """How one snippet stands: `problem` None where nothing speaks against it, `ground` what speaks for it."""

    snippet: Snippet
    ground: str
    problem: str | None = None
    mended: bool = False
    evidence: tuple[Evidence, ...] = ()

    @property
    def value(self) -> float:
        if self.problem is None:
            return 1.0
        return MENDED if self.mended else 0.0


def judge(evidence: RunEvidence) -> list[Judgement]:
    """Judge every program of the run, and the run."""
    run = evidence.run
    judged = executed(run) or [s for s in run.snippets if s.language in PROGRAMS]
    if not judged:
        return [_judgement("correctness", run.span_id, Skipped(why_no_code(run)))]
    outcomes = {
        snippet.id: {name: check(evidence, snippet) for name, check in _CHECKS.items()} for snippet in judged
    }
    judgements = [
        _judgement(name, snippet.span_id, outcome, snippet.id)
        for snippet in judged
        for name, outcome in outcomes[snippet.id].items()
    ]
    worked = [at for at, each in enumerate(judged) if each.executed and ended(evidence, each).ok]
    last_that_worked = worked[-1] if worked else -1
    standings = [
        _standing(evidence, snippet, outcomes[snippet.id], mended=at < last_that_worked)
        for at, snippet in enumerate(judged)
    ]
    known = [standing for standing in standings if standing is not None]
    of_run = _judgement("correctness", run.span_id, _of_run(known, len(judged)))
    uncertain = bool(known) and all(map(_says_little, known))
    case = of_case(evidence)
    tested = case.get("tests_pass")
    if isinstance(tested, Scored):
        # Tests say what the code is for: no other evidence is as strong.
        of_run, uncertain = replace(of_run, outcome=_by_tests(tested, of_run.outcome)), False
    sentence = [_judgement(name, run.span_id, outcome) for name, outcome in case.items()]
    return [replace(of_run, uncertain=uncertain), *sentence, *judgements]


def _by_tests(tested: Scored, otherwise: Outcome) -> Scored:
    """The layer's value where the case has tests; what else was found is sentence beside."""
    facts = otherwise.evidence if isinstance(otherwise, Scored) else ()
    beside = f" Beside: {otherwise.explanation}" if isinstance(otherwise, Scored) else ""
    return replace(tested, explanation=f"{tested.explanation}{beside}", evidence=(*tested.evidence, *facts))


def _says_little(standing: _Standing) -> bool:
    """Whether nothing speaks for a snippet but that it compiles."""
    return standing.problem is None and standing.ground.startswith(_COMPILES)


def _of_run(standings: list[_Standing], total: int) -> Outcome:
    if not standings:
        return Skipped("nothing can be said about the code: it is cut, or no evidence of its outcome exists")
    broken = [standing for standing in standings if standing.problem is not None and not standing.mended]
    mended = [standing for standing in standings if standing.problem is not None and standing.mended]
    value = sum(standing.value for standing in standings) / len(standings)
    facts = tuple(fact for standing in standings for fact in _facts(standing))
    if broken:
        sentence = f"{len(broken)} of {counted(len(standings), 'snippet')} wrong: {broken[0].problem}."
        return Scored(value, Label.FAIL, sentence, facts)
    sentence = _standing_words(standings, len(mended))
    if mended:
        by = "was mended by a later one" if len(mended) == 1 else "were mended by later ones"
        sentence = f"{sentence[:-1]}; {len(mended)} failed and {by}: {mended[0].problem}."
    if len(standings) < total:
        sentence = f"{sentence[:-1]}; {total - len(standings)} could not be judged."
    return Scored(value, Label.PASS, sentence, facts)


def _standing_words(standings: list[_Standing], mended: int) -> str:
    """How many stand, and on what: `2 of 3 snippets stand: the replay agrees with the record`."""
    grounds = Counter(standing.ground for standing in standings if standing.problem is None)
    snippets = counted(len(standings), "snippet")
    if mended:
        snippets = f"{len(standings) - mended} of {snippets}"
    stand = "stands" if len(standings) - mended == 1 else "stand"
    on = (f"{ground} ({count})" if len(grounds) > 1 else ground for ground, count in grounds.items())
    return f"{snippets} {stand}{': ' if grounds else ''}{', '.join(on)}."


def _facts(standing: _Standing) -> tuple[Evidence, ...]:
    if standing.problem is None:
        sentence = f"stands: {standing.ground}"
    elif standing.mended:
        sentence = f"{standing.problem}, mended by a later snippet"
    elif standing.evidence:
        return standing.evidence
    else:
        sentence = standing.problem
    return (Evidence(sentence, standing.snippet.span_id),)


def _standing(
    evidence: RunEvidence, snippet: Snippet, outcomes: dict[str, Outcome], *, mended: bool
) -> _Standing | None:
    """How a snippet stands, by its strongest evidence; None where there is none."""
    agrees = outcomes["replay_agrees"]
    if isinstance(agrees, Scored) and agrees.label is Label.FAIL:
        step = replayed(evidence, snippet)
        difference = step.difference if step is not None else None
        sentence = f"replay and record differ ({difference})"
        return _Standing(snippet, "", sentence, evidence=agrees.evidence)
    for name in ("compiles", "imports_exist", "attributes_exist"):
        outcome = outcomes[name]
        if isinstance(outcome, Scored) and outcome.label is Label.FAIL:
            problem = outcome.explanation[0].lower() + outcome.explanation[1:].rstrip(".")
            return _Standing(snippet, "", problem, mended, outcome.evidence)
    how = ended(evidence, snippet)
    if snippet.executed and how.ok is False:
        problem = f"ended in {how.words}"
        return _Standing(snippet, "", problem, mended)
    if isinstance(agrees, Scored):
        return _Standing(snippet, "the replay agrees with the record")
    if snippet.executed and how.ok:
        return _Standing(snippet, "recorded as ended well" if how.recorded is not None else "replayed well")
    if isinstance(outcomes["compiles"], Scored):
        return _Standing(snippet, _COMPILES if snippet.executed else f"{_COMPILES}, and did not run")
    return None


def _judgement(name: str, span_id: str, outcome: Outcome, snippet_id: str | None = None) -> Judgement:
    return Judgement(Layer.CORRECTNESS, name, span_id, outcome, EVALUATOR, VERSION, snippet_id)
