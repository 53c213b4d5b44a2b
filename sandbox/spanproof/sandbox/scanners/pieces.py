"""Texts in pieces: put together, and widened where there are more alternatives than are followed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from spanproof.sandbox.scanners.boundary import Pieces
from spanproof.sandbox.scanners.literals import has_form_of_place

MAX_TEXT = 262_144
"""Characters of a text that is followed."""


ENTRY: Final = "entry"
"""A placeholder for a file name inside a directory that may be listed, or for a number or a date."""


_PLAIN: Final = (ENTRY, None)


def bounded(texts: Iterable[Pieces], most: int) -> tuple[Pieces, ...]:
    """The distinct ones of these texts, at most so many: the last one covers all that do not fit.

    Those that have the form of a place are kept first: where what is not known may pass, they may not.
    """
    distinct = tuple(dict.fromkeys(texts))
    if len(distinct) <= most:
        return distinct
    places = [one for one in distinct if has_form_of_place(one)][:_MAX_PLACES]
    others = [one for one in distinct if one not in places]
    kept = max(0, most - 1 - len(places))
    return (*places, *others[:kept], *([widened(others[kept:])] if others[kept:] else []))


_MAX_PLACES: Final = 64
"""Texts with the form of a place that are kept, whatever the bound."""


def widened(texts: Sequence[Pieces]) -> Pieces:
    """One text that covers all of these: a plain name, the beginning they share, or nothing known."""
    if all(text == _PLAIN or (len(text) == 1 and _is_plain(text[0])) for text in texts):
        return _PLAIN
    heads = [text[0] or "" for text in texts]
    first, last = min(heads), max(heads)
    same = next(
        (at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    # Two texts that share a beginning may still climb out of it.
    if not first[:same] or any(".." in (piece or "") for text in texts for piece in text):
        return (None,)
    return (first[:same], None)


def covers(wide: Pieces, text: Pieces) -> bool:
    """Whether a widened text covers this one."""
    return wide in {text, (None,)} or wide == widened((wide, text))


def _is_plain(text: str | None) -> bool:
    return text is not None and "/" not in text and not text.startswith(("~", "-", ".."))


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
