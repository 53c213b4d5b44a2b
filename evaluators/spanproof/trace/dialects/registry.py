"""Which dialect a span is written in.

Recognised by the scope's name first: it is the producer's own. A scope that says nothing (an application's,
or one that several producers share) leaves it to the attributes, in the order below: the most specific
names come first, `gen_ai.*`, which many write beside their own, next to last, and last what Langfuse adds.
"""

from __future__ import annotations

from spanproof.trace.dialects import (
    claude_code,
    genai,
    generic,
    google_adk,
    langfuse,
    mastra,
    mlflow,
    openinference,
    pydantic_ai,
    spanproof,
    traceai,
    traceloop,
    vercel,
)
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect

DIALECTS: tuple[Dialect, ...] = (
    vercel.DIALECT,  # first: our package for TypeScript adds `spanproof.code.*` to its spans
    spanproof.DIALECT,
    openinference.DIALECT,
    traceloop.DIALECT,
    traceai.DIALECT,
    mlflow.DIALECT,
    mastra.DIALECT,
    google_adk.DIALECT,
    pydantic_ai.DIALECT,
    claude_code.DIALECT,
    genai.DIALECT,
    langfuse.DIALECT,  # last: its observations keep what their producer wrote
)


def get_dialect(raw: RawSpan) -> Dialect:
    """Return the dialect this span is written in; the generic one where none is recognised."""
    for dialect in DIALECTS:
        if dialect.owns_scope(raw):
            return dialect
    for dialect in DIALECTS:
        if dialect.owns_attributes(raw):
            return dialect
    return generic.DIALECT
