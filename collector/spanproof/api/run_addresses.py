"""Addresses of the console's pages that show a run, alone or beside another one."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def build_frozen_reference(suite: str, case: str) -> str:
    """Return what names the frozen run of a case."""
    return f"cases/{suite}/{case}"


def build_trial_reference(experiment: str, case: str, number: int) -> str:
    """Return what names a trial of an experiment."""
    return f"trials/{experiment}/{case}/{number}"


def build_run_address(before: str | None, after: str) -> str:
    """Return the address of a run beside another one, aligned by step, or of the run alone.

    Args:
        before: the reference of the other run; None where there is none.
        after: the reference of the run.
    """
    if before is None:
        return f"/{quote(after, errors='replace')}"
    return f"/compare/runs?{urlencode({'before': before, 'after': after}, errors='replace')}"
