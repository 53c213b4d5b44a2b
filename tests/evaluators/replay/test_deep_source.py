from __future__ import annotations

import pytest

from spanproof.evaluators.layers.correctness.checks import find_syntax_problem
from spanproof.evaluators.replay.compare import ends_in_expression
from spanproof.evaluators.replay.names import read_names
from spanproof.evaluators.replay.uses import read_uses


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 20_000 + "1",
        "x = " + "+".join(["1"] * 5_000),
        "x" + ".y" * 5_000,
        "[" * 150 + "]" * 150,
        "if x:\n" + "\n".join("  " * depth + "if x:" for depth in range(1, 90)) + "\n" + "  " * 90 + "pass",
        "# " + "a" * 1_000_000,
    ],
)
def test_source_thousands_deep_is_read_without_a_crash(source):
    read_names(source)
    read_uses(source, {})
    ends_in_expression(source)
    find_syntax_problem(source)
