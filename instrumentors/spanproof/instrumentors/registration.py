"""`register()` and what belongs to it: a tracer provider, and the instrumented frameworks.

A process has one instrumentation per framework. An SDK provider that is already there is joined, never
replaced. The SDK and its exporters read the `OTEL_*` variables; arguments win over them, except over those
that switch off.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME
from opentelemetry.sdk.trace import TracerProvider

from spanproof.instrumentors.content.capture import ContentPolicy
from spanproof.instrumentors.frameworks.diagnostics import build_lock, record_swallowed
from spanproof.instrumentors.frameworks.import_hooks import (
    add_import_action,
    list_awaited,
    remove_import_actions,
)
from spanproof.instrumentors.frameworks.patching import Instrumentor
from spanproof.instrumentors.provider.environment import readable_environment
from spanproof.instrumentors.provider.exporters import add_exporters, get_protocol
from spanproof.instrumentors.provider.tracer_provider import get_provider, is_disabled
from spanproof.instrumentors.spans.cohort import CohortProcessor
from spanproof.instrumentors.spans.tracing import Tracing
from spanproof.instrumentors.trace import configure
from spanproof.semconv import openinference
from spanproof.semconv.spanproof import COHORT_PROJECT

FRAMEWORKS: Final = ("smolagents", "langchain", "openai-agents", "mcp")
"""Names of all frameworks, each also the name of the extra that installs it."""
# The package of each framework that any import of it imports.
_PACKAGES: Final = {
    "smolagents": "smolagents",
    "langchain": "langchain_core",
    "openai-agents": "agents",
    "mcp": "mcp",
}
AUTO: Final = "auto"
"""Means every framework that is installed."""

_logger = logging.getLogger(__name__)
_lock = build_lock()
_instrumented: dict[str, Instrumentor] = {}
_content: ContentPolicy | None = None  # The `content` of the last `register()` that had one
_registered: WeakKeyDictionary[TracerProvider, _Registration] = WeakKeyDictionary()


@dataclass(slots=True)
class _Registration:
    """What was added to a provider."""

    cohort: CohortProcessor = field(default_factory=CohortProcessor)
    exports: set[tuple[str | None, str]] = field(default_factory=set)


def register(
    *,
    service_name: str | None = None,
    project: str | None = None,
    endpoint: str | None = None,
    protocol: str | None = None,
    instrument: str | Sequence[str] = AUTO,
    batch: bool = True,
    headers: dict[str, str] | None = None,
    content: ContentPolicy | None = None,
    eval_tags: Sequence[str] = (),
) -> TracerProvider:
    """Trace this process's agents and export the spans over OTLP.

    Calling it again with the same arguments changes nothing.

    Args:
        service_name: the resource's `service.name`; else `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES`.
            A provider that is already there keeps its own.
        project: the project the scores belong to, of the resource. A provider that is already there keeps its
            resource; where that names none, each span does.
        endpoint: of a collector, `http://127.0.0.1:4318`; else `OTEL_EXPORTER_OTLP_ENDPOINT`. When an SDK
            provider is already there, its exporters are kept, and one is added only for an endpoint given
            here that they do not export to.
        protocol: `http/protobuf` or `grpc`; else `OTEL_EXPORTER_OTLP_PROTOCOL`, else `http/protobuf`.
        instrument: frameworks to instrument, by name; `auto` for each that is installed. One that the program
            has not imported yet is instrumented as soon as it is. One log line says which were found; a
            warning says that none was, or which of those named is not installed.
        batch: export in the background; False exports each span as it ends.
        headers: sent with each export; else `OTEL_EXPORTER_OTLP_HEADERS`.
        content: what may be recorded, from now on, by all frameworks; else the policy of the call before, or
            that of the environment.
        eval_tags: what is to be judged, on every span as `spanproof.eval.tags`: evaluators choose by it.

    Returns:
        The provider that receives the spans; `force_flush()` it before a short-lived process ends.

    Raises:
        ValueError: an argument names an unknown framework or protocol, or an endpoint that is not a URL.
        ImportError: `protocol` is `grpc` and its exporter is not installed.
    """
    wanted = (instrument,) if isinstance(instrument, str) and instrument != AUTO else tuple(instrument)
    wanted = FRAMEWORKS if instrument == AUTO else wanted
    _validate(endpoint, wanted)
    with _lock:
        _set_policy(content)
        with readable_environment():
            chosen = get_protocol(protocol)
            provider, ours = get_provider(_build_resource(service_name, project))
            if is_disabled():
                return provider
            if provider not in _registered:
                if not ours:
                    _warn_of_name(provider, service_name)
                _registered[provider] = _Registration()
                provider.add_span_processor(_registered[provider].cohort)
            registration = _registered[provider]
            if project is not None:
                _set_project(provider, registration, project)
            if eval_tags:
                registration.cohort.set_tags(tuple(eval_tags))
            if ours or endpoint is not None:
                add_exporters(provider, registration.exports, endpoint, chosen, batch=batch, headers=headers)
        configure(provider, _content)
        allowed = [framework for framework in wanted if not _is_switched_off(framework)]
        for framework in allowed:
            instrument_if_installed(framework, provider)
        _report_found(allowed, named=instrument != AUTO)
    return provider


def _report_found(wanted: Sequence[str], *, named: bool) -> None:
    """Report in one log line what is instrumented, and warn of what is not there."""
    found = [framework for framework in wanted if framework in instrumented()]
    missing = [framework for framework in wanted if framework not in found]
    if found:
        _logger.info("spanproof instruments %s", ", ".join(found))
    if named and missing:
        _logger.warning(
            "spanproof does not instrument %s: not installed here, or in a release that it does not know",
            ", ".join(missing),
        )
    elif missing and not found:
        _logger.warning(
            "spanproof found no framework to instrument, and records only spans that the program makes"
            " itself; it knows %s",
            ", ".join(FRAMEWORKS),
        )


def instrument_smolagents(
    tracer_provider: trace.TracerProvider | None = None, *, content: ContentPolicy | None = None
) -> None:
    """Instrument smolagents; spans go to the provider given, else to the global one.

    Raises:
        ImportError: smolagents is not installed.
    """
    _instrument_framework("smolagents", tracer_provider, content)


def instrument_langchain(
    tracer_provider: trace.TracerProvider | None = None, *, content: ContentPolicy | None = None
) -> None:
    """Instrument LangChain and LangGraph; spans go to the provider given, else to the global one.

    Raises:
        ImportError: langchain-core is not installed.
    """
    _instrument_framework("langchain", tracer_provider, content)


def instrument_openai_agents(
    tracer_provider: trace.TracerProvider | None = None,
    *,
    exclusive: bool = False,
    content: ContentPolicy | None = None,
) -> None:
    """Instrument the OpenAI Agents SDK; spans go to the provider given, else to the global one.

    Args:
        tracer_provider: where the spans go.
        exclusive: replace the SDK's own upload to OpenAI instead of working beside it, from now on.
        content: what may be recorded; else what `register()` was given, or what the environment says.

    Raises:
        ImportError: openai-agents is not installed.
    """
    import_module(_PACKAGES["openai-agents"])  # before the lock is held: see `_instrument_framework`
    with _lock:
        instrumentor = _instrument_framework("openai-agents", tracer_provider, content)
        if exclusive:
            instrumentor.start_alone()


def instrument_mcp(
    tracer_provider: trace.TracerProvider | None = None, *, content: ContentPolicy | None = None
) -> None:
    """Instrument MCP clients and servers; spans go to the provider given, else to the global one.

    Raises:
        ImportError: mcp is not installed.
    """
    _instrument_framework("mcp", tracer_provider, content)


def uninstrument() -> None:
    """Restore every original of every framework. The provider and its exporters stay."""
    with _lock:
        for item in _instrumented.values():
            item.uninstrument()
        _instrumented.clear()
        remove_import_actions()


def instrumented() -> tuple[str, ...]:
    """Return the names of the instrumented frameworks, and of those that are once they are imported."""
    awaited = list_awaited()
    return tuple(name for name in FRAMEWORKS if name in _instrumented or _PACKAGES[name] in awaited)


def _validate(endpoint: str | None, instrument: Sequence[str]) -> None:
    for framework in instrument:
        if framework not in FRAMEWORKS:
            raise ValueError(
                f"instrument: no framework {framework!r} is known; choose {AUTO!r},"
                f" or from {', '.join(FRAMEWORKS)}"
            )
    if endpoint is not None and (not urlsplit(endpoint).netloc or "://" not in endpoint):
        raise ValueError(f"endpoint={endpoint!r} is not a URL; write it like http://127.0.0.1:4318")


def _set_policy(content: ContentPolicy | None) -> None:
    """Use a policy from now on, also for what is instrumented already; None changes nothing."""
    global _content
    _content = content or _content
    for item in _instrumented.values():
        item.tracing.change(None, content)


def _warn_of_name(provider: TracerProvider, wanted: str | None) -> None:
    name = provider.resource.attributes.get(SERVICE_NAME)
    if wanted not in (None, name):
        _logger.warning(
            "service_name=%r has no effect: the tracer provider that is there already names the service %r;"
            " set OTEL_SERVICE_NAME, or name it where that provider is made",
            wanted,
            name,
        )


def _build_resource(service_name: str | None, project: str | None) -> dict[str, str]:
    """Return what the resource of a provider of ours names."""
    named = {SERVICE_NAME: service_name, openinference.PROJECT_NAME: project, COHORT_PROJECT: project}
    return {name: value for name, value in named.items() if value is not None}


def _set_project(provider: TracerProvider, registration: _Registration, project: str) -> None:
    """Name the project on each span of a provider whose resource names none; one that it names wins."""
    name = provider.resource.attributes.get(COHORT_PROJECT)
    if not name:
        registration.cohort.set_default("project", project)
    elif name != project:
        _logger.warning(
            "project=%r has no effect: the resource of the tracer provider that is there already names %r",
            project,
            name,
        )


def _is_switched_off(framework: str) -> bool:
    """Return whether the environment disables a framework by its entry point's name."""
    names = {name.strip() for name in os.environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")}
    return "*" in names or f"spanproof_{framework.replace('-', '_')}" in names


def _instrument_framework(
    framework: str,
    provider: trace.TracerProvider | None,
    content: ContentPolicy | None,
    *,
    own_provider: bool = True,
) -> Any:
    """Instrument a framework, again after a reload; returns its instrumentor. The last arguments hold."""
    # An import in another thread may be about to call us, and waits for our lock while this one waits for it.
    import_module(_PACKAGES[framework])
    with _lock:
        own_provider = own_provider and provider is not None
        earlier = _instrumented.get(framework)
        if earlier is not None:
            earlier.tracing.change(provider if own_provider or not earlier.own_provider else None, content)
            earlier.own_provider = own_provider or earlier.own_provider
            earlier.instrument()
            return earlier
        module = framework.replace("-", "_")
        tracing = Tracing(module, provider, content or _content)
        made = import_module(f"spanproof.instrumentors.frameworks.{module}.instrumentor").Instrumentor(
            tracing
        )
        try:
            made.instrument()
        except BaseException:
            with suppress(Exception):  # the first error is the one to raise
                made.uninstrument()
            raise
        made.own_provider = own_provider
        _instrumented[framework] = made
        return made


def instrument_if_installed(framework: str, provider: TracerProvider | None = None) -> None:
    """Instrument a framework that is installed in a known release, once it is imported; report what fails."""
    package = _PACKAGES[framework]
    try:
        is_imported = _is_imported(package)
        if not is_imported and find_spec(package) is None:
            return
        if framework not in _instrumented:
            with suppress(PackageNotFoundError):  # it may be on the path without being installed
                _check_release(framework)
        if is_imported:
            _instrument_framework(framework, provider, None, own_provider=False)
        else:
            add_import_action(package, partial(_instrument_imported, framework, provider))
    except Exception as error:  # noqa: BLE001 - a release that does not fit must not stop the application
        _report_failure(framework, error)


def _is_imported(package: str) -> bool:
    """Return whether a package is there, and not about to be instrumented as its import ends."""
    module = sys.modules.get(package)
    is_underway = getattr(getattr(module, "__spec__", None), "_initializing", False)
    return module is not None and not (is_underway and package in list_awaited())


def _instrument_imported(framework: str, provider: TracerProvider | None) -> None:
    """Instrument a framework whose import ends now; report what fails."""
    try:
        _instrument_framework(framework, provider, None, own_provider=False)
    except Exception as error:  # noqa: BLE001 - the program's import must not fail for it
        _report_failure(framework, error)


def _report_failure(framework: str, error: Exception) -> None:
    # Our own modules are always there: only the framework's absence is no error.
    missing = (error.name or "spanproof") if isinstance(error, ModuleNotFoundError) else "spanproof"
    if missing.startswith("spanproof"):
        record_swallowed(f"instrument.{framework}", error)
        _logger.warning("%s is not instrumented: %s: %s", framework, type(error).__name__, error)


class VersionConflict(Exception):  # noqa: N818 - says what is the matter; it is reported
    """A framework is installed in a release that its instrumentor does not know."""


def _check_release(extra: str) -> None:
    """Compare the installed framework with the requirement of the extra of its name.

    The check that `opentelemetry-instrument` makes would be of no use: it knows the requirements of a
    distribution, not of one instrumentor, and one framework's conflict would switch off all of ours.

    Raises:
        PackageNotFoundError: the framework is not installed.
        VersionConflict: it is, in a release out of range.
    """
    # Imported here, and only where a framework is instrumented.
    from packaging.requirements import Requirement

    for text in requires("spanproof") or ():
        wanted = Requirement(text)
        if wanted.marker is None or not wanted.marker.evaluate({"extra": extra}):
            continue
        found = version(wanted.name)
        if not wanted.specifier.contains(found, prereleases=True):
            raise VersionConflict(
                f"{wanted.name} {found} is installed, {wanted.name}{wanted.specifier} is needed"
            )
