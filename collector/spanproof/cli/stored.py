"""What commands that read the store share: the option, the opened store, a trace by the start of its id."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from spanproof.cli.console import UsageProblem
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.store import Store, StoreBusy, StoreError, open_store

# The driver logs what it then raises; without a handler its line would stand on stderr beside our message.
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_STORE = ".spanproof/store"

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def store_option(command: F) -> F:
    """The option `--store`."""
    return click.option(
        "--store",
        "location",
        default=DEFAULT_STORE,
        show_default=True,
        envvar="SPANPROOF_STORE",
        help="Directory of an embedded store, or DSN of a ClickHouse server.",
    )(command)


def since_option(command: F) -> F:
    """The option `--since`; `since_ns` reads it."""
    return click.option("--since", help="Only what happened in the last …: 90s, 15m, 24h, 7d.")(command)


def since_ns(since: str | None) -> int | None:
    """The Unix time in nanoseconds that `--since` means.

    Raises:
        UsageProblem: no span of time.
    """
    if since is None:
        return None
    match = re.fullmatch(r"(\d{1,9})([smhd])", since.strip())
    if match is None:
        raise UsageProblem(f"--since {since!r} is no span of time", "Write 90s, 15m, 24h or 7d.")
    return max(0, time.time_ns() - int(match[1]) * _UNITS[match[2]] * 10**9)


@contextmanager
def opened_store(location: str, *, writing: bool = False) -> Iterator[Store]:
    """The store at a location, to read from or to write to; an embedded one must be there already.

    Raises:
        UsageProblem: it is not there, is held by a running server, or cannot be read.
    """
    if "://" not in location and not (Path(location) / "data").is_dir():
        raise UsageProblem(
            f"there is no store at {location}",
            "Name one with --store; `spanproof serve` and `spanproof demo` say where theirs is.",
        )
    try:
        with open_store(location, read_only=not writing) as store:
            yield store
    except StoreBusy as busy:
        raise UsageProblem(
            f"the store {location} is in use by {busy.holder or 'another process'}",
            "Stop that process and try again; or let the server store into a ClickHouse server and name its"
            " DSN with --store clickhouse://….",
        ) from busy
    except StoreError as problem:
        raise UsageProblem(
            str(problem), "See that --store names a store's directory or a ClickHouse server that answers."
        ) from problem


def trace_by_prefix(store: Store, given: str) -> TraceEvaluation:
    """The stored evaluation whose trace id starts with what was given.

    Raises:
        UsageProblem: no trace does, or several do; names those that are near.
    """
    prefix = given.strip().lower()
    found = store.trace_ids(prefix, limit=6) if prefix else []
    if len(found) > 1 and prefix not in found:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise UsageProblem(f"trace {given!r} is not one trace: {shown}", "Give more of the id.")
    evaluation = store.evaluation(prefix if prefix in found else found[0]) if found else None
    if evaluation is None:
        latest = ", ".join(row.trace_id for row in store.traces(limit=3)) or "none"
        near = _near(store, prefix)
        raise UsageProblem(
            f"no stored trace has an id that starts with {given!r}",
            (f"Near it: {near}." if near else f"The latest are: {latest}.")
            + " `spanproof traces` lists them.",
        )
    return evaluation


def run_of(evaluation: TraceEvaluation, given: str | None) -> RunEvaluation:
    """The run meant by the start of its span id or by its name; the only one where nothing was given.

    Raises:
        UsageProblem: none or several fit.
    """
    there = "; ".join(f"{run.run.span_id} {run.run.name}" for run in evaluation.runs) or "none"
    fitting = [
        run
        for run in evaluation.runs
        if given is None or run.run.span_id.startswith(given.lower()) or run.run.name == given
    ]
    if len(fitting) == 1:
        return fitting[0]
    what = "several runs" if fitting else f"no run {given!r}" if given else "no run"
    raise UsageProblem(f"trace {evaluation.trace.trace_id} has {what}", f"Name one with --run: {there}.")


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _near(store: Store, prefix: str) -> str:
    """Ids that share the longest start with what was given, at least four digits."""
    for length in range(min(len(prefix) - 1, 31), 3, -1):
        found = store.trace_ids(prefix[:length], limit=3)
        if found:
            return ", ".join(found)
    return ""
