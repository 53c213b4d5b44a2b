"""What docs/gate.md shows is read as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanproof.gate import GateError, parse, parse_lines

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")


def test_every_assertion_of_the_page_is_read():
    shown = re.findall(r"--assert '(.*?)'", PAGE)
    assert len(shown) == 3
    assert len(parse_lines("# for a release\n\n" + "\n".join(shown))) == 3


def test_the_error_of_the_page_is_the_one_that_is_told():
    (told,) = re.findall(r"^assertion '(.*?)', column .*$", PAGE, re.MULTILINE)
    with pytest.raises(GateError) as caught:
        parse(told)
    assert str(caught.value) in PAGE
