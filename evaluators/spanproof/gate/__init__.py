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
from spanproof.gate.check import evaluate_assertions
from spanproof.gate.errors import (
    AssertionRefused,
    AssertionSyntaxError,
    BadAssertions,
    BadScores,
    GateError,
    NoBaseline,
)
from spanproof.gate.files import GateFile, parse_gate, read_gate_file
from spanproof.gate.grammar import parse_assertion, parse_lines, parse_query, parse_score
from spanproof.gate.judged_share import LEAST_JUDGED_SHARE, describe_shortfall
from spanproof.gate.open_policy import OpenPolicy, describe_gravest_cause, parse_open_policy
from spanproof.gate.outputs import Verdict
from spanproof.gate.query import ScoreQuery
from spanproof.gate.reading import iter_scores
from spanproof.gate.report import AssertionReport, CaseResult, CaseState, GateReport, RunRows
from spanproof.gate.trials import CaseTrials

__all__ = [
    "LEAST_JUDGED_SHARE",
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
    "GateFile",
    "GateReport",
    "Match",
    "NoBaseline",
    "NoWorse",
    "OpenPolicy",
    "Quantifier",
    "RunRows",
    "ScoreQuery",
    "ScoreRef",
    "TrialsAssertion",
    "Verdict",
    "describe_gravest_cause",
    "describe_shortfall",
    "evaluate_assertions",
    "iter_scores",
    "parse_assertion",
    "parse_gate",
    "parse_lines",
    "parse_open_policy",
    "parse_query",
    "parse_score",
    "read_gate_file",
]
