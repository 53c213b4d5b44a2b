"""Code that a sentence, a quotation, a root shell or a tag holds; traces, settings and capitals are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_yaml import load_golden

from spanproof.evaluators.detect import list_text_snippets
from spanproof.trace import Language

_SET = Path(__file__).parents[2] / "golden" / "detection" / "kinds.yaml"
KINDS = load_golden(_SET)
DATA = frozenset({Language.JSON, Language.YAML})


@pytest.mark.parametrize("case", KINDS["code"], ids=lambda case: f"{case['language']}: {case['text'][:30]}")
def test_code_is_found_and_named(case: dict[str, str]) -> None:
    assert case["language"] in [found.language.value for found in list_text_snippets(case["text"])]


@pytest.mark.parametrize("text", KINDS["none"], ids=lambda text: text[:30])
def test_what_only_looks_like_code_is_none(text: str) -> None:
    assert [found for found in list_text_snippets(text) if found.language not in DATA] == []


def test_a_statement_in_a_sentence_ends_where_the_sentence_goes_on() -> None:
    text = "I ran SELECT name, total FROM orders WHERE total > 100 ORDER BY total DESC and found three rows."
    (found,) = list_text_snippets(text)
    assert found.source == "SELECT name, total FROM orders WHERE total > 100 ORDER BY total DESC"
    assert text[found.start : found.end] == found.source


def test_quoted_code_is_given_without_the_marks() -> None:
    text = "You wrote:\n\n> for name in names:\n>     print(name)\n\nThat prints each."
    (found,) = list_text_snippets(text)
    assert found.source == "for name in names:\n    print(name)"
    assert text[found.start : found.end] == "> for name in names:\n>     print(name)"
