"""What a call was for: the values among its arguments that name its target.

In: the arguments of calls, and the task. Out: the values that name a target, and whether two calls are for
the same one. A success for another target makes good no failure; a corrected spelling is the same target.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Final

from spanproof.reading.undone_reports import names_value
from spanproof.trace import JsonValue, RecordedCall

_NAMING_ARGUMENT = re.compile(
    r"(?:id|ids|name|names|email|emails|key|number|no|ref|reference|path|file|user|users|order|orders|to"
    r"|recipient|recipients|customer|account|room|ticket|invoice|host|server|city|symbol|item|items|sku|address|url"
    r"|student|patient|employee|member|booking|seat|vessel|code|target|device|channel|repo|branch|case|claim)\Z",
    re.IGNORECASE,
)
_TAKEN = re.compile(
    r"\b(?:taken|booked|reserved|occupied|busy|full|sold out|out of stock|not available|unavailable"
    r"|conflict\w*|belegt|ausgebucht|reservad[oa]|ocupad[oa]|complete?t?|occupée?|réservée?)\b|已满|已被|満室|予約済",
    re.IGNORECASE,
)
# How a thing is done; another way of doing it is the same doing: another card for the same booking.
_MEANS = re.compile(
    r"(?:card|payment|payment_?method|method|channel|carrier|provider|gateway|token)(?:_?id)?\Z",
    re.IGNORECASE,
)
# When a thing is done: an entry that is refused for one day and made for the next one is made.
_TIMES = re.compile(r"(?:date|day|period|posting_?date|value_?date)\Z", re.IGNORECASE)
# Arguments that stay the same where only the choice changes.
_FEWEST_KEPT: Final = 2
_DIGITS = re.compile(r"\d+")
_MAX_NAME_CHARS: Final = 60
_MAX_NAME_WORDS: Final = 4
_SHORTEST_PART: Final = 3
# Likeness from which a name is another spelling of the same (`difflib`'s ratio).
_ALIKE: Final = 0.75
_MAX_LISTED: Final = 50


def get_arguments(call: RecordedCall) -> dict[str, JsonValue]:
    """Return the arguments of a call by name, those without one by their position."""
    return {**{str(at): value for at, value in enumerate(call.args)}, **call.kwargs}


def get_target(arguments: Mapping[str, JsonValue]) -> dict[str, frozenset[str]]:
    """Return the values that name what a call is for, by argument; all short ones where no name says so."""
    short = {name: values for name, item in arguments.items() if (values := _list_short_values(item))}
    naming = {name: values for name, values in short.items() if _NAMING_ARGUMENT.search(name)}
    return naming or short


def _list_short_values(item: JsonValue) -> frozenset[str]:
    items = item[:_MAX_LISTED] if isinstance(item, list) else [item]
    texts = [str(one).strip() for one in items if isinstance(one, str | int) and not isinstance(one, bool)]
    is_short = all(len(text) <= _MAX_NAME_CHARS and len(text.split()) <= _MAX_NAME_WORDS for text in texts)
    if is_short:
        return frozenset(text.casefold() for text in texts if text)
    return frozenset()


def shares_target(
    failed: Mapping[str, JsonValue], later: Mapping[str, JsonValue], task: str, *, is_doing: bool
) -> bool:
    """Whether a later call is for what the failed one was for.

    Args:
        failed: the arguments of the call that failed.
        later: those of the later call.
        task: of the run: what it names are targets of their own.
        is_doing: the calls change something; a look-up may be made another way, with other values.
    """
    wanted, named = get_target(failed), get_target(later)
    if not wanted or not named:
        return True
    shared = wanted.keys() & named.keys()
    if not shared:
        return not is_doing or bool(frozenset().union(*wanted.values()) & frozenset().union(*named.values()))
    differing = [name for name in shared if not wanted[name] <= named[name]]
    return all(
        _may_differ(name, len(shared))
        or all(_is_corrected(value, named[name], task, is_doing=is_doing) for value in wanted[name])
        for name in differing
    )


def _may_differ(name: str, count: int) -> bool:
    """Return whether an argument only says how or when a thing is done, where others name the thing."""
    is_means = count > 1 and _MEANS.search(name) is not None
    return is_means or (count > _FEWEST_KEPT and _TIMES.search(name) is not None)


def is_other_choice(failed: Mapping[str, JsonValue], later: Mapping[str, JsonValue], error: str) -> bool:
    """Whether a later call takes another thing of a kind, where the error says that the first one is taken.

    Of `room: North`, "North is already booked", and `room: South` at the same time for the same people.
    """
    changed = [name for name in failed.keys() & later.keys() if failed[name] != later[name]]
    kept = (failed.keys() & later.keys()) - set(changed)
    if len(changed) != 1 or len(kept) < _FEWEST_KEPT or _TAKEN.search(error) is None:
        return False
    return any(names_value(error, value) for value in _list_short_values(failed[changed[0]]))


def _is_corrected(value: str, others: frozenset[str], task: str, *, is_doing: bool) -> bool:
    return value in others or any(_is_correction(value, other, task, is_doing=is_doing) for other in others)


def _is_correction(value: str, other: str, task: str, *, is_doing: bool) -> bool:
    """Whether the other value is the first one, written as it should be."""
    is_named, is_other_named = names_value(task, value), names_value(task, other)
    if is_named and is_other_named:
        return False
    contained = min(len(value), len(other)) >= _SHORTEST_PART and (value in other or other in value)
    if contained or is_other_named:
        return True
    same_digits = _DIGITS.findall(value) == _DIGITS.findall(other)
    if not is_doing and not is_named:
        return True
    return same_digits and SequenceMatcher(None, value, other).ratio() >= _ALIKE
