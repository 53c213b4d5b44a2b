"""Code in what a run answered: in words, in a document, or the whole of it.

In: an answer. Out: the texts in it that may hold code, and the snippets in them. Data that an answer holds is
no code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanproof.evaluators.detect.text import TextSnippet, list_text_snippets
from spanproof.trace import JsonValue, Language, Payload

_DATA: Final = frozenset({Language.JSON, Language.YAML})
_MAX_DEPTH: Final = 6


def iter_answer_texts(answer: Payload) -> Iterator[str]:
    """Yield the texts in an answer: itself, or those of the document that it is."""
    yield from _iter_texts(answer.value, 0)


def list_answer_code(answer: Payload) -> list[TextSnippet]:
    """Return the code in an answer."""
    texts = iter_answer_texts(answer)
    return [found for text in texts for found in list_text_snippets(text) if found.language not in _DATA]


def _iter_texts(value: JsonValue, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        for inner in value:
            yield from _iter_texts(inner, depth + 1)
