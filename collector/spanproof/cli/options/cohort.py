"""The cohort that a command reads, `--where DIMENSION=VALUE`, and what it splits by, `--by DIMENSION`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from spanproof.cli.problems import UsageProblem
from spanproof.trace.dimensions import get_dimension


def with_where_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--where`; it is called with `cohort`, values by dimension."""

    @click.option(
        "--where",
        multiple=True,
        metavar="DIMENSION=VALUE",
        help="Only this cohort: agent=checkout; may be given several times.",
    )
    @wraps(command)
    def wrapped(*args: Any, where: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, cohort=_read_cohort(where), **kwargs)

    return wrapped


def with_by_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command `--by`; it is called with `by`, dimensions, each once."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--by", multiple=True, metavar="DIMENSION", help=text)
        @wraps(command)
        def wrapped(*args: Any, by: tuple[str, ...], **kwargs: Any) -> Any:
            for dimension in by:
                _check_cohort(f"--by {dimension!r}", dimension)
            return command(*args, by=tuple(dict.fromkeys(by)), **kwargs)

        return wrapped

    return decorate


def _read_cohort(where: Sequence[str]) -> dict[str, str]:
    cohort = {}
    for condition in where:
        dimension, equals, value = condition.partition("=")
        if not equals:
            raise UsageProblem(f"--where {condition!r} has no value", "Write DIMENSION=VALUE.")
        _check_cohort(f"--where {condition!r}", dimension)
        cohort[dimension] = value
    return cohort


def _check_cohort(option: str, dimension: str) -> None:
    try:
        get_dimension(dimension)
    except ValueError as problem:
        wrong, _, remedy = str(problem).partition("; ")
        raise UsageProblem(f"{option}: {wrong}", f"{remedy[:1].upper()}{remedy[1:]}.") from problem
