"""`spanproof prompts`: versions of system prompts with their fail rates, compared, and taken into a suite."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.commands.promote import iter_matching_runs, list_promotions, write_summary
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.store import (
    StoreQuery,
    opened_store,
    parse_since,
    with_limit_option,
    with_store_query_options,
)
from spanproof.cli.output.console import console, write_json, write_remark
from spanproof.cli.output.hostile import format_controls, format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.runs_table import SHORT_NAMES
from spanproof.cli.output.words import format_time
from spanproof.cli.problems import UsageProblem, build_page_url
from spanproof.gate import ScoreQuery
from spanproof.gate.assertion import Condition, Match
from spanproof.store import Store
from spanproof.store.prompts import PromptVersion, list_prompt_versions
from spanproof.store.values import FailRate
from spanproof.suites import Promoting, iter_promotions
from spanproof.trace import Layer

# Of one agent's prompts, far more than anyone compares.
_ALL_VERSIONS = 10_000
# Characters: enough that two texts differ in a table.
_SHOWN_HASH = 12
_DEFAULT_SINCE = "30d"
_json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")


@click.group("prompts")
def command() -> None:
    """Versions of agents' system prompts: fail rates, texts, differences.

    A version is what `set_cohort(prompt_version=…)` declares. Where an agent declares none it is worked out
    from the system prompt on the trace, less dates, numbers and ids: `prompt-3f2a91c0`. Texts are read from
    the stored traces; Spanproof keeps no other copy.
    """


def _with_agent_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--agent` and the store's options; it is called with `query` and `cohort`."""

    @click.option("--agent", help="Only this agent's prompts.")
    @with_store_query_options
    @wraps(function)
    def wrapped(*args: Any, agent: str | None, query: StoreQuery, **kwargs: Any) -> Any:
        cohort = {"project": query.project, "agent": agent}
        chosen = {name: value for name, value in cohort.items() if value}
        return function(*args, query=query, cohort=chosen, **kwargs)

    return wrapped


@command.command("list")
@_with_agent_options
@with_limit_option(50, "List at most this many versions, the newest first.")
@click.option("--json", "as_json", is_flag=True, help="A JSON line per version, with its text.")
def list_versions(query: StoreQuery, cohort: Mapping[str, str], limit: int, as_json: bool) -> int:
    """List the versions that ran, with fail rates by layer.

    The newest version is first. "2 of 9" means that 2 of 9 judged runs failed; open runs are counted below.
    """
    with opened_store(query.location) as store:
        found = _read_versions(store, query, cohort, limit)
    if as_json:
        for version in found:
            write_json(_as_json(version))
    elif found:
        console.print(_build_table(found))
    else:
        write_remark("no run has a prompt version; `spanproof prompts --help` says where versions come from")
    return EXIT_PASS


@command.command("show")
@click.argument("version")
@_with_agent_options
@_json_option
def show_version(version: str, query: StoreQuery, cohort: Mapping[str, str], as_json: bool) -> int:
    """Print the text of a version, from the newest run that records it."""
    with opened_store(query.location) as store:
        found = _get_version(store, query, cohort, version)
    text = _get_text(found)
    if as_json:
        write_json(_as_json(found))
        return EXIT_PASS
    click.echo("\n".join(_list_lines(text)))
    return EXIT_PASS


@command.command("diff")
@click.argument("before")
@click.argument("after")
@_with_agent_options
@_json_option
def diff_versions(
    before: str, after: str, query: StoreQuery, cohort: Mapping[str, str], as_json: bool
) -> int:
    """Show what changed between two versions.

    The texts are compared line by line; the fail rates of both versions follow.
    """
    with opened_store(query.location) as store:
        pair = [_get_version(store, query, cohort, name) for name in (before, after)]
    old, new = (_list_lines(_get_text(version)) for version in pair)
    changes = list(
        difflib.unified_diff(old, new, format_controls(before), format_controls(after), lineterm="")
    )
    if as_json:
        write_json({"diff": changes, "versions": [_as_json(version) for version in pair]})
        return EXIT_PASS
    for line in changes:
        style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
        console.print(Text(line, style=style), soft_wrap=True)
    console.print(_build_table(pair))
    return EXIT_PASS


