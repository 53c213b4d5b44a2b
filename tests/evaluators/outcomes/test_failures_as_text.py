"""Failures reported as text are recognised by form, place and giver: held by the sets of the benchmark."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

from spanproof.evaluators.outcomes.printed import printed_exception

_PATH = Path(__file__).parents[2] / "bench" / "outcomes.py"
_SPEC = importlib.util.spec_from_file_location("bench_outcomes", _PATH)
assert _SPEC is not None
assert _SPEC.loader is not None
bench = importlib.util.module_from_spec(_SPEC)
sys.modules["bench_outcomes"] = bench
_SPEC.loader.exec_module(bench)


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.source}: {row.text[:40]}") for row in bench.rows("tuned")]
)
def test_an_output_of_a_tuned_source_is_what_its_label_says(row):
    assert bench.label_of(row) == row.label


def test_the_held_out_sources_keep_their_figures():
    found = Counter((row.label, bench.label_of(row)) for row in bench.rows("held_out"))
    hits = found["failed", "failed"]
    claimed = sum(count for (_, said), count in found.items() if said == "failed")
    actual = sum(count for (label, _), count in found.items() if label == "failed")
    assert hits / claimed >= 0.94
    assert hits / actual >= 0.91


@pytest.mark.parametrize(
    ("source", "printed", "line"),
    [
        ("try:\n    f()\nexcept Exception as e:\n    print('Error:', e)", "Error: down", "Error: down"),
        ("try:\n    f()\nexcept Exception as e:\n    print(f'failed: {e}')", "a\nfailed: x", "failed: x"),
        (
            "try:\n    f()\nexcept Exception as e:\n    print('no cache:', e)\nprint(45)",
            "no cache: x\n45",
            None,
        ),
        ("print('Error: rate 3')", "Error: rate 3", None),
    ],
)
def test_an_exception_that_code_printed_last_is_its_failure(source, printed, line):
    assert printed_exception(source, printed) == line
