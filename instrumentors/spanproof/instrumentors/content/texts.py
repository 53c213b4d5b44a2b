"""Texts as a span may carry them: well-formed, of a bearable length, whatever the host's object says.

Never raises (but `KeyboardInterrupt`, which is the user's).
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final, TypeVar

# Of `\xff`, in the text of bytes.
_CHARS_OF_A_BYTE: Final = 4


def format_clipped(text: str, max_chars: int) -> str:
    """Return head and tail of a text around a mark with its length and digest."""
    if len(text) <= max_chars:
        return text
    head = max_chars * 2 // 3
    tail = max_chars - head
    left_out = len(text) - head - tail
    whole = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    mark = f"[… {left_out} of {len(text)} characters left out, sha256 {whole} …]"
    return f"{text[:head]}\n{mark}\n{text[len(text) - tail :]}"


def format_encodable(text: str) -> str:
    """Return the text with lone surrogates replaced: UTF-8, and so OTLP, has no form for them."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_text(value: Any, max_chars: int = 100_000) -> str:
    """Return a value's `repr` (of an exception `str`), or a mark where that raises."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else format_encodable(value)
    if issubclass(kind, str):
        return format_encodable(str.__str__(value))
    try:
        if (kind is bytes or kind is bytearray) and cuts_bytes(value, max_chars):
            return _format_clipped_bytes(value, max_chars // _CHARS_OF_A_BYTE)
        text = str(value) if issubclass(kind, BaseException) else repr(value)
        return format_encodable(format_clipped(str.__str__(text), max_chars))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a repr may raise SystemExit as well
        return f"<{get_type_name(value)}: no text, {type(error).__name__}>"


def cuts_bytes(value: bytes | bytearray, max_chars: int = 100_000) -> bool:
    """Return whether `to_text` clips these bytes, whose whole text would take seconds."""
    return len(value) > max_chars // _CHARS_OF_A_BYTE


def _format_clipped_bytes(value: bytes | bytearray, most: int) -> str:
    seen = memoryview(value)
    head, tail = seen[: most * 2 // 3].tobytes(), seen[len(seen) - most // 3 :].tobytes()
    left_out = len(seen) - len(head) - len(tail)
    mark = f"[… {left_out} of {len(seen)} bytes left out, sha256 {sha256(seen).hexdigest()} …]"
    return f"{head!r}\n{mark}\n{tail!r}"


def get_type_name(value: object) -> str:
    """Return the type's name, with its module unless it is built in."""
    kind = type(value)
    try:
        module, name = kind.__module__, kind.__qualname__
    except Exception:  # noqa: BLE001 - a metaclass of the host runs here
        return "object"
    if type(module) is not str or module in ("builtins", "__main__"):
        return format_encodable(name)
    return format_encodable(f"{module}.{name}")


_T = TypeVar("_T")


def is_a(value: object, kind: type) -> bool:
    """Return `isinstance` by the real type."""
    return issubclass(type(value), kind)


def as_text(value: object) -> str | None:
    """Return the value if it is a string that is not empty."""
    kind = type(value)
    if kind is str:  # most are
        return value or None  # type: ignore[return-value]
    return str.__str__(value) or None if issubclass(kind, str) else None


def as_count(value: object) -> int | None:
    """Return the value if it is a plain integer."""
    return value if type(value) is int else None


def as_number(value: object) -> int | float | None:
    """Return the value if it is a plain number."""
    return value if type(value) is int or type(value) is float else None


def list_elements(value: object) -> list[Any]:
    """Return the members of a list or tuple, none of anything else."""
    kind = type(value)
    if issubclass(kind, list):
        return list(list.__iter__(value))  # type: ignore[arg-type]
    if issubclass(kind, tuple):
        return list(tuple.__iter__(value))  # type: ignore[arg-type]
    return []


def iter_items(value: object) -> Iterator[tuple[Any, Any]]:
    """Return the items of a dictionary, none of anything else."""
    return iter(dict.items(value)) if issubclass(type(value), dict) else iter(())  # type: ignore[arg-type]


def get_member(value: Any, name: str) -> Any:
    """Return a dictionary's value of a key, None of anything else."""
    return dict.get(value, name) if issubclass(type(value), dict) else None


def get_attribute(value: object, name: str, default: _T | None = None) -> Any:
    """Return an attribute, or the default where there is none or reading it raises."""
    try:
        return getattr(value, name, default)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a property may raise anything
        return default
