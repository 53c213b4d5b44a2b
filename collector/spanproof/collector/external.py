"""`POST /v1/scores`: scores from elsewhere, stored before they are acknowledged.

Comes in: labels of people, ratings of a product, verdicts of one's own harness, each about a span of a trace.
Goes out: scores of the run beside ours, once it is stored.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Annotated, Any, Final, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from spanproof.collector.receive.json_endpoints import parse_document
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.layers.execution import SECONDS_AT_HALF
from spanproof.evaluators.scores import BUILT_IN
from spanproof.gate.sandbox_runs import FAILURE_FIELDS
from spanproof.store import ExternalScore, Store, StoreError
from spanproof.trace import Label, Layer

MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_SCORES: Final = 1000
_MAX_AT_ONCE: Final = 16
_HARNESS: Final = "harness"
# What harnesses call a standard error that shows no failure.
_CLEAN_STDERR: Final = frozenset(("", "none", "ok", "empty", "clean", "warning"))

_Word = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,63}$")]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GivenScore(_Body):
    """One score.

    Attributes:
        span_id: of the step or run that was judged; the first run of the trace when not given.
        value: from 0 to 1; that of the label when not given.
        raw, unit: of a metric the amount behind the value.
        tests_passed, tests_total: of a harness, instead of a name with its value; a truth value where it has
            one test.
        exit_code: with which the harness saw the code end.
        stderr_class: what it takes standard error for: `ImportError`, `timeout`; `none` where it is empty.
        execution_seconds: how long the code ran.
    """

    trace_id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    span_id: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None = None
    layer: Layer = Layer.TRAJECTORY
    name: _Word | None = None
    source: _Word = "human"
    value: Annotated[float, Field(ge=0, le=1)] | None = None
    label: Label | None = None
    explanation: Annotated[str, Field(max_length=20_000)] = ""
    raw: Annotated[float, Field(allow_inf_nan=False)] | None = None
    unit: Annotated[str, Field(max_length=50)] = ""
    tests_passed: bool | Annotated[int, Field(ge=0)] | None = None
    tests_total: Annotated[int, Field(ge=1)] | None = None
    exit_code: int | None = None
    stderr_class: Annotated[str, Field(max_length=200)] | None = None
    execution_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @property
    def is_harness_result(self) -> bool:
        """Whether it holds results of a harness instead of one score."""
        results = (self.tests_passed, self.exit_code, self.stderr_class, self.execution_seconds)
        return any(result is not None for result in results)

    @model_validator(mode="after")
    def _check_value_and_name(self) -> Self:
        if self.is_harness_result:
            return self._check_harness_result()
        if self.name is None:
            raise ValueError(f"give a name with a value or label, or any of {', '.join(FAILURE_FIELDS)}")
        if self.value is None and self.label is None:
            raise ValueError("give a value from 0 to 1, or a label: pass or fail")
        if self.name in BUILT_IN:
            raise ValueError(f"{self.name!r} is the name of a score of Spanproof's own; choose another")
        return self

    def _check_harness_result(self) -> Self:
        if self.name is not None or self.value is not None or self.label is not None:
            raise ValueError("give a name with a value, or results of a harness, not both")
        if isinstance(self.tests_passed, bool) or self.tests_passed is None:
            return self
        if self.tests_total is None or self.tests_passed > self.tests_total:
            raise ValueError("give tests_total beside tests_passed, and not less of them")
        return self


class GivenScores(_Body):
    """The body of a request: all of them are stored, or none."""

    scores: Annotated[list[GivenScore], Field(min_length=1, max_length=_MAX_SCORES)]


class ScoreIntake:
    """Takes requests.

    Args:
        open_store: returns the store; called for each request.
        known: names that may be given, as `layer.name`; empty allows any.
        redact: returns a text without what must not be kept.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        score_names: Collection[str],
        telemetry: Telemetry,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._redact = redact
        self._open_store = open_store
        self._known = frozenset(score_names)
        self._telemetry = telemetry
        self._under_way = 0

    async def write_scores_of(self, body: bytes, project: str | None) -> bytes:
        """Store the scores of a body; returns how many were, and how many of them wait for their trace.

        Args:
            body: of the request.
            project: of the traces; None is every one that has a trace with such an id.

        Raises:
            Refused: it is not valid, or the store cannot take it.
        """
        posted = parse_document(GivenScores, body)
        now_ns = time.time_ns()
        singles = [single for score in posted.scores for single in _iter_scores(score)]
        names = {f"{single.layer.value}.{single.name}" for single in singles}
        if self._known and (unknown := sorted(names - self._known)):
            named = ", ".join(sorted(self._known))
            raise Refused(Reason.MALFORMED, f"{unknown[0]} is not in external_scores, which names {named}")
        if self._under_way >= _MAX_AT_ONCE:
            raise Refused(Reason.FULL, f"{_MAX_AT_ONCE} such requests are being stored already")
        self._under_way += 1
        try:
            scores = [
                replace(one, explanation=self._redact(one.explanation))
                for one in (_build_external_score(single, now_ns, project or "") for single in singles)
            ]
            joined = await asyncio.to_thread(lambda: self._open_store().write_external(scores))
        except StoreError as failure:
            raise Refused(Reason.UNAVAILABLE, f"the store takes nothing now: {failure}") from failure
        finally:
            self._under_way -= 1
        for single in singles:
            self._telemetry.external_scores.labels(single.layer.value).inc()
        return orjson.dumps({"stored": len(scores), "waiting": len(scores) - joined})


def _iter_scores(posted: GivenScore) -> Iterator[GivenScore]:
    """Yield a score as it is, and each result of a harness as a score of its own."""
    if not posted.is_harness_result:
        yield posted
        return

    def build(layer: Layer, name: str, **more: Any) -> GivenScore:
        if "source" in posted.model_fields_set:
            source = posted.source
        else:
            source = _HARNESS
        base = {"explanation": posted.explanation, **more}
        return GivenScore(
            trace_id=posted.trace_id, span_id=posted.span_id, layer=layer, name=name, source=source, **base
        )

    if posted.tests_passed is not None:
        passed, total = int(posted.tests_passed), posted.tests_total or 1
        label = Label.PASS if passed == total else Label.FAIL
        yield build(
            Layer.CORRECTNESS, "tests_passed", value=passed / total, label=label, raw=passed, unit="tests"
        )
    if posted.exit_code is not None:
        label = Label.PASS if posted.exit_code == 0 else Label.FAIL
        yield build(Layer.EXECUTION, "exit_code", label=label, raw=posted.exit_code)
    if posted.stderr_class is not None:
        is_clean = posted.stderr_class.lower() in _CLEAN_STDERR
        yield build(Layer.EXECUTION, "stderr_class", value=float(is_clean), explanation=posted.stderr_class)
    if posted.execution_seconds is not None:
        seconds = posted.execution_seconds
        value = SECONDS_AT_HALF / (SECONDS_AT_HALF + seconds)
        yield build(Layer.EXECUTION, "execution_seconds", value=value, raw=seconds, unit="s")


def _build_external_score(posted: GivenScore, now_ns: int, project: str) -> ExternalScore:
    assert posted.name is not None
    if posted.value is not None:
        value = posted.value
    else:
        value = float(posted.label is Label.PASS)
    return ExternalScore(
        trace_id=posted.trace_id,
        span_id=posted.span_id,
        layer=posted.layer,
        name=posted.name,
        source=posted.source,
        value=value,
        label=posted.label,
        explanation=posted.explanation,
        raw=posted.raw,
        unit=posted.unit,
        given_ns=now_ns,
        project=project,
    )
