"""`spanproof serve`: the collector as a long-running service.

Comes in: a configuration. Goes out: where it listens, on stdout; everything it does, as log lines on stderr.
It ends on SIGTERM or SIGINT once everything it acknowledged is evaluated and stored, or safe in its log.
"""

from __future__ import annotations

import logging
import re
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click
from pydantic import SecretStr

from spanproof.alerts.engine import AlertEngine
from spanproof.alerts.notifiers import build_notifier
from spanproof.alerts.tickets import TicketUpdater
from spanproof.api import ConsoleServer, ConsoleSettings, TokenHolders
from spanproof.api.server import open_console_socket, update_garbage_thresholds
from spanproof.cli.exit_codes import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.options.config import with_config_options
from spanproof.cli.output.console import console, select_attributes, write_json, write_remark
from spanproof.cli.problems import UsageProblem, find_problem
from spanproof.collector.cluster_advice import ADVICE_EVERY_S, ClusterAdvising
from spanproof.collector.judge_measuring import JudgeMeasuring
from spanproof.collector.periodic import PeriodicTask
from spanproof.collector.receive.server import Endpoints
from spanproof.collector.roles import NODES, Role, find_lack
from spanproof.collector.service import Collector
from spanproof.collector.stages.shared_starts import build_shared_judge, get_judge_directory
from spanproof.collector.telemetry import JsonLines
from spanproof.collector.ticker import Watcher
from spanproof.config.added_evaluators import find_judge
from spanproof.config.engine import build_engine
from spanproof.config.model import Config
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.presets import PRESET_NAMES
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store

_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_SALT = re.compile(r"""(fingerprint_salt['"]?\s*:\s*)[^\n,}]+""")
# They log every request, which for a judge is a line per question.
_CHATTY = ("httpx", "httpx2")


@click.command()
@with_config_options
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.ALL.value,
    show_default=True,
    help="What this process does where a collector runs as several processes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print where it listens as one JSON object.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="Write log lines from this severity on to stderr.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How log lines are written.",
)
def command(config: Config, role: str, as_json: bool, log_level: str, log_format: str) -> int:
    """Run the collector: OTLP in, scores out.

    SIGTERM or Ctrl-C stops it. Exit code 0 if everything that it acknowledged is stored, otherwise 2.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if log_format == "json" else logging.Formatter(_LOG_FORMAT))
    logging.basicConfig(level=log_level.upper(), handlers=[handler])
    if log_level != "debug":
        for client in _CHATTY:
            logging.getLogger(client).setLevel(logging.WARNING)
    if lacking := find_lack(config, Role(role)):
        raise UsageProblem(
            lacking, "https://github.com/spanproof/spanproof/blob/main/docs/scale.md shows each role."
        )
    with ExitStack() as stack:
        # Before anything is started: a port that is taken is one error, with nothing to undo.
        bound = None
        if config.console.enabled and role in (Role.ALL, Role.CONSOLE):
            bound = stack.enter_context(_open_console_socket(config))
        if not as_json:
            write_remark("Spanproof is starting; the addresses follow.")
        collector = build_collector(config, Role(role))

        def on_ready(endpoints: Endpoints) -> None:
            url = None
            if bound is not None:
                server = _build_console_server(config, collector, endpoints, bound)
                url = stack.enter_context(server).url
                endpoints = _build_moved_endpoints(endpoints, config, bound)
            _write_endpoints(endpoints, config, url, as_json)
            update_garbage_thresholds()

        return _run_collector(collector, on_ready)


def _run_collector(collector: Collector, on_ready: Callable[[Endpoints], None]) -> int:
    try:
        drained = collector.run_forever(on_ready)
    except Exception as problem:
        expected = find_problem(problem)
        if expected is None:
            raise
        raise UsageProblem(f"the collector cannot start: {expected.what}", expected.remedy) from problem
    return EXIT_PASS if drained else EXIT_MISUSE


def _open_console_socket(config: Config) -> socket.socket:
    """Return the console's socket, which listens.

    Raises:
        UsageProblem: the port is taken and no other may be used, or the address cannot be used.
    """
    where = config.console
    # Links to traces name a port that somebody chose: there it is kept, or nothing starts.
    is_chosen = "port" in where.model_fields_set
    fall_back = config.receivers.fallback_port and not is_chosen
    try:
        return open_console_socket(where.host, where.port, fall_back=fall_back)
    except OSError as problem:
        raise UsageProblem(
            f"the console {problem.strerror or problem}",
            "Set console.port to another port, or console.enabled to false.",
        ) from problem


def _build_moved_endpoints(endpoints: Endpoints, config: Config, bound: socket.socket) -> Endpoints:
    """Return the endpoints with a sentence where the console's port was taken."""
    wanted, port = config.console.port, bound.getsockname()[1]
    if wanted in (0, port):
        return endpoints
    sentence = f"console: port {wanted} is taken, listening on {port} instead"
    return replace(endpoints, moved=(*endpoints.moved, sentence))


