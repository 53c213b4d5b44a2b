"""Tables of the command line: nothing is cut to an ellipsis, at 80 columns and in a pipe."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import spanproof.cli
from spanproof.cli.output.console import console
from spanproof.cli.output.listing import build_listing, build_pairs
from spanproof.cli.output.runs_table import RunLine, write_runs
from spanproof.trace import Layer, Scored

ROOT = Path(spanproof.cli.__file__).parent
# These build the tables of all others, and fold their cells.
BUILDERS = {"listing.py", "runs_table.py"}
LONG = "agent-" + "0123456789" * 20
WORDS = "an explanation of several words with " + LONG


def print_at(width: int, *tables) -> str:
    out = io.StringIO()
    for table in tables:
        Console(file=out, width=width).print(table)
    return out.getvalue()


def find_lost(text: str, *cells: str) -> set[str]:
    """Return the characters of the cells that the text has fewer of than the cells."""
    return {c for c in set("".join(cells)) - {" "} if text.count(c) < "".join(cells).count(c)}


def test_no_command_builds_a_table_that_cuts_its_cells() -> None:
    own = [
        path.name
        for path in ROOT.rglob("*.py")
        if path.name not in BUILDERS
        and re.search(r"\bTable(\.grid)?\(|overflow=\"ellipsis\"", path.read_text(encoding="utf-8"))
    ]
    assert not own, "use build_listing or build_pairs"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_listing_has_all_of_its_cells(width: int) -> None:
    listing = build_listing("name", "count", "why", right=("count",))
    listing.add_row(LONG, "12", WORDS)
    pairs = build_pairs(3)
    pairs.add_row("task", LONG, WORDS)
    for table, cells in ((listing, (LONG, "12", WORDS)), (pairs, ("task", LONG, WORDS))):
        text = print_at(width, table)
        assert "…" not in text
        assert not find_lost(text, *cells)


@pytest.mark.parametrize("width", [80, 120, 160])
def test_the_table_of_runs_has_the_whole_name_and_reason(width: int) -> None:
    layers = {layer: Scored(1.0, "pass", "fine") for layer in Layer}
    layers[Layer.GROUNDEDNESS] = Scored(0.0, "fail", WORDS)
    out = io.StringIO()
    write_runs(Console(file=out, width=width), [RunLine(LONG, "a" * 32, 0, layers)])
    assert "…" not in out.getvalue()
    assert not find_lost(out.getvalue(), LONG, WORDS)


def test_a_piped_table_has_no_blanks_at_the_ends_of_its_lines(capsys) -> None:
    listing = build_listing("name", "why")
    listing.add_row("a name", "short")
    listing.add_row("b", "a longer reason")
    console.print(listing)
    assert capsys.readouterr().out == "name   why\na name short\nb      a longer reason\n"
