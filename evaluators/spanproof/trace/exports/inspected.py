"""Objects as JavaScript's `console.log` and `console.dir` print them: literals with more than JSON has.

Names stand without quotes, texts in any of three quotes and in pieces joined by `+`; a class may stand before
its braces. What was left out (`[Object]`, `... 3 more items`), a function or a symbol has no value: None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

# A printed object begins a line, after the name of its class if it has one.
_START: Final = re.compile(
    r"^[ \t]*(?:<ref \*\d+> )?(?:[A-Za-z_$][\w$]*(?:\(\d+\))? )?(?=[\[{])", re.MULTILINE
)
_BLANK: Final = re.compile(r"\s+|//[^\n]*")
_TEXT: Final = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|`((?:[^`\\]|\\.)*)`", re.DOTALL)
_NUMBER: Final = re.compile(r"-?(?:\d+\.?\d*(?:[eE][+-]?\d+)?)n?(?![\w.:-])")
_LEFT_OUT: Final = re.compile(
    r"\[(?:Object|Array|Function|Circular|Getter|Symbol|class)\b[^\]]*\]|\.\.\. \d+ more [a-z]+"
)
_CLASS: Final = re.compile(r"(?:<ref \*\d+> )?[A-Za-z_$][\w$]*(?:\(\d+\))?(?: \[[^\]]*\])? (?=[\[{])")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$.-]*|\d{4}-\d\d-\d\dT[\d:.]+Z")
_NAME: Final = re.compile(r"([A-Za-z_$][\w$]*)\s*:|\[[^\]]*\]\s*:")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|(.))", re.DOTALL)
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False}
_MAX_DEPTH: Final = 100


class NotInspected(ValueError):  # noqa: N818 - names the input
    """The text is no printed object."""


def iter_inspected(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the printed objects in a text, each with the number of its line; other lines are passed over."""
    at = 0
    for start in _START.finditer(text):
        if start.start() < at:
            continue
        try:
            value, at = _parse_value(text, start.end(), 0)
        except (ValueError, OverflowError):  # a number or an escape that is none, too
            continue
        yield text.count("\n", 0, start.end()) + 1, value


def _parse_value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return the value that begins here, and where it ends."""
    at = _get_end_of_blanks(text, at)
    if depth > _MAX_DEPTH or at >= len(text):
        raise NotInspected(f"no value at character {at}")
    left_out = _LEFT_OUT.match(text, at)
    if left_out is not None:
        return None, left_out.end()
    named = _CLASS.match(text, at)
    at = named.end() if named is not None else at
    if text[at] == "{":
        return _parse_object(text, at + 1, depth)
    if text[at] == "[":
        return _parse_array(text, at + 1, depth)
    if _TEXT.match(text, at) is not None:
        return _parse_text(text, at)
    number = _NUMBER.match(text, at)
    if number is not None:
        digits = number.group().removesuffix("n")
        return (float(digits) if re.search(r"[.eE]", digits) else int(digits)), number.end()
    word = _WORD.match(text, at)
    if word is None:
        raise NotInspected(f"no value at character {at}")
    # A date is printed bare, and is a text in any other form.
    bare = word.group()
    return _WORDS.get(bare, bare if bare[0].isdigit() else None), word.end()


def _parse_object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while not (end := _get_end(text, at, "}"))[0]:
        at = end[1]
        quoted, plain = _TEXT.match(text, at), _NAME.match(text, at)
        if quoted is not None:
            name, at = _parse_text(text, at)
            at = _get_end_of_blanks(text, at)
            if text[at : at + 1] != ":":
                raise NotInspected(f"no value of {name!r}")
            at += 1
        elif plain is not None:
            name, at = plain[1] or plain.group(), plain.end()
        else:
            _, at = _parse_value(text, at, depth + 1)  # how much more there is
            continue
        found[name], at = _parse_value(text, at, depth + 1)
    return found, end[1]


def _parse_array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while not (end := _get_end(text, at, "]"))[0]:
        is_rest = text.startswith("...", end[1])
        value, at = _parse_value(text, end[1], depth + 1)
        if not is_rest:
            found.append(value)
    return found, end[1]


def _get_end(text: str, at: int, closing: str) -> tuple[bool, int]:
    """Return whether the brackets close here, and where to read on."""
    at = _get_end_of_blanks(text, at)
    if text[at : at + 1] == ",":
        at = _get_end_of_blanks(text, at + 1)
    if at >= len(text):
        raise NotInspected(f"the text ends before {closing!r}")
    if text[at] == closing:
        return (True, at + 1)
    return (False, at)


def _parse_text(text: str, at: int) -> tuple[str, int]:
    """Return a text that may be in several pieces, joined by `+`."""
    pieces: list[str] = []
    while (piece := _TEXT.match(text, at)) is not None:
        pieces.append(_ESCAPE.sub(_decode_escape, next(part for part in piece.groups() if part is not None)))
        following = _get_end_of_blanks(text, piece.end())
        if text[following : following + 1] != "+":
            return "".join(pieces), piece.end()
        at = _get_end_of_blanks(text, following + 1)
    raise NotInspected(f"no text at character {at}")


def _decode_escape(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code:
        return chr(int(code, 16))
    return _ESCAPES.get(escape[4], escape[4])


def _get_end_of_blanks(text: str, at: int) -> int:
    while (blank := _BLANK.match(text, at)) is not None:
        at = blank.end()
    return at
