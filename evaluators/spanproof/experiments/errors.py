"""The error of experiments: the agent cannot be run, or a folder of results cannot be used."""

from __future__ import annotations


class ExperimentError(Exception):
    """The message names the agent, the case or the file, what is wrong, and the remedy."""


def check_count(name: str, number: object) -> None:
    """Refuse an argument that is no number from 1.

    Raises:
        ExperimentError: says which argument it is, and what was expected.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ExperimentError(f"{name} must be a number from 1, got {number!r:.40}")
