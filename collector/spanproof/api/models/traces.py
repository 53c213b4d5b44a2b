"""The answers about one trace: a page of it, its spans and its images."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from spanproof.api.models import Answer, Run, SpanRow
from spanproof.trace import State
from spanproof.trace.images import MOST_IMAGES, MediaType


class SpanList(Answer):
    """A page of the spans of a trace, the earliest first."""

    spans: list[SpanRow]
    next: str | None = Field(description="`cursor` of the page after this one; null where this is the last.")


class Feedback(Answer):
    """What a user thought of a run."""

    run_span_id: str
    kind: str
    comment: str | None


class TraceImage(Answer):
    """An image that a span of the trace holds; shown and not judged."""

    id: str = Field(description="Of its content.")
    span_id: str
    run_span_id: str | None = Field(description="The run whose step holds it; null where none does.")
    step: int | None = Field(description="Number of that step.")
    attribute: str = Field(description="Name of the span's attribute that holds it.")
    media_type: MediaType
    bytes: int = Field(description="Its size.")


class TracePage(Answer):
    """One trace whole."""

    trace_id: str
    state: State = Field(description="What its runs are together.")
    project: str
    defects: list[str]
    spans: list[SpanRow]
    spans_left_out: int
    runs: list[Run]
    feedback: list[Feedback]
    images: list[TraceImage] = Field(
        description=f"What `/traces/{{trace_id}}/images/{{image_id}}` serves, {MOST_IMAGES} at most."
    )


class SpanPage(Answer):
    """One span with all that came with it."""

    span: SpanRow
    dialect: str
    attributes: dict[str, Any]
    resource: dict[str, Any]
