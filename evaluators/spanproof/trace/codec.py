"""Model values to JSON text and back.

The store keeps whole evaluations and a suite keeps whole runs, so that both can be shown and replayed
without anything else at hand. `encode` takes any dataclass of the model and gives JSON text; `decode` gives
an equal value back, for everything spans found in the wild hold: lone surrogates, bytes, integers beyond 64
bits, NaN and infinities. Only what nests deeper than `MAX_DEPTH` levels is cut there. Fields a reader does
not know are ignored and missing ones take their default, so that newer and older documents stay readable.
Types come from the dataclass that is requested, never from the document: nothing in it is run or looked up.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import orjson

from spanproof.trace.model import Defect, Span
from spanproof.trace.tree import Trace, link_spans

T = TypeVar("T")

MAX_DEPTH = 100
"""Levels of lists and objects that are kept; protobuf's own limit for messages."""

_Decoder = Callable[[Any], Any]
_Encoder = Callable[[Any, int], Any]
ESCAPES = frozenset({"$bytes", "$int", "$float", "$dict"})
"""Keys of the one-entry objects that stand for what JSON has no form for."""

CUT = f"(cut: nested deeper than {MAX_DEPTH} levels)"
"""The mark of lists and objects that nest too deeply."""

# Digits become 0, and what may precede a number a comma, so that one search finds every long integer, in a
# tenth of the parser's time. The digits of an id follow a quote.
_ALIKE = bytes.maketrans(b"0123456789[: \n\r\t", b"0" * 10 + b"," * 6)
# An integer beyond 64 bits has so many digits at least.
_LONG_INTEGERS = (b"," + b"0" * 20, b",-" + b"0" * 19)


class MalformedDocument(ValueError):  # noqa: N818 - names the input
    """A document does not hold the requested value; the message names the place."""


def encode_value(value: object) -> str:
    """Return a model value as JSON text, in one line.

    Raises:
        TypeError: the value holds something that is no part of the model.
    """
    return encode_json(to_plain(value))


def decode_value(kind: type[T], text: str | bytes) -> T:
    """Return the value of this type that `encode` wrote.

    Raises:
        MalformedDocument: no JSON, or not of this type; the message names the place.
    """
    return from_plain(kind, load_json(text))


def encode_json(plain: object) -> str:
    """Return plain data as JSON text; lone surrogates become escapes, the only form JSON has for them."""
    try:
        return orjson.dumps(plain).decode()
    except TypeError:
        return json.dumps(plain, separators=(",", ":"))


def load_json(text: str | bytes) -> Any:
    """Return the plain data of JSON text, lone surrogates and integers of any length included.

    Raises:
        MalformedDocument: no JSON.
    """
    try:
        found = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as strict:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise MalformedDocument(f"not JSON: {_describe_place(strict)}") from strict
    if _may_hold_a_long_integer(text):  # of one beyond 64 bits orjson makes a float
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(text)
    return found


def _describe_place(problem: ValueError) -> str:
    if isinstance(problem, orjson.JSONDecodeError):
        return f"{problem.msg}, character {problem.pos + 1}"
    return str(problem)


def _may_hold_a_long_integer(text: str | bytes) -> bool:
    if isinstance(text, str):
        data = text.encode("utf-8", "surrogatepass")
    else:
        data = text
    alike = b"," + data.translate(_ALIKE)
    return any(digits in alike for digits in _LONG_INTEGERS)


def to_plain(value: object) -> Any:
    """Return a model value as plain JSON data.

    Raises:
        TypeError: the value holds something that is no part of the model.
    """
    return _encode_value(value, 0)


def encode_scalar(value: object) -> Any:
    """Return a value that is no list, object or dataclass as plain JSON data.

    Raises:
        TypeError: it is no part of the model.
    """
    return _encode_value(value, 0)


def from_plain(kind: type[T], plain: Any) -> T:
    """Return the value of this type in plain JSON data.

    Raises:
        MalformedDocument: the data is not of this type; the message names the place.
    """
    decoder: _Decoder = _build_decoder(typing.cast("Any", kind))
    return typing.cast("T", decoder(plain))


def _encode_value(value: Any, depth: int) -> Any:
    encoder = _ENCODERS.get(type(value))
    if encoder is None:
        encoder = _ENCODERS[type(value)] = _build_encoder(type(value))
    return encoder(value, depth)


def _build_encoder(kind: type) -> _Encoder:
    """Return how values of a class are encoded; looked up once per class."""
    if is_dataclass(kind):
        names = tuple(field.name for field in fields(kind))
        return lambda value, depth: {name: _encode_value(getattr(value, name), depth) for name in names}
    if issubclass(kind, Enum):
        return lambda value, _: value.value
    if issubclass(kind, Mapping):
        return _encode_mapping
    for base in (str, bool, int, float, bytes, tuple, list):
        if issubclass(kind, base):
            return _ENCODERS[base]
    raise TypeError(f"{kind.__name__} is no part of the model")


def _encode_trace(value: Trace, depth: int) -> Any:
    # The links between spans follow from the spans; writing them too would write every span twice.
    return {
        "trace_id": value.trace_id,
        "spans": _encode_value(value.spans, depth),
        "defects": sorted(defect.value for defect in value.defects),
    }


