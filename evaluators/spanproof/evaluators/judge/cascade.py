"""The judge as an evaluator: it decides only what the rules leave open.

Takes what cheaper evaluators said; for each judgement they left open and for which there is a rubric, calls
the judge and gives a judgement in its place. What the judge could not be called for stays open with the
reason, what it failed at is an error; neither is ever 0. A share of the runs that execution settled may be
judged too, to see where a judge differs (`spanproof report judge-vs-execution`): those scores are advice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from spanproof.evaluators.evaluator import Cost, Evaluator, Needs, require_replay_if_silent
from spanproof.evaluators.judge.client import Judge
from spanproof.evaluators.judge.errors import JudgeFailed, JudgeUnavailable, OverBudget
from spanproof.evaluators.judge.material import collect_material
from spanproof.evaluators.judge.question import question_of
from spanproof.evaluators.judge.reply import Reply
from spanproof.evaluators.judge.rubric import Rubric
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.scores import is_open
from spanproof.trace import (
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
)

BESIDE = "judge_correctness"
"""Name of the advisory score of what the judge says beside execution."""


class JudgeCascade(Evaluator):
    """One layer's rubric, applied where the layer is open."""

    cost = Cost.MODEL

    def __init__(self, judge: Judge, rubric: Rubric, beside_share: float = 0.0) -> None:
        self.name = f"judge:{rubric.name}:{judge.model}"
        self.version = rubric.version
        self.layer = rubric.layer
        self._judge = judge
        self._rubric = rubric
        self._beside_share = beside_share

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Settle what is open; see `Evaluator.judge`."""
        own = [each for each in so_far if each.layer is self.layer and each.name == self._rubric.score]
        found = [self._settle_judgement(each, evidence) for each in own if is_open(each)]
        settled = next((each for each in own if not is_open(each)), None)
        if settled is not None and self._is_sampled(evidence) and isinstance(settled.outcome, Scored):
            outcome = self._to_outcome(evidence)
            advice = replace(outcome, label=None) if isinstance(outcome, Scored) else outcome
            found.append(self._make_judgement(settled, advice, BESIDE))
        return found

    def needs(self, run: Run) -> Needs:
        """Return the replay where the record is silent: the judge is shown what executions returned."""
        return require_replay_if_silent(run)

    def _settle_judgement(self, left_open: Judgement, evidence: RunEvidence) -> Judgement:
        outcome = self._to_outcome(evidence)
        if isinstance(outcome, Skipped) and isinstance(left_open.outcome, Scored):
            # The judge could not be queried: it stays open, for the reason that it had.
            sentence = f"{left_open.outcome.explanation.rstrip('.')}; {outcome.reason}"
            outcome = replace(left_open.outcome, explanation=sentence)
        return self._make_judgement(left_open, outcome, left_open.name)

    def _to_outcome(self, evidence: RunEvidence) -> Outcome:
        question = question_of(self._rubric, collect_material(self.layer, evidence))
        cohort = evidence.run.cohort
        try:
            reply = self._judge.ask(question, f"{cohort.project}/{cohort.agent}")
        except (OverBudget, JudgeUnavailable) as reason:
            return Skipped(str(reason), Cause.NOT_CONFIGURED)
        except JudgeFailed as failure:
            return Errored(f"JudgeFailed.{failure.kind}", str(failure))
        return self._to_scored(reply)

    def _to_scored(self, reply: Reply) -> Scored:
        label = Label.PASS if reply.score >= self._rubric.pass_at else Label.FAIL
        quotes = tuple(Evidence("quoted by the judge", recorded=quote) for quote in reply.quotes)
        return Scored(reply.score, label, f"the judge says: {reply.reasoning}", quotes)

    def _make_judgement(self, about: Judgement, outcome: Outcome, name: str) -> Judgement:
        return Judgement(self.layer, name, about.span_id, outcome, self.name, self.version, about.snippet_id)

    def _is_sampled(self, evidence: RunEvidence) -> bool:
        if self.layer is not Layer.CORRECTNESS:
            return False
        drawn = blake2b(f"beside {evidence.run.trace_id}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn) < self._beside_share * 2**64


def cascades(judge: Judge, rubrics: Mapping[str, Rubric], beside_share: float = 0.0) -> list[Evaluator]:
    """Build an evaluator for each rubric."""
    return [JudgeCascade(judge, rubric, beside_share) for rubric in rubrics.values()]
