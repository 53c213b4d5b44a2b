"""`spanproof policy init`: a policy from the traces of a team's own agents.

In: a store, or a folder of traces, and how many days of it. Out: a policy file with comments, and the runs
that it would have failed. The same traces give the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import yaml

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.input.trace_files import read_traces
from spanproof.cli.options.store import DEFAULT_STORE, opened_store
from spanproof.cli.output.console import console, select_attributes, write_json, write_problem, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.policy_proposal import (
    FailedRun,
    LeftOut,
    ObservedRun,
    Proposal,
    ProposedValue,
    build_proposal,
    list_evaluation_runs,
    list_trace_runs,
)
from spanproof.sandbox.presets import DEFAULT_PRESET, PRESET_NAMES
from spanproof.store import Store

_DAY_NS = 86_400 * 10**9
_MOST_TRACES = 1_000_000
_BATCH = 128
_SUFFIXES = frozenset({".json", ".jsonl", ".pb", ".parquet"})

# Runs and uses that are listed one by one, on the terminal and in the file.
_SHOWN = 20

# Keys that add to the preset's values; the others replace them.
_ADDED = ("read_roots", "write_roots")


@click.command("init")
@click.option(
    "--from",
    "origin",
    default=DEFAULT_STORE,
    show_default=True,
    envvar="SPANPROOF_STORE",
    show_envvar=True,
    metavar="FOLDER|STORE",
    help="A store (directory or DSN), or a folder or file of traces as `spanproof eval` reads them.",
)
@click.option(
    "--days",
    default=7,
    show_default=True,
    type=click.IntRange(1, 36_500),
    help="Read this many days, up to the newest run.",
)
@click.option(
    "--preset",
    default=DEFAULT_PRESET,
    show_default=True,
    type=click.Choice(PRESET_NAMES),
    help="Preset that the policy extends: its keys apply where the runs show nothing.",
)
@click.option("--agent", help="Only runs of this agent.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("policy.yaml"),
    show_default=True,
    help="The file to write.",
)
@click.option("--replace", is_flag=True, help="Overwrite the file if it differs.")
@click.option(
    "--console-url", default="", metavar="URL", help="Address of the console, for links to failed runs."
)
@click.option("--json", "as_json", is_flag=True, help="Write the proposal as JSON.")
def command(
    origin: str,
    days: int,
    preset: str,
    agent: str | None,
    out: Path,
    replace: bool,
    console_url: str,
    as_json: bool,
) -> int:
    """Propose a policy from what your own agents did.

    The policy allows what the runs use, and denies the rest. Code that no policy can allow is ignored. No
    code runs. The same traces give the same file.
    """
    runs = [run for run in _read_runs(origin, days) if agent is None or run.agent == agent]
    if not any(run.snippets for run in runs):
        raise UsageProblem(
            f"{origin} holds no run with code that ran",
            "name another store or folder with --from, or more --days",
        )
    proposal = build_proposal(runs, preset)
    text = format_policy(proposal, days)
    _write_file(out, text, replace=replace)
    if as_json:
        write_json(_to_json(proposal, out, console_url))
    else:
        _write_summary(proposal, out, console_url)
    return EXIT_PASS


def _read_runs(origin: str, days: int) -> list[ObservedRun]:
    """Return the runs of the last days up to the newest one.

    Raises:
        UsageProblem: there are no traces at this place.
    """
    path = Path(origin)
    if "://" in origin or (path / "data").is_dir():
        with opened_store(origin) as store:
            return _read_store(store, days)
    if not path.exists():
        raise UsageProblem(
            f"there is neither a store nor a folder at {origin}",
            "name one with --from; `spanproof serve` prints where its store is",
        )
    if path.is_file():
        files = [path]
    else:
        files = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES)
    runs: list[ObservedRun] = []
    for file in files:
        traces, problems = read_traces(file)
        if problems:
            # A folder may hold long files of something else.
            write_problem(problems[0])
            if len(problems) > 1:
                write_remark(f"  and {format_count(len(problems) - 1, 'more problem')} in {file}")
        runs += [run for trace in traces for run in list_trace_runs(trace)]
    newest_ns = max((run.start_ns for run in runs), default=0)
    return [run for run in runs if run.start_ns > newest_ns - days * _DAY_NS]


def _read_store(store: Store, days: int) -> list[ObservedRun]:
    newest = store.traces(limit=1)
    if not newest:
        return []
    ids = store.trace_ids(limit=_MOST_TRACES, since_ns=max(0, newest[0].start_ns - days * _DAY_NS))
    return [
        run
        for first in range(0, len(ids), _BATCH)
        for evaluation in store.evaluations(ids[first : first + _BATCH])
        for run in list_evaluation_runs(evaluation)
    ]


def _write_file(out: Path, text: str, *, replace: bool) -> None:
    """Write the file; raises UsageProblem where it holds something else."""
    if out.exists():
        before = out.read_text(encoding="utf-8", errors="replace")
    else:
        before = None
    if before == text:
        write_remark(f"{out} is as it was")
        return
    if before is not None and not replace:
        raise UsageProblem(
            f"{out} holds another policy", "name another file with --out, or write over it with --replace"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    write_remark(f"wrote {out}")


def format_policy(proposal: Proposal, days: int) -> str:
    """Return the policy file of a proposal, with comments."""
    seen = f"{format_count(proposal.runs, 'run')} of {format_count(days, 'day')}"
    lines = [
        f"# Proposed by `spanproof policy init` from {seen}.",
        f"# {_describe_use(proposal)}",
        *_build_failed_lines(proposal.failed),
        f"extends: {proposal.preset}",
        "name: proposed",
    ]
    for key in proposal.stated:
        values = proposal.list_values(key)
        lines += [f"{key}:", *_build_value_lines(values)] if values else [f"{key}: []"]
    added = [key for key in _ADDED if proposal.list_values(key)]
    if added:
        lines.append("add:")
    for key in added:
        lines += [f"  {key}:", *_build_value_lines(proposal.list_values(key), "  ")]
    if proposal.removed:
        lines += ["remove:", "  denied_modules:", *_build_value_lines(proposal.removed, "  ")]
    lines += _build_left_out_lines(proposal.left_out)
    return "\n".join(lines) + "\n"


def _build_value_lines(values: Sequence[ProposedValue], indent: str = "") -> list[str]:
    return [
        f"{indent}  - {format_yaml_value(one.value, one.key)}  # {format_count(one.runs, 'run')}"
        for one in values
    ]


def format_yaml_value(value: str, key: str = "") -> str:
    """Return a value as one line of YAML."""
    if key == "ports":
        return value
    return yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=False).splitlines()[0]


def _build_failed_lines(failed: Sequence[FailedRun]) -> list[str]:
    if not failed:
        return ["# It would have failed none of these runs."]
    lines = [f"# It would have failed {format_count(len(failed), 'run')} of them:"]
    lines += [
        f"#   {one.trace_id} ({format_line(one.agent)}): {format_line(one.reason)}" for one in failed[:_SHOWN]
    ]
    if len(failed) > _SHOWN:
        lines.append(f"#   and {len(failed) - _SHOWN} more")
    return lines


def _build_left_out_lines(left_out: Sequence[LeftOut]) -> list[str]:
    if not left_out:
        return []
    lines = ["# Used, and not allowed: add what is meant."]
    for one in left_out[:_SHOWN]:
        used = f"{format_count(one.runs, 'run')}, such as {one.trace_id}"
        lines.append(f"#   {one.kind.value} {format_line(one.value)}  {one.reason} ({used})")
    return lines


def _describe_use(proposal: Proposal) -> str:
    """Return how much the agents use, in a sentence."""
    hosts = format_count(len(proposal.list_values("hosts")), "host")
    commands = format_count(len(proposal.list_values("allowed_commands")), "command")
    return f"Your agents use {hosts} and {commands}; the policy denies the rest."


def _write_summary(proposal: Proposal, out: Path, console_url: str) -> None:
    console.print(_describe_use(proposal), soft_wrap=True, markup=False)
    runs = format_count(proposal.runs, "run")
    if not proposal.failed:
        console.print(f"{out} would have failed none of {runs}.", soft_wrap=True)
        return
    console.print(f"{out} would have failed {len(proposal.failed)} of {runs}:", soft_wrap=True)
    for one in proposal.failed[:_SHOWN]:
        where = _format_link(one, console_url) or one.trace_id
        line = f"  {where}  {format_line(one.agent)}: {format_line(one.reason)}"
        console.print(line, soft_wrap=True, markup=False)
    if len(proposal.failed) > _SHOWN:
        console.print(f"  and {len(proposal.failed) - _SHOWN} more; --json lists all")
    if not console_url:
        console.print("`spanproof show ID` shows one of them.", markup=False)


def _format_link(failed: FailedRun, console_url: str) -> str:
    if console_url:
        return f"{console_url.rstrip('/')}/traces/{failed.trace_id}"
    return ""


def _to_json(proposal: Proposal, out: Path, console_url: str) -> dict[str, object]:
    keys = dict.fromkeys([*proposal.stated, *(value.key for value in proposal.values)])
    proposed = {key: _to_value_rows(proposal.list_values(key)) for key in keys}
    left_out = [select_attributes(one, "kind value runs reason trace_id") for one in proposal.left_out]
    would_fail = [
        {
            "trace_id": one.trace_id,
            "run": one.span_id,
            "agent": one.agent,
            "reason": one.reason,
            "url": _format_link(one, console_url) or None,
        }
        for one in proposal.failed
    ]
    return {
        "file": str(out),
        "preset": proposal.preset,
        "runs": proposal.runs,
        "proposed": proposed,
        "removed": {"denied_modules": _to_value_rows(proposal.removed)},
        "left_out": left_out,
        "would_fail": would_fail,
    }


def _to_value_rows(values: Iterable[ProposedValue]) -> list[dict[str, object]]:
    return [select_attributes(one, "value runs") for one in values]
