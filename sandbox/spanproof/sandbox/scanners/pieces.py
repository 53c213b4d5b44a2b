"""Texts in pieces: put together, widened where there are too many alternatives, and what they name.

A place is a path, a URL or a host outside the boundary. The scanners review what an unknown call gets by
`find_place`: routes, prose, versions and names of files are none.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.boundary import PLACES, Action, Boundary, Crossing, Pieces, find_port

# Characters of a text that are looked at; the others are taken for unknown.
_MOST: Final = 400

_SYSTEM: Final = split_entry(PLACES["paths"], "system")
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]{1,20})://(?=[^\s/])")
_LOCAL_SCHEMES: Final = split_entry(PLACES["schemes"], "local")
HOST_ENDS: Final = "|".join([*PLACES["hosts"]["ends"].split(), r"[a-z]{2}\.[a-z]{2}"])
_SERVICES: Final = "|".join(PLACES["hosts"]["services"].split())
# What a colon separates besides a host and its port: a time, a ratio, a date with a time, and the number of
# something (`chr1:12345`).
_COUNTED: Final = rf"\d{{1,4}}:|[\d-]+T\d\d:|(?:[A-Za-z_-]+\d*|\d{{1,3}}\.\d{{1,3}}):(?!(?:{_SERVICES})\Z)"
# A name with a known end, a name with a port, an address, and `user@host:path`.
_HOST: Final = re.compile(
    rf"(?:[\w-]{{1,63}}\.){{1,8}}(?:{HOST_ENDS})(?::\d{{1,5}})?|(?!{_COUNTED})[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,8}}:\d{{2,5}}"
    rf"|(?:[\w-]{{1,63}}\.){{1,8}}(?:{HOST_ENDS}):/\S{{1,200}}"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|(?:[\w-]{1,40}@)(?:[\w-]{1,63}\.){1,8}[\w-]{2,24}:\S{1,200}"
)


def find_place(
    boundary: Boundary, pieces: Pieces, *, paths: bool = True, hosts: bool = True
) -> Crossing | None:
    """Return the crossing of opening or reaching what a text names; None where it names no place outside.

    Args:
        boundary: what may be read and reached.
        pieces: the text, with holes where it is not known.
        paths: whether a path counts.
        hosts: whether a bare host name counts, besides URLs.
    """
    head = (pieces[0] or "").strip() if pieces else ""
    rest = pieces[1:]
    if len(head) > _MOST:
        head, rest = head[:_MOST], (None,)
    if not head or "\n" in head:
        return None
    crossing = _find_crossing(boundary, head, rest, paths=paths, hosts=hosts)
    is_certain = crossing is not None and not crossing.rule.endswith("dynamic")
    return crossing if is_certain else None


def _find_crossing(
    boundary: Boundary, head: str, rest: Pieces, *, paths: bool, hosts: bool
) -> Crossing | None:
    """Judge a text by its form: a URL, a path or a host."""
    scheme = _URL.match(head)
    if scheme is not None:
        is_local = scheme[1].lower() in _LOCAL_SCHEMES
        if is_local or " " in head:
            return None
        return boundary.url((head, *rest))
    if head.startswith("file:/"):
        return boundary.url((head, *rest))
    if paths and _is_path(head):
        return boundary.path(Action.READ, (head, *rest))
    if hosts and not rest and _HOST.fullmatch(head):
        name, _, port = head.rpartition("@")[2].partition(":")
        return boundary.host(name, find_port(port))
    return None


def hides_place(wide: Pieces, texts: Iterable[Pieces]) -> bool:
    """Whether some of these texts have the form of a place, and what was made to cover them has not."""
    head = wide[0] or ""
    if re.match(r"[\w+.-]{1,21}://[^\s/]+/", head) or _is_path(head):
        return False
    return any(has_form_of_place(text) for text in texts)


def has_form_of_place(pieces: Pieces) -> bool:
    """Whether a text looks like a URL, a host or a path outside; it may be inside the boundary."""
    head = (pieces[0] or "").strip()[:_MOST]
    return bool(_URL.match(head)) or _is_path(head) or (len(pieces) == 1 and bool(_HOST.fullmatch(head)))


def _is_path(text: str) -> bool:
    if text.startswith(("~/", "../")):
        return not any(mark in text for mark in " <>|\"'")
    if not text.startswith("/") or any(mark in text for mark in "<>|\"'{}\t"):
        return False
    if "/../" in text:
        text = posixpath.normpath(text)
    return text.strip("/").partition("/")[0] in _SYSTEM


MAX_TEXT = 262_144
"""Characters of a text that is followed."""


ENTRY: Final = "entry"
"""A placeholder for a file name inside a directory that may be listed, or for a number or a date."""


_PLAIN: Final = (ENTRY, None)


def limit_texts(texts: Iterable[Pieces], most: int) -> tuple[Pieces, ...]:
    """Return the distinct ones of these texts, at most so many: the last one covers all that do not fit.

    Those that have the form of a place are kept first: where what is not known may pass, they may not.
    """
    distinct = tuple(dict.fromkeys(texts))
    if len(distinct) <= most:
        return distinct
    places = [one for one in distinct if has_form_of_place(one)][:_MAX_PLACES]
    others = [one for one in distinct if one not in places]
    kept = max(0, most - 1 - len(places))
    return (*places, *others[:kept], *([widen_texts(others[kept:])] if others[kept:] else []))


# Texts with the form of a place that are kept, whatever the bound.
_MAX_PLACES: Final = 64


def widen_texts(texts: Sequence[Pieces]) -> Pieces:
    """Return a text that covers all of these: a plain name, the beginning they share, or nothing known."""
    if all(text == _PLAIN or (len(text) == 1 and _is_plain(text[0])) for text in texts):
        return _PLAIN
    heads = [text[0] or "" for text in texts]
    first, last = min(heads), max(heads)
    shared = posixpath.commonprefix([first, last])
    # Two texts that share a beginning may still climb out of it.
    climbs = any(".." in (piece or "") for text in texts for piece in text)
    return (None,) if climbs or not shared else (shared, None)


def covers(wide: Pieces, text: Pieces) -> bool:
    """Whether a widened text covers this one."""
    return wide in {text, (None,)} or wide == widen_texts((wide, text))


def _is_plain(text: str | None) -> bool:
    return text is not None and "/" not in text and not text.startswith(("~", "-", ".."))


def merge_pieces(pieces: Sequence[str | None]) -> Pieces:
    """Return pieces with neighbours joined; never empty, and not known when they grow too large."""
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
