"""Tools whose argument is a program: `run_python(code=…)`, `query_database(sql=…)`, `bash(command=…)`.

In come a tool's name and its bound arguments; out comes the program and its language, or nothing. Names
decide: `python_code` can only be a program; `query` is one in a tool that executes Python, or where it reads
as SQL in a tool about databases; `country_code` never is.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.texts import as_text, get_member, iter_items
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_WORDS: Final = re.compile(r"[a-z0-9]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SQL: Final = re.compile(
    r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|insert|update|delete|create|drop|alter|merge|truncate|pragma"
    r"|explain|show|describe|grant|revoke|copy|attach|vacuum)\b",
    re.IGNORECASE | re.DOTALL,
)
_CODE_PUNCTUATION: Final = re.compile(r"[^\n()=\[;]*[\n()=\[;]")

_LANGUAGE_WORDS: Final[dict[str, str]] = {
    "python": "python", "python3": "python", "py": "python", "ipython": "python", "jupyter": "python",
    "bash": "bash", "sh": "bash", "shell": "bash", "terminal": "bash", "zsh": "bash",
    "sql": "sql", "sqlite": "sql", "postgres": "sql", "postgresql": "sql", "mysql": "sql", "duckdb": "sql",
    "bigquery": "sql", "snowflake": "sql", "database": "sql", "db": "sql",
    "javascript": "javascript", "js": "javascript", "node": "javascript",
    "typescript": "typescript", "ts": "typescript",
}  # fmt: skip
# Words that name a language in a tool's name, but alone as an argument's name mean a place.
_PLACES: Final = {"db", "database", "node", "terminal"}

_CODE_WORDS: Final = {"code", "snippet", "script", "program"}
# What `code` may be joined with and still mean a program: `source_code`, `code_to_run`, not `zip_code`.
_AROUND_CODE: Final = {"source", "to", "run", "execute", "block", "text", "body", "cell", "input"}

_WITH_CODE: Final = _CODE_WORDS | _AROUND_CODE | _LANGUAGE_WORDS.keys()
_COMMAND_WORDS: Final = {"command", "commands", "cmd"}
_VAGUE_WORDS: Final = {*_COMMAND_WORDS, "query", "input", "source", "statement", "expression"}
_EXECUTING_WORDS: Final = {"repl", "interpreter", "exec", "execute", "executor", "run", "eval", "sandbox"}


ToolCode: TypeAlias = tuple[str, str | None, str, bool]
"""A program given to a tool: its source; its language, None where neither the tool's name nor the argument's
says it; the argument in which it was given; and whether the tool is given nothing else."""


def find_code(tool_name: str, arguments: object) -> ToolCode | None:
    """Return the program among a tool's arguments."""
    if type(arguments) is dict:
        named = arguments
    else:
        named = dict(iter_items(arguments))
    for name, argument in named.items():
        if type(name) is not str:
            continue
        meant = _find_meaning(tool_name, name)
        if meant is None:
            continue
        value = argument if type(argument) is str else as_text(argument)
        if not value or value.isspace():
            continue
        language, doubted = meant
        if doubted is None or doubted.match(value):
            alone = len(named) == 1
            return value, language if alone else _find_declared(named) or language, name, alone
    return None


def record_call(content: Content, tool_name: str, arguments: object) -> None:
    """Put a tool call's arguments onto its span, and say which of them is a program.

    The program is repeated, up to its own limit, where the arguments are cut or redacted. What the
    agent was shown of it is the tool's result.
    """
    code = find_code(tool_name, arguments)
    if code is None:
        content.input_json(genai.TOOL_CALL_ARGUMENTS, arguments)
        return
    source, language, argument, alone = code
    if not content.visible:
        if language is not None:
            content.attributes[ours.CODE_LANGUAGE] = language
        return
    if alone:
        content.json(genai.TOOL_CALL_ARGUMENTS, arguments)
        content.input(source)
    else:
        content.input_json(genai.TOOL_CALL_ARGUMENTS, arguments)
    if content.holds(genai.TOOL_CALL_ARGUMENTS):
        content.fact(ours.CODE_LANGUAGE, language)
        content.fact(ours.CODE_ARGUMENT, argument)
    else:
        content.code(source, language)


