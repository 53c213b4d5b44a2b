"""Attribute values between OTLP's `AnyValue` and plain Python.

Both directions are total: every `AnyValue` has a Python value, and every `AttributeValue` has an `AnyValue`.
Integers beyond 64 bits, which OTLP cannot hold, become their decimal text; lone surrogates, which UTF-8
cannot hold, become U+FFFD.
"""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

from spanproof.trace.model import AttributeValue

_INT64 = range(-(2**63), 2**63)


def get_attribute_value(value: AnyValue) -> AttributeValue:
    """Return the Python value of an `AnyValue`; None where it is empty."""
    match value.WhichOneof("value"):
        case "string_value":
            return str(value.string_value)
        case "bool_value":
            return bool(value.bool_value)
        case "int_value":
            return int(value.int_value)
        case "double_value":
            return float(value.double_value)
        case "bytes_value":
            return bytes(value.bytes_value)
        case "array_value":
            return [get_attribute_value(item) for item in value.array_value.values]
        case "kvlist_value":
            return get_attributes(value.kvlist_value.values)
    return None


def get_attributes(pairs: Iterable[KeyValue]) -> dict[str, AttributeValue]:
    """Return the pairs as a dictionary; of two pairs with one key the last one counts."""
    return {pair.key: get_attribute_value(pair.value) for pair in pairs}


def build_any_value(value: AttributeValue) -> AnyValue:
    """Return the `AnyValue` of a Python value."""
    match value:
        case None:
            return AnyValue()
        case bool():
            return AnyValue(bool_value=value)
        case int():
            if value in _INT64:
                return AnyValue(int_value=value)
            return AnyValue(string_value=str(value))
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=_normalise_surrogates(value))
        case bytes():
            return AnyValue(bytes_value=value)
        case list():
            return AnyValue(array_value=ArrayValue(values=[build_any_value(item) for item in value]))
    pairs = [
        KeyValue(key=_normalise_surrogates(key), value=build_any_value(item)) for key, item in value.items()
    ]
    return AnyValue(kvlist_value=KeyValueList(values=pairs))


def _normalise_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
