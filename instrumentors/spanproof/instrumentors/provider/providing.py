"""The provider of `register()`: the one that is there, or one built as the standard variables say.

In comes what `register()` was told of the resource, out comes an SDK provider and whether its exporters are
for us to add. To be called while `environment.understood()` holds. A component that breaks is told, and the
SDK's own takes its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider, sampling

from spanproof.instrumentors.provider.environment import tell
from spanproof.instrumentors.provider.exporting import processors_of
from spanproof.instrumentors.provider.variables import SDK_SAMPLERS

_CONFIG_FILE = "OTEL_CONFIG_FILE"
_PROVIDER = "OTEL_PYTHON_TRACER_PROVIDER"

_own: TracerProvider | None = None


def provider_for(resource: Mapping[str, str]) -> tuple[TracerProvider, bool]:
    """The provider to use, and whether what it exports to is ours to add."""
    global _own
    current = _current()
    if isinstance(current, TracerProvider):
        if _loaded_by_variable(current):
            _own = current
        return current, current is _own and _CONFIG_FILE not in os.environ
    if _own is None and _CONFIG_FILE in os.environ:
        current = _from_file(os.environ[_CONFIG_FILE])
        if isinstance(current, TracerProvider):
            return current, False
    if _own is None:
        _own = _built(resource)
        if isinstance(current, trace.ProxyTracerProvider):
            # Nobody has set one. A foreign provider that is no SDK's stays the global one.
            trace.set_tracer_provider(_own)
    return _own, _CONFIG_FILE not in os.environ


def is_disabled() -> bool:
    """Whether the environment switches the SDK off."""
    return os.environ.get("OTEL_SDK_DISABLED") == "true"


def _current() -> trace.TracerProvider:
    """The global provider; the one that a variable names is loaded as it is first asked for."""
    try:
        return trace.get_tracer_provider()
    except Exception as error:  # noqa: BLE001 - of a provider's package; asked again, it would raise in the host
        name = os.environ.pop(_PROVIDER, "")  # `understood()` puts it back
        tell(
            _PROVIDER, name, f"fails with {type(error).__name__}: {error}; the SDK's own holds until it works"
        )
        return trace.get_tracer_provider()


def _loaded_by_variable(provider: TracerProvider) -> bool:
    """Whether it is the SDK's own as the API loads it by name: as good as none, for it exports nothing."""
    return os.environ.get(_PROVIDER) == "sdk_tracer_provider" and not processors_of(provider)


def _from_file(path: str) -> trace.TracerProvider:
    """The provider that a declarative configuration asks for; it alone says what is exported."""
    try:
        from opentelemetry.configuration import configure_sdk, load_config_file

        configure_sdk(load_config_file(path))
    except ImportError:
        tell(
            _CONFIG_FILE,
            path,
            "needs opentelemetry-configuration, which is not installed: no spans are exported",
        )
    except Exception as error:  # noqa: BLE001 - whatever the file says must not keep the application from running
        tell(_CONFIG_FILE, path, f"cannot be used, so no spans are exported; mend the file: {error}")
    return trace.get_tracer_provider()


def _built(resource: Mapping[str, str]) -> TracerProvider:
    options: dict[str, Any] = {
        "sampler": _sampler(),
        "id_generator": _made("OTEL_PYTHON_ID_GENERATOR", "opentelemetry_id_generator", lambda kind: kind()),
    }
    configurator = _made(
        "OTEL_PYTHON_TRACER_CONFIGURATOR", "_opentelemetry_tracer_configurator", lambda function: function
    )
    if configurator is not None:  # what an older SDK's provider does not know of is not passed to it
        options["_tracer_configurator"] = configurator
    return TracerProvider(resource=Resource.create(dict(resource)), **options)


def _sampler() -> Any:
    """A sampler that another package brings; None for those that the SDK's provider reads by itself."""
    if os.environ.get("OTEL_TRACES_SAMPLER", "") in (*SDK_SAMPLERS, ""):
        return None
    argument = os.environ.get("OTEL_TRACES_SAMPLER_ARG")
    made = _made("OTEL_TRACES_SAMPLER", "opentelemetry_traces_sampler", lambda factory: factory(argument))
    return made or sampling.DEFAULT_ON


def _made(variable: str, group: str, make: Callable[[Any], Any]) -> Any:
    """The component that a variable names, or None where it names none that works."""
    name = os.environ.get(variable, "")
    if not name:
        return None
    try:
        (found, *_) = entry_points(group=group, name=name)
        return make(found.load())
    except Exception as error:  # noqa: BLE001 - of another package
        tell(
            variable, name, f"fails with {type(error).__name__}: {error}; the SDK's own holds until it works"
        )
        return None
