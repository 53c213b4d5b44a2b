"""A model as the judge of groundedness: it rules on each open sentence of an answer, in one call.

In: the layer's outcome, whose evidence marks the sentences. Out: the outcome with the rulings, each with who
gave it. A share of the answers that passed may be judged as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spanproof.evaluators.evaluator import Cost, Evaluator, Needs, require_replay_if_silent
from spanproof.evaluators.judge.budget import Payer
from spanproof.evaluators.judge.client import Judge
from spanproof.evaluators.judge.cost import build_cost_judgement
from spanproof.evaluators.judge.errors import JudgeFailed, JudgeUnavailable, OverBudget
from spanproof.evaluators.judge.material import collect_steps
from spanproof.evaluators.judge.rubric import Rubric
from spanproof.evaluators.judge.sentence_prompt import MAX_SENTENCES, SentencePrompt
from spanproof.evaluators.judge.sentences import (
    AnswerSentence,
    JudgeName,
    apply_rulings,
    list_asserting_sentences,
    list_open_sentences,
)
from spanproof.evaluators.judge_bounds import JudgeBounds
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.sampling import hash_to_share
from spanproof.evaluators.scores import is_open
from spanproof.trace import Cause, Errored, Judgement, Label, Layer, Outcome, Run, Scored, Skipped


class SentenceJudge(Evaluator):
    """Rules on the sentences of an answer.

    Args:
        judge: the model that is queried.
        rubric: what it decides by.
        verify_passed: share of the traces of which it is queried about what the sources checked, too.
        bounds: whether it may fail an answer.
    """

    cost = Cost.MODEL
    layer = Layer.GROUNDEDNESS

    def __init__(
        self,
        judge: Judge,
        rubric: Rubric,
        verify_passed: float = 0.0,
        bounds: JudgeBounds | None = None,
    ) -> None:
        self.name = f"judge:{rubric.name}:{judge.model}"
        self.version = rubric.version
        self._judge = judge
        self._rubric = rubric
        self._verify_passed = verify_passed
        self._bounds = bounds or JudgeBounds()

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Rule on the sentences of the answer; see `Evaluator.judge`."""
        own = find_layer_judgement(so_far)
        answer = evidence.run.answer
        if own is None or answer is None or not isinstance(own.outcome, Scored):
            return []
        sentences = self._select_sentences(evidence.run, answer.text, own)
        if not sentences:
            return []
        outcome, dollars = self._query_outcome(evidence, answer.text, own.outcome, sentences)
        cost = build_cost_judgement(self, evidence.run, dollars, so_far)
        if not is_open(own) and not isinstance(outcome, Scored):
            # What passed by its sources does not lose that because a model cannot be queried.
            return cost
        if isinstance(outcome, Skipped):
            words = f"{own.outcome.explanation.rstrip('.')}; {outcome.reason}"
            outcome = replace(own.outcome, explanation=words)
        return [replace(own, outcome=outcome, evaluator=self.name, version=self.version), *cost]

    def needs(self, run: Run) -> Needs:
        """Return the replay where the record is silent: the judge is shown what executions returned."""
        return require_replay_if_silent(run)

    def _select_sentences(self, run: Run, answer: str, own: Judgement) -> tuple[AnswerSentence, ...]:
        assert isinstance(own.outcome, Scored)
        is_verified = hash_to_share(f"verify {run.trace_id}") < self._verify_passed
        if is_open(own) and not is_verified:
            return list_open_sentences(answer, own.outcome)
        if is_verified and (is_open(own) or own.outcome.label is Label.PASS):
            # Of an open answer, sentences that the sources checked are a part of what passed.
            return list_asserting_sentences(answer, own.outcome)
        return ()

    def _query_outcome(
        self, evidence: RunEvidence, answer: str, outcome: Scored, sentences: Sequence[AnswerSentence]
    ) -> tuple[Outcome, float]:
        """Return the outcome with the judge's rulings, skipped where it was not queried, and its dollars."""
        run = evidence.run
        if len(sentences) > MAX_SENTENCES:
            words = (
                f"the answer has {len(sentences)} such sentences, and a judge takes {MAX_SENTENCES} at once"
            )
            return Skipped(words, Cause.NOT_CONFIGURED), 0.0
        prompt = SentencePrompt(self._rubric, run.task or "", collect_steps(evidence), answer, sentences)
        payer = Payer(f"{run.cohort.project}/{run.cohort.agent}", run.trace_id)
        try:
            answered = self._judge.query(prompt, payer)
        except (OverBudget, JudgeUnavailable) as reason:
            return Skipped(str(reason), Cause.NOT_CONFIGURED), 0.0
        except JudgeFailed as failure:
            return Errored(f"JudgeFailed.{failure.kind}", str(failure)), failure.dollars
        judge = JudgeName(self.name, f"the judge {self._judge.model}")
        may_fail = self._bounds.may_fail(self.name, self.layer)
        settled = apply_rulings(outcome, sentences, answered.reply, judge, may_fail=may_fail)
        return settled, answered.dollars


def find_layer_judgement(so_far: Sequence[Judgement]) -> Judgement | None:
    """Return the judgement that is the layer's own value, None where there is none."""
    layer = Layer.GROUNDEDNESS
    return next(
        (judgement for judgement in so_far if judgement.layer is layer and judgement.name == layer.value),
        None,
    )
