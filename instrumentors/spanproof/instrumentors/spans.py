"""Starting, filling and failing spans: the one place that writes to the OpenTelemetry API.

A framework's hooks hold one `Tracing` and get `Opened` spans from it: the span and the context in which its
children begin. Attributes that a sampler may want are given at the start, content only to spans that record.
"""

from __future__ import annotations

import sys
import traceback
from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.cohort import COHORT_KEY, cohort_attributes
from spanproof.instrumentors.content import Content, ContentPolicy, policy_from
from spanproof.instrumentors.contexts import current
from spanproof.instrumentors.light_spans import SPAN_KEY, LightSpan, put, starting_with
from spanproof.instrumentors.texts import text_of, well_formed
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

AGENT: Final = "AGENT"
CHAIN: Final = "CHAIN"
LLM: Final = "LLM"
TOOL: Final = "TOOL"
RETRIEVER: Final = "RETRIEVER"

GIVEN_UP: Final = (CancelledError, GeneratorExit)
"""What ends a run that its caller cancels, or a stream that nobody reads to its end: neither has failed."""
_MAX_MESSAGE_CHARS: Final = 16_384
_MAX_STACK_CHARS: Final = 16_384
_MAX_UNTYPED_CHARS: Final = 4_096
_UNKNOWN_ERROR: Final = "_OTHER"
"""OpenTelemetry's value for an error of unknown type."""
_NOTHING: Final[Mapping[str, object]] = {}


class Opened(Content):
    """A span that has begun, and as the `Content` that it is, what is to be written to it.

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


class Tracing:
    """A tracer with the policy of what it may record.

    Attributes:
        scope: its instrumentation scope's name.
        policy: what of the content is recorded.
    """

    def __init__(
        self, framework: str, provider: TracerProvider | None = None, policy: ContentPolicy | None = None
    ) -> None:
        self.scope = f"{ours.SCOPE_PREFIX}instrumentors.{framework}"
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
        self._start = starting_with(tracer)

    def open(
        self,
        name: str,
        kind: str,
        *,
        operation: str | None = None,
        parent: Context | None = None,
        start_ns: int | None = None,
        facts: Mapping[str, AttributeValue] | None = None,
        links: Sequence[Link] = (),
        within: Mapping[str, object] = _NOTHING,
    ) -> Opened:
        """Begin a span under `parent` (the current context when None), cohort and further facts included.

        What happens within it finds also what is given as `within` in its context.
        """
        context = current() if parent is None else parent
        attributes: dict[str, AttributeValue] = {openinference.SPAN_KIND: kind}
        if COHORT_KEY in context:
            attributes.update(cohort_attributes(context))
        if operation is not None:
            attributes[genai.OPERATION_NAME] = operation
        if facts is not None:
            attributes.update(facts)
        if not name.isascii():
            name = well_formed(name)
        otel_kind = SpanKind.CLIENT if kind == LLM else SpanKind.INTERNAL
        opened = Opened(self.policy)
        span = opened.span = self._start(name, context, otel_kind, attributes, links, start_ns)
        opened.context = Context({**context, SPAN_KEY: span, **within})
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
