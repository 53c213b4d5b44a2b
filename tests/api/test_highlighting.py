"""Source code as lines of HTML: escaped, and without characters that hide or reorder it."""

from __future__ import annotations

from spanproof.api.pages import split_highlighted
from spanproof.trace import Language


def test_code_shows_characters_that_reorder_it_by_their_code_points() -> None:
    lines = split_highlighted("x = 1 # \u202egnp.exe\nprint(x)\x1b[31m", Language.PYTHON)
    assert len(lines) == 2
    assert '<span class="control">U+202E</span>gnp.exe' in lines[0]
    assert '<span class="control">U+001B</span>' in lines[1]
    assert not {"\u202e", "\x1b"} & set("".join(lines))
