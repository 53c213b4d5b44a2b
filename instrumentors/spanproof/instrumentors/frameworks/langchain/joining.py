"""Which runs our handler joins: every one that no other has called, and by inheritance all within it.

LangChain makes a callback manager for each run that begins. What is within a run that is not sampled is let
alone: a handler that is merely there, and ignores all it is told, costs an agent some 3 %.
"""

from __future__ import annotations

from typing import Any

from langchain_core.runnables.config import var_child_runnable_config
from opentelemetry.trace import get_current_span, set_span_in_context

from spanproof.instrumentors.content.reading import attribute, member
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.langchain.handler import SpanHandler
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.spans.contexts import attach


def joined_by(handler: SpanHandler, original: Method) -> Method:
    """`configure` of a callback manager's class, by which each run gets its own."""

    def configure(*args: Any, **kwargs: Any) -> Any:
        manager = original(*args, **kwargs)
        if handler.tracing.over:
            return manager
        caller = args[1] if len(args) > 1 else kwargs.get("inheritable_callbacks")
        # Not read with more care: the original has read both by now.
        if getattr(caller, "parent_run_id", None) is None:
            _join(manager, handler)
        elif handler.unsampled and manager.handlers:
            _leave(manager, handler)
        return manager

    return configure


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
