"""Assertions over scores: `groundedness.score >= 0.85 for at_least 90% of cases`."""

from spanproof.gate.assertion import (
    AggregateAssertion,
    AllCases,
    Assertion,
    AtLeastCount,
    AtLeastShare,
    Bound,
    CaseAssertion,
    Comparison,
    Condition,
    Function,
    Match,
    NoWorse,
    Quantifier,
    ScoreRef,
    TrialsAssertion,
)
from spanproof.gate.check import check
from spanproof.gate.errors import (
    AssertionRefused,
    AssertionSyntaxError,
    BadAssertions,
    BadScores,
    GateError,
    NoBaseline,
)
from spanproof.gate.files import read_assertions
from spanproof.gate.grammar import parse, parse_lines, parse_query, parse_score
from spanproof.gate.outputs import Verdict
from spanproof.gate.query import ScoreQuery
from spanproof.gate.reading import read_scores
from spanproof.gate.report import AssertionReport, CaseResult, CaseState, GateReport, RunRows
from spanproof.gate.trials import CaseTrials

__all__ = [
    "AggregateAssertion",
    "AllCases",
    "Assertion",
    "AssertionRefused",
    "AssertionReport",
    "AssertionSyntaxError",
    "AtLeastCount",
    "AtLeastShare",
    "BadAssertions",
    "BadScores",
    "Bound",
    "CaseAssertion",
    "CaseResult",
    "CaseState",
    "CaseTrials",
    "Comparison",
    "Condition",
    "Function",
    "GateError",
    "GateReport",
    "Match",
    "NoBaseline",
    "NoWorse",
    "Quantifier",
    "RunRows",
    "ScoreQuery",
    "ScoreRef",
    "TrialsAssertion",
    "Verdict",
    "check",
    "parse",
    "parse_lines",
    "parse_query",
    "parse_score",
    "read_assertions",
    "read_scores",
]
