"""The words that the code base no longer uses are found where people read them, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from . import words

LISTS = replace(words.read_lists(), vocabulary=("sandbox/verbs.py",))


def uses(root: Path, name: str, text: str) -> list[tuple[int, str]]:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    return [(use.line, use.word) for use in words.find_uses(root, [name], LISTS)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = 1\ndef was_told(): ...\n", [(2, "told")]),
        ("class Keeper: ...\n", [(1, "keeper")]),
        ("x = 1  # what it stands for\n", [(1, "stands")]),
        ('"""Line.\n\nWhoever calls.\n"""\n', [(3, "whoever")]),
        ('"""What came of it."""\n', [(1, "what came of"), (1, "came of it")]),
        ('raise ValueError(f"{x} was asked twice")\n', [(1, "asked")]),
        ("position = file.tell()\nname = path.stem\n", []),
        ("retold, year, system, keeper_of = 1, 2, 3, 4\n", [(1, "keeper")]),
        ('verb = "told"\n', []),
    ],
)
def test_names_comments_docstrings_and_messages_are_read(tmp_path, text, found) -> None:
    assert uses(tmp_path, "sandbox/a.py", text) == found


def test_data_of_tests_and_vocabularies_is_not_read(tmp_path: Path) -> None:
    text = 'ANSWER = "She told me of two orders."\n'
    assert uses(tmp_path, "tests/a.py", text) == []
    assert uses(tmp_path, "sandbox/verbs.py", text) == []
    assert uses(tmp_path, "sandbox/a.py", text) == [(1, "told")]


def test_documents_are_read_as_text(tmp_path: Path) -> None:
    assert uses(tmp_path, "docs/a.md", "Line.\n\nThe store is told.\n") == [(3, "told")]


def test_a_use_is_named_with_file_line_and_remedy(tmp_path: Path) -> None:
    uses(tmp_path, "docs/a.md", "the keeper\n")
    (use,) = words.find_uses(tmp_path, ["docs/a.md"], LISTS)
    assert words.describe(use, LISTS) == f"docs/a.md:1: keeper: say {LISTS.words['keeper']}"
