"""A function's name and its docstring say what it does, and what cannot is found."""

from __future__ import annotations

import pytest

from . import function_names

WORDS = function_names.read_words()


@pytest.mark.parametrize(
    "source",
    [
        "def parse_rows(text): ...",
        "def _run(): ...",
        "def _name_table(table): ...",
        "def to_json(value): ...",
        "def on_start(span): ...",
        "def _is_open() -> bool: ...",
        "def _carries_code(span) -> bool: ...",
        "def _matches(one) -> TypeGuard[int]: ...",
        "class Store:\n    def rows(self): ...",
        "class Store:\n    @property\n    def _rows(self): ...",
        "@contextmanager\ndef opened(path): ...",
        "@app.get('/traces')\ndef traces(): ...",
        "@click.command()\ndef demo(): ...",
        "def make_rows():\n    def rows(): ...",
        "def exported(): ...",
    ],
)
def test_a_clear_name_is_left_alone(source: str) -> None:
    assert not list(function_names.find_unclear(source, WORDS, frozenset({"exported"})))


@pytest.mark.parametrize(
    "source",
    [
        "def rows(text): ...",
        "def _name(table): ...",
        "def _is_open(): ...",
        "def _matches(one) -> int: ...",
        "def _told() -> bool: ...",
        "async def _opened(): ...",
        "class Store:\n    def _rows(self): ...",
        "class Store:\n    class Inner:\n        def _rows(self): ...",
    ],
)
def test_a_name_without_a_verb_is_found(source: str) -> None:
    assert len(list(function_names.find_unclear(source, WORDS))) == 1


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("Return the rows.", 0),
        ("Whether it is open.", 0),
        ("See `Store.rows`.", 0),
        ("The rows.", 1),
        ("What came in.", 1),
        ("`rows`, parsed.", 1),
    ],
)
def test_a_docstring_says_what_is_done(docstring: str, found: int) -> None:
    source = f'def read_rows():\n    """{docstring}"""'
    assert len(list(function_names.find_unclear_docstrings(source, WORDS))) == found
