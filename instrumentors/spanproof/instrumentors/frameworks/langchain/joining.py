"""Adding our handler to every root run, which the runs within it inherit, and removing it in unsampled runs.

LangChain makes a callback manager for each run. A handler that ignores every event still costs an agent some
3 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config
from opentelemetry.trace import get_current_span, set_span_in_context

from spanproof.instrumentors.content.reading import attribute, member
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.langchain.handler import SpanHandler
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.spans.contexts import attach


def join_manager(
    handler: SpanHandler, original: Method, kind: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Hook of a callback manager's `configure`, which makes the manager of each run."""
    manager = original(kind, *args, **kwargs)
    if handler.tracing.over:
        return manager
    caller = args[0] if args else kwargs.get("inheritable_callbacks")
    # A plain `getattr`: the original has read the attribute by now.
    if getattr(caller, "parent_run_id", None) is None:
        _join(manager, handler)
    elif handler.unsampled and manager.handlers:
        _leave(manager, handler)
    return manager


@shielded("langchain.join")
def _join(manager: Any, handler: SpanHandler) -> None:
    manager.add_handler(handler, inherit=True)


@shielded("langchain.leave")
def _leave(manager: Any, handler: SpanHandler) -> None:
    """Take the handler out of what begins within an unsampled run, in the context LangChain made for that."""
    outer = handler.unsampled.get(manager.parent_run_id.int)
    within = member(var_child_runnable_config.get(), "callbacks")
    if outer is None or attribute(within, "parent_run_id") != manager.parent_run_id:
        return
    for each in (manager, within):
        if handler in each.handlers:
            each.remove_handler(handler)
    if not get_current_span().get_span_context().is_valid:
        # A span of the application's would begin a trace here, of a run that is on none. The context goes
        # when the run does: nothing has to be put back.
        attach(set_span_in_context(get_current_span(outer)))
