"""Ids that are the same each time the same thing is evaluated.

Writing a score twice must change nothing (delivery is at least once), so every id is a digest of what makes
the thing itself, never of time or chance. BLAKE2b, 128 bits, hex; parts are length-prefixed so that
`("ab", "c")` and `("a", "bc")` differ.
"""

from __future__ import annotations

from hashlib import blake2b


def digest(*parts: str) -> str:
    """Return 32 hex digits over the parts; lone surrogates are allowed, as snippets may hold them."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    content = b"".join([len(part).to_bytes(8, "big") + part for part in encoded])
    return blake2b(content, digest_size=16).hexdigest()


def snippet_id(trace_id: str, span_id: str, path: str, source: str) -> str:
    """Return the id of a snippet: of its place and its text."""
    return digest("snippet", trace_id, span_id, path, source)


def score_id(
    *,
    trace_id: str,
    span_id: str,
    snippet: str | None,
    layer: str,
    name: str,
    evaluator: str,
    version: str,
    input_digest: str,
) -> str:
    """Return the id of a score: of what was judged, by which evaluator at which version, on which input."""
    return digest("score", trace_id, span_id, snippet or "", layer, name, evaluator, version, input_digest)
