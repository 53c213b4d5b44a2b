"""Calls of models, tools and managed agents, each with a span around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.content.reading import attribute, text_or_none
from spanproof.instrumentors.frameworks.diagnostics import swallowed
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.frameworks.smolagents.causes import chain_of, real_cause
from spanproof.instrumentors.frameworks.smolagents.state import MUTED, PLACE, Place, RunState, locate_call
from spanproof.instrumentors.spans.contexts import attach, detach
from spanproof.instrumentors.spans.span_start import SpanStart
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing


@dataclass(frozen=True, slots=True)
class CallKind:
    """How calls of one kind of object are recorded.

    Attributes:
        label: under which our own errors are counted.
        name_attribute: of the object that is called.
        make_start: makes the start of a span from that name.
        record_arguments: writes what a call is given.
        record_result: writes what it returned.
        outside_runs: a call outside of any run gets a span too.
        has_facts: `record_arguments` also writes what is no content.
    """

    label: str
    name_attribute: str
    make_start: Callable[[str], SpanStart]
    record_arguments: Callable[[OpenSpan, RunState | None, Any, Sequence[Any], Mapping[str, Any]], object]
    record_result: Callable[[OpenSpan, RunState | None, Any], object]
    outside_runs: bool
    has_facts: bool


def trace_call(
    tracing: Tracing,
    kind: CallKind,
    original: Method,
    member: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """Hook of a method that returns its result: call it within a span."""
    parent, place = locate_call(tracing, member, original)
    opened = None
    if place is not MUTED and (parent is not None or kind.outside_runs):
        opened = begin_call(tracing, kind, parent, place, original, member, args, kwargs)
    if opened is None:
        return original(member, *args, **kwargs)
    token = attach(opened.context)
    try:
        result = original(member, *args, **kwargs)
    except BaseException as error:
        fail_call(tracing, kind, opened, place.run, error)
        raise
    finally:
        detach(token)
    finish_call(kind, opened, place.run, result)
    return result


def begin_call(
    tracing: Tracing,
    kind: CallKind,
    parent: Context | None,
    place: Place,
    method: Method,
    member: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> OpenSpan | None:
    """Start the span of a call of `member` by its `method`; None where that fails."""
    opened = None
    try:
        start = kind.make_start(name_of(attribute(member, kind.name_attribute), member))
        inner = Place(place.run, place.step, member, method)
        opened = tracing.open(start, parent, values={PLACE: inner})
        if opened.recording and (opened.visible or kind.has_facts):
            kind.record_arguments(opened, place.run, member, args, kwargs)
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed(f"{kind.label}.begin", error)
    return opened  # also where its arguments could not be recorded


def name_of(name: object, member: Any) -> str:
    """Return the name of a model or tool, that of its class where it has none."""
    return text_or_none(name) or type(member).__name__


def finish_call(kind: CallKind, opened: OpenSpan, run: RunState | None, result: Any) -> None:
    """Record a call's result and end its span."""
    try:
        try:
            if opened.recording:
                kind.record_result(opened, run, result)
        finally:
            opened.close()
    except Exception as error:  # noqa: BLE001 - as above
        swallowed(f"{kind.label}.finish", error)


def fail_call(
    tracing: Tracing, kind: CallKind, opened: OpenSpan, run: RunState | None, error: BaseException
) -> None:
    """Record what a call has raised and end its span."""
    try:
        try:
            real = real_cause(chain_of(error, run.handled if run else None))
            tracing.fail(opened.span, error, error_type=type(real).__name__)
        finally:
            opened.close()
    except Exception as failure:  # noqa: BLE001 - as above
        swallowed(f"{kind.label}.fail", failure)
