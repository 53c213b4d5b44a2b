"""What the collector and its evaluating processes send each other: one job, one result.

Both are pickled onto a socket that the two alone hold, a result by
`spanproof.trace.pickling`, as it is large.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spanproof.config.model import Config
from spanproof.evaluators.model import TraceEvaluation
from spanproof.trace.project import TraceKey

if TYPE_CHECKING:
    from spanproof.config.engine import OpenEngine


def open_configured_engine(config: Config) -> OpenEngine:
    """Return the engine of a configuration; raises what `spanproof.config.engine.open_engine` raises."""
    # Here and not above: it loads every layer, which the workers need and the collector does not.
    from spanproof.config.engine import open_engine

    return open_engine(config)


@dataclass(frozen=True, slots=True)
class Start:
    """The first message to a worker: how it opens its engine.

    Attributes:
        modules: where modules are looked for, as in the collector itself.
    """

    config: Config
    open_engine: Callable[[Config], OpenEngine]
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogLine:
    """What a worker logged; the collector writes it, in its own form."""

    level: int
    logger: str
    message: str


def write_log_lines(lines: tuple[LogLine, ...]) -> None:
    """Log what a worker logged."""
    for line in lines:
        logging.getLogger(line.logger).log(line.level, "%s", line.message)


@dataclass(frozen=True, slots=True)
class Started:
    """The answer to `Start`; `failure` is what opening the engine raised."""

    failure: Exception | None = None
    lines: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """Follows `Started`, once the models are loaded that most traces need: jobs take their own time now."""


@dataclass(frozen=True, slots=True)
class Job:
    """A trace to evaluate.

    Attributes:
        places: segment file and offset of each log record that holds spans of it.
        former: the stored document of the trace, where it was evaluated before.
        without_replay: why nothing is replayed; empty replays.
        failure: error type and message of the last attempt: the layers are `errored` with it, and nothing is
            evaluated; None evaluates.
        wants_body: whether the spans are returned.
    """

    key: TraceKey
    places: tuple[tuple[Path, int], ...]
    former: str | None = None
    without_replay: str = ""
    failure: tuple[str, str] | None = None
    wants_body: bool = False


class TraceTooLarge(ValueError):  # noqa: N818 - says what is wrong with the trace
    """A trace has more spans than are evaluated."""

    def __init__(self, spans: int, most: int) -> None:
        super().__init__(f"the trace has {spans:,} spans, more than evaluation.max_spans: {most:,}")


def check_trace_size(spans: int, most: int) -> None:
    """Raise `TraceTooLarge` for a trace of more than `most` spans."""
    if spans > most:
        raise TraceTooLarge(spans, most)


SIZE_STAGE: Final = "size"
"""The stage of a result that names a trace as too large to be evaluated."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a job.

    Attributes:
        evaluation: None where a stage failed, which `stage`, `error_type` and `error` name.
        body: the trace's new spans as an OTLP request, where they were wanted or a stage failed.
        seconds: what it took.
    """

    evaluation: TraceEvaluation | None
    stage: str = ""
    error_type: str = ""
    error: str = ""
    body: bytes = field(default=b"", repr=False)
    seconds: float = 0.0
    lines: tuple[LogLine, ...] = ()
