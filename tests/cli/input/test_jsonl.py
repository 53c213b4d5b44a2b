"""The batch interface: a line out per line in, in order, and a bad line spoils nothing but itself."""

from __future__ import annotations

import io
import json
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.cli.input.jsonl import BadRow, Row, read_text_field, run_jsonl


def answers(lines: list[bytes], handle: Any, workers: int = 1) -> list[Row]:
    out = io.BytesIO()
    run_jsonl(handle, lines, out, workers)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def upper(row: Row) -> Row:
    return {"id": row["id"], "text": read_text_field(row, "text").upper()}


def test_a_bad_line_yields_its_error_and_the_rest_goes_on() -> None:
    got = answers([b'{"id": 1, "text": "a"}\n', b"{nonsense\n", b"[]\n", b'{"id": 4, "text": "b"}\n'], upper)
    assert got[0] == {"id": 1, "text": "A"}
    assert got[1]["id"] is None
    assert "line 2: not a line of JSON" in got[1]["error"]
    assert "JSON object" in got[2]["error"]
    assert got[3] == {"id": 4, "text": "B"}


def test_a_missing_field_is_named_with_the_id_of_its_row() -> None:
    assert answers([b'{"id": "x", "text": 5}'], upper) == [
        {"id": "x", "error": "field 'text' must be a string, got a number"}
    ]


def test_what_a_handler_raises_is_that_rows_error() -> None:
    def broken(row: Row) -> Row:
        raise RuntimeError("no luck")

    assert answers([b'{"id": 1}'], broken) == [{"id": 1, "error": "RuntimeError: no luck"}]


def test_blank_lines_are_passed_over_and_bad_ones_counted() -> None:
    out = io.BytesIO()
    assert run_jsonl(upper, [b"\n", b"x\n", b'{"id": 1, "text": ""}\n'], out) == 1
    assert len(out.getvalue().splitlines()) == 2


@pytest.mark.parametrize("workers", [1, 3])
def test_order_is_kept_whichever_ends_first(workers: int) -> None:
    second_done = threading.Event()

    def handle(row: Row) -> Row:
        if workers > 1 and row["id"] == 0:
            assert second_done.wait(10)
        if row["id"] == 1:
            second_done.set()
        return {"id": row["id"]}

    lines = [b'{"id": %d}' % number for number in range(20)]
    assert [row["id"] for row in answers(lines, handle, workers)] == list(range(20))


def test_a_lone_surrogate_comes_in_and_goes_out_as_a_replacement() -> None:
    assert answers([b'{"id": 1, "text": "a\\ud800b"}'], upper) == [{"id": 1, "text": "A�B"}]


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_give_one_answer_per_line(chunks: list[bytes]) -> None:
    lines = [chunk.replace(b"\n", b" ") for chunk in chunks]

    def echo(row: Row) -> Row:
        raise BadRow("seen")

    assert len(answers(lines, echo)) == len([line for line in lines if line.strip()])
