"""What is known of a LangChain run while it is going on."""

from __future__ import annotations

from contextvars import Token
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import Span

from spanproof.instrumentors.content.capture import ContentPolicy
from spanproof.instrumentors.content.messages import History
from spanproof.instrumentors.spans.tracing import OpenSpan


class RunRecord(OpenSpan):
    """A LangChain run that has begun, and its span.

    Attributes:
        name: as LangChain shows it.
        kind: of the span; a CHAIN becomes an AGENT when it turns out to be a graph.
        history: what the model calls of the whole run were given.
        parent: the run it belongs to.
        graph: it is known to be a graph.
        suspended: an interrupt left it waiting for an answer.
        inputs: what a chain was given, for when it turns out to be a graph.
        token: of a tool's attached context.
    """

    def __init__(self, policy: ContentPolicy, span: Span, context: Context) -> None:
        super().__init__(policy, span, context)
        self.name = self.kind = ""
        self.history = History()
        self.parent: RunRecord | None = None
        self.graph = self.suspended = False
        self.inputs: Any = None
        self.token: Token[Context] | None = None
