"""The standard variables `OTEL_*`: values that the SDK cannot read are kept from it.

The API, the SDK and the exporters read the variables themselves, some of them at import. At a malformed
number or an unknown propagator they raise, and that must not reach the host. `readable_environment` replaces
such values while the SDK is imported and set up, and reports each once: as a warning, and under `environment`
in the diagnostics.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final

_QUEUE: Final = "OTEL_BSP_MAX_QUEUE_SIZE"
_BATCH: Final = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
_DEFAULT_BATCH: Final = 512

_logger = logging.getLogger(__name__)
_reported: set[tuple[str, str]] = set()


class Misconfigured(Exception):  # noqa: N818 - counted, never raised
    """A variable has a value that cannot be used."""


@dataclass(frozen=True, slots=True)
class Check:
    """What the SDK can read of a variable.

    Attributes:
        accepts: a value, or each item of a list.
        problem: with a value that is not accepted.
        is_list: items are separated by commas.
    """

    accepts: Callable[[str], bool]
    problem: str
    is_list: bool = False

    def read_usable(self, value: str) -> tuple[str, bool]:
        """Return what of a value can be used, and whether that is all of it."""
        if not self.is_list:
            if self.accepts(value.lower()):
                return (value.lower(), True)
            return ("", not value)
        items = [item for entry in value.split(",") if (item := entry.strip())]
        kept = [item for item in items if self.accepts(item)]
        return ",".join(kept), kept == items


def _build_number_check(least: int) -> Check:
    return Check(
        lambda value: value.isascii() and value.isdigit() and int(value) >= least,
        f"is not a whole number from {least} up",
    )


def _is_duration(value: str) -> bool:
    try:
        return 0 < float(value) < float("inf")
    except ValueError:
        return False


def _build_choice_check(*choices: str) -> Check:
    return Check(choices.__contains__, f"is not one of {', '.join(choices)}")


def is_installed(group: str, name: str) -> bool:
    """Return whether a package provides an entry point of that name."""
    return bool(tuple(entry_points(group=group, name=name)))


_LIMITS: Final = (
    *("SPAN_ATTRIBUTE_COUNT_LIMIT", "SPAN_EVENT_COUNT_LIMIT", "SPAN_LINK_COUNT_LIMIT"),
    *("EVENT_ATTRIBUTE_COUNT_LIMIT", "LINK_ATTRIBUTE_COUNT_LIMIT", "ATTRIBUTE_COUNT_LIMIT"),
    *("SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "ATTRIBUTE_VALUE_LENGTH_LIMIT"),
)
_OTLP: Final[dict[str, Check]] = {
    "PROTOCOL": _build_choice_check("http/protobuf", "grpc"),
    "COMPRESSION": _build_choice_check("none", "gzip", "deflate"),
    "TIMEOUT": Check(_is_duration, "is not a number of seconds above 0"),
    "HEADERS": Check(lambda item: item.find("=") > 0, "has an item that is not name=value", is_list=True),
}
_OTLP_OF_TRACES: Final = {f"TRACES_{name}": check for name, check in _OTLP.items()}
_CHECKS: Final[dict[str, Check]] = {
    "OTEL_PROPAGATORS": Check(
        lambda name: name == "none" or is_installed("opentelemetry_propagator", name),
        "names a propagator that no installed package provides",
        is_list=True,
    ),
    **dict.fromkeys(
        (_QUEUE, _BATCH, "OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT"), _build_number_check(1)
    ),
    **{f"OTEL_{name}": _build_number_check(0) for name in _LIMITS},
    **{f"OTEL_EXPORTER_OTLP_{name}": check for name, check in (_OTLP | _OTLP_OF_TRACES).items()},
}


@contextmanager
def readable_environment(*, reporting: bool = True) -> Iterator[None]:
    """Hide what the SDK cannot read from it within the block; afterwards the variables are as they were."""
    values = {name: os.environ.get(name) for name in _CHECKS}
    try:
        update_environment(reporting=reporting)
        yield
    finally:
        for name, value in values.items():
            _update_variable(name, value)


def update_environment(*, reporting: bool = True) -> None:
    """Replace values in the environment that the SDK cannot read, and report them."""
    for name, check in _CHECKS.items():
        value = os.environ.get(name)
        if value is None:
            continue
        read_usable, whole = check.read_usable(value.strip())
        if not whole and reporting:
            effect = "only the rest is used" if read_usable else "it is ignored"
            write_variable_warning(name, value, f"{check.problem}, so {effect}")
        _update_variable(name, read_usable or None)
    queue = int(os.environ.get(_QUEUE, _DEFAULT_BATCH))
    if queue < int(os.environ.get(_BATCH, _DEFAULT_BATCH)):  # which the SDK refuses
        os.environ[_BATCH] = str(queue)


def write_variable_warning(name: str, value: str, problem: str) -> None:
    """Report once that a variable cannot be used as it is; headers may hold a secret and are not shown."""
    if (name, value) in _reported:
        return
    _reported.add((name, value))
    # Imported here: it imports the API, which reads variables at import.
    from spanproof.instrumentors.frameworks.diagnostics import record_swallowed

    if name.endswith("_HEADERS"):
        message = f"{name} {problem}"
    else:
        message = f"{name}={value!r} {problem}"
    record_swallowed("environment", Misconfigured(message))
    _logger.warning("%s", message)


def read_otlp_variable(name: str) -> tuple[str, str]:
    """Return an OTLP exporter variable that is set, the one for traces first: its name and value."""
    names = (f"OTEL_EXPORTER_OTLP_TRACES_{name}", f"OTEL_EXPORTER_OTLP_{name}")
    return next(((item, value) for item in names if (value := os.environ.get(item))), (names[-1], ""))


def _update_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


with readable_environment(reporting=False):
    # These read variables at import.
    import opentelemetry.propagate
    import opentelemetry.sdk.trace  # noqa: F401
