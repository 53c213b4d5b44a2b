"""A judge by criteria that a user writes, on spans of any kind: what no rubric of a layer is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spanproof.evaluators.custom.attach import Attach
from spanproof.evaluators.evaluator import Cost, Evaluator, Needs
from spanproof.evaluators.judge.budget import Payer
from spanproof.evaluators.judge.client import Judge
from spanproof.evaluators.judge.cost import build_cost_judgement
from spanproof.evaluators.judge.errors import JudgeFailed, JudgeUnavailable, OverBudget
from spanproof.evaluators.judge.question import build_question
from spanproof.evaluators.judge.reply import Reply
from spanproof.evaluators.judge.rubric import Rubric
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.runs.scope import list_run_spans
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
    Span,
    digest,
)

MAX_SPANS = 20
"""Spans of one run that a model judges at most."""

_FORM = """You grade one part of an agent's work by these criteria:

{criteria}

Score 1 where they are met in full, 0 where they are not met at all.
"""


@dataclass(frozen=True, slots=True)
class Criteria:
    """What is graded, and which spans.

    Attributes:
        text: the criteria, in the user's words.
        pass_at: the lowest score that passes; None gives advice without a verdict.
    """

    name: str
    text: str
    layer: Layer = Layer.CORRECTNESS
    attach: Attach = field(default_factory=Attach)
    pass_at: float | None = None


class CriteriaJudge(Evaluator):
    """Grades spans by the user's criteria; its scores have the evaluator's name."""

    cost = Cost.MODEL

    def __init__(self, judge: Judge, criteria: Criteria) -> None:
        """Attach criteria to a model."""
        self.version = digest(criteria.text)[:12]
        self.name = f"judge:{criteria.name}:{judge.model}"
        self.layer = criteria.layer
        self._judge = judge
        self._criteria = criteria
        self._rubric = Rubric(
            criteria.name,
            criteria.layer,
            criteria.name,
            0.0,
            _FORM.format(criteria=criteria.text),
            self.version,
        )

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Grade the spans of this run that the rule fits."""
        attach, run = self._criteria.attach, evidence.run
        if not attach.takes(run, self.name):
            return []
        spans = [span for span in list_run_spans(evidence.trace, run) if attach.fits(span, run)]
        found: list[Judgement] = []
        dollars = 0.0
        for number, span in enumerate(spans):
            outcome: Outcome = Skipped(
                f"only the first {MAX_SPANS} spans of a run are judged", Cause.TOO_MANY_SPANS
            )
            if number < MAX_SPANS:
                outcome, cost = self._fetch_outcome(evidence, span)
                dollars += cost
            found.append(
                Judgement(self.layer, self._criteria.name, span.span_id, outcome, self.name, self.version)
            )
        return [*found, *build_cost_judgement(self, run, dollars, so_far)]

    def needs(self, run: Run) -> Needs:
        """Return `Needs.NOTHING`: the record is enough."""
        return Needs.NOTHING

    def _fetch_outcome(self, evidence: RunEvidence, span: Span) -> tuple[Outcome, float]:
        """Return the outcome of one span, and the dollars that it cost."""
        parts = _list_material(evidence, span)
        if not any(text.strip() for title, text in parts if title != "task"):
            return Skipped("the span has no content to grade", Cause.NOT_RECORDED), 0.0
        cohort = evidence.run.cohort
        payer = Payer(f"{cohort.project}/{cohort.agent}", evidence.run.trace_id)
        try:
            answered = self._judge.fetch_answer(build_question(self._rubric, parts), payer)
        except (OverBudget, JudgeUnavailable) as reason:
            return Skipped(str(reason), Cause.NOT_CONFIGURED), 0.0
        except JudgeFailed as failure:
            return Errored(f"JudgeFailed.{failure.kind}", str(failure)), failure.dollars
        return self._to_scored(answered.reply), answered.dollars

    def _to_scored(self, reply: Reply) -> Scored:
        quotes = tuple(Evidence("quoted by the judge", recorded=quote) for quote in reply.quotes)
        scored = Scored(reply.score, None, f"the judge says: {reply.reasoning}", quotes)
        if self._criteria.pass_at is None:
            return scored
        return replace(scored, label=Label.PASS if reply.score >= self._criteria.pass_at else Label.FAIL)


def _list_material(evidence: RunEvidence, span: Span) -> list[tuple[str, str]]:
    run = evidence.run
    if span.output:
        output = span.output.text
    else:
        output = str(span.observation or "")
    if span.span_id == run.span_id and run.answer is not None:
        output = run.answer.text
    code = "\n\n".join(snippet.source for snippet in run.snippets if snippet.span_id == span.span_id)
    return [
        ("task", run.task or ""),
        ("input", span.input.text if span.input else ""),
        ("code", code),
        ("output", output),
    ]