@command.command("promote")
@click.argument("version")
@click.option("--suite", required=True, type=click.Path(path_type=Path, file_okay=False), help="The suite.")
@_with_agent_options
@with_limit_option(50, "Add at most this many cases.")
@_json_option
def promote_version(
    version: str, suite: Path, query: StoreQuery, cohort: Mapping[str, str], limit: int, as_json: bool
) -> int:
    """Write a version and its failing runs into a suite.

    There you can try a better text on the same tasks.
    """
    with opened_store(query.location) as store:
        found = _get_version(store, query, cohort, version)
        text = _get_text(found)
        wanted = {"agent": found.agent, "prompt_version": found.version, "label": "fail"}
        conditions = tuple(Condition(name, Match.EQUAL, (value,)) for name, value in wanted.items())
        runs = iter_matching_runs(store, ScoreQuery(conditions), query)
        promotions = list_promotions(iter_promotions(runs, suite, Promoting()), limit)
    path = suite / "prompts" / f"{(found.text_hash or '')[:_SHOWN_HASH]}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if as_json:
        cases = [{"id": promotion.case.id, "change": promotion.change.value} for promotion in promotions]
        write_json({"prompt": str(path), "cases": cases})
        return EXIT_PASS
    write_summary(promotions, suite)
    console.print(Text(f"the prompt is in {path}; `spanproof suite run {suite}` runs an agent on the cases"))
    return EXIT_PASS


def _read_versions(
    store: Store, query: StoreQuery, cohort: Mapping[str, str], limit: int
) -> list[PromptVersion]:
    if query.since_ns is None:
        start_ns = parse_since(_DEFAULT_SINCE)
    else:
        start_ns = query.since_ns
    return list_prompt_versions(
        store, start_ns=start_ns, end_ns=time.time_ns() + 1, cohort=cohort, limit=limit
    )


def _get_version(store: Store, query: StoreQuery, cohort: Mapping[str, str], version: str) -> PromptVersion:
    """Return the one version that is named so; raises UsageProblem where none or several are."""
    versions = _read_versions(store, query, cohort, _ALL_VERSIONS)
    fitting = [candidate for candidate in versions if candidate.version == version]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        agents = ", ".join(candidate.agent or "(no name)" for candidate in fitting)
        raise UsageProblem(f"several agents have a version {version!r}: {agents}", "Name one with --agent.")
    newest = ", ".join(candidate.version for candidate in islice(versions, 5)) or "none"
    raise UsageProblem(
        f"no run of the last {_DEFAULT_SINCE} has the prompt version {version!r}",
        f"The newest are: {newest}. Look further back with --since 90d.",
    )


def _get_text(version: PromptVersion) -> str:
    if version.text is None:
        raise UsageProblem(
            f"no stored run of {version.version!r} records its system prompt",
            f"Record the messages of model calls: {build_page_url('instrument')}",
        )
    return version.text


def _list_lines(text: str) -> list[str]:
    """Return the lines of a text out of a trace, as a terminal may show them."""
    return [format_controls(line) for line in text.splitlines()]


def _as_json(version: PromptVersion) -> dict[str, Any]:
    return {
        "agent": version.agent,
        "version": version.version,
        "hash": version.text_hash,
        "text": version.text,
        "last_unix_ns": version.last_ns,
        "layers": {
            layer.value: {
                "passed": counted.passed,
                "failed": counted.failed,
                "open": counted.open,
                "errored": counted.errored,
                "skipped": counted.skipped,
            }
            for layer, counted in version.verdicts.items()
        },
    }


def _build_table(versions: list[PromptVersion]) -> Table:
    """Return a row per version that fits 80 columns: the names are folded, dates and counts are not."""
    table = build_listing("agent", "version", "last run", *(SHORT_NAMES[layer] for layer in Layer))
    for column in table.columns[2:]:
        column.no_wrap = True
    for version in versions:
        last = format_time(version.last_ns, "%Y-%m-%d") if version.last_ns else ""
        rates = (_format_rate(version.verdicts.get(layer)) for layer in Layer)
        table.add_row(format_line(version.agent), format_line(version.version), last, *rates)
    return table


def _format_rate(counted: FailRate | None) -> str:
    """Return how many of the judged failed, with what is open on a line below it."""
    if counted is None or not (counted.judged or counted.open):
        return ""
    judged = f"{counted.failed} of {counted.judged}" if counted.judged else "0 judged"
    if counted.open:
        return f"{judged}\n{counted.open} open"
    return judged
