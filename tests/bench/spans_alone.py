"""Spans and nothing else at an instrumentor's places, the SDK's own or light ones: the floor of its cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


class Bare:
    """At each place where there is a span, one with attributes that cost nothing to make."""

    def __init__(self, framework: str, tracer: Any, attributes: int, *, light: bool) -> None:
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, set_span_in_context

        from spanproof.instrumentors.spans.fast_span import build_span_starter
        from spanproof.instrumentors.spans.span_start import SpanStart

        self._framework = framework
        # Light spans have a parent; that it is the same one for all changes nothing about their cost.
        within = set_span_in_context(tracer.start_span("root"), Context())
        given = {f"attribute.{number}": "a short value" for number in range(attributes)}
        if light:
            self._start = partial(
                build_span_starter(tracer), SpanStart("floor", SpanKind.INTERNAL, given), within, ()
            )
        else:
            self._start = partial(tracer.start_span, "floor", within, SpanKind.INTERNAL, given)
        self._replaced: list[tuple[Any, str, Any]] = []
        self._handler: Any = None

    def on(self) -> None:
        """Open and end spans."""
        if self._framework == "langchain":
            self._handle()
            return
        import smolagents
        from smolagents import CodeAgent

        for owner, name in (
            (CodeAgent, "run"),
            (smolagents.Scripted, "generate"),
            (smolagents.Tool, "__call__"),
        ):
            self._replace(owner, name, self._within)
        self._replace(CodeAgent, "_step_stream", self._streaming)

    def off(self) -> None:
        """Stop."""
        if self._handler is not None:
            self._handler.set(None)
        for owner, name, original in self._replaced:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        self._replaced.clear()

    def _replace(self, owner: Any, name: str, wrap: Callable[..., Any]) -> None:
        self._replaced.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, wrap(getattr(owner, name)))

    def _within(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from opentelemetry.context import attach, detach
        from opentelemetry.trace import set_span_in_context

        def call(*args: Any, **kwargs: Any) -> Any:
            span = self._start()
            token = attach(set_span_in_context(span))
            try:
                return original(*args, **kwargs)
            finally:
                detach(token)
                span.end()

        return call

    def _streaming(self, original: Callable[..., Any]) -> Callable[..., Any]:
        begun = self._within(original)

        def call(*args: Any, **kwargs: Any) -> Any:
            yield from begun(*args, **kwargs)

        return call

    def _handle(self) -> None:
        from contextvars import ContextVar

        from langchain_core.callbacks import BaseCallbackHandler
        from langchain_core.tracers.context import register_configure_hook

        start, spans = self._start, dict[Any, Any]()

        class Handler(BaseCallbackHandler):
            run_inline = True

            def begin(self, *_: Any, run_id: Any, **__: Any) -> None:
                spans[run_id] = start()

            def end(self, *_: Any, run_id: Any, **__: Any) -> None:
                spans.pop(run_id).end()

            on_chain_start = on_chat_model_start = on_tool_start = begin
            on_chain_end = on_llm_end = on_tool_end = end

        if self._handler is None:
            self._handler = ContextVar[Any]("bare", default=None)
            register_configure_hook(self._handler, inheritable=True)
        self._handler.set(Handler())
