"""Code in the arguments of a tool call.

A tool takes code when its name says so (an interpreter, a shell, a database), or when an argument's name says
so and its value is code. Everything else, however long, is data: a search query, a prompt, a price list.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.detect.blocks import MARKS, split_words
from spanproof.evaluators.detect.language import find_language
from spanproof.evaluators.detect.unscanned import UNSCANNED
from spanproof.trace import JsonValue, Language, ToolCall

_TOOL_LANGUAGES: Final = (
    (
        Language.SQL,
        re.compile(
            r"sql|duckdb|bigquery|snowflake|(?:query|exec\w*)_(?:db|database)|(?:db|database)_(?:query|exec)"
        ),
    ),
    (
        Language.BASH,
        re.compile(
            r"(?:^|_)(?:bash|shell|terminal|cmd|powershell|ssh)(?:$|_)|(?:run|exec\w*)_?commands?$|^command_?(?:line|exec)"
        ),
    ),
    (Language.JAVASCRIPT, re.compile(r"javascript|(?:^|_)(?:js|node(?:js)?)(?:$|_)|evaluate_script")),
    (Language.TYPESCRIPT, re.compile(r"typescript|(?:^|_)deno(?:$|_)")),
    (
        Language.PYTHON,
        re.compile(
            r"^(?:i?python\d?|py|jupyter|repl)$|python_?(?:repl|interpreter|exec|code|tool|shell|ast|run|sandbox)"
            r"|(?:run|exec\w*|eval\w*)_?(?:i?python|py)(?:$|_)|jupyter|ipython|notebook_(?:exec|run)"
        ),
    ),
)
# Tools that take code of any language; the code itself says which.
_CODE_TOOL: Final = re.compile(
    r"code_?(?:interpreter|exec\w*|runner|run|sandbox)|(?:run|exec\w*|eval\w*)_?(?:code|script|cell|program|snippet)"
    r"|interpreter|(?:^|_)repl(?:$|_)|sandbox_(?:run|exec)"
)


_CODE_KEYS: Final = frozenset(
    split_words(
        "code source source_code script program snippet cell code_action code_block python python_code py"
        " javascript js typescript expression function"
    )
)
_SHELL_KEYS: Final = frozenset(
    split_words("command cmd commands bash shell shell_command bash_command command_line")
)
_SQL_KEYS: Final = frozenset(split_words("sql sql_query query statement sql_statement"))
# Names frameworks give to a tool's only argument.
_WHOLE_KEYS: Final = frozenset(split_words("input __arg1 tool_input text query code_input value"))

_LANGUAGE_KEYS: Final = ("language", "lang", "kernel", "runtime")
_PATH_KEYS: Final = ("path", "file_path", "filename", "file", "filepath")
_CONTENT_KEYS: Final = ("content", "contents", "file_text", "new_str", "text", "data")
_SUFFIXES: Final = {
    ".py": Language.PYTHON, ".sh": Language.BASH, ".bash": Language.BASH, ".sql": Language.SQL,
    ".js": Language.JAVASCRIPT, ".mjs": Language.JAVASCRIPT, ".jsx": Language.JAVASCRIPT,
    ".ts": Language.TYPESCRIPT, ".tsx": Language.TYPESCRIPT,
}  # fmt: skip
_BETWEEN_WORDS: Final = re.compile(r"[^a-z0-9]+")
_SQL_VERB: Final = re.compile(
    r"\s*(?:select|with|insert|update|delete|create|alter|drop|show|describe|pragma|explain|truncate)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ArgumentCode:
    """Code in an argument: where it is below the arguments, and whether the call runs it."""

    path: str
    language: Language
    source: str
    runs: bool = True


def list_code(call: ToolCall) -> list[ArgumentCode]:
    """Return the code this call carries; empty for a call that carries data only."""
    return list(_iter_code_in_value(_normalise_name(call.name), call.arguments, ""))


def _normalise_name(name: str) -> str:
    """Return a tool's name in lower case with one mark between its words, however it was written."""
    return _BETWEEN_WORDS.sub("_", name.lower())


def _iter_code_in_value(tool: str, value: JsonValue, path: str) -> Iterator[ArgumentCode]:
    if isinstance(value, str):
        language = _find_only_argument_language(tool, value)
        if language is not None:
            yield ArgumentCode(path or "arguments", language, value)
    elif isinstance(value, list):
        for index, item in enumerate(value[:1]):
            yield from _iter_code_in_value(tool, item, f"{path or 'arguments'}[{index}]")
    elif isinstance(value, dict):
        yield from _iter_code_in_object(tool, value, path or "arguments")


