"""Addresses of the console's pages that show a run, alone or beside another one."""

from __future__ import annotations

from collections.abc import Sequence
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


def list_run_addresses(runs: Sequence[str | None], base: int | None, frozen: str | None) -> list[str]:
    """Return the addresses of runs beside one of them, or beside the frozen run; empty where no run is kept.

    Args:
        runs: the references of the runs; None where there is none.
        base: the index of the run that the others are shown beside; it is shown beside the frozen run.
        frozen: the reference of the frozen run; None where there is none.
    """
    addresses = []
    for index, run in enumerate(runs):
        before = frozen if base is None or base == index else runs[base]
        addresses.append("" if run is None else build_run_address(before, run))
    return addresses
