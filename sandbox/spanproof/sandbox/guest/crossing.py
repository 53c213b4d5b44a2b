"""Values between the process of the tests and the process of the program: plain data, or a handle.

In: any value. Out: JSON, and back. A value whose class derives from a plain one crosses as a handle, and
compares by its plain value. Arrays and tables cross as bytes of a numeric type, or as lists: nothing is
pickled. Whatever has no plain form stays where it is and crosses as a number. Decoding makes nothing but
plain data: it is safe on anything.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
import io
import pathlib
import re
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

_DEPTH = 64
_PLAIN_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, object, type(None))
}
_ISO: dict[str, Any] = {
    "date": datetime.date,
    "datetime": datetime.datetime,
    "time": datetime.time,
}
_PATHS: dict[str, Any] = {
    kind.__name__: kind for kind in (pathlib.PosixPath, pathlib.PurePosixPath, pathlib.PureWindowsPath)
}
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))

_EXTENDED = (int, float, str, bytes, bytearray, list, tuple, set, frozenset, dict)
_SAME_AS_PLAIN = frozenset(
    (*_EXTENDED, bool, collections.Counter, collections.OrderedDict, collections.defaultdict)
)
# Types of numpy whose bytes are all there is to a value: no objects.
_ARRAY_TYPE = re.compile(r"[<>|=][biufcSUmM]\d+(\[\w+\])?")
_RANGE_END = 1 << 50
# Of the bases of an exception's class.
_CLASS_DEPTH = 8


class NoPlainForm(TypeError):  # noqa: N818 - says what the value lacks
    """A value that stays where it is."""


def encode_value(value: Any, handle: Callable[[Any], list[Any]], depth: int = _DEPTH) -> Any:
    """Return a value as JSON.

    Args:
        value: anything.
        handle: gives the form of a value that cannot cross, or raises `NoPlainForm`.
        depth: of nesting, at most.
    """
    kind = type(value)
    if depth == 0:
        return handle(value)
    if value is None or kind in (bool, float):
        return value
    if kind not in _SAME_AS_PLAIN and issubclass(kind, _EXTENDED) and not hasattr(kind, "_fields"):
        if kind.__module__ == "numpy" and hasattr(kind, "item"):
            return encode_value(value.item(), handle, depth)
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
        return [
            "n",
            [kind.__name__, fields],
            [encode_value(item, handle, depth) for item in tuple.__iter__(value)],
        ]
    kinds: tuple[tuple[Any, str], ...] = ((list, "l"), (tuple, "t"), (set, "s"), (frozenset, "f"))
    for plain, tag in kinds:
        if issubclass(kind, plain):
            return [tag, [encode_value(item, handle, depth) for item in plain.__iter__(value)]]
    if issubclass(kind, dict):
        pairs = dict.items(value)
        return [
            "d",
            [[encode_value(key, handle, depth), encode_value(item, handle, depth)] for key, item in pairs],
        ]
    if kind is collections.deque:
        return ["q", [encode_value(item, handle, depth) for item in value], value.maxlen]
    if isinstance(value, type) and _PLAIN_TYPES.get(value.__name__) is value:
        return ["type", value.__name__]
    return _encode_scalar(value, kind, handle, depth)


def _encode_scalar(value: Any, kind: type, handle: Callable[[Any], list[Any]], depth: int) -> Any:
    if kind is range and abs(value.start) + abs(value.stop) < _RANGE_END:
        return ["R", value.start, value.stop, value.step]
    if kind is complex:
        return ["c", value.real, value.imag]
    if kind is decimal.Decimal:
        return ["D", str(value)]
    if kind is fractions.Fraction:
        return ["F", encode_value(value.numerator, handle), encode_value(value.denominator, handle)]
    if kind in _ISO.values():
        return ["iso", kind.__name__, value.isoformat()]
    if kind is datetime.timedelta:
        return ["delta", value.days, value.seconds, value.microseconds]
    if kind in _PATHS.values():
        return ["path", kind.__name__, str(value)]
    if kind is uuid.UUID:
        return ["uuid", value.hex]
    return _encode_array(value, kind, handle, depth)


def _encode_array(value: Any, kind: type, handle: Callable[[Any], list[Any]], depth: int) -> Any:
    """Return the form of an array or a table; by the class itself, as a subclass may do anything."""
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and kind.__module__ == "numpy":
        if getattr(value, "ndim", 1) == 0 and hasattr(kind, "item") and kind is not numpy.ndarray:
            return encode_value(value.item(), handle, depth)
        if kind is numpy.ndarray:
            if _ARRAY_TYPE.fullmatch(value.dtype.str):
                return ["array", value.dtype.str, [*value.shape], value.tobytes().hex()]
            if value.dtype.str == "|O":
                items = [encode_value(item, handle, depth) for item in value.ravel()]
                return ["objects", [*value.shape], items]
    if pandas is not None and kind in (pandas.Series, pandas.DataFrame, pandas.Index, pandas.RangeIndex):
        return _encode_table(value, kind, handle, depth)
    if pandas is not None and kind is pandas.Timestamp:
        return ["stamp", value.isoformat()]
    return handle(value)


def _encode_table(value: Any, kind: type, handle: Callable[[Any], list[Any]], depth: int) -> Any:
    if kind.__name__ == "DataFrame":
        columns = [encode_value(value.iloc[:, number], handle, depth) for number in range(value.shape[1])]
        return [
            "frame",
            encode_value(value.columns, handle, depth),
            encode_value(value.index, handle, depth),
            columns,
        ]
    items = [None if _is_missing(item) else encode_value(item, handle, depth) for item in value.tolist()]
    name = encode_value(value.name, handle, depth)
    if kind.__name__ == "Series":
        return ["series", str(value.dtype), name, items, encode_value(value.index, handle, depth)]
    return ["index", str(value.dtype), name, items]


def _is_missing(item: Any) -> bool:
    return item is None or type(item).__name__ in ("NAType", "NaTType")


def decode_form(form: Any, resolve: Callable[[str, Any], Any]) -> Any:
    """Return the value of a form.

    Args:
        form: what came.
        resolve: gives the value of a handle, by tag and number.

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
        items = [decode_form(item, resolve) for item in body]
        return {"l": list, "t": tuple, "s": set, "f": frozenset}[tag](items)
    if tag == "d":
        return {decode_form(key, resolve): decode_form(item, resolve) for key, item in body}
    read = _RARE.get(tag)
    return resolve(tag, body) if read is None else read(form, resolve)