def _iter_code_in_object(tool: str, arguments: dict[str, JsonValue], path: str) -> Iterator[ArgumentCode]:
    declared = _find_declared_language(arguments)
    for key, value in arguments.items():
        inner_path = f"{path}.{key}"
        if key in ("args", "kwargs", "action") and isinstance(value, list | dict):
            yield from _iter_code_in_value(tool, value, inner_path)
        source = value
        if key.lower() in _SHELL_KEYS:
            source = _get_joined_command(value, several=key.lower() == "commands")
        if not isinstance(source, str) or not source.strip():
            continue
        language = _find_argument_language(tool, key.lower(), source, declared, only=len(arguments) == 1)
        if language is not None:
            yield ArgumentCode(inner_path, language, source)
        elif key.lower() in _CONTENT_KEYS:
            written = _find_file_language(arguments)
            if written is not None:
                yield ArgumentCode(inner_path, written, source, runs=False)


def _find_argument_language(
    tool: str, key: str, source: str, declared: Language | None, *, only: bool
) -> Language | None:
    hinted = _find_tool_language(tool)
    if key in _CODE_KEYS:
        found = declared or _find_hinted_language(source, hinted)
        return found or (Language.OTHER if _CODE_TOOL.search(tool) else None)
    if key in _SHELL_KEYS:
        if hinted is Language.BASH:
            return Language.BASH
        return declared or _find_code_language(source)
    if key in _SQL_KEYS and _is_query(source, is_named=hinted is Language.SQL or "sql" in key):
        return Language.SQL
    if key in _WHOLE_KEYS and only:
        return _find_only_argument_language(tool, source)
    return None


def _is_query(source: str, *, is_named: bool) -> bool:
    """Whether a text is SQL; where its tool or its argument is named so, its first verb says it."""
    return (is_named and _SQL_VERB.match(source) is not None) or find_language(source) is Language.SQL


def _find_only_argument_language(tool: str, source: str) -> Language | None:
    """Return the language of a tool's only argument: a tool that takes code takes nothing else."""
    hinted = _find_tool_language(tool)
    if hinted is Language.SQL:
        return Language.SQL if _SQL_VERB.match(source) else None
    if hinted is not None:
        if hinted is Language.BASH:
            return hinted
        return _find_hinted_language(source, hinted)
    if _CODE_TOOL.search(tool):
        return _find_code_language(source)
    return None


def _find_hinted_language(source: str, hinted: Language | None) -> Language | None:
    """Return the language of code for a tool whose name says one: short JavaScript parses as Python too."""
    found = _find_code_language(source)
    is_script = hinted in (Language.JAVASCRIPT, Language.TYPESCRIPT)
    if is_script and (found is Language.PYTHON or found in UNSCANNED):
        return hinted
    return found or hinted


def _find_code_language(source: str) -> Language | None:
    """Return the language of code proper: documents of data are none."""
    language = find_language(source)
    if language in (Language.JSON, Language.YAML, Language.HTML):
        return None
    return language


def _find_tool_language(tool: str) -> Language | None:
    return next((language for language, name in _TOOL_LANGUAGES if name.search(tool)), None)


def _find_declared_language(arguments: dict[str, JsonValue]) -> Language | None:
    for key in _LANGUAGE_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.lower() in MARKS:
            return MARKS[value.lower()]
    return None


def _get_joined_command(value: JsonValue, *, several: bool) -> JsonValue:
    """Return a command as one text: an argument vector is joined, `bash -lc X` is X."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return value
    words = [str(item) for item in value]
    if several:
        return "\n".join(words)
    if len(words) == 3 and words[0].rpartition("/")[2] in {"bash", "sh", "zsh"} and words[1].endswith("c"):
        return words[2]
    return shlex.join(words)


def _find_file_language(arguments: dict[str, JsonValue]) -> Language | None:
    """Return the language of a file being written: the agent's code, though this call does not run it."""
    path = find_path(arguments) or ""
    return _SUFFIXES.get("." + path.rpartition(".")[2].lower() if "." in path else "")


def find_path(arguments: Mapping[str, JsonValue]) -> str | None:
    """Return the path of the file that a tool call names, None where it names none."""
    return next((path for key in _PATH_KEYS if isinstance(path := arguments.get(key), str)), None)


def find_content(arguments: Mapping[str, JsonValue]) -> str | None:
    """Return the text that a tool call writes to a file as a whole, None where it writes none."""
    return next((text for key in _CONTENT_KEYS if isinstance(text := arguments.get(key), str)), None)
