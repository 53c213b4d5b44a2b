"""Starting, filling and failing spans: the one place that writes to the OpenTelemetry API.

A framework's hooks hold one `Tracing` and get `Opened` spans from it: the span and the context in which its
children begin. Attributes that a sampler may want are given at the start, content only to spans that record.
"""

from __future__ import annotations

import sys
import traceback
from asyncio import CancelledError
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, Status, StatusCode, TracerProvider
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.capture import Content, ContentPolicy, policy_from
from spanproof.instrumentors.content.texts import text_of
from spanproof.instrumentors.spans.cohort import COHORT_KEY, cohort_attributes
from spanproof.instrumentors.spans.contexts import current
from spanproof.instrumentors.spans.light_spans import LightSpan, put
from spanproof.instrumentors.spans.span_factory import SPAN_KEY, beginning_with
from spanproof.instrumentors.spans.starts import Start
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

GIVEN_UP: Final = (CancelledError, GeneratorExit)
"""What ends a run that its caller cancels, or a stream that nobody reads to its end: neither has failed."""
_MAX_MESSAGE_CHARS: Final = 16_384
_MAX_STACK_CHARS: Final = 16_384
_MAX_UNTYPED_CHARS: Final = 4_096
_OVER: Final = Context()
_UNKNOWN_ERROR: Final = "_OTHER"
"""OpenTelemetry's value for an error of unknown type."""


blank: Final = object.__new__
"""Makes what `Tracing.open` fills: a constructor written in Python is a thirtieth of what a span costs."""


class Opened(Content):
    """A span that has begun, and as the `Content` that it is, what is to be written to it.

    What else a framework's hooks know of it while it is going on is in classes that derive from this one.

    Attributes:
        span: the span.
        context: of what happens within it.
        recording: whether what is written to it is kept; not once it has ended with its run.
    """

    __slots__ = ("context", "recording", "span")
    span: Span
    context: Context
    recording: bool

    def write(self) -> None:
        """Put onto the span what was gathered since the last time."""
        if self._marks:
            self.attributes.update(self._marked())
        put(self.span, self.attributes)
        self.attributes = {}

    def close(self) -> None:
        """Put onto the span what was gathered since the last time, and end it.

        The context is let go of, which may hold this and so the agent: a circle of those would keep all of
        the agent's memory until the garbage collector comes by.
        """
        self.context = _OVER
        span = self.span
        if type(span) is not LightSpan:
            self.write()
            span.end()
            return
        if self._marks:
            self.attributes.update(self._marked())
        span.finish(self.attributes)
        self.attributes = {}


class Tracing:
    """A tracer with the policy of what it may record.

    Attributes:
        scope: its instrumentation scope's name.
        policy: what of the content is recorded.
        over: the framework is no more under instrumentation; a hook that somebody has kept does nothing.
    """

    def __init__(
        self, framework: str, provider: TracerProvider | None = None, policy: ContentPolicy | None = None
    ) -> None:
        self.scope = f"{ours.SCOPE_PREFIX}instrumentors.{framework}"
        self.over = False
        self.change(provider or trace.get_tracer_provider(), policy or policy_from())

    def change(self, provider: TracerProvider | None, policy: ContentPolicy | None) -> None:
        """Send the spans from now on to another provider, or record by another policy; None leaves it."""
        if policy is not None:
            self.policy = policy
        if provider is not None:
            self._provider = provider
        # That content is hidden holds for all of this scope's spans, and is told once for them.
        said = None if self.policy.capture else {ours.CONTENT_HIDDEN: True}
        tracer = self._provider.get_tracer(self.scope, version("spanproof"), attributes=said)
        self._begin = beginning_with(tracer)

    def open(
        self,
        start: Start,
        parent: Context | None = None,
        within: tuple[str, object] | None = None,
        links: Sequence[Link] = (),
        opened: Opened | None = None,
    ) -> Opened:
        """Begin a span under `parent` (the current context when None), its cohort included.

        What happens within it finds also the name and value that `within` gives in its context. The span is
        put into `opened` where that is given, a blank one of any class that derives from `Opened`.
        """
        context = current() if parent is None else parent
        if COHORT_KEY in context:
            attributes = {**cohort_attributes(context), **start.attributes}
            start = start._replace(attributes=attributes)
        if opened is None:
            opened = blank(Opened)
        policy = self.policy
        opened.visible = policy.capture
        opened.attributes = {}
        opened.policy = policy
        opened._marks = opened._json_shown = ()  # noqa: SLF001 - as `Content` begins, without a call
        begin = self._begin  # in one with the call, it would be looked for among the methods first
        span = opened.span = begin(start, context, links)
        inside = context.copy()
        inside[SPAN_KEY] = span
        if within is not None:
            name, value = within
            inside[name] = value
        opened.context = Context(inside)
        opened.recording = type(span) is LightSpan or span.is_recording()
        return opened

    def content(self) -> Content:
        """An empty set of attributes under this tracer's policy."""
        return Content(self.policy)

    def fail(
        self,
        span: Span,
        error: BaseException,
        *,
        error_type: str | None = None,
        message: str | None = None,
        chain: Sequence[str] = (),
        stack: bool = True,
    ) -> None:
        """Record why a span failed: `error.type`, an exception event and the status.

        Args:
            span: the span that failed.
            error: the exception that ended it.
            error_type: the name to record where the exception only wraps the real one.
            message: the same for its message.
            chain: class names from the framework's error to the one first raised.
            stack: whether the stack trace says anything (inside an interpreter it does not).
        """
        if not span.is_recording():
            return
        name = error_type or type(error).__name__
        event: dict[str, AttributeValue] = {genai.EXCEPTION_TYPE: name}
        described = name
        said = self.policy.said(text_of(error) if message is None else message, _MAX_MESSAGE_CHARS)
        if said is not None:
            event[genai.EXCEPTION_MESSAGE] = said
            described = f"{name}: {said}"
            traced = (
                self.policy.said(_stack_of(error), _MAX_STACK_CHARS, genai.EXCEPTION_STACKTRACE)
                if stack
                else None
            )
            if traced is not None:
                event[genai.EXCEPTION_STACKTRACE] = traced
        span.set_attribute(genai.ERROR_TYPE, name)
        if chain:
            span.set_attribute(ours.EXECUTION_ERROR_CHAIN, list(chain))
        span.add_event("exception", event)
        span.set_status(Status(StatusCode.ERROR, described))

    def fail_untyped(self, span: Span, message: str) -> None:
        """Record that a span failed of which only a message is known."""
        said = self.policy.said(message, _MAX_UNTYPED_CHARS)
        span.set_attribute(genai.ERROR_TYPE, _UNKNOWN_ERROR)
        span.set_status(Status(StatusCode.ERROR, said))


def handled_by_host() -> BaseException | None:
    """The exception the host is handling right now: not a cause of what happens next."""
    return sys.exc_info()[1]


def _stack_of(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error))
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 - an exception's own methods run here
        return f"<no stack trace: {type(failure).__name__}>"
    return text_of(text)