def _decode_named_tuple(form: list[Any], resolve: Callable[[str, Any], Any]) -> Any:
    name, fields = form[1]
    made = collections.namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024
    return made(*(decode_form(item, resolve) for item in form[2]))


def _decode_items(items: list[Any], resolve: Callable[[str, Any], Any]) -> list[Any]:
    return [decode_form(item, resolve) for item in items]


def _decode_array(form: list[Any], _resolve: Callable[[str, Any], Any]) -> Any:
    import numpy

    if not _ARRAY_TYPE.fullmatch(form[1]):
        raise ValueError("no type of an array")
    return numpy.frombuffer(bytes.fromhex(form[3]), numpy.dtype(form[1])).reshape(form[2]).copy()


def _decode_objects(form: list[Any], resolve: Callable[[str, Any], Any]) -> Any:
    import numpy

    made = numpy.empty(len(form[2]), dtype=object)
    for number, item in enumerate(form[2]):
        made[number] = decode_form(item, resolve)
    return made.reshape(form[1])


def _decode_series(form: list[Any], resolve: Callable[[str, Any], Any]) -> Any:
    import pandas

    _, dtype, name, items, index = form
    return pandas.Series(
        _decode_items(items, resolve),
        index=decode_form(index, resolve),
        name=decode_form(name, resolve),
        dtype=_get_dtype(dtype),
    )


def _decode_index(form: list[Any], resolve: Callable[[str, Any], Any]) -> Any:
    import pandas

    _, dtype, name, items = form
    return pandas.Index(
        _decode_items(items, resolve), name=decode_form(name, resolve), dtype=_get_dtype(dtype)
    )


def _get_dtype(name: str) -> str:
    if not re.fullmatch(r"[\w\[\], +:/-]{1,64}", name):
        raise ValueError("no type of a column")
    return name


def _decode_frame(form: list[Any], resolve: Callable[[str, Any], Any]) -> Any:
    import pandas

    labels, index = decode_form(form[1], resolve), decode_form(form[2], resolve)
    columns = dict(enumerate(_decode_items(form[3], resolve)))
    frame = pandas.DataFrame(columns, index=index)
    frame.columns = labels
    return frame


