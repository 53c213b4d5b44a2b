"""Agents run on suites: trials, judged by all layers without a model, compared with a baseline.

from spanproof.experiments import run

experiment = run("support.agents:make_agent", "suites/refunds", trials=5)
experiment.compare(run("support.agents:make_old_agent", "suites/refunds", trials=5)).to_pandas()
"""

from spanproof.evaluators.plain_functions import FunctionScore, evaluator
from spanproof.experiments.agents import (
    AgentUnderTest,
    build_module_agent,
    build_program_agent,
    build_service_agent,
)
from spanproof.experiments.basis import Continuation
from spanproof.experiments.case_result import CaseResult, CaseStatus
from spanproof.experiments.comparison import BaselineRates, Comparison, read_baseline
from spanproof.experiments.earlier_code import read_earlier_code
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment, GroupCount, LayerCount
from spanproof.experiments.functions import (
    FunctionEvaluation,
    RowTrial,
    ScoreSummary,
    evaluate,
)
from spanproof.experiments.launch import AgentServers
from spanproof.experiments.notebook import run
from spanproof.experiments.rescore import evaluate_again
from spanproof.experiments.run import run_experiment
from spanproof.experiments.scored_rows import AnswerScore, Step, Trajectory, score_answer, score_run
from spanproof.experiments.settings import Settings, Tools
from spanproof.experiments.statistics import Change, PairedDifference, compare_pairs, compute_mcnemar
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k

__all__ = [
    "AgentServers",
    "AgentUnderTest",
    "AnswerScore",
    "BaselineRates",
    "CaseResult",
    "CaseStatus",
    "Change",
    "Comparison",
    "Continuation",
    "Experiment",
    "ExperimentError",
    "FunctionEvaluation",
    "FunctionScore",
    "GroupCount",
    "LayerCount",
    "PairedDifference",
    "RowTrial",
    "ScoreSummary",
    "Settings",
    "Step",
    "Tools",
    "Trajectory",
    "Trial",
    "TrialVerdict",
    "build_module_agent",
    "build_program_agent",
    "build_service_agent",
    "compare_pairs",
    "compute_mcnemar",
    "evaluate",
    "evaluate_again",
    "evaluator",
    "pass_at_k",
    "pass_hat_k",
    "read_baseline",
    "read_earlier_code",
    "run",
    "run_experiment",
    "score_answer",
    "score_run",
]