class _Meaning(NamedTuple):
    """What an argument of this name means in a tool of that name: a program.

    Attributes:
        language: None where neither name says it.
        doubted: what a value holds that is one; None where each is.
    """

    language: str | None
    doubted: re.Pattern[str] | None = None


@lru_cache(maxsize=4096)
def _find_meaning(tool_name: str, name: str) -> _Meaning | None:
    """Return what an argument of this name means in such a tool; None where it is not a program."""
    argument, tool = _split_words(name), _split_words(tool_name)
    language = _find_language(argument) or _find_language(tool)
    if argument <= _LANGUAGE_WORDS.keys() and not argument <= _PLACES:
        return _Meaning(language)
    if argument & _CODE_WORDS and argument <= _WITH_CODE:
        certain = len(argument) > 1 or tool & _EXECUTING_WORDS or _find_language(tool)
        return _Meaning(language, None if certain else _CODE_PUNCTUATION)
    if argument <= _VAGUE_WORDS:
        return _find_vague_meaning(argument, tool)
    return None


def _find_vague_meaning(argument: frozenset[str], tool: frozenset[str]) -> _Meaning | None:
    """Return the meaning of a `command`, `query` or `input` of this tool."""
    language = _find_language(tool)
    if argument & _COMMAND_WORDS:
        language = language or ("bash" if tool & (_EXECUTING_WORDS | _COMMAND_WORDS) else None)
        return _Meaning(language) if language else None
    if language == "sql":
        return _Meaning(language, _SQL)
    if language and tool & _EXECUTING_WORDS:
        return _Meaning(language)
    return None


def _split_words(name: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(_CAMEL.sub(" ", name).lower()))


def _find_language(words: frozenset[str]) -> str | None:
    return next((language for word, language in _LANGUAGE_WORDS.items() if word in words), None)


def _find_declared(arguments: object) -> str | None:
    declared = as_text(get_member(arguments, "language")) or as_text(get_member(arguments, "lang"))
    if declared:
        return _LANGUAGE_WORDS.get(declared.strip().lower())
    return None


_parameters: WeakKeyDictionary[Any, Parameters] = WeakKeyDictionary()
_BY_POSITION: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# What a method calls its object or class, which is none of a call's arguments.
_OWNERS: Final = (("self",), ("cls",))


@dataclass(slots=True)
class Bound:
    """Named arguments, and the positional ones left without a name."""

    named: Mapping[str, Any]
    positional: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Parameters:
    """A function's parameters that take an argument by position.

    Attributes:
        names: without a method's `self` or `cls`.
        owners: how many of the arguments a call passes are the method's object or class.
    """

    names: tuple[str, ...]
    owners: int

    def build_bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """Return the arguments of a call by name."""
        return build_bound(self.names, args[self.owners :], kwargs)


def read_parameters(function: Callable[..., Any]) -> Parameters:
    """Return the parameters of a function; none where they are unknown."""
    with suppress(TypeError):  # not hashable, or not weakly referable
        parameters = _parameters.get(function)
        if parameters is not None:
            return parameters
    names = tuple(item.name for item in _find_signature(function) or () if item.kind in _BY_POSITION)
    owners = int(names[:1] in _OWNERS)
    found = Parameters(names[owners:], owners)
    with suppress(TypeError):
        _parameters[function] = found
    return found


def find_argument_names(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names that a call can give an argument by; None where it may be any, or they are unknown."""
    parameters = _find_signature(function)
    if parameters is None or any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(
        parameter.name for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    )


def build_bound(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    """Return arguments by the names of the parameters at their positions."""
    named = dict(zip(names, args, strict=False))
    return Bound({**named, **kwargs}, tuple(args[len(names) :]))


def _find_signature(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...] | None:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
