"""Better prompts, found on a suite: proposed by a model, chosen on cases that the proposals have not seen."""

from spanproof.experiments.optimise.model import Candidate, Measured, Optimised, Split
from spanproof.experiments.optimise.proposals import STRATEGIES, ChatModel, Strategy
from spanproof.experiments.optimise.search import OptimiserSettings, run_search

__all__ = [
    "STRATEGIES",
    "Candidate",
    "ChatModel",
    "Measured",
    "Optimised",
    "OptimiserSettings",
    "Split",
    "Strategy",
    "run_search",
]
