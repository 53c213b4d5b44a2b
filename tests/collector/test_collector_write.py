"""What happens when the store is down, or refuses: faults are put into the real store's `write`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from spanproof.collector.stages.assemble import CompleteTrace, Why
from spanproof.collector.stages.evaluate import Evaluated
from spanproof.collector.stages.write import Writer
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal
from spanproof.config.model import Evaluation
from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import DeadLetter, Store, StoreError, StoreUnavailable, open_store
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import decode_protobuf
from spanproof.trace.project import TraceKey


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store")) as opened:
        yield opened


class Rig:
    """A writer over a real log and a real store."""

    def __init__(self, directory: Path, store: Store, make_request, evaluation_of, scored) -> None:
        self.wal = Wal(directory / "wal", segment_bytes=1 << 20)
        self.telemetry, self.store = Telemetry(), store
        self.batches: list[Sequence[Evaluated]] = []
        self._make_request, self._evaluation_of, self._scored = make_request, evaluation_of, scored
        self.writer = Writer(
            store=store,
            rules=Evaluation(store_every_s=0.1),
            project="default",
            wal=self.wal,
            telemetry=self.telemetry,
            listeners=[self.batches.append],
        )

    def put(self, number: int, letter: DeadLetter | None = None) -> str:
        """An evaluated trace that came in a log record of its own; returns its id."""
        request = self._make_request((number, 1, None), (number, 2, 1))
        record = self.wal.append(Encoding.PROTOBUF, request.SerializeToString()).result(60)
        trace_id = f"{number:032x}"
        complete = CompleteTrace(TraceKey("default", trace_id), (record,), (record,), 0, True, Why.QUIET)
        evaluation = None if letter else self._evaluation_of(self._scored(1.0, "pass", ""), request=request)
        self.writer.put(Evaluated(complete, evaluation, letter))
        return trace_id

    def counted(self, name: str, **labels: str) -> float:
        return self.telemetry.registry.get_sample_value(name, labels) or 0.0


@pytest.fixture
def rig(tmp_path, store, make_request, evaluation_of, scored) -> Iterator[Rig]:
    built = Rig(tmp_path, store, make_request, evaluation_of, scored)
    yield built
    built.wal.close()


def faulty(monkeypatch, fault: Callable[[Sequence[TraceEvaluation]], Exception | None]) -> None:
    real = Store.write

    def write(self: Store, evaluations: Sequence[TraceEvaluation]) -> None:
        if problem := fault(evaluations):
            raise problem
        real(self, evaluations)

    monkeypatch.setattr(Store, "write", write)


def test_the_log_is_done_only_after_the_store_wrote(rig) -> None:
    trace_id = rig.put(101)
    assert rig.wal.pending == 1
    rig.writer.start()
    assert rig.writer.drain(60)
    assert rig.wal.pending == 0
    assert rig.store.evaluation(trace_id) is not None
    assert rig.counted("spanproof_traces_evaluated_total") == 1
    assert rig.counted("spanproof_scores_total", layer="groundedness", outcome="scored") == 1


def test_a_store_that_comes_back_gets_everything(rig, monkeypatch) -> None:
    downs = [StoreUnavailable("down"), StoreUnavailable("down"), None]
    faulty(monkeypatch, lambda _: downs.pop(0))
    trace_id = rig.put(201)
    rig.writer.start()
    assert rig.writer.drain(60)
    assert rig.store.evaluation(trace_id) is not None
    assert rig.counted("spanproof_store_retries_total") == 2


def test_a_trace_the_store_refuses_takes_none_of_its_batch_along(rig, monkeypatch) -> None:
    bad = f"{302:032x}"
    faulty(
        monkeypatch,
        lambda batch: StoreError("no") if any(one.trace.trace_id == bad for one in batch) else None,
    )
    ids = [rig.put(number) for number in (301, 302, 303)]
    rig.writer.start()
    assert rig.writer.drain(60)
    assert [rig.store.evaluation(trace_id) is not None for trace_id in ids] == [True, False, True]
    (letter,) = rig.store.dead_letters([bad])
    assert (letter.stage, letter.error_type, letter.error) == ("store", "StoreError", "no")
    assert len(normalise_request(decode_protobuf(letter.body))) == 2
    assert rig.wal.pending == 0
    assert rig.counted("spanproof_traces_failed_total", stage="store") == 1


def test_what_a_store_that_stays_down_did_not_take_stays_in_the_log(rig, monkeypatch) -> None:
    faulty(monkeypatch, lambda _: StoreUnavailable("down"))
    rig.put(401)
    rig.writer.start()
    assert not rig.writer.drain(0.5)
    assert rig.wal.pending == 1
    assert rig.batches == []


def test_a_trace_that_could_not_be_evaluated_is_kept_with_its_error_and_passed_on(rig) -> None:
    letter = DeadLetter(
        f"{501:032x}", "evaluate", "ValueError", "broke", 3, b"\xff\x00", 1_760_000_000 * 10**9
    )
    trace_id = rig.put(501, letter)
    rig.writer.start()
    assert rig.writer.drain(60)
    assert rig.store.dead_letters([trace_id]) == [letter]
    rig.store.remove_dead_letters([letter])
    assert rig.store.dead_letters([trace_id]) == []
    assert rig.wal.pending == 0
    assert len(rig.batches) == 1


def test_a_listener_that_fails_stops_no_other(rig) -> None:
    def fails(_: Sequence[Evaluated]) -> None:
        raise RuntimeError("broken listener")

    rig.writer._listeners = [fails, rig.batches.append]
    rig.put(601)
    rig.writer.start()
    assert rig.writer.drain(60)
    assert len(rig.batches) == 1


def test_a_record_that_two_need_is_done_with_the_second(wal_directory) -> None:
    wal = Wal(wal_directory, segment_bytes=1 << 20)
    record = wal.append(Encoding.PROTOBUF, b"two traces").result(60)
    wal.expect(record, 2)
    wal.settle([record])
    assert wal.pending == 1
    wal.settle([record])
    assert wal.pending == 0
    wal.close()
