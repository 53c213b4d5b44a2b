"""A call of a model, of a tool or of a managed agent, each with a span around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.content.reading import attribute, text_or_none
from spanproof.instrumentors.frameworks.diagnostics import swallowed
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.frameworks.smolagents.causes import chain_of, real_cause
from spanproof.instrumentors.frameworks.smolagents.state import MUTED, PLACE, Place, RunState, located
from spanproof.instrumentors.spans.contexts import attach, detach
from spanproof.instrumentors.spans.starts import Start
from spanproof.instrumentors.spans.tracing import Opened, Tracing


@dataclass(frozen=True, slots=True)
class Told:
    """What the spans of one sort of call tell.

    Attributes:
        place: under which errors of ours are counted.
        name: the attribute of whoever is called that names it.
        start: what a span begins with, by that name.
        given: puts down what a call is given; where content is hidden it is asked only if `facts`.
        answered: puts down what it has come to.
        alone: a call outside of any run gets a span too.
        facts: not all that a call is given is content.

    Its functions are fetched, then called: done in one, they would first be looked for among the methods.
    """

    place: str
    name: str
    start: Callable[[str], Start]
    given: Callable[[Opened, RunState | None, Any, Sequence[Any], Mapping[str, Any]], object]
    answered: Callable[[Opened, RunState | None, Any], object]
    alone: bool
    facts: bool


def wrap_call(tracing: Tracing, told: Told, original: Method) -> Method:
    """A method that returns its answer."""

    def call(member: Any, /, *args: Any, **kwargs: Any) -> Any:
        parent, place = located(tracing, member, original)
        if place is MUTED or (parent is None and not told.alone):
            return original(member, *args, **kwargs)
        opened = begin(tracing, told, parent, place, original, member, args, kwargs)
        if opened is None:
            return original(member, *args, **kwargs)
        token = attach(opened.context)
        try:
            answer = original(member, *args, **kwargs)
        except BaseException as error:
            fail(tracing, told, opened, place[0], error)
            raise
        finally:
            detach(token)
        finish(told, opened, place[0], answer)
        return answer

    return call


def begin(
    tracing: Tracing,
    told: Told,
    parent: Context | None,
    place: Place,
    method: Method,
    member: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Opened | None:
    """Begin the span of a call of `member` by its `method`, within what is there."""
    opened = None
    try:
        name = attribute(member, told.name)
        if type(name) is not str or not name:  # as few are
            name = name_of(name, member)
        run, step, _, _ = place
        start = told.start
        opened = tracing.open(start(name), parent, (PLACE, (run, step, member, method)))
        if opened.recording and (opened.visible or told.facts):
            given = told.given
            given(opened, run, member, args, kwargs)
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed(f"{told.place}.begin", error)
    return opened  # also if what it is given could not be told


def name_of(own: object, member: Any) -> str:
    """What a model or tool is called: by its own name, or by its class's where that is none."""
    return text_or_none(own) or type(member).__name__


def finish(told: Told, opened: Opened, run: RunState | None, answer: Any) -> None:
    """End it by what the call has come to."""
    try:
        try:
            if opened.recording:
                answered = told.answered
                answered(opened, run, answer)
        finally:
            opened.close()
    except Exception as error:  # noqa: BLE001 - as above
        swallowed(f"{told.place}.finish", error)


def fail(tracing: Tracing, told: Told, opened: Opened, run: RunState | None, error: BaseException) -> None:
    """End it by what the call has raised."""
    try:
        try:
            real = real_cause(chain_of(error, run.handled if run else None))
            tracing.fail(opened.span, error, error_type=type(real).__name__)
        finally:
            opened.close()
    except Exception as failure:  # noqa: BLE001 - as above
        swallowed(f"{told.place}.fail", failure)
