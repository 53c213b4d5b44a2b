"""The error of experiments: the agent cannot be run, or a folder of results cannot be used."""

from __future__ import annotations


class ExperimentError(Exception):
    """The message names the agent, the case or the file, what is wrong, and the remedy."""
