"""The judge as an evaluator: it decides only what the rules leave open.

Takes what cheaper evaluators said; for each judgement they left open and for which there is a rubric, calls
the judge and gives a judgement in its place. What the judge could not be called for stays open with the
reason, what it failed at is an error; neither is ever 0. Of groundedness it rules on each open sentence, see
`sentence_judge`. A share of the runs that execution settled may be
judged too, to see where a judge differs (`spanproof report judge-vs-execution`): those scores are advice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spanproof.evaluators.evaluator import Cost, Evaluator, Needs, get_replay_need
from spanproof.evaluators.judge.budget import Payer
from spanproof.evaluators.judge.client import Judge
from spanproof.evaluators.judge.cost import build_cost_judgement
from spanproof.evaluators.judge.errors import JudgeFailed, JudgeUnavailable, OverBudget
from spanproof.evaluators.judge.material import read_material
from spanproof.evaluators.judge.question import build_question
from spanproof.evaluators.judge.reply import Reply
from spanproof.evaluators.judge.rubric import Rubric
from spanproof.evaluators.judge.sentence_judge import SentenceJudge
from spanproof.evaluators.judge_bounds import JudgeBounds
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.sampling import compute_hash_share
from spanproof.evaluators.scores import is_open
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
)

BESIDE = "judge_correctness"
"""Name of the advisory score of what the judge says beside execution."""


class JudgeCascade(Evaluator):
    """One layer's rubric, applied where the layer is open."""

    cost = Cost.MODEL

    def __init__(
        self,
        judge: Judge,
        rubric: Rubric,
        beside_share: float = 0.0,
        bounds: JudgeBounds | None = None,
    ) -> None:
        self.name = f"judge:{rubric.name}:{judge.model}"
        self.version = rubric.version
        self.layer = rubric.layer
        self._judge = judge
        self._rubric = rubric
        self._beside_share = beside_share
        self._bounds = bounds or JudgeBounds()

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Settle what is open; see `Evaluator.judge`."""
        own = [
            judgement
            for judgement in so_far
            if judgement.layer is self.layer and judgement.name == self._rubric.score
        ]
        left_open = [judgement for judgement in own if is_open(judgement)]
        settled = next((judgement for judgement in own if not is_open(judgement)), None)
        is_advised = (
            settled is not None and isinstance(settled.outcome, Scored) and self._is_sampled(evidence)
        )
        if not left_open and not is_advised:
            return []
        # One prompt is about the whole run, whatever the number of scores that it settles.
        outcome, dollars = self._fetch_outcome(evidence)
        found = [self._build_settled_judgement(judgement, outcome) for judgement in left_open]
        if settled is not None and is_advised:
            advice = replace(outcome, label=None) if isinstance(outcome, Scored) else outcome
            found.append(self._build_judgement(settled, advice, BESIDE))
        return [*found, *build_cost_judgement(self, evidence.run, dollars, so_far)]

    def needs(self, run: Run) -> Needs:
        """Return the replay where the record is silent: the judge is shown what executions returned."""
        return get_replay_need(run)

    def _build_settled_judgement(self, left_open: Judgement, outcome: Outcome) -> Judgement:
        if isinstance(outcome, Skipped) and isinstance(left_open.outcome, Scored):
            # The judge could not be queried: it stays open, for the reason that it had.
            sentence = f"{left_open.outcome.explanation.rstrip('.')}; {outcome.reason}"
            outcome = replace(left_open.outcome, explanation=sentence)
        elif isinstance(outcome, Scored) and outcome.label is Label.FAIL and not self._may_fail():
            words = f"{outcome.explanation} (the judge is below its bound, and fails nothing)"
            outcome = replace(
                outcome, value=OPEN_VALUE, label=None, explanation=words, cause=Cause.JUDGE_BELOW_BOUND
            )
        return self._build_judgement(left_open, outcome, left_open.name)

    def _may_fail(self) -> bool:
        return self._bounds.may_fail(self.name, self.layer)

    def _fetch_outcome(self, evidence: RunEvidence) -> tuple[Outcome, float]:
        """Return the judge's outcome, and the dollars that it cost."""
        question = build_question(self._rubric, read_material(self.layer, evidence))
        cohort = evidence.run.cohort
        payer = Payer(f"{cohort.project}/{cohort.agent}", evidence.run.trace_id)
        try:
            answered = self._judge.fetch_answer(question, payer)
        except (OverBudget, JudgeUnavailable) as reason:
            return Skipped(str(reason), Cause.NOT_CONFIGURED), 0.0
        except JudgeFailed as failure:
            return Errored(f"JudgeFailed.{failure.kind}", str(failure)), failure.dollars
        return self._to_scored(answered.reply), answered.dollars

    def _to_scored(self, reply: Reply) -> Scored:
        label = Label.PASS if reply.score >= self._rubric.pass_at else Label.FAIL
        quotes = tuple(Evidence("quoted by the judge", recorded=quote) for quote in reply.quotes)
        return Scored(reply.score, label, f"the judge says: {reply.reasoning}", quotes)

    def _build_judgement(self, about: Judgement, outcome: Outcome, name: str) -> Judgement:
        return Judgement(self.layer, name, about.span_id, outcome, self.name, self.version, about.snippet_id)

    def _is_sampled(self, evidence: RunEvidence) -> bool:
        if self.layer is not Layer.CORRECTNESS:
            return False
        return compute_hash_share(f"beside {evidence.run.trace_id}") < self._beside_share


def build_cascades(
    judge: Judge,
    rubrics: Mapping[str, Rubric],
    beside_share: float = 0.0,
    verify_passed: float = 0.0,
    bounds: JudgeBounds | None = None,
) -> list[Evaluator]:
    """Build an evaluator for each rubric; that of groundedness rules sentence by sentence.

    Args:
        judge: the model that is queried.
        rubrics: by name.
        beside_share: share of the runs that execution settled and that are judged too, as advice.
        verify_passed: share of the answers that passed groundedness and whose sentences are judged too.
        bounds: which judges may fail something; None lets each.
    """
    found: list[Evaluator] = []
    for rubric in rubrics.values():
        if rubric.layer is Layer.GROUNDEDNESS and rubric.score == Layer.GROUNDEDNESS.value:
            found.append(SentenceJudge(judge, rubric, verify_passed, bounds))
        else:
            found.append(JudgeCascade(judge, rubric, beside_share, bounds))
    return found
