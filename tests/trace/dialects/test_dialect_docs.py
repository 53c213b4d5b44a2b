from pathlib import Path

import pytest

from spanproof.trace.dialects import DIALECTS

PAGE = (Path(__file__).parents[3] / "docs" / "dialects.md").read_text()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_dialect_is_documented_with_what_it_is_recognised_by(dialect):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{dialect.name}`"))
    for mark in (*dialect.scopes, *dialect.marks):
        assert mark.rpartition("instrumentation.")[2] in row, mark


def test_the_page_lists_the_dialects_in_the_order_they_are_tried():
    places = [PAGE.index(f"| `{dialect.name}`") for dialect in DIALECTS]
    assert places == sorted(places)
