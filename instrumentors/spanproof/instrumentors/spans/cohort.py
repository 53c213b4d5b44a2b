"""The cohort of a run: prompt version, task, release, fixture set, project, session, user and tags.

`set_cohort` puts the dimensions into the OpenTelemetry context, so that they go wherever the context goes;
our spans take them from there, and `CohortProcessor` gives them to the application's own spans. Out: the
attributes `spanproof.cohort.*`, and OpenInference's `session.id`, `user.id` and `tag.tags`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from opentelemetry.context import Context, create_key, set_value
from opentelemetry.sdk.trace import Span, SpanProcessor

from spanproof.instrumentors.content.texts import format_encodable, to_text
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.instrumentors.spans.fast_span import set_attributes
from spanproof.semconv import openinference
from spanproof.semconv import spanproof as ours

COHORT_KEY: Final = create_key("spanproof-cohort")
"""Under which a context holds its cohort."""
_Attributes = Mapping[str, str | tuple[str, ...]]
_NOTHING: Final[_Attributes] = {}


@contextmanager
def set_cohort(
    *,
    prompt_version: str | None = None,
    task: str | None = None,
    release: str | None = None,
    fixture_set: str | None = None,
    project: str | None = None,
    session: str | None = None,
    user: str | None = None,
    tags: Sequence[str] = (),
) -> Iterator[None]:
    """Put these on every span that begins within the block; nested blocks add up.

    Args:
        prompt_version: of the prompt the agent runs with.
        task: what kind of task this is, the same for all runs that should be compared.
        release: of the application.
        fixture_set: the set of recorded data the run works on.
        project: the project its scores belong to, where `register()` and the resource name none. Set
            it around the whole trace: spans of two projects are two traces.
        session: the conversation it belongs to, the same for each turn.
        user: whom it works for: an id, rather than a name.
        tags: words of your own; those of an inner block take the place of the outer block's.
    """
    values = {
        ours.COHORT_PROMPT_VERSION: prompt_version,
        ours.COHORT_TASK: task,
        ours.COHORT_RELEASE: release,
        ours.COHORT_FIXTURE_SET: fixture_set,
        ours.COHORT_PROJECT: project,
        openinference.SESSION_ID: session,
        openinference.USER_ID: user,
    }
    attributes: dict[str, str | tuple[str, ...]] = {
        name: _format_value(value) for name, value in values.items() if value is not None
    }
    if tags:
        attributes[openinference.TAGS] = tuple(map(_format_value, tags))
    token = attach(set_value(COHORT_KEY, {**get_cohort_attributes(), **attributes}))
    try:
        yield
    finally:
        detach(token)


def get_cohort_attributes(context: Context | None = None) -> _Attributes:
    """Return the cohort attributes of a context (the current one when None)."""
    value = (current() if context is None else context).get(COHORT_KEY)
    return value if isinstance(value, dict) else _NOTHING


class CohortProcessor(SpanProcessor):
    """Gives the cohort to spans that are not ours, and the defaults to all."""

    def __init__(self) -> None:
        self._defaults: dict[str, str | tuple[str, ...]] = {}

    def set_default(self, dimension: str, value: str) -> None:
        """Set a dimension's value for spans whose cohort has no other."""
        self._defaults = {**self._defaults, ours.COHORT_PREFIX + dimension: _format_value(value)}

    def set_tags(self, tags: tuple[str, ...]) -> None:
        """Set what spans are to be judged for."""
        self._defaults = {**self._defaults, ours.EVAL_TAGS: tuple(map(_format_value, tags))}

    @shielded("cohort.on_start")
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Set what the span does not carry yet."""
        cohort = get_cohort_attributes(parent_context)
        if self._defaults:
            cohort = {**self._defaults, **cohort}
        elif not cohort or _is_ours(span):
            return
        set_attributes(span, cohort)


def _format_value(value: object) -> str:
    """Return a dimension's value as text that OTLP can carry."""
    try:
        return format_encodable(str.__str__(str(value)))
    except Exception:  # noqa: BLE001 - the host's own value
        return to_text(value)


def _is_ours(span: Span) -> bool:
    scope = span.instrumentation_scope
    return scope is not None and scope.name.startswith(ours.SCOPE_PREFIX)
