from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zlib
from concurrent.futures import Future
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.collector.wal import file as wal_file
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal, WalClosed, WalFull, WalInUse


def open_wal(directory: Path, segment_bytes: int = 1 << 20) -> Wal:
    return Wal(directory, segment_bytes=segment_bytes)


def append_all(wal: Wal, *payloads: bytes) -> list[int]:
    waiting: list[Future[int]] = [wal.append(Encoding.PROTOBUF, payload) for payload in payloads]
    return [future.result(timeout=60) for future in waiting]


def test_what_was_appended_and_not_done_is_read_again(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    first, second, third = append_all(wal, b"one", b"", b"three")
    wal.settle([first, third])
    wal.close()
    again = open_wal(wal_directory)
    assert [(record.number, record.payload) for record in again.iter_undone()] == [(second, b"")]
    again.close()


def test_numbers_go_on_after_a_restart_so_that_done_never_means_another_record(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    (first,) = append_all(wal, b"one")
    wal.settle([first])
    wal.close()
    again = open_wal(wal_directory)
    (second,) = append_all(again, b"two")
    again.close()
    assert second > first


def test_a_torn_tail_costs_only_the_record_that_was_not_acknowledged(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    append_all(wal, b"whole", b"torn" * 100)
    wal.close()
    (_, path) = wal_file.list_segments(wal_directory)[0]
    os.truncate(path, path.stat().st_size - 7)
    again = open_wal(wal_directory)
    assert [record.payload for record in again.iter_undone()] == [b"whole"]
    (number,) = append_all(again, b"after")
    again.close()
    third = open_wal(wal_directory)
    assert [record.payload for record in third.iter_undone()] == [b"whole", b"after"]
    assert number == 2
    third.close()


def test_a_flipped_bit_costs_its_record_and_gives_no_wrong_bytes(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    append_all(wal, b"good", b"evil" * 10)
    wal.close()
    (_, path) = wal_file.list_segments(wal_directory)[0]
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    again = open_wal(wal_directory)
    assert [record.payload for record in again.iter_undone()] == [b"good"]
    again.close()


def test_a_segment_is_deleted_once_all_of_it_is_done(wal_directory: Path) -> None:
    wal = open_wal(wal_directory, segment_bytes=4096)
    numbers = append_all(wal, *[b"x" * 3000 for _ in range(8)])
    wal.settle(numbers[:-1])
    left = wal_file.list_segments(wal_directory)
    assert len(left) <= 2
    wal.settle(numbers[-1:])
    wal.close()
    assert wal_file.list_segments(wal_directory) == []


def test_a_damaged_checkpoint_makes_things_be_done_twice_and_never_lost(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    (first, _) = append_all(wal, b"one", b"two")
    wal.settle([first])
    wal.close()
    (wal_directory / "checkpoint.json").write_text("{")
    again = open_wal(wal_directory)
    assert [record.payload for record in again.iter_undone()] == [b"one", b"two"]
    again.close()


def test_the_directory_belongs_to_one_collector(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    with pytest.raises(WalInUse, match=r"own wal\.directory"):
        open_wal(wal_directory)
    wal.close()
    open_wal(wal_directory).close()


def test_a_closed_log_takes_nothing(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    wal.close()
    with pytest.raises(WalClosed):
        wal.append(Encoding.JSON, b"{}")
    wal.close()


def test_a_disk_that_fails_is_reported_to_who_waits_and_the_next_request_may_succeed(
    wal_directory: Path,
) -> None:
    wal = open_wal(wal_directory)
    (wal_directory / f"{1:020d}.wal").mkdir()  # the segment cannot be created
    with pytest.raises(OSError):
        append_all(wal, b"refused")
    assert append_all(wal, b"taken") == [2]
    wal.close()


_KILLED = """
import os, signal, sys, threading
from pathlib import Path
from spanproof.collector.wal.log import Wal
from spanproof.collector.wal.file import Encoding
wal = Wal(Path(sys.argv[1]), segment_bytes=1 << 16)
def client(name):
    for n in range(10_000):
        payload = f"{name}-{n}".encode() * 20
        wal.append(Encoding.PROTOBUF, payload).result()
        os.write(1, f"{name}-{n}\\n".encode())
for name in "abcd":
    threading.Thread(target=client, args=(name,), daemon=True).start()
threading.Event().wait()
"""


def test_what_was_acknowledged_survives_kill_9(wal_directory: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _KILLED, str(wal_directory)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().decode().strip() for _ in range(200)]
    process.kill()
    acknowledged += [
        line.decode().strip()
        for line in process.stdout.read().splitlines(keepends=True)
        if line.endswith(b"\n")
    ]
    process.stdout.close()
    process.wait()
    again = open_wal(wal_directory)
    kept = {record.payload[: len(record.payload) // 20].decode() for record in again.iter_undone()}
    again.close()
    assert len(acknowledged) >= 200
    assert set(acknowledged) <= kept


def test_the_files_are_for_their_owner_alone(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    append_all(wal, b"one")
    wal.checkpoint()
    wal.close()
    assert wal_directory.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in wal_directory.iterdir()} == {0o600}


def test_what_is_written_is_compressed_and_read_as_it_came(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    (number,) = append_all(wal, b"a span " * 10_000)
    assert wal.size_bytes < 10_000
    record = wal.read(number)
    assert zstandard.decompress(record.payload) == b"a span " * 10_000
    wal.close()


def test_a_full_log_refuses_and_takes_again_once_records_are_done(wal_directory: Path) -> None:
    wal = Wal(wal_directory, segment_bytes=4096, max_bytes=20_000)
    taken = append_all(wal, *(os.urandom(4_000) for _ in range(4)))
    while not wal.full:
        taken += append_all(wal, os.urandom(4_000))
    with pytest.raises(WalFull):
        append_all(wal, b"refused")
    wal.settle(taken)
    append_all(wal, b"again")
    wal.close()


def test_a_log_smaller_than_a_segment_takes_again_once_its_records_are_done(wal_directory: Path) -> None:
    wal = Wal(wal_directory, segment_bytes=1 << 20, max_bytes=10_000)
    for _ in range(3):
        taken = append_all(wal, os.urandom(20_000))
        with pytest.raises(WalFull):
            append_all(wal, b"refused")
        wal.settle(taken)
    wal.close()


def damaged_in_the_middle(directory: Path) -> bytes:
    """A log of twenty records in groups of their own, with a byte flipped in the tenth; what it held."""
    wal = open_wal(directory)
    payloads = [os.urandom(300) for _ in range(20)]
    for payload in payloads:
        append_all(wal, payload)
    wal.checkpoint()
    wal.close()
    ((_, path),) = wal_file.list_segments(directory)
    content = bytearray(path.read_bytes())
    content[content.index(payloads[9]) + 150] ^= 1
    path.write_bytes(content)
    return b"".join(payloads)


def test_a_flipped_byte_costs_one_record_and_is_reported(wal_directory: Path, caplog) -> None:
    held = damaged_in_the_middle(wal_directory)
    wal = open_wal(wal_directory)
    read = [record.payload for record in wal.iter_undone()]
    assert b"".join(read) == held[: 9 * 300] + held[10 * 300 :]
    (copy,) = wal.damage.segments
    assert copy.parent == wal_directory / "damaged"
    assert wal.damage.lost_records == 1
    assert "up to 1 requests are lost" in caplog.text
    wal.close()


def test_a_record_that_is_done_is_no_loss_when_it_is_damaged(wal_directory: Path) -> None:
    damaged_in_the_middle(wal_directory)
    wal_file.write_checkpoint(wal_directory, 1, [(10, 10)], 21)
    wal = open_wal(wal_directory)
    assert len(wal.damage.segments) == 1
    assert wal.damage.lost_records == 0
    wal.close()


def test_a_hole_in_the_group_that_a_crash_cut_off_is_no_damage(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    packed = [
        wal_file.encode_record(number, Encoding.PROTOBUF, bytes([number]) * 90, 1) for number in (1, 2, 3)
    ]
    packed[1] = bytes(len(packed[1]))
    wal_file.build_segment_path(tmp_path, 1).write_bytes(b"".join(packed))
    wal = open_wal(tmp_path)
    assert [record.number for record in wal.iter_undone()] == [1, 3]
    assert wal.damage.segments == ()
    wal.close()


def test_a_log_of_the_first_format_is_read(tmp_path: Path) -> None:
    header = struct.Struct("<4sBxxxIQI")
    content = b""
    for number, payload in ((5, b"one"), (6, b"two")):
        crc = zlib.crc32(payload, zlib.crc32(b"%d %d" % (number, Encoding.PROTOBUF)))
        content += header.pack(b"SPWL", Encoding.PROTOBUF, len(payload), number, crc) + payload
    wal_file.build_segment_path(tmp_path, 5).write_bytes(content)
    (tmp_path / "checkpoint.json").write_text('{"below": 5, "done": [6]}')
    wal = open_wal(tmp_path)
    assert [(record.number, record.payload) for record in wal.iter_undone()] == [(5, b"one")]
    assert append_all(wal, b"three") == [7]
    wal.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data(), payloads=st.lists(st.binary(max_size=60), min_size=1, max_size=6))
def test_a_segment_damaged_anywhere_gives_every_other_record_and_no_wrong_one(
    tmp_path: Path, data, payloads
) -> None:
    packed = [
        wal_file.encode_record(number, Encoding.JSON, body, number)
        for number, body in enumerate(payloads, start=1)
    ]
    content = bytearray(b"".join(packed))
    at = data.draw(st.integers(0, len(content) - 1))
    cut = data.draw(st.booleans())
    if cut:
        del content[at:]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path / f"{1:020d}.wal"
    path.write_bytes(content)
    hit = 0
    while sum(map(len, packed[: hit + 1])) <= at:
        hit += 1
    parts = list(wal_file.iter_segment(path))
    read = {part.number: part.payload for part in parts if isinstance(part, wal_file.Record)}
    intact = payloads[:hit] if cut else [*payloads[:hit], None, *payloads[hit + 1 :]]
    assert read == {number: body for number, body in enumerate(intact, start=1) if body is not None}


def fill_segments(directory: Path, count: int) -> list[int]:
    """Append so many requests, each in a segment of its own; returns their numbers."""
    wal = open_wal(directory, segment_bytes=1)
    numbers = [append_all(wal, b"request %d" % number)[0] for number in range(count)]
    wal.settle(numbers[:1])
    wal.close()
    return numbers


def test_a_segment_that_is_gone_is_reported_as_a_loss(wal_directory: Path, caplog) -> None:
    fill_segments(wal_directory, 5)
    for _, path in wal_file.list_segments(wal_directory)[-2:]:
        path.unlink()
    again = open_wal(wal_directory)
    assert (again.damage.missing_records, again.damage.lost_records) == (2, 2)
    assert "2 acknowledged requests are lost" in caplog.text
    assert [record.payload for record in again.iter_undone()] == [b"request 1", b"request 2"]
    again.close()


@pytest.mark.parametrize("settled", [0, 1, 3])
def test_a_segment_that_went_as_all_of_it_was_done_is_no_loss(wal_directory: Path, settled: int) -> None:
    wal = open_wal(wal_directory, segment_bytes=1)
    numbers = [append_all(wal, b"x")[0] for _ in range(4)]
    wal.checkpoint()
    wal.settle(numbers[:settled])
    assert wal.pending == 4 - settled
    # What a kill leaves: the files as they are, and the checkpoint from before.
    left = wal_directory.with_name("left")
    shutil.copytree(wal_directory, left)
    wal.close()
    again = open_wal(left)
    assert again.damage.lost_records == 0
    again.close()


def test_a_checkpoint_of_a_later_log_leaves_nothing_undone(wal_directory: Path, caplog) -> None:
    numbers = fill_segments(wal_directory, 4)
    wal_file.write_checkpoint(wal_directory, 900, [], 1000)
    again = open_wal(wal_directory)
    assert [record.number for record in again.iter_undone()] == numbers[1:]
    assert (again.damage.read_again, again.damage.lost_records) == (3, 0)
    assert "not of its segments" in caplog.text
    assert append_all(again, b"next") == [1000], "a number never means another record"
    again.close()
