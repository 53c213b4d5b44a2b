"""`register()` and its kin: a tracer provider, and the frameworks under instrumentation.

A process has one instrumentation per framework, whoever asks for it and however often. An SDK provider that
is already there is joined, never replaced. Every `OTEL_*` variable keeps its meaning, because the SDK and
its exporters read them; what is passed as an argument wins, except over what switches off.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME
from opentelemetry.sdk.trace import TracerProvider

from spanproof.instrumentors.content.capture import ContentPolicy
from spanproof.instrumentors.decorating import configure
from spanproof.instrumentors.frameworks.diagnostics import swallowed
from spanproof.instrumentors.frameworks.registry import FRAMEWORKS, Instrumentor, load_instrumentor
from spanproof.instrumentors.provider.environment import apply_log_level, understood
from spanproof.instrumentors.provider.exporting import add_exporters
from spanproof.instrumentors.provider.otlp import protocol_of
from spanproof.instrumentors.provider.providing import is_disabled, provider_for
from spanproof.instrumentors.provider.releases import check_release
from spanproof.instrumentors.spans.cohort import CohortProcessor
from spanproof.instrumentors.spans.tracing import Tracing
from spanproof.semconv import openinference

_DEFAULT_FRAMEWORKS: Final = ("smolagents", "langchain")
"""Not the OpenAI Agents SDK, which uploads its own traces."""

_logger = logging.getLogger(__name__)
_lock = threading.RLock()
_instrumented: dict[str, _Instrumented] = {}
_content: ContentPolicy | None = None
"""What `register()` was last told may be recorded: it holds until it is told otherwise."""
_registered: WeakKeyDictionary[TracerProvider, _Registration] = WeakKeyDictionary()


@dataclass(slots=True)
class _Instrumented:
    """A framework under instrumentation.

    Attributes:
        chosen: its provider was named for it alone, so `register()` leaves that.
    """

    instrumentor: Instrumentor
    tracing: Tracing
    chosen: bool


class _Registration:
    """What we added to a provider."""

    def __init__(self, cohort: CohortProcessor) -> None:
        self.cohort = cohort
        self.exports: set[tuple[str | None, str]] = set()


def register(
    *,
    service_name: str | None = None,
    project: str | None = None,
    endpoint: str | None = None,
    protocol: str | None = None,
    instrument: Sequence[str] = _DEFAULT_FRAMEWORKS,
    batch: bool = True,
    headers: dict[str, str] | None = None,
    content: ContentPolicy | None = None,
) -> TracerProvider:
    """Trace this process's agents and export the spans over OTLP.

    Calling it again with the same arguments changes nothing. What it is told of `content` holds for all our
    spans until it is told otherwise, also for frameworks that are under instrumentation already.

    Args:
        service_name: the resource's `service.name`; else `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES`.
            A provider that is already there has a name of its own, and keeps it.
        project: the project the scores belong to, on every span.
        endpoint: of a collector, `http://127.0.0.1:4318`; else `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin.
            When an SDK provider is already there, its exporters are kept, and one is added only for an
            endpoint given here that they do not export to.
        protocol: `http/protobuf` or `grpc`; else `OTEL_EXPORTER_OTLP_PROTOCOL`, else `http/protobuf`.
        instrument: frameworks to instrument; those not installed are left out.
        batch: export in the background; False exports each span as it ends.
        headers: sent with each export; else `OTEL_EXPORTER_OTLP_HEADERS`.
        content: what may be recorded; else what it was told before, or the environment says.

    Returns:
        The provider that now receives the spans; `force_flush()` it before a short-lived process ends.

    Raises:
        ValueError: an argument names an unknown framework or protocol, or an endpoint that is no URL.
        ImportError: `protocol` is `grpc` and its exporter is not installed.
    """
    _check(endpoint, instrument)
    apply_log_level()
    with _lock:
        _record_by(content)
        with understood():
            spoken = protocol_of(protocol)
            provider, ours = provider_for(_resource(service_name, project))
            if is_disabled():
                return provider
            if provider not in _registered and not ours:
                _tell_name(provider, service_name)
            registration = _registration_of(provider)
            if project is not None:
                registration.cohort.set_default("project", project)
            if ours or endpoint is not None:
                exports = registration.exports
                add_exporters(provider, exports, endpoint, spoken, batch=batch, headers=headers)
        configure(provider, _content)
        for framework in instrument:
            if not _is_switched_off(framework):
                _instrument_if_installed(framework, provider)
    return provider


def _record_by(content: ContentPolicy | None) -> None:
    """Have a policy hold from now on, for what is under instrumentation already too; None changes nothing."""
    global _content
    _content = content or _content
    for each in _instrumented.values():
        each.tracing.change(None, content)


def _registration_of(provider: TracerProvider) -> _Registration:
    """What we add to a provider, which is added once."""
    if provider not in _registered:
        _registered[provider] = _Registration(CohortProcessor())
        provider.add_span_processor(_registered[provider].cohort)
    return _registered[provider]


def instrument_smolagents(
    tracer_provider: trace.TracerProvider | None = None, *, content: ContentPolicy | None = None
) -> None:
    """Instrument smolagents; spans go to the provider given, else to the global one.

    Raises:
        ImportError: smolagents is not installed.
    """
    _instrument("smolagents", tracer_provider, content)


def instrument_langchain(
    tracer_provider: trace.TracerProvider | None = None, *, content: ContentPolicy | None = None
) -> None:
    """Instrument LangChain and LangGraph; spans go to the provider given, else to the global one.

    Raises:
        ImportError: langchain-core is not installed.
    """
    _instrument("langchain", tracer_provider, content)


def instrument_openai_agents(
    tracer_provider: trace.TracerProvider | None = None,
    *,
    exclusive: bool = False,
    content: ContentPolicy | None = None,
) -> None:
    """Instrument the OpenAI Agents SDK; spans go to the provider given, else to the global one.

    Args:
        tracer_provider: where the spans go.
        exclusive: take the place of the SDK's own upload to OpenAI instead of working beside it, from now on.
        content: what may be recorded; else what `register()` was told, or the environment says.

    Raises:
        ImportError: openai-agents is not installed.
    """
    with _lock:
        instrumentor = _instrument("openai-agents", tracer_provider, content)
        if exclusive:
            instrumentor.take_over()


def uninstrument() -> None:
    """Put every original of every framework back. The provider and its exporters stay."""
    with _lock:
        for each in _instrumented.values():
            each.instrumentor.uninstrument()
        _instrumented.clear()


def instrumented() -> tuple[str, ...]:
    """Names of the frameworks under instrumentation."""
    return tuple(_instrumented)


def _check(endpoint: str | None, instrument: Sequence[str]) -> None:
    if isinstance(instrument, str):
        raise ValueError(f"instrument={instrument!r}: give a sequence of names, ({instrument!r},)")  # noqa: TRY004
    for framework in instrument:
        if framework not in FRAMEWORKS:
            raise ValueError(
                f"instrument: no framework {framework!r} is known; choose from {', '.join(FRAMEWORKS)}"
            )
    if endpoint is not None and (not urlsplit(endpoint).netloc or "://" not in endpoint):
        raise ValueError(f"endpoint={endpoint!r} is no URL; write it like http://127.0.0.1:4318")


def _tell_name(provider: TracerProvider, wished: str | None) -> None:
    name = provider.resource.attributes.get(SERVICE_NAME)
    if wished not in (None, name):
        _logger.warning(
            "service_name=%r has no effect: the tracer provider that is there already names the service %r;"
            " set OTEL_SERVICE_NAME, or name it where that provider is made",
            wished,
            name,
        )


def _resource(service_name: str | None, project: str | None) -> dict[str, str]:
    named = {SERVICE_NAME: service_name, openinference.PROJECT_NAME: project}
    return {name: value for name, value in named.items() if value is not None}


def _is_switched_off(framework: str) -> bool:
    """Whether the environment disables it by its entry point's name, as with `opentelemetry-instrument`."""
    names = {name.strip() for name in os.environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")}
    return "*" in names or f"spanproof_{framework.replace('-', '_')}" in names


def _instrument(
    framework: str,
    provider: trace.TracerProvider | None,
    content: ContentPolicy | None,
    *,
    chosen: bool = True,
) -> Any:
    """A framework's instrumentor, at work also on what a reload has brought anew; the last arguments hold."""
    with _lock:
        chosen = chosen and provider is not None
        known = _instrumented.get(framework)
        if known is not None:
            known.tracing.change(provider if chosen or not known.chosen else None, content)
            known.chosen = chosen or known.chosen
            known.instrumentor.instrument()
            return known.instrumentor
        tracing = Tracing(framework.replace("-", "_"), provider, content or _content)
        instrumentor = load_instrumentor(framework, tracing)
        try:
            instrumentor.instrument()
        except BaseException:
            with suppress(Exception):  # it is told by the error that brought us here
                instrumentor.uninstrument()  # half an instrumentation is worse than none
            raise
        _instrumented[framework] = _Instrumented(instrumentor, tracing, chosen)
        return instrumentor


def _instrument_if_installed(framework: str, provider: TracerProvider) -> None:
    try:
        if framework not in _instrumented:
            with suppress(PackageNotFoundError):  # it may be on the path without being installed
                check_release(framework)
        _instrument(framework, provider, None, chosen=False)
    except ModuleNotFoundError as missing:
        # Our own modules are always there: only the framework's absence is no error.
        if (missing.name or "").startswith("spanproof"):
            raise
    except Exception as error:  # noqa: BLE001 - a release we do not fit must not keep the application from running
        told(framework, error)


def told(framework: str, error: Exception) -> None:
    """Say that a framework could not be instrumented: once, and as a warning, since it is asked for."""
    swallowed(f"instrument.{framework}", error)
    _logger.warning("%s is not instrumented: %s: %s", framework, type(error).__name__, error)


def _unlock_in_child() -> None:
    """A fork may happen while another thread holds the lock, which nobody would release in the child."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)