def _decode_stamp(form: list[Any], _resolve: Callable[[str, Any], Any]) -> Any:
    import pandas

    return pandas.Timestamp(str(form[1]))


_RARE: dict[str, Callable[[list[Any], Callable[[str, Any], Any]], Any]] = {
    "c": lambda form, _resolve: complex(form[1], form[2]),
    "n": _decode_named_tuple,
    "q": lambda form, resolve: collections.deque(_decode_items(form[1], resolve), form[2]),
    "R": lambda form, _resolve: range(form[1], form[2], form[3]),
    "I": lambda form, resolve: iter(_decode_items(form[1], resolve)),
    "D": lambda form, _resolve: decimal.Decimal(form[1]),
    "F": lambda form, resolve: fractions.Fraction(
        decode_form(form[1], resolve), decode_form(form[2], resolve)
    ),
    "iso": lambda form, _resolve: _ISO[form[1]].fromisoformat(form[2]),
    "delta": lambda form, _resolve: datetime.timedelta(form[1], form[2], form[3]),
    "path": lambda form, _resolve: _PATHS[form[1]](form[2]),
    "uuid": lambda form, _resolve: uuid.UUID(hex=form[1]),
    "type": lambda form, _resolve: _PLAIN_TYPES[form[1]],
    "array": _decode_array,
    "objects": _decode_objects,
    "series": _decode_series,
    "index": _decode_index,
    "frame": _decode_frame,
    "stamp": _decode_stamp,
}


def is_plain(value: Any) -> bool:
    """Whether all of a value crosses as data."""

    def refuse(_value: Any) -> list[Any]:
        raise NoPlainForm

    try:
        encode_value(value, refuse)
    except (NoPlainForm, RecursionError):
        return False
    return True


def find_items(value: Any) -> list[Any] | None:
    """Return what an iterator or a view of the tests yields; None of what has more to it than its items."""
    if isinstance(value, io.IOBase):
        return None
    return [*value] if isinstance(value, Iterator) or type(value) in _VIEWS else None


def to_plain_value(value: Any) -> Any:
    """Return what a value is without its class, where that derives from a plain one; else None."""
    kinds: tuple[Any, ...] = _EXTENDED
    return next((plain(value) for plain in kinds if isinstance(value, plain)), None)


def encode_exception(exception: BaseException, handle: Callable[[Any], list[Any]]) -> list[Any]:
    """Return an exception's class and its arguments."""
    return [encode_exception_class(type(exception)), encode_value(exception.args, handle)]


def encode_exception_class(kind: type, depth: int = _CLASS_DEPTH) -> list[Any]:
    """Return the name of an exception's class, its module, and its bases in the same form."""
    is_builtin = kind.__module__ == "builtins" or depth == 0
    bases = [
        encode_exception_class(base, depth - 1)
        for base in kind.__bases__
        if not is_builtin and issubclass(base, BaseException)
    ]
    return [str(kind.__name__), str(kind.__module__), bases]


def get_exception_class(form: Any, made: dict[str, type[BaseException]]) -> type[BaseException]:
    """Return the class of an exception: the builtin one, that of a loaded library, or one made once a name.

    Classes that make a runner of tests skip or stop are never the program's to raise.
    """
    name, module, bases = str(form[0]), str(form[1]), list(form[2])
    if not bases:
        builtin = getattr(builtins, name, None)
        return builtin if isinstance(builtin, type) and issubclass(builtin, BaseException) else Exception
    top = module.partition(".")[0]
    library = sys.modules.get(module) if top not in ("__main__", "_pytest", "pytest", "unittest") else None
    found_class = getattr(library, name, None)
    if isinstance(found_class, type) and issubclass(found_class, Exception):
        return found_class
    if name not in made:
        parents = tuple({get_exception_class(base, made): None for base in bases})
        made[name] = _build_class(name, parents)
    return made[name]


def _build_class(name: str, parents: tuple[type[BaseException], ...]) -> type[BaseException]:
    try:
        return type(name, parents, {"__module__": "__main__"})
    except TypeError:  # bases that do not go together over here
        return type(name, parents[:1], {"__module__": "__main__"})
