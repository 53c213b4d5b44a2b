"""`spanproof pull`: send the traces that a product already has to the collector, which evaluates them.

Comes in: the product and how far back. Goes out: its spans, to a collector that runs. With a sink of the same
product configured there, the scores appear on the traces in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import click
import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.cli.commands.connect import build_sink, check_keys
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.config import with_config_options
from spanproof.cli.options.store import parse_since
from spanproof.cli.output.console import build_progress, console, write_json
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.collector.receive.signals import Signal
from spanproof.collector.sinks.http import NotThere, Refused, Unavailable
from spanproof.collector.sinks.products import open_client
from spanproof.collector.sources import READABLE, UnreadableSpan, read_traces
from spanproof.collector.stages.otlp_client import Delivery, Target, open_target, send_patiently
from spanproof.config.model import Config, Forward
from spanproof.config.sinks import Sink

_RETRY_FOR_S = 300.0
_HEALTH_S = 10.0


@click.command("pull")
@click.argument("kind", metavar="PRODUCT", type=click.Choice([kind.value for kind in READABLE]))
@click.option(
    "--url", help="Base URL of the product. By default that of the configured sink, else the product's own."
)
@click.option("--project", help="Phoenix: the project; MLflow: the experiment's id. Langfuse's keys name it.")
@click.option("--since", default="7d", show_default=True, help="How far back: 90s, 15m, 24h, 7d.")
@click.option("--to", help="Base URL of the collector's HTTP port. By default that of the configuration.")
@with_config_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    kind: str, url: str | None, project: str | None, since: str, to: str | None, config: Config, as_json: bool
) -> int:
    """Evaluate the traces that a product already has.

    Reads them through its API and sends them to a running collector. What is sent again is evaluated again,
    and changes nothing.
    """
    sink = _get_sink(config, kind, url, project)
    check_keys(sink)
    since_ns = parse_since(since)
    target = _build_target(config, to)
    _check_collector(target.endpoint)
    traces: set[bytes] = set()
    spans = 0
    with (
        open_client(sink) as source,
        open_target(target) as collector,
        build_progress(as_json=as_json) as bar,
    ):
        task = bar.add_task(f"reading from {sink.kind}", total=None)
        for request in _iter_translated(read_traces(source, sink, since_ns), sink):
            _send_requests(collector, request, target)
            found = request.resource_spans[0].scope_spans[0].spans
            spans += len(found)
            traces |= {span.trace_id for span in found}
            bar.advance(task, len(found))
    if as_json:
        write_json({"kind": kind, "traces": len(traces), "spans": spans, "to": target.endpoint})
    else:
        what = f"{format_count(len(traces), 'trace')} with {format_count(spans, 'span')}"
        console.print(f"{what} sent to {target.endpoint}; `spanproof traces` lists them once evaluated")
    return EXIT_PASS


def _get_sink(config: Config, kind: str, url: str | None, project: str | None) -> Sink:
    """Return the configured sink of this kind with the options over it, else one of the options alone."""
    configured = next((sink for sink in config.sinks if sink.kind == kind), None)
    options = {"url": url, "project": project}
    chosen = {key: value for key, value in options.items() if value is not None}
    if configured is None:
        return build_sink({"kind": kind, **chosen})
    build_sink({"kind": kind, **chosen})  # what is wrong with an option is reported
    return configured.model_copy(update=chosen)


def _build_target(config: Config, to: str | None) -> Forward:
    where = config.receivers.http
    host = f"[{where.host}]" if ":" in where.host else where.host
    headers = {}
    with suppress(IndexError):
        headers["authorization"] = f"Bearer {config.tokens[0].token.get_secret_value()}"
    try:
        return Forward.model_validate(
            {"endpoint": to or f"http://{host}:{where.port}", "headers": headers, "retry_for_s": _RETRY_FOR_S}
        )
    except ValueError as invalid:
        raise UsageProblem(
            f"--to {to!r} is no http:// or https:// URL", "as in http://127.0.0.1:4318"
        ) from invalid


def _check_collector(endpoint: str) -> None:
    """Raise UsageProblem where no collector answers, before the product is read for nothing."""
    try:
        taken = httpx.get(f"{endpoint}/livez", timeout=_HEALTH_S).is_success
    except httpx.HTTPError:
        taken = False
    if not taken:
        raise UsageProblem(
            f"no collector answers at {endpoint}", "start it with `spanproof serve`, or name it with --to"
        )


def _iter_translated(
    pages: Iterator[ExportTraceServiceRequest], sink: Sink
) -> Iterator[ExportTraceServiceRequest]:
    """Yield the pages; what goes wrong becomes a message with its remedy."""
    where = f"{sink.kind} at {sink.base_url}"
    try:
        yield from pages
    except NotThere as missing:
        raise UsageProblem(f"{where}: {missing}", "name a project that it has: --project …") from missing
    except (Unavailable, Refused) as problem:
        raise UsageProblem(f"{where}: {problem}", "check the URL and the key") from problem
    except (UnreadableSpan, KeyError, TypeError, AttributeError) as odd:
        raise UsageProblem(
            f"{where}: its answer cannot be read: {odd}", "check that the URL is that of the product"
        ) from odd


def _send_requests(collector: Target, request: ExportTraceServiceRequest, target: Forward) -> None:
    delivery = send_patiently(collector, Signal.TRACES, request.SerializeToString(), target.retry_for_s)
    if delivery not in (Delivery.SENT, Delivery.PARTIAL):
        raise UsageProblem(
            f"the collector at {target.endpoint} does not take the spans",
            "its log says why; `tokens` of the configuration must hold the one that it requires",
        )
