"""A disk that takes nothing more: what was acknowledged stays, and it goes on once there is room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from waiting import wait_until

from spanproof.collector.receive.signals import Signal
from spanproof.collector.stages.request_queue import RequestQueue
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal

# In a process of its own: the limit on the size of files is a process's, and acts as a full disk.
_FILL = """
import json, os, resource, sys
from pathlib import Path
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal

hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
wal = Wal(Path(sys.argv[1]), segment_bytes=1 << 20)
acknowledged, refused = [], 0

def append(name):
    global refused
    body = name.encode() + os.urandom(3000)
    try:
        wal.append(Encoding.PROTOBUF_GZIP, body).result(60)
        acknowledged.append(name)
    except OSError:
        refused += 1

resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
for number in range(6):
    append(f"before {number};")
broken = wal.broken
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
for number in range(3):
    append(f"after {number};")
print(json.dumps([acknowledged, refused, broken]))
os._exit(9)  # nothing is closed: as after a crash
"""


def test_a_full_disk_loses_nothing_that_was_acknowledged(wal_directory: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _FILL, str(wal_directory)], stdout=subprocess.PIPE, check=False, timeout=120
    )
    acknowledged, refused, broken = json.loads(ran.stdout)
    assert refused > 0
    assert broken
    assert [name for name in acknowledged if name.startswith("after")] == ["after 0;", "after 1;", "after 2;"]
    wal = Wal(wal_directory, segment_bytes=1 << 20)
    read = [record.payload.partition(b";")[0].decode() + ";" for record in wal.iter_undone()]
    assert read == acknowledged
    assert wal.damage.lost_records == 0
    wal.close()


def test_a_directory_that_takes_no_file_refuses_until_it_does(wal_directory: Path) -> None:
    wal = Wal(wal_directory, segment_bytes=1 << 20)
    away = wal_directory.with_name("away")
    wal_directory.rename(away)
    failure = wal.append(Encoding.PROTOBUF, b"refused").exception(60)
    assert isinstance(failure, OSError)
    assert wal.broken
    away.rename(wal_directory)
    number = wal.append(Encoding.PROTOBUF, b"taken").result(60)
    assert wal.read(number).payload == b"taken"
    wal.close()


def test_a_clock_that_jumps_changes_nothing_that_waits(tmp_path: Path, monkeypatch) -> None:
    queue = RequestQueue(tmp_path / "queue.sqlite3", 1000)
    queue.put([(Signal.TRACES, b"first")])
    monkeypatch.setattr(time, "time", lambda: 1.0)
    queue.put([(Signal.LOGS, b"second")])
    first = queue.first()
    assert first is not None
    assert (first.signal, first.body) == (Signal.TRACES, b"first")
    queue.remove(first)
    second = queue.first()
    assert second is not None
    assert second.body == b"second"
    queue.close()


def test_a_slow_disk_is_waited_for_and_what_waits_shares_one_write(wal_directory: Path, monkeypatch) -> None:
    written, go_on, really = [], threading.Event(), os.fdatasync

    def sync(descriptor: int) -> None:
        written.append(descriptor)
        assert go_on.wait(60)
        really(descriptor)

    wal = Wal(wal_directory, segment_bytes=1 << 20)
    monkeypatch.setattr(os, "fdatasync", sync)
    first = wal.append(Encoding.PROTOBUF, b"0")
    wait_until(lambda: len(written) == 1, "a write that the disk does not finish")
    others = [wal.append(Encoding.PROTOBUF, str(number).encode()) for number in range(1, 200)]
    assert not any(each.done() for each in (first, *others)), "acknowledged before it was on disk"
    go_on.set()
    numbers = [each.result(60) for each in (first, *others)]
    assert [wal.read(number).payload for number in numbers] == [str(n).encode() for n in range(200)]
    assert len(written) == 2
    wal.close()
