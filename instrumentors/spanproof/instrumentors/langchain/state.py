"""What is known of a LangChain run while it is going on."""

from __future__ import annotations

from contextvars import Token
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.messages import History
from spanproof.instrumentors.spans import Opened


@dataclass(slots=True)
class RunRecord:
    """A LangChain run that has begun.

    Attributes:
        opened: its span.
        name: as LangChain shows it.
        kind: of the span; a CHAIN becomes an AGENT when it turns out to be a graph.
        history: what the model calls of the whole run were given.
        parent: the run it belongs to.
        graph: it is known to be a graph.
        suspended: an interrupt left it waiting for an answer.
        inputs: what a chain was given, for when it turns out to be a graph.
        token: of a tool's attached context.
    """

    opened: Opened
    name: str
    kind: str
    history: History
    parent: RunRecord | None = None
    graph: bool = False
    suspended: bool = False
    inputs: Any = None
    token: Token[Context] | None = field(default=None, repr=False)
