"""Starting, filling and failing spans: the one module that writes to the OpenTelemetry API.

A framework's hooks hold one `Tracing` and get `OpenSpan`s from it: the span and the context of what happens
within it. Attributes that a sampler may need are given at the start, content only to spans that record.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextvars import Token
from importlib.metadata import version
from typing import Final, TypeVar

from opentelemetry import trace
from opentelemetry.context import Context, create_key
from opentelemetry.trace import Link, Span, Status, StatusCode, TracerProvider
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content.capture import Content, ContentPolicy, read_policy
from spanproof.instrumentors.content.texts import to_text
from spanproof.instrumentors.frameworks.diagnostics import record_swallowed, shielded
from spanproof.instrumentors.spans.cohort import COHORT_KEY, get_cohort_attributes
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.instrumentors.spans.environment import get_environment_facts
from spanproof.instrumentors.spans.fast_span import SPAN_KEY, build_span_starter, set_attributes
from spanproof.instrumentors.spans.span_start import AGENT, CHAIN, TOOL, SpanStart
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

_MAX_MESSAGE_CHARS: Final = 16_384
_MAX_UNTYPED_CHARS: Final = 4_096
_NO_CONTEXT: Final = Context()
# Set in the contexts within a span that names the environment when it ends.
_WITHIN_KEY: Final = create_key("spanproof-within")
# Kinds of spans within which code may run.
_NAMING_ENVIRONMENT: Final = frozenset({AGENT, CHAIN, TOOL})
# OpenTelemetry's value for an error of unknown type.
_UNKNOWN_ERROR: Final = "_OTHER"


class OpenSpan(Content):
    """A started span and, as the `Content` that it is, the attributes to be written to it.

    Frameworks derive classes from it for what else they keep about a span in progress.

    Attributes:
        span: the span.
        context: of what happens within it.
        recording: whether attributes written to it are kept.
        outermost: no span of this process above it names the environment, so this one does.
    """

    outermost = False
    _token: Token[Context] | None = None

    def __init__(self, policy: ContentPolicy, span: Span, context: Context, *, recording: bool) -> None:
        super().__init__(policy)
        self.span = span
        self.context = context
        self.recording = recording

    def write(self) -> None:
        """Put the attributes gathered so far onto the span."""
        set_attributes(self.span, self.finished())

    def enter(self) -> None:
        """Make the context current until the span is closed, if that is in the same thread and task."""
        self._token = attach(self.context)

    @shielded("span.end")
    def close(self) -> None:
        """Write the attributes gathered so far and end the span.

        The context is dropped because it may hold this object and the agent: such a cycle would keep the
        agent's memory until the garbage collector runs.
        """
        if self._token is not None and current() is self.context:
            detach(self._token)
        self.context, self._token = _NO_CONTEXT, None
        if self.outermost and self.recording and self.policy.environment:
            with shielded("environment"):
                trace_id = self.span.get_span_context().trace_id
                self.attributes.update(get_environment_facts(trace_id, self.policy.max_value_chars))
        self.write()
        self.span.end()

    def fail(
        self,
        error: BaseException,
        *,
        error_type: str | None = None,
        message: str | None = None,
        chain: Sequence[str] = (),
        stack: bool = True,
    ) -> None:
        """Record why the span failed: `error.type`, an exception event and the status.

        Args:
            error: the exception that ended it.
            error_type: the name to record where the exception only wraps the real one.
            message: the same for its message.
            chain: class names from the framework's error to the one first raised.
            stack: whether to record the stack trace; that of an interpreter means nothing.
        """
        span = self.span
        if not span.is_recording():
            return
        name = description = error_type or type(error).__name__
        event: dict[str, AttributeValue] = {genai.EXCEPTION_TYPE: name}
        shown = self.policy.permitted(to_text(error) if message is None else message, _MAX_MESSAGE_CHARS)
        if shown is not None:
            event[genai.EXCEPTION_MESSAGE] = shown
            description = f"{name}: {shown}"
            if stack:
                trace_text = self.policy.permitted(
                    _format_stack(error), _MAX_MESSAGE_CHARS, genai.EXCEPTION_STACKTRACE
                )
                event[genai.EXCEPTION_STACKTRACE] = trace_text or ""
        span.set_attribute(genai.ERROR_TYPE, name)
        if chain:
            span.set_attribute(ours.EXECUTION_ERROR_CHAIN, list(chain))
        span.add_event("exception", event)
        span.set_status(Status(StatusCode.ERROR, description))

    def fail_untyped(self, message: str, error_type: str = _UNKNOWN_ERROR) -> None:
        """Record that the span failed with a message of unknown exception type."""
        self.span.set_attribute(genai.ERROR_TYPE, error_type)
        self.span.set_status(Status(StatusCode.ERROR, self.policy.permitted(message, _MAX_UNTYPED_CHARS)))


AnyOpenSpan = TypeVar("AnyOpenSpan", bound=OpenSpan)


class Tracing:
    """A tracer with the policy of what it may record.

    Attributes:
        scope: its instrumentation scope's name.
        policy: which content is recorded.
        over: the framework has been uninstrumented; hooks that other code still holds do nothing.
    """

    def __init__(
        self, framework: str, provider: TracerProvider | None = None, policy: ContentPolicy | None = None
    ) -> None:
        self.scope = f"{ours.SCOPE_PREFIX}instrumentors.{framework}"
        self.over = False
        self.change(provider or trace.get_tracer_provider(), policy or read_policy())

    def change(self, provider: TracerProvider | None, policy: ContentPolicy | None) -> None:
        """Use another provider or policy for spans from now on; None keeps the present one."""
        if policy is not None:
            self.policy = policy
        if provider is not None:
            self._provider = provider
        # Hidden content is marked once, on the scope of all these spans.
        marks = None if self.policy.capture else {ours.CONTENT_HIDDEN: True}
        self._start_span = build_span_starter(
            self._provider.get_tracer(self.scope, version("spanproof"), attributes=marks)
        )

    def open(
        self,
        kind: type[AnyOpenSpan],
        start: SpanStart,
        parent: Context | None = None,
        *,
        values: Mapping[str, object] | None = None,
        links: Sequence[Link] = (),
    ) -> AnyOpenSpan:
        """Start a span; it records nothing where that fails.

        Args:
            kind: the class of what is returned, derived from `OpenSpan`.
            start: name, kind and first attributes; the cohort of the parent context is added.
            parent: the context it starts in; the current one when None.
            values: added to the context of what happens within the span.
            links: to spans of other traces.
        """
        context = current() if parent is None else parent
        if COHORT_KEY in context:
            start = start._replace(attributes={**get_cohort_attributes(context), **start.attributes})
        try:
            span = self._start_span(start, context, links)
        except Exception as error:  # noqa: BLE001 - a sampler or processor of the host's
            record_swallowed("span.start", error)
            span = trace.INVALID_SPAN
        recording = span.is_recording()
        within: dict[str, object] = {**context}
        # An application's own trace goes on through a run of ours that is not sampled.
        if recording or not trace.get_current_span(context).is_recording():
            within[SPAN_KEY] = span
        if values is not None:
            within.update(values)
        names_environment = (
            _WITHIN_KEY not in context and start.attributes[openinference.SPAN_KIND] in _NAMING_ENVIRONMENT
        )
        if names_environment:
            within[_WITHIN_KEY] = True
        opened = kind(self.policy, span, Context(within), recording=recording)
        opened.outermost = names_environment
        return opened


def was_abandoned(error: BaseException | None) -> bool:
    """Return whether a caller cancelled the run, or did not read its stream to the end: no failure."""
    if isinstance(error, GeneratorExit):
        return True
    # Not imported here: that takes a third of what `register` takes, and who raised it has done so.
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def _format_stack(error: BaseException) -> str:
    try:
        return to_text("".join(traceback.format_exception(error)))
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 - an exception's own methods run here
        return f"<no stack trace: {type(failure).__name__}>"
