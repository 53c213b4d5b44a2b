"""The cohort that a command reads: `--where DIMENSION=VALUE`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from spanproof.cli.problems import UsageProblem
from spanproof.store.schema import DIMENSIONS


def where_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--where`; it is called with `cohort`, values by dimension."""

    @click.option("--where", multiple=True, metavar="DIMENSION=VALUE", help="Only this cohort.")
    @wraps(command)
    def wrapped(*args: Any, where: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, cohort=_read_cohort(where), **kwargs)

    return wrapped


def _read_cohort(where: Sequence[str]) -> dict[str, str]:
    cohort = {}
    for each in where:
        dimension, equals, value = each.partition("=")
        if not equals or dimension not in DIMENSIONS:
            raise UsageProblem(
                f"--where {each!r} names no dimension with a value",
                f"Write DIMENSION=VALUE; the dimensions are {', '.join(DIMENSIONS)}.",
            )
        cohort[dimension] = value
    return cohort
