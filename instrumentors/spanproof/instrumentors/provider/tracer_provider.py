"""The tracer provider of `register()`: the one that is there, or one built as the standard variables say.

To be called within `environment.readable_environment()`. A component of another package that raises is
reported, and the SDK's default takes its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

from spanproof.instrumentors.provider.environment import is_installed, write_variable_warning
from spanproof.instrumentors.provider.exporters import list_processors
from spanproof.instrumentors.spans.ids import UnseededIdGenerator

_CONFIG_FILE: Final = "OTEL_CONFIG_FILE"
_PROVIDER: Final = "OTEL_PYTHON_TRACER_PROVIDER"
_GROUPS: Final = {
    "OTEL_TRACES_SAMPLER": "opentelemetry_traces_sampler",
    "OTEL_PYTHON_ID_GENERATOR": "opentelemetry_id_generator",
}
_own: TracerProvider | None = None


def get_provider(resource: Mapping[str, str]) -> tuple[TracerProvider, bool]:
    """Return the provider to use, and whether its exporters are ours to add."""
    global _own
    current = _build_component(_PROVIDER, trace.get_tracer_provider)
    if isinstance(current, TracerProvider):
        if os.environ.get(_PROVIDER) == "sdk_tracer_provider" and not list_processors(current):
            _own = current  # the SDK's own, as the API loads it by name: it exports nothing yet
        return current, current is _own and _CONFIG_FILE not in os.environ
    if _own is None and _CONFIG_FILE in os.environ:
        _build_component(_CONFIG_FILE, _start_from_config_file)
        configured = trace.get_tracer_provider()
        if isinstance(configured, TracerProvider):
            return configured, False
    if _own is None:
        _own = TracerProvider(
            resource=Resource.create(dict(resource)),
            # The SDK's configurator: unlike its provider it knows other packages' components.
            sampler=_build_named("OTEL_TRACES_SAMPLER", "_import_sampler"),
            id_generator=_build_named("OTEL_PYTHON_ID_GENERATOR", "_import_id_generator")
            or UnseededIdGenerator(),
        )
        if current is None or isinstance(current, trace.ProxyTracerProvider):
            # A foreign provider that is not the SDK's stays the global one.
            trace.set_tracer_provider(_own)
    return _own, _CONFIG_FILE not in os.environ


def is_disabled() -> bool:
    """Return whether the environment switches the SDK off."""
    return os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def _start_from_config_file() -> None:
    from opentelemetry.configuration import configure_sdk, load_config_file

    configure_sdk(load_config_file(os.environ[_CONFIG_FILE]))


def _build_named(variable: str, importer: str) -> Any:
    """Return the component that a variable names, by a function of the SDK's configurator."""
    name = os.environ.get(variable, "").strip()
    lower = name.lower()
    name = lower if is_installed(_GROUPS[variable], lower) else name
    if name:
        return _build_component(variable, lambda: _load_configurator(importer)(name))
    return None


def _load_configurator(importer: str) -> Callable[[str], Any]:
    """Return a function of the SDK's configurator, which imports all of the SDK: metrics and logs too."""
    from opentelemetry.sdk import _configuration

    function: Callable[[str], Any] = getattr(_configuration, importer)
    return function


def _build_component(variable: str, load: Callable[[], Any]) -> Any:
    """Return what a variable names, or None and a report where that raises."""
    try:
        return load()
    except Exception as error:  # noqa: BLE001 - of another package, or a file's content
        problem = f"fails with {type(error).__name__}: {error}; it is ignored"
        write_variable_warning(variable, os.environ.get(variable, ""), problem)
        return None
