"""The query line of a list of traces: `layer:groundedness label:fail tokens>1000 "box of tea" since:24h`.

In: a line that a person wrote. Out: the parameters that it is short for, and the command that lists the same.
A word that names nothing is searched.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from spanproof.trace import State
from spanproof.trace.dimensions import DIMENSIONS, Subject

Parameters = Sequence[tuple[str, str]]

_VERDICT_NAMES: Final = ("state", "label", "layer", "since", "feedback")
_CONDITION_NAMES: Final = (*DIMENSIONS, *Subject, "attribute")
_WORD: Final = re.compile(r'(?:"(?:\\.|[^"\\])*"|[^\s"])+|"')
_PAIR: Final = re.compile(r"([\w.]+):(.*)", re.ASCII | re.DOTALL)
_AMOUNT: Final = re.compile(r"(latency|tokens|cost)>=?([0-9]+(?:\.[0-9]+)?)[s$]?")
_WINDOW: Final = re.compile(r"([0-9]{1,7})([mhd])")
_QUOTED: Final = re.compile(r'"((?:\\.|[^"\\])*)"?')
_LEAST: Final = MappingProxyType({"latency": "min_seconds", "tokens": "min_tokens", "cost": "min_cost_usd"})
_UNIT_HOURS: Final = MappingProxyType({"m": 1 / 60, "h": 1.0, "d": 24.0})
# Options of `spanproof traces`, by the parameter of the same meaning.
_OPTIONS: Final = MappingProxyType(
    {
        "state": "--state",
        "layer": "--layer",
        "order": "--order",
        "feedback": "--feedback",
        "text": "--text",
        "min_seconds": "--min-seconds",
        "min_tokens": "--min-tokens",
        "min_cost_usd": "--min-cost-usd",
        "where": "--where",
    }
)


class QueryLineRoute(APIRoute):
    """A path that takes a query line `q` in place of the parameters that it is short for."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request, after its line is replaced."""
        handle = super().get_route_handler()

        async def handle_line(request: Request) -> Response:
            return await handle(_build_request(request))

        return handle_line


def _build_request(request: Request) -> Request:
    """Return a request with the parameters of its query line; they go before others of the same name.

    Raises:
        HTTPException: 422: the line cannot be read.
    """
    sent = request.query_params.multi_items()
    lines = [value for name, value in sent if name == "q"]
    try:
        read = [pair for line in lines for pair in parse_query_line(line)]
    except ValueError as problem:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, str(problem)) from problem
    named = {name for name, _ in read}
    expanded = [*((name, value) for name, value in sent if name not in named), *read]
    return Request({**request.scope, "query_string": urlencode(expanded).encode()}, request.receive)


def parse_query_line(line: str) -> Parameters:
    """Return the parameters that a line is short for.

    Raises:
        ValueError: a word of it has no meaning; the message says what to write.
    """
    parameters: dict[str, str] = {}
    repeated: list[tuple[str, str]] = []
    for word in _WORD.findall(line):
        pair = _PAIR.fullmatch(word)
        amount = _AMOUNT.fullmatch(word)
        name, value = (pair[1], _parse_word(pair[2])) if pair else ("", "")
        if name in _VERDICT_NAMES:
            key, meant = _read_verdict(word, name, value)
            parameters[key] = meant
        elif name in _CONDITION_NAMES:
            repeated.append(("where", _read_condition(name, value)))
        elif amount:
            parameters[_LEAST[amount[1]]] = amount[2]
        elif _parse_word(word).strip():
            repeated.append(("text", _parse_word(word)))
    if "layer" in parameters and not {"failing", "state"} & parameters.keys():
        raise ValueError("layer: says which layer fails; add label:fail or a state")
    return [*parameters.items(), *repeated]


def _read_verdict(word: str, name: str, value: str) -> tuple[str, str]:
    """Return the parameter of a pair that is about verdicts or the time."""
    if name == "since":
        return "hours", _get_hours(word, value)
    if name == "label" and value == "fail":
        # How a state was written before there were five.
        return "failing", "true"
    if name in ("state", "label"):
        return "state", _get_state(word, value)
    return name, value


def _read_condition(name: str, value: str) -> str:
    """Return a pair that names a dimension as a condition `DIMENSION=VALUE`."""
    if name != "attribute":
        return f"{name}={value}"
    if not value.partition("=")[0] or "=" not in value:
        raise ValueError(f"attribute:{value[:100]} has no value; write attribute:KEY=VALUE")
    return f"attribute:{value}"


def _parse_word(word: str) -> str:
    return _QUOTED.sub(lambda found: re.sub(r"\\(.)", r"\1", found[1]), word)


def _get_state(word: str, value: str) -> str:
    if value not in list(State):
        states = ", ".join(state.value for state in State)
        raise ValueError(f"{word[:100]} names no state; write state: and one of {states}")
    return value


def _get_hours(word: str, value: str) -> str:
    found = _WINDOW.fullmatch(value)
    if found is None:
        raise ValueError(f"{word[:100]} is no time; write since:30m, since:24h or since:7d")
    return f"{int(found[1]) * _UNIT_HOURS[found[2]]:g}"


def format_list_command(parameters: Parameters) -> str:
    """Return the command that lists the same traces."""
    values = dict(parameters)
    words = ["spanproof", "traces"]
    if values.get("failing") == "true":
        words.append("--failing")
    if "hours" in values:
        words.extend(("--since", _format_window(float(values["hours"]))))
    for name, option in _OPTIONS.items():
        words.extend(word for key, value in parameters if key == name for word in (option, value))
    for name in DIMENSIONS:
        if name in values:
            words.extend(("--where", f"{name}={values[name]}"))
    return shlex.join(words)


def _format_window(hours: float) -> str:
    """Return a window as the command line takes it: in whole hours, else in minutes."""
    if hours.is_integer():
        return f"{hours:.0f}h"
    return f"{max(1, round(hours * 60))}m"
