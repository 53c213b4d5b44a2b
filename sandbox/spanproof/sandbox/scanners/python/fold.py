"""Constant folding: the value of a pure expression over known values, without running the program.

In: constants and containers of constants. Out: a constant, or None where it is not known or would grow too
large. Only built-in operations that are pure and bounded are in the tables; nothing of the program is called.
"""

from __future__ import annotations

import ast
import builtins
import bz2
import codecs
import functools
import itertools
import lzma
import operator
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.python.names import KNOWLEDGE
from spanproof.sandbox.scanners.reader.values import (
    CLEAN,
    MAX_SIZE,
    Const,
    Items,
    Mapping,
    Span,
    Taint,
    Value,
)

_MAX_ITEMS = 4096
# Bytes a decompressor may use; the header of a hostile stream requests gigabytes.
_MAX_MEMORY = 128 << 20

_LONG_NUMBER = re.compile(r"\d{5}")
_ATOMS = (str, bytes, int, float, bool, complex, type(None))


class NotKnown(Exception):  # noqa: N818 - not an error: the value is not known
    """A value is not a constant."""


def to_concrete(value: Value) -> Any:
    """Return the Python value of an abstract one.

    Raises:
        NotKnown: some part of it is not known, or it is too large.
    """
    if isinstance(value, Const):
        return value.value
    return _to_concrete_within(value, 0, [4 * _MAX_ITEMS])


def _to_concrete_within(value: Value, depth: int, left: list[int]) -> Any:
    if isinstance(value, Const):
        return value.value
    # Counted over all levels: lists of one another hold more items than there is time for.
    left[0] -= 1 + (len(value.items) if isinstance(value, Items) else 0)
    if depth > 6 or left[0] < 0:
        raise NotKnown
    match value:
        case Span() if len(value.numbers) <= _MAX_ITEMS:
            return value.numbers
        case Items() if not value.more and len(value.items) <= _MAX_ITEMS:
            items = [_to_concrete_within(item, depth + 1, left) for item in value.items]
            try:
                return _BUILDERS.get(value.kind, list)(items)
            except TypeError:  # of a set: an item cannot be hashed
                raise NotKnown from None
        case Mapping() if not value.rest and len(value.entries) <= _MAX_ITEMS:
            return {key: _to_concrete_within(item, depth + 1, left) for key, item in value.entries.items()}
    raise NotKnown


# What a list is of another kind.
_BUILDERS: Final[dict[str, Callable[[list[Any]], Any]]] = {"tuple": tuple, "set": set}


def to_abstract(value: Any, taint: Taint = CLEAN, depth: int = 0) -> Value:
    """Return the abstract value of a Python one.

    Raises:
        NotKnown: it is too large or of a kind that is not folded.
    """
    if isinstance(value, bytearray | memoryview):
        value = bytes(value)
    if isinstance(value, _ATOMS):
        if _compute_size(value) > MAX_SIZE:
            raise NotKnown
        return Const(value, taint)
    if depth > 6:
        raise NotKnown
    if isinstance(value, dict):
        return Mapping({key: to_abstract(item, taint, depth + 1) for key, item in value.items()})
    if isinstance(value, range):
        return Span(value)
    if not isinstance(value, Iterable):
        raise NotKnown
    items = list(itertools.islice(value, _MAX_ITEMS + 1))
    if len(items) > _MAX_ITEMS:
        raise NotKnown
    kind = "list"
    if isinstance(value, tuple):
        kind = "tuple"
    elif isinstance(value, set | frozenset):
        kind = "set"
        items.sort(key=repr)
    return Items([to_abstract(item, taint, depth + 1) for item in items], kind)


def _compute_size(atom: Any) -> int:
    """Return how many characters or bytes a text or a number takes."""
    if isinstance(atom, str | bytes):
        return len(atom)
    return (atom.bit_length() + 7) // 8 if isinstance(atom, int) else 0


def fold(function: Callable[..., Any], arguments: Sequence[Value], named: dict[str, Value]) -> Value | None:
    """Apply a pure function to constants; None where that is not known."""
    try:
        values = [to_concrete(argument) for argument in arguments]
        keywords = {key: to_concrete(argument) for key, argument in named.items()}
        if _are_too_large(values):
            return None
        if arguments:
            taint = CLEAN.union(*[argument.taint for argument in arguments])
        else:
            taint = CLEAN
        return to_abstract(function(*values, **keywords), taint)
    except NotKnown:
        return None
    except Exception:  # noqa: BLE001 - the program would raise here; what it would raise is not our concern
        return None


