"""Texts in pieces, as the shell and the JavaScript scanner put them together."""

from __future__ import annotations

from collections.abc import Sequence

from spanproof.sandbox.scanners.boundary import Pieces

MAX_TEXT = 262_144
"""Characters of a text that is followed."""


def merged(pieces: Sequence[str | None]) -> Pieces:
    """Pieces with neighbours joined; never empty, and not known when they grow too large."""
    if sum(len(piece) for piece in pieces if piece is not None) > MAX_TEXT:
        return (None,)
    kept: list[str | None] = []
    for piece in pieces:
        if kept and piece is not None and kept[-1] is not None:
            kept[-1] += piece
        elif piece is not None or not kept or kept[-1] is not None:
            kept.append(piece)
    if len(kept) > 1 and kept[0] == "":
        kept.pop(0)
    if len(kept) > 1 and kept[-1] == "":
        kept.pop()
    return tuple(kept) or ("",)
