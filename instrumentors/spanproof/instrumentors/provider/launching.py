"""What `opentelemetry-instrument` loads before the program starts: it makes the standard variables readable.

The launcher imports this module by its entry point. The SDK's configurator then reads the variables before
any of our code runs, and at some malformed values it would leave the program untraced. No name in here may
start with `OTEL_`: the launcher would make an option of it.
"""

from __future__ import annotations

import logging
import os

from spanproof.instrumentors.provider.environment import (
    Check,
    is_installed,
    update_environment,
    write_variable_warning,
)

_EXPORTERS = "TRACES_EXPORTER"
_KNOWN_EXPORTERS = Check(
    lambda name: name in ("otlp", "none") or is_installed("opentelemetry_traces_exporter", name),
    "names an exporter that no installed package provides",
    is_list=True,
)


def _update_commands() -> None:
    unreadable = [name for name in ("", "TRACES_") if os.environ.get(f"OTEL_EXPORTER_OTLP_{name}PROTOCOL")]
    update_environment()
    for name in unreadable:  # without a protocol the distribution would choose gRPC
        os.environ.setdefault(f"OTEL_EXPORTER_OTLP_{name}PROTOCOL", "http/protobuf")
    value = os.environ.get(f"OTEL_{_EXPORTERS}", "")
    usable, whole = _KNOWN_EXPORTERS.read_usable(value)
    if not whole:
        write_variable_warning(f"OTEL_{_EXPORTERS}", value, _KNOWN_EXPORTERS.problem)
        os.environ[f"OTEL_{_EXPORTERS}"] = usable or "none"


try:
    _update_commands()
except Exception as error:  # noqa: BLE001 - the program has to run
    logging.getLogger(__name__).warning("OTEL_* variables are left as they are: %s", error)