def fold_method(
    receiver: Value, method: str, arguments: Sequence[Value], named: dict[str, Value]
) -> Value | None:
    """Apply a pure method of a text, number or container; None where that is not known."""
    try:
        subject = to_concrete(receiver)
    except NotKnown:
        return None
    allowed = _METHODS.get(type(subject))
    if allowed is None or method not in allowed:
        return None
    if method in _GROWING and not _is_growth_bounded(subject, method, arguments):
        return None
    return fold(lambda *args, **kwargs: getattr(subject, method)(*args, **kwargs), arguments, named)


def fold_binary(kind: type[ast.operator], left: Value, right: Value) -> Value | None:
    """Return what an operator gives for two known values; None where that is not known."""
    apply = _OPERATORS.get(kind)
    if apply is None:
        return None
    try:
        first, second = to_concrete(left), to_concrete(right)
    except NotKnown:
        return None
    if kind is ast.Mult and not _is_product_bounded(first, second):
        return None
    if kind is ast.Pow and not (_is_small(first, 4096) and _is_small(second, 512)):
        return None
    if kind is ast.LShift and not (_is_small(second, 4096)):
        return None
    if kind is ast.Mod and isinstance(first, str | bytes) and _LONG_NUMBER.search(_as_text(first)):
        return None
    try:
        return to_abstract(apply(first, second), left.taint | right.taint)
    except Exception:  # noqa: BLE001 - the program would raise here
        return None


def fold_unary(kind: type[ast.unaryop], operand: Value) -> Value | None:
    """Return what an operator gives for a known value; None where that is not known."""
    try:
        return to_abstract(_UNARY[kind](to_concrete(operand)), operand.taint)
    except Exception:  # noqa: BLE001 - not known, or the program would raise here
        return None


def fold_comparison(kind: type[ast.cmpop], left: Value, right: Value) -> Value | None:
    """Return what a comparison gives for two known values; None where that is not known."""
    apply = _COMPARISONS.get(kind)
    if apply is None:
        return None
    try:
        return Const(bool(apply(to_concrete(left), to_concrete(right))))
    except Exception:  # noqa: BLE001 - not known, or the program would raise here
        return None


