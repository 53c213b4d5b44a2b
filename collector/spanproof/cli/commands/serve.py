"""`spanproof serve`: the collector as a long-running service.

Comes in: a configuration. Goes out: where it listens, on stdout; everything it does, as log lines on stderr.
It ends on SIGTERM or SIGINT once everything it acknowledged is evaluated and stored, or safe in its log.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import click

from spanproof.alerts.engine import AlertEngine
from spanproof.alerts.rules import AlertRule
from spanproof.cli import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.commands.config import config_option, read_config, set_option
from spanproof.cli.console import UsageProblem, console, print_json
from spanproof.collector.receive.server import Endpoints, PortTaken
from spanproof.collector.service import Collector
from spanproof.collector.telemetry import JsonLines
from spanproof.collector.ticker import Watcher
from spanproof.collector.wal.log import WalInUse
from spanproof.config.model import Config
from spanproof.evaluators.custom import EvaluatorError
from spanproof.evaluators.judge import JudgeError
from spanproof.sandbox.errors import BadFixture, PolicyError
from spanproof.store import Store, StoreError

_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_CHATTY = ("httpx", "httpx2")
"""They tell every request, which for a judge is a line per question."""


@click.command()
@config_option
@set_option
@click.option("--json", "as_json", is_flag=True, help="Say where it listens as one JSON object.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="The least that is worth a line on stderr.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How log lines are written.",
)
def command(
    file: Path | None, settings: tuple[str, ...], as_json: bool, log_level: str, log_format: str
) -> int:
    """Run the collector: OTLP in, scores out.

    Stops gracefully on SIGTERM and SIGINT: exit code 0 once everything acknowledged is stored, else 2.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if log_format == "json" else logging.Formatter(_LOG_FORMAT))
    logging.basicConfig(level=log_level.upper(), handlers=[handler])
    if log_level != "debug":
        for client in _CHATTY:
            logging.getLogger(client).setLevel(logging.WARNING)
    config = read_config(file, settings)
    collector = collector_for(config)
    try:
        drained = collector.run_forever(lambda endpoints: _say_where(endpoints, collector, as_json))
    except (
        PortTaken,
        WalInUse,
        PolicyError,
        BadFixture,
        JudgeError,
        EvaluatorError,
        StoreError,
        OSError,
    ) as problem:
        raise _cannot_start(problem) from problem
    return EXIT_PASS if drained else EXIT_MISUSE


def collector_for(config: Config) -> Collector:
    """A collector with the configuration's alert rules hung in."""
    rules = [AlertRule.model_validate(rule) for rule in config.alerts]

    def watch(store: Store) -> Watcher:
        alerts = AlertEngine(rules, store)
        return lambda: alerts.tick(time.time_ns())

    return Collector(config, watch=[watch] if rules else [])


def _cannot_start(problem: Exception) -> UsageProblem:
    what = str(problem)
    remedy = "see wal.directory, store.location and receivers.*.host; `spanproof config show` prints them"
    if isinstance(problem, OSError) and problem.strerror:
        what = f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    match problem:
        case PortTaken():
            remedy = "free the port, or set another: --set receivers.grpc.port=…, receivers.http.port=…"
        case WalInUse():
            remedy = "stop the collector that uses it, or set another: --set wal.directory=…"
        case StoreError():
            remedy = "set another place for it: --set store.location=…"
        case PolicyError():
            remedy = "docs/policy.md lists every key"
        case BadFixture():
            remedy = "docs/replay.md shows a file of fixtures"
        case EvaluatorError():
            remedy = "mend it, or uninstall the package that brings it; docs/evaluators.md shows the form"
        case JudgeError():
            remedy = "docs/judge.md says how to set up a judge"
    return UsageProblem(f"the collector cannot start: {what}", remedy)


def _say_where(endpoints: Endpoints, collector: Collector, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "grpc": endpoints.grpc,
                "http": endpoints.http,
                "moved": list(endpoints.moved),
                "store": collector.store.name,
            }
        )
        return
    for sentence in endpoints.moved:
        console.print(f"[yellow]{sentence}[/]")
    if endpoints.grpc:
        console.print(f"OTLP over gRPC  {endpoints.grpc}")
    if endpoints.http:
        console.print(f"OTLP over HTTP  {endpoints.http}/v1/traces  (also /healthz, /metrics)")
    console.print(f"store           {collector.store.name}")
    console.print("Ctrl-C stops it once everything received is evaluated.", style="dim")
