"""What docs/gate.md shows is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanproof.evaluators.scores import ALIASES, SCORES
from spanproof.gate import Function, GateError, parse_assertion, parse_lines

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")


def test_every_assertion_of_the_page_is_read():
    shown = re.findall(r"--assert '(.*?)'", PAGE)
    assert len(shown) == 4
    assert len(parse_lines("# for a release\n\n" + "\n".join(shown))) == 4


def test_the_errors_of_the_page_are_those_of_the_parser():
    shown = re.findall(r"^assertion '(.*?)', column .*$", PAGE, re.MULTILINE)
    assert len(shown) == 2
    for text in shown:
        with pytest.raises(GateError) as caught:
            parse_assertion(text)
        assert str(caught.value) in PAGE


def test_every_alias_unit_and_function_is_explained():
    missing = [name for name in (*ALIASES, *Function) if f"`{name}`" not in PAGE]
    metrics = [spec for spec in SCORES if spec.is_raw]
    missing += [spec.id for spec in metrics if f"| `{spec.unit}` | `{spec.id}` |" not in PAGE]
    assert not missing, f"document in docs/gate.md: {missing}"
