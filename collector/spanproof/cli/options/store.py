"""Reading the store: options that choose what is read, the opened store, traces by state, id and age."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.store import AmbiguousTrace, Store, open_store

if TYPE_CHECKING:
    from spanproof.config.model import Config

# The driver logs what it then raises; without a handler its line would appear on stderr beside our message.
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())

DEFAULT_STORE = ".spanproof/store"

NO_TRACE_REMEDY = (
    "Run an agent that exports its spans to the collector, and try again after about ten seconds."
)
"""What to do where a store holds no evaluated trace."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

store_option = click.option(
    "--store",
    "location",
    default=DEFAULT_STORE,
    show_default=True,
    envvar="SPANPROOF_STORE",
    show_envvar=True,
    help="Directory of an embedded store, or DSN of a ClickHouse server.",
)


def get_location(location: str, config: Config) -> str:
    """Return the store that `--store` or the environment names, else that of the configuration."""
    source = click.get_current_context().get_parameter_source("location")
    if source is ParameterSource.DEFAULT:
        return config.store.location
    return location


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """What to read: a store, of it one project or all, from a time on (Unix, in nanoseconds) or all.

    Attributes:
        is_chosen: whether an option was given; a store that the environment names is none.
    """

    location: str
    project: str | None = None
    since_ns: int | None = None
    is_chosen: bool = False


def with_store_query_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--store`, `--project` and `--since`; it is called with `query`."""

    @store_option
    @click.option("--project", help="Only this project.")
    @click.option("--since", help="Only what happened in this time before now: 90s, 15m, 24h, 7d.")
    @wraps(command)
    def wrapped(*args: Any, location: str, project: str | None, since: str | None, **kwargs: Any) -> Any:
        source = click.get_current_context().get_parameter_source("location")
        is_chosen = source is ParameterSource.COMMANDLINE or bool(project) or since is not None
        since_ns = None if since is None else parse_since(since)
        query = StoreQuery(location, project or None, since_ns, is_chosen)
        return command(*args, query=query, **kwargs)

    return wrapped


def with_limit_option(default: int, meaning: str) -> Callable[..., Callable[..., object]]:
    """Return the option `--limit`."""
    bounds = click.IntRange(1, 10_000)
    return click.option("--limit", default=default, show_default=True, type=bounds, help=meaning)


def parse_since(since: str) -> int:
    """Return the Unix time in nanoseconds that `--since` means; raises UsageProblem for no span of time."""
    return max(0, time.time_ns() - parse_span("--since", since))


def parse_span(option: str, text: str) -> int:
    """Return the nanoseconds of `90s`, `15m`, `24h` or `7d`; raises UsageProblem for no span of time."""
    match = re.fullmatch(r"(\d{1,9})([smhd])", text.strip())
    if match is None or int(match[1]) == 0:
        raise UsageProblem(f"{option} {text!r} is no span of time", "Write 90s, 15m, 24h or 7d.")
    return int(match[1]) * _UNITS[match[2]] * 10**9


@contextmanager
def opened_store(location: str, *, writing: bool = False) -> Iterator[Store]:
    """Open the store at a location, to read from or to write to; an embedded one must exist already.

    Raises:
        UsageProblem: there is none.
        StoreError: a running server holds it, or it cannot be read.
    """
    if "://" not in location and not (Path(location) / "data").is_dir():
        raise UsageProblem(
            f"there is no store at {location}",
            "Name one with --store; `spanproof serve` and `spanproof demo` print where theirs is.",
        )
    with open_store(location, read_only=not writing) as store:
        yield store


def find_newest_trace(store: Store, project: str | None = None) -> TraceEvaluation | None:
    """Return the evaluated trace that began last, None where there is none."""
    ids = store.trace_ids(limit=1, project=project)
    return store.evaluations(ids[:1], project)[0] if ids else None


def get_trace(store: Store, id_start: str, project: str | None = None) -> TraceEvaluation:
    """Return the stored evaluation whose id starts so; raises UsageProblem where none or several do."""
    prefix = id_start.strip().lower()
    found = store.trace_ids(prefix, limit=6, project=project) if prefix else []
    if len(found) > 1 and prefix not in found:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise UsageProblem(f"trace {id_start!r} is not one trace: {shown}", "Give more of the id.")
    try:
        if found:
            evaluation = store.evaluation(prefix if prefix in found else found[0], project)
        else:
            evaluation = None
    except AmbiguousTrace as several:
        raise UsageProblem(str(several), "Give --project, where the command takes it.") from several
    if evaluation is None:
        latest = ", ".join(row.trace_id for row in store.traces(limit=3)) or "none"
        near = _get_near_ids(store, prefix)
        if near:
            near_or_latest = f"Near it: {near}."
        else:
            near_or_latest = f"The latest are: {latest}."
        if prefix:
            what = f"no stored trace has an id that starts with {id_start!r}"
        else:
            what = "the trace's id is empty"
        raise UsageProblem(what, f"{near_or_latest} `spanproof traces` lists them.")
    return evaluation


def get_run(evaluation: TraceEvaluation, name: str | None) -> RunEvaluation:
    """Return the run with this name or start of a span id, the only one without; else raises UsageProblem."""
    names = "; ".join(f"{run.run.span_id} {run.run.name}" for run in evaluation.runs) or "none"
    fitting = [
        run
        for run in evaluation.runs
        if name is None or run.run.span_id.startswith(name.lower()) or run.run.name == name
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        what = "several runs"
    elif name:
        what = f"no run {name!r}"
    else:
        what = "no run"
    raise UsageProblem(f"trace {evaluation.trace.trace_id} has {what}", f"Name one with --run: {names}.")


def _get_near_ids(store: Store, prefix: str) -> str:
    """Return ids that share the longest start with what was given, at least four digits."""
    lengths = range(min(len(prefix) - 1, 31), 3, -1)
    return next((", ".join(ids) for n in lengths if (ids := store.trace_ids(prefix[:n], limit=3))), "")
