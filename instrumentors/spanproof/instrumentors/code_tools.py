"""Tools whose argument is a program: `run_python(code=…)`, `query_database(sql=…)`, `bash(command=…)`.

In come a tool's name and its bound arguments; out comes the program and its language, or nothing. Names
decide: `python_code` can only be a program; `query` is one in a tool that executes Python, or where it reads
as SQL in a tool about databases; `country_code` never is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from spanproof.instrumentors.content import Content
from spanproof.instrumentors.reading import items, member, text_or_none
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_WORDS: Final = re.compile(r"[a-z0-9]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SQL: Final = re.compile(
    r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|insert|update|delete|create|drop|alter|merge|truncate|pragma"
    r"|explain|show|describe|grant|revoke|copy|attach|vacuum)\b",
    re.IGNORECASE | re.DOTALL,
)
_CODE_PUNCTUATION: Final = re.compile(r"[\n()=\[;]")

_LANGUAGE_WORDS: Final[dict[str, str]] = {
    "python": "python", "python3": "python", "py": "python", "ipython": "python", "jupyter": "python",
    "bash": "bash", "sh": "bash", "shell": "bash", "terminal": "bash", "zsh": "bash",
    "sql": "sql", "sqlite": "sql", "postgres": "sql", "postgresql": "sql", "mysql": "sql", "duckdb": "sql",
    "bigquery": "sql", "snowflake": "sql", "database": "sql", "db": "sql",
    "javascript": "javascript", "js": "javascript", "node": "javascript",
    "typescript": "typescript", "ts": "typescript",
}  # fmt: skip
_PLACES: Final = {"db", "database", "node", "terminal"}
"""Words that tell a language in a tool's name, but alone as an argument's name tell where, not what."""
_CODE_WORDS: Final = {"code", "snippet", "script", "program"}
_AROUND_CODE: Final = {"source", "to", "run", "execute", "block", "text", "body", "cell", "input"}
"""What `code` may be joined with and still mean a program: `source_code`, `code_to_run`, not `zip_code`."""
_WITH_CODE: Final = _CODE_WORDS | _AROUND_CODE | _LANGUAGE_WORDS.keys()
_COMMAND_WORDS: Final = {"command", "commands", "cmd"}
_VAGUE_WORDS: Final = {*_COMMAND_WORDS, "query", "input", "source", "statement", "expression"}
_EXECUTING_WORDS: Final = {"repl", "interpreter", "exec", "execute", "executor", "run", "eval", "sandbox"}


@dataclass(frozen=True, slots=True)
class ToolCode:
    """A program given to a tool.

    Attributes:
        language: None where neither the tool's name nor the argument's says it.
        argument: in which it was given.
        alone: the tool is given nothing else.
    """

    source: str
    language: str | None
    argument: str
    alone: bool


def code_in(tool_name: str, arguments: object) -> ToolCode | None:
    """The program among a tool's arguments."""
    named = list(items(arguments))
    for name, given in named:
        if type(name) is not str or not _may_name_a_program(name):
            continue
        value = text_or_none(given)
        if value is None or not value.strip():
            continue
        tool, words, declared = _words(tool_name), _words(name), _declared(arguments)
        language = _language(words) or _language(tool)
        if _is_program(words, tool, value):
            return ToolCode(value, declared or language, name, len(named) == 1)
        if words <= _VAGUE_WORDS and (meant := _vague_program(words, tool, value)):
            return ToolCode(value, declared or meant, name, len(named) == 1)
    return None


def record_call(content: Content, tool_name: str, arguments: object) -> None:
    """Put a tool call's arguments onto its span, and say which of them is a program.

    The program stands there once more, by its own limit, where the arguments are cut or redacted. What the
    agent was shown of it is the tool's result.
    """
    code = code_in(tool_name, arguments)
    if not content.visible:
        content.fact(ours.CODE_LANGUAGE, None if code is None else code.language)
        return
    if code is None or not code.alone:
        content.input_json(genai.TOOL_CALL_ARGUMENTS, arguments)
    else:
        content.json(genai.TOOL_CALL_ARGUMENTS, arguments)
        content.input(code.source)
    if code is None:
        return
    if content.holds(genai.TOOL_CALL_ARGUMENTS):
        content.fact(ours.CODE_LANGUAGE, code.language)
        content.fact(ours.CODE_ARGUMENT, code.argument)
    else:
        content.code(code.source, code.language)


@lru_cache(maxsize=1024)
def _may_name_a_program(name: str) -> bool:
    """Whether a program may stand under this name in some tool: of most arguments nothing else is asked."""
    words = _words(name)
    return words <= _LANGUAGE_WORDS.keys() or bool(words & _CODE_WORDS) or words <= _VAGUE_WORDS


def _is_program(argument: frozenset[str], tool: frozenset[str], value: str) -> bool:
    """Whether the argument's name can only mean a program, or means one in this tool or for this value."""
    if argument <= _LANGUAGE_WORDS.keys() and not argument <= _PLACES:
        return True
    if not argument & _CODE_WORDS or not argument <= _WITH_CODE:
        return False
    certain = len(argument) > 1 or tool & _EXECUTING_WORDS or _language(tool)
    return bool(certain) or _CODE_PUNCTUATION.search(value) is not None


def _vague_program(argument: frozenset[str], tool: frozenset[str], value: str) -> str | None:
    """The language of what a `command`, `query` or `input` of this tool holds, None when it is no program."""
    language = _language(tool)
    if argument & _COMMAND_WORDS:
        return language or ("bash" if tool & (_EXECUTING_WORDS | _COMMAND_WORDS) else None)
    if language == "sql":
        return language if _SQL.match(value) else None
    return language if tool & _EXECUTING_WORDS else None


@lru_cache(maxsize=1024)
def _words(name: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(_CAMEL.sub(" ", name).lower()))


@lru_cache(maxsize=1024)
def _language(words: frozenset[str]) -> str | None:
    return next((language for word, language in _LANGUAGE_WORDS.items() if word in words), None)


def _declared(arguments: object) -> str | None:
    declared = text_or_none(member(arguments, "language")) or text_or_none(member(arguments, "lang"))
    return _LANGUAGE_WORDS.get(declared.strip().lower()) if declared else None
