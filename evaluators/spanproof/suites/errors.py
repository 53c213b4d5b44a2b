"""The error of suites: a file of a suite is not what it must be, or a run is not there."""

from __future__ import annotations


class SuiteError(Exception):
    """The message names the file or the run, what is wrong, and the remedy."""
