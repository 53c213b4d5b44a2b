"""`spanproof failures`: the few causes behind many failed runs, and what is done about each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.jsonl import BadRow, Row, check_jsonl, handle_lines, jsonl_option
from spanproof.cli.options.cluster import get_cluster
from spanproof.cli.options.cohort import with_by_option, with_where_option
from spanproof.cli.options.config import with_config_options
from spanproof.cli.options.store import (
    get_location,
    get_run,
    get_trace,
    opened_store,
    parse_span,
    store_option,
    with_limit_option,
)
from spanproof.cli.output.console import console, select_attributes, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing, build_pairs
from spanproof.cli.output.words import format_count, format_time
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.failures import (
    ClusterState,
    Rating,
    Signature,
    build_explanation,
    build_signature,
    list_ratings,
    read_raised,
)
from spanproof.failures import group_signatures as assign_clusters
from spanproof.store import CohortShare, FailingRun, FailureCluster, Store, TriageAction
from spanproof.trace import Layer

_STYLES = {
    ClusterState.OPEN: "bold red",
    ClusterState.REGRESSED: "bold red",
    ClusterState.ACKNOWLEDGED: "yellow",
    ClusterState.RESOLVED: "green",
}
_ACTIVE = (ClusterState.OPEN, ClusterState.REGRESSED, ClusterState.ACKNOWLEDGED)
# Dimensions that `show` gives the shares of, where the runs differ in them.
_SHARED_BY = ("agent", "model", "prompt_version", "release", "executor")

_since_option = click.option(
    "--since", default="7d", show_default=True, help="Length of the window that ends now: 90s, 15m, 24h, 7d."
)
_json_option = click.option("--json", "as_json", is_flag=True, help="One JSON line per cluster on stdout.")


@click.group("failures")
def command() -> None:
    """The few causes behind many failed runs."""


@command.command("list")
@_since_option
@with_where_option
@click.option(
    "--state",
    multiple=True,
    type=click.Choice([state.value for state in ClusterState]),
    help="Only clusters in this state.",
)
@click.option("--all", "every", is_flag=True, help="List resolved clusters, too.")
@click.option("--new", is_flag=True, help="Only clusters whose first failure is in the newest release.")
@with_limit_option(30, "List at most this many clusters.")
@store_option
@_json_option
def list_(
    since: str,
    cohort: dict[str, str],
    state: tuple[str, ...],
    every: bool,
    new: bool,
    limit: int,
    location: str,
    as_json: bool,
) -> int:
    """List clusters of failures, those with most runs first."""
    if state and every:
        raise UsageProblem("--state is given with --all", "Name the states, or list all.")
    if state:
        states = {ClusterState(name) for name in state}
    elif every:
        states = set(ClusterState)
    else:
        states = set(_ACTIVE)
    start_ns, end_ns = _parse_window(since)
    with opened_store(location) as store:
        found = store.failure_clusters(start_ns=start_ns, end_ns=end_ns, cohort=cohort)
    chosen = [cluster for cluster in found if cluster.state in states and (cluster.new_since or not new)]
    if as_json:
        for cluster in chosen[:limit]:
            write_json(_to_cluster_row(cluster))
    elif chosen:
        console.print(_build_table(chosen[:limit]))
        if len(chosen) > limit:
            write_remark(f"{format_count(len(chosen) - limit, 'more cluster')}; raise --limit")
    else:
        if found:
            hidden = f"; {format_count(len(found), 'cluster')} in other states"
        else:
            hidden = ""
        write_remark(f"no cluster of failures in the last {since}{hidden}")
    return EXIT_PASS


@command.command("show")
@click.argument("cluster")
@_since_option
@with_by_option("Show shares by this dimension; may be given several times.")
@with_limit_option(5, "Show at most this many runs.")
@store_option
@_json_option
def show(cluster: str, since: str, by: tuple[str, ...], limit: int, location: str, as_json: bool) -> int:
    """Show one cluster: cause, fix, affected cohorts, and runs that represent it.

    CLUSTER is its id or the start of it.
    """
    start_ns, end_ns = _parse_window(since)
    with opened_store(location) as store:
        found = get_cluster(store, cluster, start_ns, end_ns)
        shares = {
            name: store.failure_shares(found, name, start_ns=start_ns, end_ns=end_ns)
            for name in by or _SHARED_BY
        }
        runs = store.failing_runs(found, limit=limit)
    if not by:
        shares = {name: values for name, values in shares.items() if any(share.value for share in values)}
    if as_json:
        row = _to_cluster_row(found)
        row["shares"] = {name: [_to_share_row(share) for share in values] for name, values in shares.items()}
        row["runs_shown"] = [_to_run_row(run) for run in runs]
        write_json(row)
    else:
        _write_cluster(found, shares, runs, since)
    return EXIT_PASS


@command.command("tickets")
@with_config_options
@store_option
@_json_option
def sync(config: Config, location: str, as_json: bool) -> int:
    """Bring the tickets of clusters up to date.

    A cluster is one ticket at the trackers of `tickets.notify`: opened, updated, and closed when a release
    is free of it or a person resolved it. The server does the same every `tickets.every_s`. Exit code
    1 if a tracker refused.
    """
    from spanproof.alerts.notifiers import build_notifier
    from spanproof.alerts.tickets import run_ticket_updates

    settings = config.tickets
    if not settings.notify:
        raise UsageProblem(
            "failures tickets: no tracker is configured", "Add one to `tickets.notify` of the configuration."
        )
    notifiers = {target.label: build_notifier(target) for target in settings.notify}
    now_ns, url = time.time_ns(), config.console.public_url
    with opened_store(get_location(location, config)) as store:
        results = list(run_ticket_updates(store, settings, notifiers, now_ns, console_url=url))
    for result in results:
        if as_json:
            write_json(select_attributes(result, "cluster target status summary error"))
            continue
        if result.error:
            became = f"not delivered: {result.error}"
        else:
            became = result.status.value
        console.print(format_line(f"{result.cluster}  {result.target}  {became}  {result.summary}"))
    if not results:
        write_remark("no cluster has enough runs for a ticket")
    if not any(result.error for result in results):
        return EXIT_PASS
    return EXIT_GATE_FAILED


@command.command("advise")
@with_config_options
@_since_option
@store_option
@_json_option
def advise(config: Config, since: str, location: str, as_json: bool) -> int:
    """Query the judge about clusters that no rule explains, once each.

    The server does the same every 15 min. Exit code 1 if the judge gave no usable reply.
    """
    from spanproof.collector.cluster_advice import MIN_RUNS, ClusterAdvising
    from spanproof.config.added_evaluators import find_judge

    judge = find_judge(config.judge)
    if judge is None:
        raise UsageProblem("no judge is configured", "--set judge.model=gpt-4.1-mini-2025-04-14")
    start_ns, end_ns = _parse_window(since)
    results = []
    with opened_store(get_location(location, config), writing=True) as store:
        clusters = store.failure_clusters(start_ns=start_ns, end_ns=end_ns)
        for result in ClusterAdvising(store, judge).iter_advice(clusters):
            results.append(result)
            if as_json:
                write_json(select_attributes(result, "cluster name fix error") | {"judge_model": judge.model})
                continue
            outcome = result.error or result.fix or "the judge has no fix"
            console.print(format_line(f"{result.cluster}  {result.name}: {outcome}"), soft_wrap=True)
    if not results:
        write_remark(
            f"no cluster of {MIN_RUNS} runs or more in the last {since} waits for advice of the judge"
        )
    if not any(result.error for result in results):
        return EXIT_PASS
    return EXIT_GATE_FAILED


@command.command("rate")
@click.argument("trace")
@click.option("--run", help="The run: the start of its span id, or its name.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The rating as JSON on stdout.")
def rate(trace: str, run: str | None, location: str, as_json: bool) -> int:
    """Rate a run from 1 to 5 in four dimensions, with the scores each rests on.

    TRACE is its id or the start of it.
    """
    with opened_store(location) as store:
        ratings = list_ratings(get_run(get_trace(store, trace), run).scores)
    if as_json:
        write_json({rating.dimension.id: _to_rating_row(rating) for rating in ratings})
        return EXIT_PASS
    grid = build_pairs(3)
    for rating in ratings:
        value = "–" if rating.value is None else f"{rating.value:.1f}"
        scores = ", ".join(f"{name} {share:.2f}" for name, share in rating.rests_on) or "no score is known"
        if rating.capped_by:
            failed = f"; at most 2: {', '.join(rating.capped_by)} failed"
        else:
            failed = ""
        if rating.value is None:
            style = "dim"
        elif rating.value <= 2:
            style = "bold red"
        else:
            style = "bold"
        grid.add_row(rating.dimension.name, Text(value, style=style), Text(scores + failed, style="dim"))
    console.print(grid)
    return EXIT_PASS


@command.command("cluster")
@jsonl_option
def cluster_lines(jsonl: bool) -> int:
    """Cluster errors without a store.

    A line of input is `{"stderr": …}` or `{"error_type": …, "message": …}`, with `tool` if a tool raised the
    error. A line of output has the cluster, its name, suspected cause, fix and kind. Earlier lines decide
    which clusters there are.
    """
    check_jsonl("failures cluster", jsonl=jsonl)
    seen: dict[str, Signature] = {}

    def handle(row: Row) -> Row:
        signature = _build_signature(row)
        seen.setdefault(signature.fingerprint, signature)
        cluster_id = assign_clusters(seen)[signature.fingerprint]
        return {
            "cluster": cluster_id,
            "fingerprint": signature.fingerprint,
            **_to_explanation_row(seen[cluster_id]),
        }

    return handle_lines(handle)


def _build_signature(row: Row) -> Signature:
    texts = {name: row.get(name, "") for name in ("stderr", "error_type", "message", "tool")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadRow(f"{name}: expected a string")
    if not any(texts[name].strip() for name in ("stderr", "error_type", "message")):
        raise BadRow("stderr: expected an error's text, or error_type and message")
    raised = read_raised(texts["stderr"] or texts["message"], texts["error_type"] or None)
    return build_signature(
        Layer.EXECUTION,
        "call" if texts["tool"] else "outcome",
        failure_class="exception",
        error_type=raised.error_type,
        message=raised.message,
        subject=texts["tool"],
        package=raised.package,
    )


def _add_decision_command(name: str, meaning: str, state: ClusterState) -> None:
    """Add a command that sets the state of some clusters."""

    @command.command(name, help=f"{meaning}\n\nCLUSTERS are ids or their starts.", short_help=meaning)
    @click.argument("clusters", nargs=-1, required=True)
    @click.option("--note", default="", help="Note for those who read it later.")
    @store_option
    @_json_option
    def decide(clusters: tuple[str, ...], note: str, location: str, as_json: bool) -> int:
        with opened_store(location, writing=True) as store:
            found = [get_cluster(store, name) for name in clusters]
            for cluster in found:
                store.triage(cluster.id, TriageAction.STATE, state.value, note)
            _write_clusters(store, [cluster.id for cluster in found], as_json=as_json)
        return EXIT_PASS


_add_decision_command("ack", "Acknowledge clusters: someone works on them.", ClusterState.ACKNOWLEDGED)
_add_decision_command(
    "resolve", "Resolve clusters; one that occurs again has regressed.", ClusterState.RESOLVED
)
_add_decision_command("reopen", "Open clusters again.", ClusterState.OPEN)


@command.command("merge")
@click.argument("clusters", nargs=-1, required=True)
@click.option("--into", required=True, help="The cluster to merge them into.")
@store_option
@_json_option
def merge(clusters: tuple[str, ...], into: str, location: str, as_json: bool) -> int:
    """Make clusters part of another one.

    CLUSTERS are ids or their starts.
    """
    with opened_store(location, writing=True) as store:
        target = get_cluster(store, into)
        found = [get_cluster(store, name) for name in clusters]
        if any(cluster.id == target.id for cluster in found):
            raise UsageProblem(f"{target.id} is the cluster of --into", "Name two different clusters.")
        for cluster in found:
            store.triage(cluster.id, TriageAction.MOVE, target.id)
        _write_clusters(store, [target.id], as_json=as_json)
    return EXIT_PASS


@command.command("split")
@click.argument("fingerprints", nargs=-1, required=True)
@store_option
@_json_option
def split(fingerprints: tuple[str, ...], location: str, as_json: bool) -> int:
    """Make fingerprints clusters of their own again.

    Give each fingerprint in full, as `show --json` lists it.
    """
    with opened_store(location, writing=True) as store:
        for fingerprint in fingerprints:
            found = get_cluster(store, fingerprint)
            if fingerprint not in found.fingerprints or found.id == fingerprint:
                raise UsageProblem(
                    f"{fingerprint!r} is no part of a larger cluster",
                    f"`spanproof failures show {found.id} --json` lists the fingerprints of a cluster.",
                )
            store.triage(fingerprint, TriageAction.MOVE, fingerprint)
        _write_clusters(store, fingerprints, as_json=as_json)
    return EXIT_PASS


@command.command("name")
@click.argument("cluster")
@click.argument("name")
@store_option
@_json_option
def name_(cluster: str, name: str, location: str, as_json: bool) -> int:
    """Give a cluster another name; an empty name restores its own."""
    return _run_triage(cluster, TriageAction.NAME, name.strip(), location, as_json=as_json)


@command.command("link")
@click.argument("cluster")
@click.argument("url")
@store_option
@_json_option
def link(cluster: str, url: str, location: str, as_json: bool) -> int:
    """Link a cluster to an issue of a tracker; an empty URL removes the link."""
    if url and not url.startswith(("https://", "http://")):
        raise UsageProblem(f"{url!r} is no address of a page", "Write https://…")
    return _run_triage(cluster, TriageAction.LINK, url, location, as_json=as_json)


def _run_triage(cluster: str, action: TriageAction, value: str, location: str, *, as_json: bool) -> int:
    with opened_store(location, writing=True) as store:
        found = get_cluster(store, cluster)
        store.triage(found.id, action, value)
        _write_clusters(store, [found.id], as_json=as_json)
    return EXIT_PASS


def _write_clusters(store: Store, ids: Sequence[str], *, as_json: bool) -> None:
    """Print clusters as they are after a decision."""
    for cluster_id in ids:
        found = get_cluster(store, cluster_id)
        if as_json:
            write_json(_to_cluster_row(found))
        else:
            console.print(_format_headline(found), soft_wrap=True)


def _format_headline(found: FailureCluster) -> Text:
    head = Text.assemble((found.id, "bold"), "  ", (found.state.value, _STYLES[found.state]), "  ")
    return head.append_text(format_line(found.name))


def _parse_window(since: str) -> tuple[int, int]:
    end_ns = time.time_ns() + 1
    return max(0, end_ns - parse_span("--since", since)), end_ns


def _build_table(clusters: Sequence[FailureCluster]) -> Table:
    table = build_listing("id", "runs", "before", "last seen", "state", "failure", right=("runs", "before"))
    for cluster in clusters:
        name = format_line(cluster.name)
        if cluster.new_since:
            name.append("  ").append_text(format_line(f"new in {cluster.new_since}", style="bold yellow"))
        table.add_row(
            cluster.id,
            f"{cluster.runs:,}",
            f"{cluster.runs_before:,}",
            format_time(cluster.last_seen_ns, "%m-%d %H:%M"),
            Text(cluster.state.value, style=_STYLES[cluster.state]),
            name,
        )
    return table


def _write_cluster(
    found: FailureCluster,
    shares: dict[str, list[CohortShare]],
    runs: Sequence[FailingRun],
    since: str,
) -> None:
    explanation = found.explanation
    console.print(_format_headline(found), soft_wrap=True)
    grid = build_pairs()
    if explanation.kind is not None:
        grid.add_row("  kind", f"{explanation.kind.category}: {explanation.kind.name}")
    if explanation.cause:
        grid.add_row("  suspected cause", explanation.cause)
        grid.add_row("  suggested fix", explanation.fix)
    elif found.judge_fix:
        fix = f"by the judge {found.judge_model}, not by a rule: {found.judge_fix}"
        grid.add_row("  suggested fix", format_line(fix))
    else:
        grid.add_row("  suggested fix", "no advice yet: read the runs below")
    counted = f"{format_count(found.runs, 'run')} in the last {since}, {found.runs_before:,} before"
    grid.add_row("  seen", counted)
    grid.add_row("  first, last", f"{format_time(found.first_seen_ns)}, {format_time(found.last_seen_ns)}")
    if found.new_since:
        grid.add_row("  new since", format_line(found.new_since))
    if found.note:
        grid.add_row("  note", format_line(found.note))
    if found.link:
        grid.add_row("  link", format_line(found.link))
    for dimension, values in shares.items():
        for at, share in enumerate(values):
            label = f"  by {dimension.replace('_', ' ')}" if at == 0 else ""
            grid.add_row(label, _format_share(share))
    for at, run in enumerate(runs):
        line = Text(f"{run.trace_id[:16]}  {format_time(run.failed_ns)}  ")
        grid.add_row("  runs" if at == 0 else "", line.append_text(format_line(run.sample)))
    console.print(grid)


def _format_share(share: CohortShare) -> Text:
    text = format_line(share.value or "(none)")
    interval = compute_wilson_interval(share.failing, share.runs)
    assert interval is not None, "a cohort with a failing run has a run"
    rate = share.failing / share.runs
    return text.append(f": {share.failing:,} of {format_count(share.runs, 'run')}, {rate:.1%} ({interval})")


def _to_cluster_row(found: FailureCluster) -> dict[str, Any]:
    return {
        **_to_explanation_row(found.signature),
        **select_attributes(found, "id name state note link judge_fix judge_model runs runs_before"),
        "first_seen_unix_ns": found.first_seen_ns,
        "last_seen_unix_ns": found.last_seen_ns,
        "new_since": found.new_since or None,
        "fingerprints": list(found.fingerprints),
        **select_attributes(found.signature, "layer check failure_class error_type message subject package"),
    }


def _to_explanation_row(signature: Signature) -> dict[str, Any]:
    explanation = build_explanation(signature)
    kind, category = None, None
    if explanation.kind is not None:
        kind, category = explanation.kind.id, explanation.kind.category
    return {
        "name": explanation.name,
        "cause": explanation.cause or None,
        "fix": explanation.fix or None,
        "kind": kind,
        "category": category,
    }


def _to_share_row(share: CohortShare) -> dict[str, Any]:
    interval = compute_wilson_interval(share.failing, share.runs)
    return {
        **select_attributes(share, "value failing runs"),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def _to_run_row(run: FailingRun) -> dict[str, Any]:
    return {
        **select_attributes(run, "trace_id run_span_id span_id fingerprint sample agent model release"),
        "failed_unix_ns": run.failed_ns,
    }


def _to_rating_row(rating: Rating) -> dict[str, Any]:
    return {
        "value": rating.value,
        "rests_on": dict(rating.rests_on),
        "capped_by": list(rating.capped_by),
    }