def evaluate_truth(value: Value) -> bool | None:
    """Whether a value is true; None where that is not known."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Items) and not value.more:
        return bool(value.items)
    if isinstance(value, Mapping) and not value.rest:
        return bool(value.entries)
    return None


def _is_small(value: object, bound: int) -> bool:
    return isinstance(value, int | float) and abs(value) <= bound


def _as_text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def _is_product_bounded(first: object, second: object) -> bool:
    for sized, times in ((first, second), (second, first)):
        if isinstance(sized, str | bytes | list | tuple):
            bound = MAX_SIZE if isinstance(sized, str | bytes) else _MAX_ITEMS
            return isinstance(times, int) and len(sized) * max(times, 0) <= bound
    return all(not isinstance(one, int) or one.bit_length() < 65_536 for one in (first, second))


def _is_growth_bounded(subject: Any, method: str, arguments: Sequence[Value]) -> bool:
    size = len(subject) if isinstance(subject, str | bytes) else 64
    if method == "format":
        return not _LONG_NUMBER.search(subject)
    if method in {"join", "translate"}:
        inner = sum(len(item.items) for item in arguments if isinstance(item, Items))
        return method == "translate" or size * inner <= MAX_SIZE
    longest = 1
    for argument in arguments:
        value = argument.value if isinstance(argument, Const) else 0
        longest = max(longest, len(value) if isinstance(value, str | bytes) else 1)
        if isinstance(value, int) and value > MAX_SIZE:
            return False
    return (size + 1) * longest <= MAX_SIZE * 4


def _are_too_large(values: Sequence[Any]) -> bool:
    return (
        sum(len(one) for one in values if isinstance(one, str | bytes | list | tuple | dict)) > 2 * MAX_SIZE
    )


def _inflate(data: bytes, wbits: int = zlib.MAX_WBITS, bufsize: int = 0) -> bytes:
    del bufsize
    return _unpack_stream(zlib.decompressobj(wbits), data)


def _gunzip(data: bytes) -> bytes:
    return _unpack_stream(zlib.decompressobj(zlib.MAX_WBITS | 16), data)


def _unpack_bzip2(data: bytes) -> bytes:
    return _unpack_stream(bz2.BZ2Decompressor(), data)


def _unpack_xz(data: bytes) -> bytes:
    return _unpack_stream(lzma.LZMADecompressor(memlimit=_MAX_MEMORY), data)


def _unpack_stream(decompressor: Any, data: bytes) -> bytes:
    """Return what a stream holds; a part of it would hide the rest.

    Raises:
        NotKnown: it holds more than is folded, or another stream follows.
    """
    content: bytes = decompressor.decompress(data, MAX_SIZE)
    if not decompressor.eof or decompressor.unused_data:
        raise NotKnown
    return content


def _make_bounded_bytes(content: Any = b"", encoding: str = "utf-8", errors: str = "strict") -> bytes:
    if isinstance(content, int):
        if content > MAX_SIZE:
            raise NotKnown
        return bytes(content)
    if isinstance(content, str):
        return content.encode(encoding, errors)
    return bytes(content)


def _compute_bounded_power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if not (_is_small(base, 1 << 64) and _is_small(exponent, 512)):
        raise NotKnown
    return pow(base, exponent, modulus)


def _format_bounded(value: Any, specification: str = "") -> str:
    if _LONG_NUMBER.search(specification):
        raise NotKnown
    return format(value, specification)


def _convert_to_text(content: Any = "", encoding: str | None = None, errors: str = "strict") -> str:
    if isinstance(content, bytes) and encoding is not None:
        return content.decode(encoding, errors)
    return str(content)


def _substitute_plain(pattern: str, replacement: str, text: str) -> str:
    """Substitute as `re.sub` does, where neither side has a meaning of its own; others take any time."""
    if re.escape(pattern) != pattern or "\\" in replacement or not pattern:
        raise NotKnown
    return text.replace(pattern, replacement)


def _decode(content: Any, encoding: str = "utf-8", errors: str = "strict") -> Any:
    if encoding.replace("_", "").replace("-", "").lower() in {"zlib", "zip", "bz2", "zlibcodec", "bz2codec"}:
        return (_unpack_bzip2 if "bz2" in encoding else _inflate)(content)
    return codecs.decode(content, encoding, errors)


# Lists of which every combination is read.
_MOST_PARTS: Final = 8


def _iter_product(*parts: Iterable[Any]) -> Iterator[Any]:
    if len(parts) > _MOST_PARTS:
        raise NotKnown
    return itertools.product(*parts)


# Characters of a text of settings that is read; names of parts in YAML may make it grow without bound.
_MOST_SETTINGS: Final = 4_000


def _load_yaml(text: str) -> Any:
    import yaml

    if len(text) > _MOST_SETTINGS or "&" in text:
        raise NotKnown
    return yaml.safe_load(text)


def _load_toml(text: str) -> Any:
    import tomllib

    if len(text) > _MOST_SETTINGS:
        raise NotKnown
    return tomllib.loads(text)


_FOLDED: Final = KNOWLEDGE["folded"]


def _resolve(name: str) -> Callable[..., Any]:
    owner, _, function = name.rpartition(".")
    holder = getattr(builtins, owner, None) or import_module(owner or "builtins")
    found: Callable[..., Any] = getattr(holder, function)
    return found


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: _resolve(name) for name in split_entry(_FOLDED, "functions")},
    "tomllib.loads": _load_toml,
    "yaml.safe_load": _load_yaml,
    "bytearray": _make_bounded_bytes,
    "bytes": _make_bounded_bytes,
    "format": _format_bounded,
    "memoryview": bytes,
    "pow": _compute_bounded_power,
    "str": _convert_to_text,
    "bytearray.fromhex": bytes.fromhex,
    "codecs.decode": _decode,
    "codecs.getdecoder": lambda name: name,
    "zlib.decompress": _inflate,
    "gzip.decompress": _gunzip,
    "gzip.compress": functools.partial(zlib.compress, wbits=31),
    "bz2.decompress": _unpack_bzip2,
    "bz2.compress": lambda data: bz2.compress(data, 1),
    "lzma.decompress": _unpack_xz,
    "lzma.compress": lambda data: lzma.compress(data, preset=0),
    "re.sub": _substitute_plain,
    "itertools.chain": lambda *parts: list(itertools.chain(*parts)),
    "itertools.chain.from_iterable": lambda parts: list(itertools.chain.from_iterable(parts)),
    "itertools.islice": lambda items, *bounds: list(itertools.islice(items, *bounds)),
    "itertools.accumulate": lambda items: list(itertools.accumulate(items)),
    "itertools.product": _iter_product,
}
"""Pure functions by resolved name."""

_SHARED_METHODS: Final = split_entry(_FOLDED, "text")
_METHODS: Final[dict[type, frozenset[str]]] = {
    kind: split_entry(_FOLDED, kind.__name__) | (_SHARED_METHODS if kind in (str, bytes) else frozenset())
    for kind in (str, bytes, int, float, list, tuple, dict, set)
}
_GROWING: Final = split_entry(_FOLDED, "growing")

_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift:
    operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_, }  # fmt: skip

_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip

_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt:
    operator.gt, ast.GtE: operator.ge, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}  # fmt: skip
