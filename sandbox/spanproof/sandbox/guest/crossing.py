"""Values between the process of the tests and the process of the program: plain data, or a handle.

In: any value. Out: JSON, and back. A value whose type derives from a plain one crosses as that plain one, by
the plain type's own methods, so that nothing a program's class overrides has a say. Whatever has no plain
form stays where it is and crosses as a number. Decoding makes nothing but plain data: it is safe on anything.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

_DEPTH = 64
_PLAIN_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, object, type(None))
}
_ISO: dict[str, Any] = {"date": datetime.date, "datetime": datetime.datetime}


_EXTENDED = (int, float, str, bytes, bytearray, list, tuple, set, frozenset, dict)
_SAME_AS_PLAIN = frozenset(
    (*_EXTENDED, bool, collections.Counter, collections.OrderedDict, collections.defaultdict)
)


class NoPlainForm(TypeError):  # noqa: N818 - says what the value lacks
    """A value that stays where it is."""


def encode(value: Any, handle: Callable[[Any], list[Any]], depth: int = _DEPTH) -> Any:
    """Return a value as JSON.

    Args:
        value: anything.
        handle: gives the form of a value that cannot cross, or raises `NoPlainForm`.
        depth: of nesting, at most.
    """
    kind = type(value)
    if depth == 0:
        return handle(value)
    if value is None or kind is bool or kind is float:
        return value
    if isinstance(value, bool):
        return bool(value)
    if kind not in _SAME_AS_PLAIN and issubclass(kind, _EXTENDED) and not hasattr(kind, "_fields"):
        return handle(value)
    if issubclass(kind, int):
        return ["i", int.__format__(value, "x")]
    if issubclass(kind, float):
        return float.__add__(value, 0.0)
    if issubclass(kind, str):
        return str.__str__(value) if kind is str else str.__getitem__(value, slice(None))
    if issubclass(kind, bytes | bytearray):
        return ["b", bytes(memoryview(value)).hex()]
    return _encode_compound(value, kind, handle, depth - 1)


def _encode_compound(value: Any, kind: type, handle: Callable[[Any], list[Any]], depth: int) -> Any:
    if issubclass(kind, tuple) and kind is not tuple:
        fields = [str(name) for name in getattr(kind, "_fields", ())]
        return ["n", [kind.__name__, fields], [encode(item, handle, depth) for item in tuple.__iter__(value)]]
    kinds: tuple[tuple[Any, str], ...] = ((list, "l"), (tuple, "t"), (set, "s"), (frozenset, "f"))
    for plain, tag in kinds:
        if issubclass(kind, plain):
            return [tag, [encode(item, handle, depth) for item in plain.__iter__(value)]]
    if issubclass(kind, dict):
        pairs = dict.items(value)
        return ["d", [[encode(key, handle, depth), encode(item, handle, depth)] for key, item in pairs]]
    if kind is range:
        return (
            ["R", value.start, value.stop, value.step]
            if abs(value.start) + abs(value.stop) < 1 << 50
            else handle(value)
        )
    if kind is complex:
        return ["c", value.real, value.imag]
    if kind is decimal.Decimal:
        return ["D", str(value)]
    if kind is fractions.Fraction:
        return ["F", encode(value.numerator, handle), encode(value.denominator, handle)]
    if kind in (datetime.date, datetime.datetime):
        return ["iso", kind.__name__, value.isoformat()]
    if isinstance(value, type) and _PLAIN_TYPES.get(value.__name__) is value:
        return ["type", value.__name__]
    if (
        kind.__module__ == "numpy"
        and not issubclass(kind, _EXTENDED)
        and getattr(value, "ndim", 1) == 0
        and hasattr(kind, "item")
    ):
        return encode(value.item(), handle, depth)
    return handle(value)


def decode(form: Any, known: Callable[[str, Any], Any]) -> Any:
    """Return the value of a form.

    Args:
        form: what came.
        known: gives the value of a handle, by tag and number.

    Raises:
        ValueError, TypeError: it is no form.
    """
    if form is None or isinstance(form, bool | float | str):
        return form
    if not isinstance(form, list) or len(form) < 2:
        raise ValueError("no form of a value")
    tag, body = form[0], form[1]
    if tag == "i":
        return int(body, 16)
    if tag == "b":
        return bytes.fromhex(body)
    if tag in ("l", "t", "s", "f"):
        items = [decode(item, known) for item in body]
        return {"l": list, "t": tuple, "s": set, "f": frozenset}[tag](items)
    if tag == "d":
        return {decode(key, known): decode(item, known) for key, item in body}
    return _decode_rare(tag, body, form, known)


def _decode_rare(tag: str, body: Any, form: list[Any], known: Callable[[str, Any], Any]) -> Any:
    if tag == "c":
        return complex(body, form[2])
    if tag == "n":
        made = collections.namedtuple(body[0], body[1])  # type: ignore[misc]  # noqa: PYI024
        return made(*(decode(item, known) for item in form[2]))
    if tag == "R":
        return range(body, form[2], form[3])
    if tag == "I":
        return iter([decode(item, known) for item in body])
    if tag == "D":
        return decimal.Decimal(body)
    if tag == "F":
        return fractions.Fraction(decode(body, known), decode(form[2], known))
    if tag == "iso":
        return _ISO[body].fromisoformat(form[2])
    if tag == "type":
        return _PLAIN_TYPES[body]
    return known(tag, body)


def to_plain_value(value: Any) -> Any:
    """Return what a value is without its class, where that derives from a plain one; else None."""
    kinds: tuple[Any, ...] = _EXTENDED
    return next((plain(value) for plain in kinds if isinstance(value, plain)), None)


def encode_exception(exception: BaseException, handle: Callable[[Any], list[Any]]) -> list[Any]:
    """Return an exception's name, the builtin class it is one of, and its arguments."""
    family = [kind.__name__ for kind in type(exception).__mro__ if kind.__module__ == "builtins"]
    return [type(exception).__name__, family[0], encode(exception.args, handle)]


def resolve_exception_class(
    name: str, base: str, made: dict[str, type[BaseException]]
) -> type[BaseException]:
    """Return the class of an exception: the builtin one, or one made once for each name."""
    known = getattr(builtins, base, None)
    parent = known if isinstance(known, type) and issubclass(known, BaseException) else Exception
    if name == base:
        return parent
    if name not in made:
        made[name] = type(name, (parent,), {"__module__": "__main__"})
    return made[name]
