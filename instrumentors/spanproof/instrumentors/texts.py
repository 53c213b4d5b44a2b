"""Texts as a span may carry them: well-formed, of a bearable length, whatever the host's object says.

Never raises (but `KeyboardInterrupt`, which is the user's).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any


def clip(text: str, max_chars: int) -> str:
    """Head and tail of a text around a mark: how much is left out, and the digest of the whole."""
    if len(text) <= max_chars:
        return text
    head = max_chars * 2 // 3
    tail = max_chars - head
    left_out = len(text) - head - tail
    whole = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    mark = f"[… {left_out} of {len(text)} characters left out, sha256 {whole} …]"
    return f"{text[:head]}\n{mark}\n{text[len(text) - tail :]}"


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced: UTF-8, and so OTLP, has no form for them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def text_of(value: Any, max_chars: int = 100_000) -> str:
    """What a value says of itself, or that it would not say."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else well_formed(value)
    if issubclass(kind, str):
        return well_formed(str.__str__(value))
    try:
        said = str(value) if issubclass(kind, BaseException) else repr(value)
        return well_formed(clip(str.__str__(said), max_chars))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a repr may raise SystemExit as well
        return f"<{type_name(value)}: no text, {type(error).__name__}>"


def type_name(value: object) -> str:
    """`int`, `decimal.Decimal`: the type's name, with its module unless it is built in."""
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"