def _build_console_server(
    config: Config, collector: Collector, endpoints: Endpoints, bound: socket.socket
) -> ConsoleServer:
    """Return the server of the collector's console."""
    where = config.console
    holders = TokenHolders(config)
    policy = _read_policy(config.policy) if config.policy else ""
    settings = ConsoleSettings(
        tokens=_build_tokens(where.tokens),
        writers=_build_tokens(where.writers),
        accepts=holders.find_grant if config.readers_are_checked else None,
        read_grants=holders.list_grants,
        workspace=where.workspace,
        configured=config.list_settings(),
        rules=config.alerts,
        judge=config.judge,
        policy=policy,
        otlp_http=endpoints.http or "",
        otlp_grpc=endpoints.grpc or "",
        open_sandbox=lambda: open_sandbox(
            config.sandbox.backend, workers=1, settings=config.sandbox.settings
        ),
        make_engine=lambda sandbox: build_engine(config, _load_pipeline(config), sandbox),
        read_health=lambda: _read_health(collector),
    )
    return ConsoleServer(
        lambda: collector.store,
        where.host,
        where.port,
        settings,
        bound=bound,
        tls=where.tls,
        on_load=update_garbage_thresholds,
    )


def _build_tokens(secrets: Iterable[SecretStr]) -> tuple[str, ...]:
    return tuple(secret.get_secret_value() for secret in secrets)


def _load_pipeline(config: Config) -> Pipeline:
    """Return the scanners of the policy by which traces are evaluated."""
    return Pipeline(load_policy(config.policy) if config.policy else Policy())


def _read_policy(file: Path) -> str:
    """Return the text of the policy, with the salt of fingerprints masked."""
    if str(file) in PRESET_NAMES:
        return f"extends: {file}\n"
    return _SALT.sub(r'\1"masked-in-the-console"', file.read_text(encoding="utf-8"))


def _read_health(collector: Collector) -> list[tuple[str, str, float]]:
    """Return name, meaning and value of each counter and gauge, over all its labels."""
    return [
        (metric.name, metric.documentation, sum(sample.value for sample in metric.samples))
        for metric in collector.telemetry.iter_counters()
    ]


def build_collector(config: Config, role: Role = Role.ALL) -> Collector:
    """Return a collector that also evaluates the configuration's alert rules, where its role has those."""

    def watch(store: Store) -> Watcher:
        alerts = AlertEngine(
            config.alerts,
            store,
            console_url=config.console.public_url,
            on_outcome=lambda kind, outcome: collector.telemetry.notifications.labels(kind, outcome).inc(),
        )
        collector.telemetry.add_gauge(
            "spanproof_alerts_firing", "Alerts that fire.", lambda: len(alerts.firing)
        )
        collector.telemetry.add_gauge(
            "spanproof_notifications_waiting", "Notifications that wait for a target.", alerts.count_waiting
        )
        collector.telemetry.add_gauge(
            "spanproof_alert_targets_dead",
            "Targets to which no notification could be delivered for 10 min.",
            lambda: len(alerts.dead_targets),
        )
        collector.on_stop("alerts", alerts.close)
        return lambda: alerts.evaluate_rules(time.time_ns())

    def update_tickets(store: Store) -> Watcher:
        notifiers = {target.label: build_notifier(target) for target in config.tickets.notify}
        updater = TicketUpdater(store, config.tickets, notifiers, console_url=config.console.public_url)
        collector.on_stop("tickets", updater.close)
        return updater.start_due

    def advise_on_clusters(store: Store) -> Watcher:
        judge = find_judge(build_shared_judge(config))
        assert judge is not None, "a model is configured"
        advising = PeriodicTask("spanproof-advice", ADVICE_EVERY_S, ClusterAdvising(store, judge).run)
        collector.on_stop("advice", advising.close)
        return advising.start_due

    def measure_judges(store: Store) -> Watcher:
        return JudgeMeasuring(store, get_judge_directory(config), config.judge.least_precision)

    has_judge = bool(config.judge.model) or config.evaluation.groundedness_model.path is not None
    watching = [watch]
    if config.tickets.notify:
        watching.append(update_tickets)
    if config.judge.model:
        watching.append(advise_on_clusters)
    if has_judge:
        watching.append(measure_judges)
    collector = NODES[role](config, watch=watching)
    return collector


def _write_endpoints(endpoints: Endpoints, config: Config, url: str | None, as_json: bool) -> None:
    store = config.model_dump(mode="json")["store"]["location"]
    if as_json:
        write_json(select_attributes(endpoints, "grpc http moved") | {"console": url, "store": store})
        return
    for sentence in endpoints.moved:
        console.print(f"[yellow]{sentence}[/]")
    if endpoints.grpc:
        console.print(f"OTLP over gRPC  {endpoints.grpc}")
    if endpoints.http:
        console.print(f"OTLP over HTTP  {endpoints.http}/v1/traces  (also /readyz, /metrics)")
    if url:
        console.print(f"console         {url}")
    console.print(f"store           {store}")
    console.print("Ctrl-C stops it once everything received is evaluated.", style="dim")
