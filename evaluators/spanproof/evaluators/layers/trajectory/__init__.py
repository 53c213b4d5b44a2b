"""Trajectory: how a run went, from its actions."""

from spanproof.evaluators.layers.trajectory.layer import judge

__all__ = ["judge"]
