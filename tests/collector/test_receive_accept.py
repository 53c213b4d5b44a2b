from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from spanproof.collector.receive.accept import Accepted, Acceptor, Sent
from spanproof.collector.receive.admission import Admission, Backlog
from spanproof.collector.receive.auth import Authoriser
from spanproof.collector.receive.refused import Reason, Refused
from spanproof.collector.receive.signals import Signal
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Limits


async def test_a_request_whose_client_gave_up_while_it_was_written_is_handed_on_all_the_same(
    wal_directory: Path, make_request, monkeypatch
) -> None:
    disk_is_slow = threading.Event()
    real_sync = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda file: (disk_is_slow.wait(10), real_sync(file)))
    wal, accepted, limits = Wal(wal_directory, segment_bytes=1 << 20), [], Limits()
    admission = Admission(limits, Backlog(limits.max_backlog_bytes))
    handed_on = threading.Event()

    def hand_on(request: Accepted) -> None:
        accepted.append(request)
        handed_on.set()

    acceptor = Acceptor(
        authoriser=Authoriser(),
        limits=limits,
        admission=admission,
        wal=wal,
        telemetry=Telemetry(),
        hand_on=hand_on,
    )
    with admission.received("peer") as entry:
        body = make_request((1, 1, None)).SerializeToString()
        sent = Sent("http", Signal.TRACES, Encoding.PROTOBUF, body)
        request = asyncio.create_task(acceptor.handle_request(sent, entry))
        await asyncio.sleep(0.1)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
    assert accepted == []
    disk_is_slow.set()
    assert await asyncio.to_thread(handed_on.wait, 10)
    assert wal.append(Encoding.PROTOBUF, b"the log goes on").result(10) == accepted[0].record + 1
    wal.close()


async def test_places_and_bytes_are_given_back_when_a_request_ends() -> None:
    limits = Limits(max_in_flight_requests=1, max_in_flight_bytes=100, max_body_bytes=50)
    admission = Admission(limits, Backlog(limits.max_backlog_bytes))
    with admission.received("one") as entry:
        async with admission.admitted():
            entry.add_bytes(100)
            with admission.received("two") as other, pytest.raises(Refused) as full:
                other.add_bytes(1)
            assert full.value.reason is Reason.FULL
            with pytest.raises(Refused):
                async with admission.admitted():
                    pass
    with admission.received("two") as entry:
        async with admission.admitted():
            entry.add_bytes(100)


async def test_a_request_is_held_until_there_is_room() -> None:
    limits = Limits(max_in_flight_requests=1)
    admission = Admission(limits, Backlog(limits.max_backlog_bytes))

    async def hold_for(seconds: float) -> None:
        async with admission.admitted():
            await asyncio.sleep(seconds)

    await asyncio.gather(hold_for(0.3), hold_for(0.0))


async def test_a_collector_that_stops_refuses_new_requests() -> None:
    limits = Limits()
    admission = Admission(limits, Backlog(limits.max_backlog_bytes))
    admission.close()
    with pytest.raises(Refused) as stopping:
        async with admission.admitted():
            pass
    assert stopping.value.http_status == 503
