"""`spanproof replay FILE…`: the runs of OTLP files, step by step beside their record."""

from __future__ import annotations

import json

import pytest
from golden_traces import request_in_short

from spanproof.cli.app import run
from spanproof.trace.otlp import encode_json

STEPS = [
    {"ran": "price = 12", "value": None},
    {"ran": "print(price + 1)", "prints": "14\n"},
    {"ran": "print(open('prices.csv').read())", "prints": "tea\n"},
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(encode_json(request_in_short({"steps": STEPS})))
    return path


def test_people_are_shown_the_first_step_that_left_the_record(file, capsys):
    assert run(["replay", str(file)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "first difference from the record: step 2: printed recorded '14', replayed '13'" in shown
    assert "recorded ok, replayed exception" in shown


def test_programs_get_a_line_per_run(file, capsys):
    assert run(["replay", "--json", str(file)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    row = json.loads(line)
    assert (row["first_divergence"], row["not_replayed"], row["unreplayed"]) == (2, None, [])
    assert [step["agrees"] for step in row["steps"]] == [True, False, None]


def test_several_at_once_come_in_the_order_of_the_files(file, tmp_path, capsys):
    files = []
    for number in range(1, 4):
        files.append(tmp_path / f"{number}.json")
        prints = [{"ran": f"print({number})", "prints": "1\n"}]
        files[-1].write_bytes(encode_json(request_in_short({"steps": prints})))
    assert run(["replay", "--json", "--workers", "3", *map(str, files)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["file"] for row in rows] == [str(each) for each in files]
    assert [row["steps"][0]["agrees"] for row in rows] == [True, False, False]


def test_a_file_that_cannot_be_read_is_reported_and_the_rest_is_replayed(file, capsys):
    assert run(["replay", str(file.with_name("none.json")), str(file)]) == 2
    captured = capsys.readouterr()
    assert "none.json" in captured.err
    assert "first difference from the record" in captured.out


def test_nothing_to_replay_is_misuse(capsys):
    assert run(["replay"]) == 2
    assert "needs OTLP files, or runs as JSON Lines" in capsys.readouterr().err
