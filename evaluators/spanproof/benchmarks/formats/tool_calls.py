r"""Calls that a model wrote, in the forms that benchmarks publish them, to names with arguments.

| form | example |
|---|---|
| Python | `[get_weather(city="Rome"), add(a=1, b=2)]` |
| names to JSON | `[{"get_weather": "{\"city\": \"Rome\"}"}]`, or an object in place of the text |
| OpenAI | `[{"function": {"name": …, "arguments": "…"}}]`, `[{"name": …, "arguments": {…}}]` |
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool."""

    name: str
    arguments: Mapping[str, Any]


def find_calls(answer: Any) -> list[Call] | None:
    """Return the calls in an answer; None where it holds none, as prose does."""
    if isinstance(answer, str):
        try:
            return find_calls(json.loads(answer))
        except ValueError:
            return _find_python_calls(answer)
    if isinstance(answer, dict):
        answer = [answer]
    if not isinstance(answer, list):
        return None
    found = [_find_json_call(entry) for entry in answer]
    calls = [call for call in found if call is not None]
    return calls if len(calls) == len(found) else None


def _find_json_call(entry: Any) -> Call | None:
    if isinstance(entry, str):
        calls = _find_python_calls(entry)
        return calls[0] if calls and len(calls) == 1 else None
    if not isinstance(entry, dict):
        return None
    if isinstance(entry.get("function"), dict):
        entry = entry.get("function")
    else:
        entry = entry
    if isinstance(entry.get("name"), str):
        arguments = entry.get("arguments", entry.get("kwargs", entry.get("parameters", {})))
        return _find_call(entry["name"], arguments)
    if len(entry) == 1:
        ((name, arguments),) = entry.items()
        return _find_call(name, arguments)
    return None


def _find_call(name: str, arguments: Any) -> Call | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            return None
    return Call(name, arguments) if isinstance(arguments, dict) else None


def _find_python_calls(text: str) -> list[Call] | None:
    stripped = text.strip().strip("`").removeprefix("python").strip()
    try:
        body = ast.parse(stripped, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if isinstance(body, ast.List | ast.Tuple):
        nodes = body.elts
    else:
        nodes = [body]
    calls = []
    for node in nodes:
        if not isinstance(node, ast.Call) or node.args:
            return None
        try:
            arguments = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
        except ValueError:
            return None
        calls.append(Call(ast.unparse(node.func), arguments))
    return calls
