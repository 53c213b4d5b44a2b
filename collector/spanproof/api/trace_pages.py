"""One trace as the API answers it: its runs with a page of their steps, its spans and its images."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from math import isfinite
from typing import Any, Final

from fastapi import HTTPException, Response

from spanproof.api import models
from spanproof.api.models import traces as trace_models
from spanproof.api.pages import EVERY_STEP, build_run, format_text, group_step_numbers
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import Feedback
from spanproof.trace import Span, Trace
from spanproof.trace.images import MEDIA_TYPES, Image, find_image, list_images

STEPS_OF_PAGE: Final = 1_000
"""Steps of a run in one answer: about 4 MB of code, scores and records, which a browser lays out in 1 s."""
_MOST_SPANS: Final = 5_000
IMAGE_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    HTTPStatus.OK.value: {"content": {media_type: {} for media_type in MEDIA_TYPES}}
}
"""How OpenAPI describes the answer with an image."""


def get_steps(first: int) -> slice:
    """Return the page of steps that begins with this number."""
    return slice(first - 1, first - 1 + STEPS_OF_PAGE)


def build_trace_page(
    evaluation: TraceEvaluation, feedback: Sequence[Feedback], steps: slice = EVERY_STEP
) -> trace_models.TracePage:
    """Return one trace, with these steps of each run."""
    trace = evaluation.trace
    spans = [build_span_row(span, trace.parents[span.span_id]) for span in trace.spans[:_MOST_SPANS]]
    return trace_models.TracePage(
        trace_id=trace.trace_id,
        state=evaluation.state,
        project=format_text(evaluation.key.project),
        defects=[defect.value for defect in trace.defects],
        spans=spans,
        spans_left_out=len(trace.spans) - len(spans),
        runs=[build_run(run, steps) for run in evaluation.runs],
        feedback=[_build_feedback(opinion) for opinion in feedback],
        images=_build_images(evaluation),
    )


def _build_feedback(opinion: Feedback) -> trace_models.Feedback:
    return trace_models.Feedback(
        run_span_id=opinion.span_id or "",
        kind=format_text(opinion.kind),
        comment=None if opinion.comment is None else format_text(opinion.comment),
    )


def _build_images(evaluation: TraceEvaluation) -> list[trace_models.TraceImage]:
    """Return the images of a trace, each with the step that its span is part of or below."""
    images = list_images(evaluation.trace.spans)
    if not images:
        return []
    steps = {
        span_id: (run.run.span_id, number)
        for run in evaluation.runs
        for span_id, number in group_step_numbers(run.run.steps).items()
    }
    return [_build_image(image, _get_step(evaluation.trace, steps, image.span_id)) for image in images]


def _get_step(
    trace: Trace, steps: Mapping[str, tuple[str, int]], span_id: str
) -> tuple[str, int] | tuple[None, None]:
    """Return the run and the number of the step that a span is part of or below."""
    above: str | None = span_id
    while above is not None:
        if above in steps:
            return steps[above]
        above = trace.parents[above]
    return None, None


def _build_image(image: Image, step: tuple[str, int] | tuple[None, None]) -> trace_models.TraceImage:
    run_span_id, number = step
    return trace_models.TraceImage(
        id=image.id,
        span_id=image.span_id,
        run_span_id=run_span_id,
        step=number,
        attribute=format_text(image.attribute),
        media_type=image.media_type,
        bytes=len(image.content),
    )


def build_image_response(evaluation: TraceEvaluation | None, image_id: str) -> Response:
    """Return the content of an image that a span of the trace holds.

    Raises:
        HTTPException: 404: there is no such image.
    """
    found = find_image(evaluation.trace.spans, image_id) if evaluation else None
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"the trace has no image {image_id[:64]!r}")
    # The content is an agent's. Opened as a page of its own it may load and run nothing.
    headers = {"content-security-policy": "default-src 'none'; sandbox", "content-disposition": "inline"}
    return Response(found.content, media_type=found.media_type, headers=headers)


def build_span_row(span: Span, parent_id: str | None) -> models.SpanRow:
    """Return one span of the tree; `parent_id` is that of the span above it there."""
    return models.SpanRow(
        span_id=span.span_id,
        parent_id=parent_id,
        name=format_text(span.name),
        kind=span.kind.value,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        error=format_text(span.error.message) if span.error else None,
    )


def build_span_page(span: Span) -> trace_models.SpanPage:
    """Return one span with all that came with it."""
    return trace_models.SpanPage(
        span=build_span_row(span, span.parent_id),
        dialect=span.dialect,
        attributes={format_text(key): _to_json(value) for key, value in span.attributes.items()},
        resource={format_text(key): _to_json(value) for key, value in span.resource.items()},
    )


def _to_json(value: object) -> object:
    """Return an attribute as JSON data."""
    if isinstance(value, str):
        return format_text(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float) or value is None:
        return value
    return format_text(json.dumps(value, ensure_ascii=False, default=str))
