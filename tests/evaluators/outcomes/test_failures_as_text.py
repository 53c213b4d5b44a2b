"""Failures reported as text are recognised by form, place and giver: held by the sets of the benchmark."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from spanproof.reading.envelopes.read import find_failure
from spanproof.reading.python_facts import find_python_facts
from spanproof.reading.tool_kinds import ToolKind

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
    found = bench.figures(bench.rows("held_out"))
    assert found.precision >= 0.98
    assert found.recall >= 0.92


@pytest.mark.parametrize(
    ("split", "precision", "recall"), [("tuned", 0.99, 0.99), ("chosen", 0.99, 0.98), ("held", 0.99, 0.97)]
)
def test_captured_outputs_are_recognised(split, precision, recall):
    found = bench.figures(bench.recorded(split))
    assert found.precision >= precision, found
    assert found.recall >= recall, found


def test_half_of_the_captured_outputs_are_no_failures():
    rows = [row for split in bench.RECORDED for row in bench.recorded(split)]
    failed = sum(row.label == "failed" for row in rows)
    assert len(rows) >= 2_000
    assert 0.45 <= failed / len(rows) <= 0.55


def test_no_source_is_in_two_splits():
    sources = [{row.source for row in bench.recorded(split)} for split in bench.RECORDED]
    assert not sources[0] & sources[1] | sources[0] & sources[2] | sources[1] & sources[2]


@pytest.mark.parametrize(
    ("command", "printed", "failed"),
    [
        ("grep ERROR app.log", "ERROR: could not connect", False),
        ("cat app.log", "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'x'", False),
        ("cat app.txt", "cat: app.txt: No such file or directory", True),
        ("git log --oneline", "fatal: handle it\nfix error\n3 more\na\nb\nc\nd", False),
        ("git checkout x", "error: pathspec 'x' did not match any file(s) known to git", True),
        ("python app.py", "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'x'", True),
        ("cat app.txt || true", "cat: app.txt: No such file or directory", False),
        ("echo 'error: x' && frobnicate", "error: x\nbash: line 1: frobnicate: command not found", True),
        ("make", "Exit code: 0\nerror: 3 tests skipped", False),
    ],
)
def test_the_command_says_whose_words_an_output_has(command, printed, failed):
    assert (find_failure(printed, ToolKind.SHELL, command=command) is not None) is failed


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
    assert find_python_facts(source).find_printed_exception(printed) == line
