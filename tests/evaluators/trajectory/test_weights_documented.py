"""The weights stand in one file, and the page that explains them says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanproof.evaluators.layers.trajectory.weights import REASONING, TOOL_CALLING, WEIGHTS

PAGE = Path(__file__).parents[3] / "docs" / "layers" / "trajectory.md"
TABLES = {"trajectory": WEIGHTS, "tool_calling": TOOL_CALLING, "reasoning_quality": REASONING}


@pytest.mark.parametrize("name", TABLES)
def test_the_page_gives_the_weights_of_the_code(name):
    _, _, after = PAGE.read_text(encoding="utf-8").partition(f"| in `{name}` | weight |\n|---|---|\n")
    table = after.split("\n\n")[0]
    assert {key: float(value) for key, value in re.findall(r"\| `(\w+)` \| ([\d.]+) \|", table)} == TABLES[
        name
    ]


@pytest.mark.parametrize("name", TABLES)
def test_weights_add_up(name):
    assert sum(TABLES[name].values()) == pytest.approx(1.0)
