"""When a call is a recorded one: the one rule, for the tape of a replay and for the stubs of a case's tests.

Takes a call and the recorded calls of its tool; gives those it matches. Arguments are compared as JSON, with
positional ones bound to parameter names. Standard library only, as this text itself runs within the stubs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spanproof.sandbox import JsonValue


class RecordedCalls:
    """The recorded calls of one tool, found by their arguments."""

    def __init__(
        self,
        parameters: Sequence[str],
        recorded: Iterable[tuple[Sequence[JsonValue], Mapping[str, JsonValue]]],
    ) -> None:
        """Sort the calls by their arguments.

        Args:
            parameters: names of the tool's parameters in order, as far as they are known.
            recorded: arguments of each call, in the order of the record.
        """
        self._parameters = parameters
        self._exactly: dict[str, list[int]] = {}
        self._by_values: dict[tuple[bool, str], list[int]] = {}
        for at, (args, kwargs) in enumerate(recorded):
            self._exactly.setdefault(normalise_call(parameters, args, kwargs), []).append(at)
            self._by_values.setdefault((bool(args), _encode_values(args, kwargs)), []).append(at)

    def list_matching(self, args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> Sequence[int]:
        """Return which of them a call matches, by number, in the order of the record."""
        exact = self._exactly.get(normalise_call(self._parameters, args, kwargs))
        if exact:
            return exact
        # Where no parameter names are known, one side may be positional and the other named: then the
        # values in their order are all there is to compare.
        return self._by_values.get((not args, _encode_values(args, kwargs)), ())


def list_parameters(
    recorded: Sequence[tuple[Sequence[JsonValue], Mapping[str, JsonValue]]],
) -> tuple[str, ...]:
    """Return a tool's parameter names: those of the call that named the most, with none by position."""
    seen: tuple[str, ...] = ()
    for args, kwargs in recorded:
        if not args and len(kwargs) > len(seen):
            seen = tuple(kwargs)
    return seen


def normalise_call(
    parameters: Sequence[str], args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]
) -> str:
    """Return one text for equal calls: positional arguments by name, keys sorted, 2.0 written as 2."""
    named = {parameters[i] if i < len(parameters) else f"#{i}": value for i, value in enumerate(args)}
    return _format_json({**named, **kwargs})


def _encode_values(args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> str:
    return _format_json([*args, *kwargs.values()])


def _format_json(value: JsonValue) -> str:
    return json.dumps(_normalise_numbers(value), sort_keys=True, ensure_ascii=True)


def _normalise_numbers(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_normalise_numbers(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _normalise_numbers(item) for key, item in value.items()}
    return value