def _encode_list(value: Iterable[Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return CUT
    return [_encode_value(item, depth + 1) for item in value]


def _encode_mapping(value: Mapping[Any, Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return CUT
    plain = {str(key): _encode_value(item, depth + 1) for key, item in value.items()}
    if ESCAPES & plain.keys():
        return {"$dict": plain}
    return plain


def _encode_int(value: int, _: int) -> Any:
    if -(2**63) <= value < 2**64:
        return value
    return {"$int": str(value)}


def _encode_float(value: float, _: int) -> Any:
    if math.isfinite(value):
        return value
    return {"$float": repr(value)}


# By class: filled with each class when it is first met.
_ENCODERS: dict[type, _Encoder] = {
    str: lambda value, _: value,
    bool: lambda value, _: value,
    type(None): lambda value, _: value,
    int: _encode_int,
    float: _encode_float,
    bytes: lambda value, _: {"$bytes": base64.b64encode(value).decode()},
    tuple: _encode_list,
    list: _encode_list,
    dict: _encode_mapping,
    Trace: _encode_trace,
}


@cache
def _build_decoder(kind: Any) -> _Decoder:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _build_union_decoder(arguments)
    if origin is tuple:
        return _build_sequence_decoder(tuple, _build_decoder(arguments[0]))
    if origin is frozenset:
        return _build_sequence_decoder(frozenset, _build_decoder(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _build_mapping_decoder(_build_decoder(arguments[1]))
    if kind is Trace:
        return _decode_trace
    if is_dataclass(kind):
        return _build_dataclass_decoder(typing.cast("type", kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _build_enum_decoder(kind)
    return _build_scalar_decoder(kind)


def _build_union_decoder(members: tuple[Any, ...]) -> _Decoder:
    if bool in members and str in members:
        return _decode_value
    some = [member for member in members if member is not type(None)]
    if len(some) == 1:
        only = _build_decoder(some[0])
        return lambda plain: None if plain is None else only(plain)
    required = {member: _list_required_fields(member) for member in some}

    def sum_type(plain: Any) -> Any:
        keys = _get_checked(plain, dict, "a sum type").keys()
        # The members of our sum types are distinguished by the fields they require.
        fitting = [member for member in some if required[member] <= keys]
        if not fitting:
            names = " | ".join(member.__name__ for member in some)
            raise MalformedDocument(f"fields {sorted(keys)} make no {names}")
        return _build_decoder(max(fitting, key=lambda member: len(required[member])))(plain)

    return sum_type


def _list_required_fields(kind: Any) -> frozenset[str]:
    return frozenset(
        field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
    )


def _build_sequence_decoder(build: Callable[[Any], Any], item: _Decoder) -> _Decoder:
    return lambda plain: build(item(entry) for entry in _get_checked(plain, list, "a list"))


def _build_mapping_decoder(item: _Decoder) -> _Decoder:
    def mapping(plain: Any) -> dict[str, Any]:
        document = _get_checked(plain, dict, "an object")
        if document.keys() == {"$dict"}:
            document = _get_checked(document["$dict"], dict, "an object")
        return {key: item(value) for key, value in document.items()}

    return mapping


def _build_dataclass_decoder(kind: type) -> _Decoder:
    hints = typing.get_type_hints(kind)
    required = _list_required_fields(kind)
    decoders: dict[str, _Decoder] = {}

    def build(plain: Any) -> Any:
        document = _get_checked(plain, dict, kind.__name__)
        if not required <= document.keys():
            raise MalformedDocument(f"{kind.__name__}: no field {min(required - document.keys())!r}")
        if not decoders:
            # Made when first needed: dataclasses may hold themselves.
            decoders.update((field.name, _build_decoder(hints[field.name])) for field in fields(kind))
        values = {}
        for name, decoder in decoders.items():
            if name not in document:
                continue
            try:
                values[name] = decoder(document[name])
            except MalformedDocument as problem:
                raise MalformedDocument(f"{kind.__name__}.{name}: {problem}") from problem
        try:
            return kind(**values)
        except ValueError as problem:
            raise MalformedDocument(f"{kind.__name__}: {problem}") from problem

    return build


def _build_enum_decoder(kind: type[Enum]) -> _Decoder:
    def member(plain: Any) -> Enum:
        try:
            return kind(plain)
        except ValueError as problem:
            raise MalformedDocument(str(problem)) from problem

    return member


def _build_scalar_decoder(kind: Any) -> _Decoder:
    def scalar(plain: Any) -> Any:
        # A list or an object may be an escape: no scalar is of these types.
        if type(plain) is kind:
            return plain
        value = _decode_value(plain)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is not kind:
            raise MalformedDocument(f"expected {kind.__name__}, got {type(value).__name__}")
        return value

    return scalar


def _decode_value(plain: Any) -> Any:
    """Return a JSON or attribute value, with the forms JSON lacks put back."""
    if isinstance(plain, list):
        return [_decode_value(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if len(plain) == 1:
        ((key, value),) = plain.items()
        if key == "$dict":
            return {
                name: _decode_value(item) for name, item in _get_checked(value, dict, "an object").items()
            }
        if key in ESCAPES:
            return _decode_escape(key, _get_checked(value, str, "text"))
    return {key: _decode_value(value) for key, value in plain.items()}


def _decode_escape(key: str, text: str) -> bytes | int | float:
    try:
        if key == "$bytes":
            return base64.b64decode(text, validate=True)
        return int(text) if key == "$int" else float(text)
    except ValueError as problem:
        raise MalformedDocument(f"{key}: {problem}") from problem


def _decode_trace(plain: Any) -> Trace:
    document = _get_checked(plain, dict, "Trace")
    spans = _build_decoder(tuple[Span, ...])(document.get("spans"))
    defects = _build_decoder(frozenset[Defect])(document.get("defects", []))
    return link_spans(_build_decoder(str)(document.get("trace_id")), spans, defects)


def _get_checked(plain: Any, kind: type, what: str) -> Any:
    if not isinstance(plain, kind):
        raise MalformedDocument(f"expected {what}, got {type(plain).__name__}")
    return plain
