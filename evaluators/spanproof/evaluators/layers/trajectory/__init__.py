"""Trajectory: how a run went, from its actions."""

from spanproof.evaluators.layers.trajectory.layer import evaluate_trajectory

__all__ = ["evaluate_trajectory"]
