"""When a call is a recorded one: the one rule, for the tape of a replay and for the stubs of a case's tests.

Takes a call and the recorded calls of its tool; gives those it matches. Arguments are compared as JSON, with
positional ones bound to parameter names. Standard library only, as this text itself runs within the stubs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spanproof.sandbox import JsonValue


def matches(
    parameters: Sequence[str],
    args: Sequence[JsonValue],
    kwargs: Mapping[str, JsonValue],
    recorded: Sequence[tuple[Sequence[JsonValue], Mapping[str, JsonValue]]],
) -> list[int]:
    """Which recorded calls a call matches, by number, in the order of the record.

    Args:
        parameters: names of the tool's parameters in order, as far as they are known.
        args: of the call, with `kwargs`.
        kwargs: of the call.
        recorded: arguments of each recorded call of the tool.
    """
    wanted = canonical(parameters, args, kwargs)
    exact = [at for at, each in enumerate(recorded) if canonical(parameters, *each) == wanted]
    if exact:
        return exact
    # Where no parameter names are known, one side may be positional and the other named: then the
    # values in their order are all there is to compare.
    values = _values(args, kwargs)
    return [
        at for at, each in enumerate(recorded) if bool(each[0]) != bool(args) and _values(*each) == values
    ]


def parameters_seen(
    recorded: Sequence[tuple[Sequence[JsonValue], Mapping[str, JsonValue]]],
) -> tuple[str, ...]:
    """A tool's parameter names as recorded: of the call that named the most and gave nothing by position."""
    seen: tuple[str, ...] = ()
    for args, kwargs in recorded:
        if not args and len(kwargs) > len(seen):
            seen = tuple(kwargs)
    return seen


def canonical(parameters: Sequence[str], args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> str:
    """One text for equal calls: positional arguments bound to their names, keys sorted, 2.0 written as 2."""
    named = {parameters[i] if i < len(parameters) else f"#{i}": value for i, value in enumerate(args)}
    return _json({**named, **kwargs})


def _values(args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> str:
    return _json([*args, *kwargs.values()])


def _json(value: JsonValue) -> str:
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=True)


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
