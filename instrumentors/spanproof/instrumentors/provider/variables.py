"""What the standard variables, `OTEL_*`, may say: a reader for each of those that have to do with traces.

A reader is given a value as it stands in the environment, and tells what of it can be used, what is wrong
with the rest, and what to do about it. It looks at names, files and packages, and changes nothing. The table
of all of them is in `docs/instrument.md`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final, NamedTuple

RATIO_SAMPLERS: Final = ("traceidratio", "parentbased_traceidratio")
SDK_SAMPLERS: Final = (
    *("always_on", "always_off", "parentbased_always_on", "parentbased_always_off"),
    *RATIO_SAMPLERS,
)
"""Those that the SDK's provider knows by itself."""
OTLP_EXPORTERS: Final = ("otlp", "otlp_proto_http", "otlp_proto_grpc")
LOG_LEVELS: Final = {
    "none": logging.CRITICAL + 1,
    "fatal": logging.CRITICAL,
    "critical": logging.CRITICAL,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": logging.DEBUG,
}
CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CAPTURING: Final = ("", "span_only", "span_and_event", "true", "1", "yes", "on")
_NOT_CAPTURING: Final = ("no_content", "event_only", "false", "0", "no", "off")
_GRPC_CODES: Final = frozenset(
    (
        *(
            "OK",
            "CANCELLED",
            "UNKNOWN",
            "INVALID_ARGUMENT",
            "DEADLINE_EXCEEDED",
            "NOT_FOUND",
            "ALREADY_EXISTS",
        ),
        *("PERMISSION_DENIED", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED"),
        *("OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
    )
)
_QUEUE: Final = "OTEL_BSP_MAX_QUEUE_SIZE"
_BATCH: Final = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
_DEFAULT_BATCH: Final = 512
_NOT_EXPORTED: Final = "no spans are exported"


class Reading(NamedTuple):
    """What became of a variable.

    Attributes:
        value: what there is to read; empty where it is as if the variable were not set.
        remedy: what is wrong with the value given, what holds instead and what to do; None when all is well.
    """

    value: str
    remedy: str | None = None


_Reader = Callable[[str, Mapping[str, str]], Reading]


def reading(name: str, environ: Mapping[str, str] = os.environ) -> Reading:
    """A variable as it is understood; empty is as good as not set, as the specification has it."""
    given = environ.get(name, "").strip()
    if given:
        return READERS[name](given, environ)
    queue = reading(_QUEUE, environ).value if name == _BATCH else ""
    # The SDK takes its default for the batch, and refuses a smaller queue than that.
    return Reading(queue if queue and int(queue) < _DEFAULT_BATCH else "")


def installed(group: str, name: str) -> bool:
    """Whether a package brings a component of that name."""
    return bool(tuple(entry_points(group=group, name=name)))


def _anything(value: str, _environ: Mapping[str, str]) -> Reading:
    return Reading(value)


def _boolean(value: str, _environ: Mapping[str, str]) -> Reading:
    if value.lower() in ("true", "false"):
        return Reading(value.lower())
    return Reading("", "is neither true nor false, so false holds; write one of them")


def _whole(least: int, otherwise: str, example: str) -> _Reader:
    def read(value: str, _environ: Mapping[str, str]) -> Reading:
        if value.isascii() and value.isdigit() and int(value) >= least:
            return Reading(value)
        return Reading(
            "", f"is no whole number from {least} up, so {otherwise} holds; write one, like {example}"
        )

    return read


def _batch_size(value: str, environ: Mapping[str, str]) -> Reading:
    read = _whole(1, str(_DEFAULT_BATCH), str(_DEFAULT_BATCH))(value, environ)
    most = int(reading(_QUEUE, environ).value or 2048)
    if int(read.value or _DEFAULT_BATCH) <= most:
        return read
    too_many = f"is more than {_QUEUE}, so {most} holds; make that one larger"
    return Reading(str(most), read.remedy or too_many)


def _seconds(value: str, _environ: Mapping[str, str]) -> Reading:
    try:
        if 0 < float(value) < float("inf"):
            return Reading(value)
    except ValueError:
        pass
    return Reading("", "is no number of seconds above 0, so 10 holds; write one, like 10")


def _choice(*choices: str, otherwise: str) -> _Reader:
    def read(value: str, _environ: Mapping[str, str]) -> Reading:
        if value.lower() in choices:
            return Reading(value.lower())
        return Reading("", f"is not known, so {otherwise}; choose from {', '.join(choices)}")

    return read


def _component(group: str, otherwise: str) -> _Reader:
    def read(value: str, _environ: Mapping[str, str]) -> Reading:
        if installed(group, value):
            return Reading(value)
        return Reading("", f"is brought by no installed package, so {otherwise}; install it or mend the name")

    return read


def _credentials(value: str, environ: Mapping[str, str]) -> Reading:
    read = _component("opentelemetry_otlp_credential_provider", _NOT_EXPORTED)(value, environ)
    return Reading(value, read.remedy)


def _components(group: str, *also: str, without: str = "") -> _Reader:
    """Names in a list, of which unknown ones are left out; `without` stands for a list that has none left."""

    def read(value: str, _environ: Mapping[str, str]) -> Reading:
        names = [name for each in value.split(",") if (name := each.strip())]
        unknown = [name for name in names if name not in also and not installed(group, name)]
        known = ",".join(name for name in names if name not in unknown)
        if not unknown:
            return Reading(known)
        listed = ", ".join(repr(name) for name in unknown)
        return Reading(
            known or without,
            f"names {listed}, which no installed package brings: left out; install it or mend the name",
        )

    return read


def _capture(value: str, _environ: Mapping[str, str]) -> Reading:
    if value.lower() in (*CAPTURING, *_NOT_CAPTURING):
        return Reading(value)
    # Whoever sets it means to limit something.
    known = "SPAN_ONLY, SPAN_AND_EVENT, EVENT_ONLY, NO_CONTENT"
    return Reading("NO_CONTENT", f"is not known, so no content is recorded; choose from {known}")


def _sampler(value: str, _environ: Mapping[str, str]) -> Reading:
    if value.lower() in SDK_SAMPLERS:
        return Reading(value.lower())
    if installed("opentelemetry_traces_sampler", value):
        return Reading(value)
    return Reading(
        "",
        "is brought by no installed package, so parentbased_always_on holds;"
        f" install it, or choose from {', '.join(SDK_SAMPLERS)}",
    )


def _sampler_argument(value: str, environ: Mapping[str, str]) -> Reading:
    if environ.get("OTEL_TRACES_SAMPLER", "").strip().lower() not in RATIO_SAMPLERS:
        return Reading(value)
    try:
        if 0 <= float(value) <= 1:
            return Reading(value)
    except ValueError:
        pass
    return Reading("1.0", "is no number from 0 to 1, so 1 holds; write one, like 0.25")


def _pairs(value: str, _environ: Mapping[str, str]) -> Reading:
    items = [item for item in value.split(",") if item.strip()]
    wrong = [place for place, item in enumerate(items, 1) if item.find("=") < 1]
    kept = ",".join(item for place, item in enumerate(items, 1) if place not in wrong)
    if not wrong:
        return Reading(value)
    places = ", ".join(str(place) for place in wrong)
    return Reading(kept, f"has no name=value in item {places}, left out; write a=1,b=2, with %2C for a comma")


def _codes(value: str, _environ: Mapping[str, str]) -> Reading:
    names = [name for each in value.split(",") if (name := each.strip().upper())]
    unknown = [name for name in names if name not in _GRPC_CODES]
    known = ",".join(name for name in names if name in _GRPC_CODES)
    if not unknown:
        return Reading(known)
    return Reading(
        known, f"names {', '.join(unknown)}, no status of gRPC: left out; write them like UNAVAILABLE"
    )


def _file(value: str, _environ: Mapping[str, str]) -> Reading:
    try:
        with Path(value).open("rb"):
            return Reading(value)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return Reading(value, f"cannot be read ({reason}), so {_NOT_EXPORTED}; name a file that can")


_LIMIT: Final = _whole(0, "128", "128")
_LENGTH: Final = _whole(0, "no limit", "4096")
_COMPRESSION: Final = _choice("none", "gzip", "deflate", otherwise="none holds")
_PROTOCOL: Final = _choice("http/protobuf", "grpc", otherwise="http/protobuf holds")

READERS: Final[dict[str, _Reader]] = {
    "OTEL_SDK_DISABLED": _boolean,
    "OTEL_CONFIG_FILE": _file,
    "OTEL_LOG_LEVEL": _choice(*LOG_LEVELS, otherwise="nothing is changed"),
    "OTEL_SERVICE_NAME": _anything,
    "OTEL_RESOURCE_ATTRIBUTES": _pairs,
    "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS": _components("opentelemetry_resource_detector", "*"),
    "OTEL_TRACES_SAMPLER": _sampler,
    "OTEL_TRACES_SAMPLER_ARG": _sampler_argument,
    "OTEL_PYTHON_ID_GENERATOR": _component("opentelemetry_id_generator", "random holds"),
    "OTEL_PYTHON_TRACER_CONFIGURATOR": _component("_opentelemetry_tracer_configurator", "every tracer is on"),
    "OTEL_PYTHON_TRACER_PROVIDER": _component("opentelemetry_tracer_provider", "the SDK's provider holds"),
    "OTEL_PYTHON_CONTEXT": _component("opentelemetry_context", "contextvars_context holds"),
    "OTEL_PROPAGATORS": _components("opentelemetry_propagator", "none"),
    "OTEL_TRACES_EXPORTER": _components(
        "opentelemetry_traces_exporter", "none", *OTLP_EXPORTERS, without="none"
    ),
    _QUEUE: _whole(1, "2048", "2048"),
    _BATCH: _batch_size,
    "OTEL_BSP_SCHEDULE_DELAY": _whole(1, "5000", "5000"),
    "OTEL_BSP_EXPORT_TIMEOUT": _whole(1, "30000", "30000"),
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_SPAN_EVENT_COUNT_LIMIT": _LIMIT,
    "OTEL_SPAN_LINK_COUNT_LIMIT": _LIMIT,
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_ATTRIBUTE_COUNT_LIMIT": _LIMIT,
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": _LENGTH,
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": _LENGTH,
    "OTEL_EXPORTER_OTLP_ENDPOINT": _anything,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": _anything,
    "OTEL_EXPORTER_OTLP_PROTOCOL": _PROTOCOL,
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": _PROTOCOL,
    "OTEL_EXPORTER_OTLP_HEADERS": _pairs,
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS": _pairs,
    "OTEL_EXPORTER_OTLP_TIMEOUT": _seconds,
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": _seconds,
    "OTEL_EXPORTER_OTLP_COMPRESSION": _COMPRESSION,
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": _COMPRESSION,
    "OTEL_EXPORTER_OTLP_CERTIFICATE": _file,
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": _file,
    "OTEL_EXPORTER_OTLP_CLIENT_KEY": _file,
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": _file,
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": _file,
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": _file,
    "OTEL_EXPORTER_OTLP_INSECURE": _boolean,
    "OTEL_EXPORTER_OTLP_TRACES_INSECURE": _boolean,
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER": _credentials,
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER": _credentials,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_CREDENTIAL_PROVIDER": _credentials,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_TRACES_CREDENTIAL_PROVIDER": _credentials,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_RETRYABLE_ERROR_CODES": _codes,
    "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": _anything,
    "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": _anything,
    CAPTURE: _capture,
    "OTEL_SEMCONV_STABILITY_OPT_IN": _anything,
}
"""Every standard variable that has to do with traces."""
