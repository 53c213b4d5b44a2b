"""A judge: a model that decides what the rules leave open, under a budget, with checked and kept replies."""

from spanproof.evaluators.judge.budget import Payer
from spanproof.evaluators.judge.cascade import BESIDE, JudgeCascade, build_cascades
from spanproof.evaluators.judge.client import Answered, Judge, JudgeSettings
from spanproof.evaluators.judge.criteria import Criteria, CriteriaJudge
from spanproof.evaluators.judge.errors import (
    JudgeError,
    JudgeFailed,
    JudgeUnavailable,
    OverBudget,
    RubricError,
)
from spanproof.evaluators.judge.question import Question, build_question
from spanproof.evaluators.judge.reply import Reply
from spanproof.evaluators.judge.rubric import Rubric, load_rubrics
from spanproof.evaluators.judge.sentence_judge import SentenceJudge
from spanproof.evaluators.judge.sentence_prompt import SentencePrompt

__all__ = [
    "BESIDE",
    "Answered",
    "Criteria",
    "CriteriaJudge",
    "Judge",
    "JudgeCascade",
    "JudgeError",
    "JudgeFailed",
    "JudgeSettings",
    "JudgeUnavailable",
    "OverBudget",
    "Payer",
    "Question",
    "Reply",
    "Rubric",
    "RubricError",
    "SentenceJudge",
    "SentencePrompt",
    "build_cascades",
    "build_question",
    "load_rubrics",
]
