from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.collector.wal import file as wal_file
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal, WalClosed, WalInUse


def open_wal(directory: Path, segment_bytes: int = 1 << 20) -> Wal:
    return Wal(directory, segment_bytes=segment_bytes)


def append_all(wal: Wal, *payloads: bytes) -> list[int]:
    waiting: list[Future[int]] = [wal.append(Encoding.PROTOBUF, payload) for payload in payloads]
    return [future.result(timeout=60) for future in waiting]


def test_what_was_appended_and_not_done_is_read_again(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    first, second, third = append_all(wal, b"one", b"", b"three")
    wal.done({first, third})
    wal.close()
    again = open_wal(wal_directory)
    assert [(record.number, record.payload) for record in again.undone()] == [(second, b"")]
    again.close()


def test_numbers_go_on_after_a_restart_so_that_done_never_means_another_record(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    (first,) = append_all(wal, b"one")
    wal.done({first})
    wal.close()
    again = open_wal(wal_directory)
    (second,) = append_all(again, b"two")
    again.close()
    assert second > first


def test_a_torn_tail_costs_only_the_record_that_was_not_acknowledged(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    append_all(wal, b"whole", b"torn" * 100)
    wal.close()
    (_, path) = wal_file.segments(wal_directory)[0]
    os.truncate(path, path.stat().st_size - 7)
    again = open_wal(wal_directory)
    assert [record.payload for record in again.undone()] == [b"whole"]
    (number,) = append_all(again, b"after")
    again.close()
    third = open_wal(wal_directory)
    assert [record.payload for record in third.undone()] == [b"whole", b"after"]
    assert number == 2
    third.close()


def test_a_flipped_bit_ends_reading_instead_of_giving_wrong_bytes(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    append_all(wal, b"good", b"evil" * 10)
    wal.close()
    (_, path) = wal_file.segments(wal_directory)[0]
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    again = open_wal(wal_directory)
    assert [record.payload for record in again.undone()] == [b"good"]
    again.close()


def test_a_segment_is_deleted_once_all_of_it_is_done(wal_directory: Path) -> None:
    wal = open_wal(wal_directory, segment_bytes=4096)
    numbers = append_all(wal, *[b"x" * 3000 for _ in range(8)])
    wal.done(set(numbers[:-1]))
    left = wal_file.segments(wal_directory)
    assert len(left) <= 2
    wal.done(set(numbers))
    wal.close()
    assert wal_file.segments(wal_directory) == []


def test_a_damaged_checkpoint_makes_things_be_done_twice_and_never_lost(wal_directory: Path) -> None:
    wal = open_wal(wal_directory)
    (first, _) = append_all(wal, b"one", b"two")
    wal.done({first})
    wal.close()
    (wal_directory / "checkpoint.json").write_text("{")
    again = open_wal(wal_directory)
    assert [record.payload for record in again.undone()] == [b"one", b"two"]
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


def test_a_disk_that_fails_is_told_to_who_waits_and_the_next_request_may_succeed(
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
    kept = {record.payload[: len(record.payload) // 20].decode() for record in again.undone()}
    again.close()
    assert len(acknowledged) >= 200
    assert set(acknowledged) <= kept


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=60,
)
@given(data=st.data(), payloads=st.lists(st.binary(max_size=60), min_size=1, max_size=6))
def test_a_segment_damaged_anywhere_gives_the_records_before_the_damage_and_no_wrong_one(
    tmp_path: Path, data, payloads
) -> None:
    packed = [wal_file.pack(number, Encoding.JSON, body) for number, body in enumerate(payloads, start=1)]
    content = bytearray(b"".join(packed))
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= data.draw(st.integers(1, 255))
    else:
        del content[at:]
    path = tmp_path / "segment.wal"
    path.write_bytes(content)
    untouched = 0
    while sum(map(len, packed[: untouched + 1])) <= at:
        untouched += 1
    read = [record.payload for record in wal_file.read_segment(path)]
    assert read[:untouched] == payloads[:untouched]
    # Padding in the header is the only place where damage does no harm.
    assert read in (payloads[:untouched], payloads)
