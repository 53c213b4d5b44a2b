"""What is known of a LangChain run while it is going on."""

from __future__ import annotations

from contextvars import Token
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.content.messages import History
from spanproof.instrumentors.spans.tracing import Opened


class RunRecord(Opened):
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

    __slots__ = ("graph", "history", "inputs", "kind", "name", "parent", "suspended", "token")
    name: str
    kind: str
    history: History
    parent: RunRecord | None
    graph: bool
    suspended: bool
    inputs: Any
    token: Token[Context] | None
