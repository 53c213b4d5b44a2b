"""A judge: a model that decides what the rules leave open, under a budget, with checked and kept replies."""

from spanproof.evaluators.judge.cascade import BESIDE, JudgeCascade, cascades
from spanproof.evaluators.judge.client import Judge, JudgeSettings
from spanproof.evaluators.judge.criteria import Criteria, CriteriaJudge
from spanproof.evaluators.judge.errors import (
    JudgeError,
    JudgeFailed,
    JudgeUnavailable,
    OverBudget,
    RubricError,
)
from spanproof.evaluators.judge.question import Question, question_of
from spanproof.evaluators.judge.reply import Reply
from spanproof.evaluators.judge.rubric import Rubric, load_rubrics

__all__ = [
    "BESIDE",
    "Criteria",
    "CriteriaJudge",
    "Judge",
    "JudgeCascade",
    "JudgeError",
    "JudgeFailed",
    "JudgeSettings",
    "JudgeUnavailable",
    "OverBudget",
    "Question",
    "Reply",
    "Rubric",
    "RubricError",
    "cascades",
    "load_rubrics",
    "question_of",
]
