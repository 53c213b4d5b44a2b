"""The standard variables, `OTEL_*`: what cannot be used is told once, and the SDK is kept from it.

The API and the SDK read most of them themselves, a few as they are imported. At a value that they cannot read
they raise, log a traceback, or say nothing, as the case may be, and none of that may reach the host. So while
`understood()` holds, the process's environment has what our readers made of it. What a variable means stays
the SDK's to know.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from spanproof.instrumentors.provider.variables import LOG_LEVELS, READERS, reading

_SECRET: Final = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
"""A token may stand in them: never shown."""
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")

_logger = logging.getLogger(__name__)
_told: set[tuple[str, str]] = set()


class Misconfigured(Exception):  # noqa: N818 - says what is the matter; it is counted, never raised
    """A variable has a value that cannot be used."""


@contextmanager
def understood(*, telling: bool = True) -> Iterator[None]:
    """The standard variables without anything that the SDK cannot read; afterwards they are as they were."""
    given = dict(os.environ)
    try:
        _mend(given, telling=telling)
        yield
    finally:
        for name in READERS:
            _set(name, given.get(name))


def mend() -> None:
    """Keep from the SDK what it cannot read for good, and say so: for a program that has not begun."""
    try:
        given = dict(os.environ)
        _mend(given, telling=True)
        for name in _PROTOCOLS:  # without one the distribution would take gRPC
            if given.get(name) and name not in os.environ:
                os.environ[name] = "http/protobuf"
    except Exception as error:  # noqa: BLE001 - the program has to run; the SDK says what it cannot read
        _logger.warning("the standard variables are left as they are: %s: %s", type(error).__name__, error)


def _mend(given: Mapping[str, str], *, telling: bool) -> None:
    """Set the variables to what our readers make of those given."""
    readings = {name: reading(name, given) for name in READERS}
    changed = {name: read.value for name, read in readings.items() if read.value != given.get(name, "")}
    changed |= {name: "" for name in READERS if given.get(name) == ""}
    if telling:
        for name, read in readings.items():
            if read.remedy is not None:
                tell(name, given[name], read.remedy)
    for name, value in changed.items():
        _set(name, value or None)


def tell(name: str, value: str, remedy: str) -> None:
    """Say once that a variable cannot be used as it is: a warning, and a count in the diagnostics."""
    if (name, value) in _told:
        return
    _told.add((name, value))
    # Not imported above: the API reads variables as it is imported, which is for the end of this module.
    from spanproof.instrumentors.frameworks.diagnostics import swallowed

    message = f"{name} {remedy}" if name in _SECRET else f"{name}={value!r} {remedy}"
    swallowed("environment", Misconfigured(message))
    _logger.warning("%s", message)


def apply_log_level() -> None:
    """`OTEL_LOG_LEVEL`, which the SDK documents and does not read, for loggers that nobody else has set."""
    level = LOG_LEVELS.get(reading("OTEL_LOG_LEVEL").value.lower())
    for name in ("opentelemetry", "spanproof.instrumentors"):
        logger = logging.getLogger(name)
        if level is not None and logger.level == logging.NOTSET:
            logger.setLevel(level)


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


with understood(telling=False):
    # These read variables as they are imported, and raise at what they cannot read.
    import opentelemetry.propagate
    import opentelemetry.sdk.trace  # noqa: F401
