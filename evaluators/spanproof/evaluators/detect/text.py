"""Code in any text: fenced, tagged, in JSON arguments, or bare between sentences.

`list_text_snippets` extracts first and identifies second: what a fence, a tag or a JSON string delimits is
taken out, then the rest is searched for lines that are code by themselves. Positions are in characters of
the text given. Prose, tables, error messages and flat JSON objects are no code. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.detect.arguments import list_code
from spanproof.evaluators.detect.bare import list_bare_snippets
from spanproof.evaluators.detect.blocks import Block, list_blocks, split_words
from spanproof.evaluators.detect.language import ENOUGH, find_language, is_structured_json, is_tool_call
from spanproof.evaluators.detect.literals import (
    JsonString,
    find_json_strings,
    find_repr_strings,
    list_embedded_documents,
)
from spanproof.trace import Language, ToolCall


@dataclass(frozen=True, slots=True)
class TextSnippet:
    """Code found in a text.

    Attributes:
        language: by its mark or by its structure.
        source: the code, unescaped where it stood in a JSON string.
        start, end: where it is, in characters of the text; for code in a JSON string the string's inside.
    """

    language: Language
    source: str
    start: int
    end: int


# Names of arguments that hold code, as far as their value is code; others need a value of several lines.
_CODE_KEYS: Final = frozenset(
    split_words(
        "code source script snippet program python command cmd sql query action_input tool_input"
        " function expression javascript js typescript python_code sql_query statement"
    )
)

# Keys of a document that is a tool call: what it holds is code, itself it is none.
_CALL_KEYS: Final = (
    '"arguments"',
    '"args"',
    '"parameters"',
    '"action_input"',
    '"tool_input"',
    '"input"',
    '"code"',
)


# One of these is in each text that holds a block.
_BLOCK_MARKS: Final = ("```", "~~~", "<code>", "</execute", "</python>", "</bash>", "</sql>")

# How a message object begins, as Python prints it.
_PRINTED_OBJECT: Final = re.compile(r"\[?[A-Z]\w*\(\w+=[\w'\"\[{(]")

# A JSON document that a call gives as code.
_GIVEN_DOCUMENT: Final = re.compile(
    r"\\?\"(?:code|script|source|snippet|program|command)\\?\"\s*:\s*\\?\"\s*[\[{]", re.IGNORECASE
)

# How agents that reason in words (ReAct) write a call.
_ACTION: Final = re.compile(
    r"^Action:[ \t]*(?P<tool>[\w .-]{1,80})\n+Action Input:(?P<input>.*?)"
    r"(?=^(?:Observation|Thought|Final Answer|Action):|\Z)",
    re.MULTILINE | re.DOTALL,
)


def list_text_snippets(text: str) -> list[TextSnippet]:
    """Return every piece of code in this text, in the order of the text."""
    if not text or text.isspace():
        return []
    start = len(text) - len(text.lstrip())
    if text[start] in '{["' or _PRINTED_OBJECT.match(text, start):
        in_document = _find_document_snippets(text)
        if in_document is not None:
            return in_document
    blocks = list_blocks(text)
    found = [snippet for block in blocks for snippet in _list_block_snippets(block)]
    for begin, end in _iter_gaps([block.around for block in blocks], len(text)):
        found.extend(
            _build_shifted_snippet(snippet, begin) for snippet in _iter_undelimited_snippets(text[begin:end])
        )
    return sorted(found, key=lambda snippet: snippet.start)


def _find_document_snippets(text: str) -> list[TextSnippet] | None:
    """Return code in the strings of a document, or a JSON document itself; None where the text is neither.

    A document is JSON, or what Python prints of a call, a message, an object.
    """
    found = _find_json_snippets(text)
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if found is None:
        is_object = _PRINTED_OBJECT.match(text, start) is not None and find_repr_strings(text) is not None
        return _list_printed_call_snippets(text) or ([] if is_object else None)
    if found:
        return found
    if text[start] == '"':
        return None
    if is_structured_json(text[start:end]) and (
        not is_tool_call(text[start:end]) or _GIVEN_DOCUMENT.search(text)
    ):
        return [TextSnippet(Language.JSON, text[start:end], start, end)]
    return []


def _find_json_snippets(text: str) -> list[TextSnippet] | None:
    strings = find_json_strings(text)
    if strings is None:
        return None
    return list(_iter_string_snippets(strings))


def _list_printed_call_snippets(text: str) -> list[TextSnippet]:
    """Return code in a tool call or message as Python prints it, as smolagents writes it into history."""
    if any(key.replace('"', "'") in text for key in _CALL_KEYS):
        return list(_iter_string_snippets(find_repr_strings(text) or []))
    if any(mark in text for mark in _BLOCK_MARKS):
        return _list_marked_snippets(find_repr_strings(text))
    return []


def _list_marked_snippets(strings: list[JsonString] | None) -> list[TextSnippet]:
    """Return the code that marks delimit in the strings of a message."""
    return [snippet for string in strings or [] for snippet in _list_message_snippets(string)]


def _iter_string_snippets(strings: list[JsonString]) -> Iterator[TextSnippet]:
    for string in strings:
        in_message = _list_message_snippets(string)
        if in_message:
            yield from in_message
            continue
        language = _find_argument_language(string.key, string.value)
        if language is not None:
            yield TextSnippet(language, string.value, string.start, string.end)


def _list_message_snippets(string: JsonString) -> list[TextSnippet]:
    """Return the code within what a model says, where a string holds that, at the place of the string."""
    if string.key.lower() in _CODE_KEYS or not any(mark in string.value for mark in _BLOCK_MARKS):
        return []
    inner = (snippet for block in list_blocks(string.value) for snippet in _list_block_snippets(block))
    return [TextSnippet(snippet.language, snippet.source, string.start, string.end) for snippet in inner]


def _find_argument_language(key: str, value: str) -> Language | None:
    if key.lower() not in _CODE_KEYS and "\n" not in value:
        return None
    is_code = key.lower() in _CODE_KEYS
    language = find_language(value, least=1 if is_code else ENOUGH)
    if language is Language.JSON or (language is Language.YAML and not is_code):
        return None
    return language


def _list_block_snippets(block: Block) -> list[TextSnippet]:
    """Return the block as a snippet; of a tool call in JSON, the code in its arguments."""
    if block.language is None:
        return []
    if block.language is Language.JSON and any(key in block.source for key in _CALL_KEYS):
        inner = _find_json_snippets(block.source)
        if inner:
            return [_build_shifted_snippet(snippet, block.start) for snippet in inner]
    return [TextSnippet(block.language, block.source, block.start, block.start + len(block.source))]


def _iter_undelimited_snippets(text: str) -> Iterator[TextSnippet]:
    """Yield code that no mark delimits: the input of an action, in JSON between sentences, and bare."""
    documents = []
    for action in _ACTION.finditer(text):
        found = list(_iter_action_snippets(action))
        if found:
            documents.append(action.span("input"))
            yield from found
    for start, end in list_embedded_documents(text):
        found = _find_json_snippets(text[start:end]) or _list_printed_call_snippets(text[start:end])
        begins_its_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        if not found and begins_its_line and is_structured_json(text[start:end]):
            found = [TextSnippet(Language.JSON, text[start:end], 0, end - start)]
        if found:
            documents.append((start, end))
            yield from (_build_shifted_snippet(snippet, start) for snippet in found)
    for begin, end in _iter_gaps(documents, len(text)):
        for bare in list_bare_snippets(text[begin:end]):
            start, stop = begin + bare.start, begin + bare.end
            yield TextSnippet(bare.language, bare.source or text[start:stop], start, stop)


def _iter_action_snippets(action: re.Match[str]) -> Iterator[TextSnippet]:
    """Yield the input of an action that is code as it is, by what its tool takes."""
    source, start = action["input"].strip(), action.start("input")
    start += len(action["input"]) - len(action["input"].lstrip())
    if source and not source.startswith(("{", "[", "`", "<")):
        for code in list_code(ToolCall(action["tool"].strip(), source)):
            yield TextSnippet(code.language, source, start, start + len(source))


def _build_shifted_snippet(snippet: TextSnippet, by: int) -> TextSnippet:
    return TextSnippet(snippet.language, snippet.source, snippet.start + by, snippet.end + by)


def _iter_gaps(regions: list[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in sorted(regions):
        if at < start:
            yield at, start
        at = max(at, end)
    if at < length:
        yield at, length
