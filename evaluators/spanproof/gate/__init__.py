"""Assertions over scores: `groundedness.score >= 0.85 for at_least 90% of cases`."""

from spanproof.gate.assertion import (
    AllCases,
    Assertion,
    AtLeastCount,
    AtLeastShare,
    Comparison,
    Quantifier,
)
from spanproof.gate.check import check
from spanproof.gate.errors import AssertionSyntaxError, BadScores, GateError
from spanproof.gate.grammar import parse, parse_lines
from spanproof.gate.reading import read_scores
from spanproof.gate.report import AssertionReport, CaseResult, CaseState, GateReport, Verdict

__all__ = [
    "AllCases",
    "Assertion",
    "AssertionReport",
    "AssertionSyntaxError",
    "AtLeastCount",
    "AtLeastShare",
    "BadScores",
    "CaseResult",
    "CaseState",
    "Comparison",
    "GateError",
    "GateReport",
    "Quantifier",
    "Verdict",
    "check",
    "parse",
    "parse_lines",
    "read_scores",
]
