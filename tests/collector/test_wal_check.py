from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from spanproof.cli.app import run
from spanproof.collector.wal import file as wal_file
from spanproof.collector.wal.check import list_reports
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal
from spanproof.trace.otlp import read_file


@pytest.fixture
def filled(wal_directory: Path, make_request) -> Path:
    """A log of six requests in several segments, of which the first is done."""
    wal = Wal(wal_directory, segment_bytes=4096)
    bodies = [
        make_request((number, number, None), text=os.urandom(1800).hex()).SerializeToString()
        for number in range(1, 7)
    ]
    numbers = [wal.append(Encoding.PROTOBUF, body).result(60) for body in bodies]
    wal.settle(numbers[:1])
    wal.close()
    assert len(wal_file.list_segments(wal_directory)) > 2
    return wal_directory


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_a_sound_log_says_so(filled: Path, capsys) -> None:
    assert run(["wal", "check", str(filled), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(row["records"] for row in rows) == 6
    assert sum(row["undone"] for row in rows) == 5
    assert all(row["sound"] for row in rows)


def test_a_torn_tail_is_no_damage(filled: Path) -> None:
    _, path = wal_file.list_segments(filled)[-1]
    with path.open("ab") as segment:
        segment.write(wal_file.encode_record(7, Encoding.PROTOBUF, b"x" * 500, 7)[:-100])
    report = list_reports(filled)[-1]
    assert (report.sound, report.torn_bytes > 0) == (True, True)


def test_damage_is_reported_with_its_place_and_the_rest_is_saved(filled: Path, tmp_path, capsys) -> None:
    _, path = wal_file.list_segments(filled)[1]
    flip(path, 300)
    assert run(["wal", "check", str(filled)]) == 1
    assert path.name in capsys.readouterr().out
    out = tmp_path / "saved.jsonl"
    assert run(["wal", "salvage", str(filled), str(out)]) == 0
    assert out.stat().st_mode & 0o777 == 0o600, "it holds what the log keeps from others"
    assert [each.resource_spans[0].scope_spans[0].spans[0].name for each in read_file(out)] != []
    assert len(read_file(out)) == 4
    assert run(["wal", "salvage", str(filled), str(out)]) == 2
    assert run(["wal", "salvage", str(filled), str(tmp_path / "all.jsonl"), "--all"]) == 0
    assert len(read_file(tmp_path / "all.jsonl")) == 5


def test_a_segment_that_is_gone_is_a_break_of_the_numbers(filled: Path) -> None:
    _, path = wal_file.list_segments(filled)[1]
    path.unlink()
    reports = list_reports(filled)
    assert [report.skipped > 0 for report in reports].count(True) == 1


def test_copies_of_damaged_segments_are_kept_by_age_and_by_size(filled: Path) -> None:
    folder = filled / "damaged"
    folder.mkdir()
    for age_s, name in enumerate(("new.wal", "second.wal", "old.wal")):
        (folder / name).write_bytes(b"x" * 100)
        at_s = time.time() - 1000 * age_s
        os.utime(folder / name, (at_s, at_s))
    Wal(filled, segment_bytes=4096, keep_damaged_s=1500).close()
    assert sorted(each.name for each in folder.iterdir()) == ["new.wal", "second.wal"]
    Wal(filled, segment_bytes=4096, damaged_bytes=150).close()
    assert [each.name for each in folder.iterdir()] == ["new.wal"]


def test_a_copy_of_a_damaged_segment_can_be_read_by_its_owner_alone(filled: Path) -> None:
    flip(wal_file.list_segments(filled)[1][1], 300)
    Wal(filled, segment_bytes=4096).close()
    (copy,) = (filled / "damaged").iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600


def test_the_log_is_its_owner_s_alone(filled: Path) -> None:
    assert filled.stat().st_mode & 0o777 == 0o700
    assert {each.stat().st_mode & 0o777 for each in filled.iterdir()} == {0o600}
