from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from dataclasses import replace
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import plain_http
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.store import StoreBusy, StoreError, StoreUnavailable, open_store
from spanproof.store.schema import OTEL_TRACES
from spanproof.trace import Label, Layer, Scored


def test_what_is_written_is_there_after_the_store_is_opened_again(tmp_path, evaluation):
    with open_store(tmp_path) as first:
        first.write([evaluation()])
    with open_store(tmp_path) as again:
        assert again.evaluation(f"{1:032x}") == evaluation()


def test_what_was_written_outlives_a_process_that_is_killed(tmp_path, evaluation):
    child = (
        "import os, pickle, signal, sys\n"
        "from spanproof.store import open_store\n"
        "store = open_store(sys.argv[1])\n"
        "store.write(pickle.load(sys.stdin.buffer))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    written = [evaluation(number) for number in range(1, 51)]
    killed = subprocess.run(
        [sys.executable, "-c", child, str(tmp_path)], input=pickle.dumps(written), timeout=120
    )
    assert killed.returncode == -signal.SIGKILL
    with open_store(tmp_path) as store:
        assert [store.evaluation(each.trace.trace_id) for each in written] == written
        assert len(list(store.scores())) == 250


def test_another_process_is_reported_who_holds_the_store(embedded, tmp_path):
    reported = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from spanproof.store import open_store; open_store({str(tmp_path / 'store')!r})",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert reported.returncode == 1
    assert f"(process {os.getpid()})" in reported.stderr
    assert "stop it and try again" in reported.stderr


def test_a_second_directory_in_one_process_is_refused_and_the_first_goes_on(embedded, tmp_path, evaluation):
    with pytest.raises(StoreBusy, match="this process already holds"):
        open_store(tmp_path / "other")
    embedded.write([evaluation()])
    assert len(embedded.traces()) == 1


def test_one_directory_may_be_opened_twice_in_one_process(embedded, tmp_path, evaluation):
    with open_store(tmp_path / "store") as second:
        second.write([evaluation()])
    assert len(embedded.traces()) == 1


def test_a_forked_child_is_refused_before_it_hangs(embedded):
    child = os.fork()
    if child == 0:
        try:
            embedded.traces()
        except StoreError as refused:
            os._exit(7 if "forked child" in str(refused) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_store_of_the_first_schema_is_brought_up_to_date(tmp_path, evaluation):
    with open_store(tmp_path / "store") as store:
        store.write([evaluation(1)])
        with store._connections.lease() as client:
            client.command("ALTER TABLE spanproof.scores DROP COLUMN raw, DROP COLUMN unit")
            client.command("TRUNCATE TABLE spanproof.migrations")
            client.insert("spanproof.migrations", [[1]], column_names=["version"])
    with open_store(tmp_path / "store") as store:
        metric = Scored(0.5, None, "10 steps", raw=10.0, unit="steps")
        store.write([evaluation(2, verdicts={Layer.TRAJECTORY: metric})])
        old = list(store.scores(trace_id=evaluation(1).trace.trace_id))
        assert sorted(old, key=lambda each: each.layer) == sorted(
            evaluation(1).scores, key=lambda each: each.layer
        )
        (new,) = store.scores(layer=Layer.TRAJECTORY, trace_id=evaluation(2).trace.trace_id)
        assert new.outcome == metric


OLD_SPANS = replace(
    OTEL_TRACES,
    key=("ServiceName", "SpanName", "toDateTime(Timestamp)", "TraceId", "SpanId"),
    partition="toDate(Timestamp)",
)


@pytest.mark.parametrize("cut_off_after", ["nothing", "the copy", "the drop", "the rename"])
def test_spans_of_the_second_schema_are_kept_when_their_table_gets_another_key(tmp_path, cut_off_after):
    """Also where the step was cut off in the middle, and is done again."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name="kept", start_time_unix_nano=10**18)
    with open_store(tmp_path) as store, store._connections.lease() as client:
        client.command("DROP TABLE spanproof.otel_traces SYNC")
        client.command(OLD_SPANS.build_ddl("spanproof"))
        store.write_spans([request])
        fresh = replace(OTEL_TRACES, name="otel_traces_by_identity")
        if cut_off_after != "nothing":
            client.command(fresh.build_ddl("spanproof"))
            client.command(
                "INSERT INTO spanproof.otel_traces_by_identity SELECT * FROM spanproof.otel_traces"
            )
        if cut_off_after in ("the drop", "the rename"):
            client.command("DROP TABLE spanproof.otel_traces SYNC")
        if cut_off_after == "the rename":
            client.command("RENAME TABLE spanproof.otel_traces_by_identity TO spanproof.otel_traces")
        client.command("TRUNCATE TABLE spanproof.migrations")
        client.insert("spanproof.migrations", [[2]], column_names=["version"])
    with open_store(tmp_path) as store:
        spans[0].name = "sent again"
        store.write_spans([request])
        with store._connections.lease() as client:
            assert client.query("SELECT SpanName FROM spanproof.otel_traces FINAL").result_rows == [
                ("sent again",)
            ]
            tables = client.query("SELECT name FROM system.tables WHERE database = 'spanproof'").result_rows
    assert ("otel_traces_by_identity",) not in tables


def test_a_store_of_a_newer_schema_is_refused(tmp_path):
    with open_store(tmp_path) as store, store._connections.lease() as client:
        client.insert("spanproof.migrations", [[999]], column_names=["version"])
    with pytest.raises(StoreError, match=r"has schema version 999, this Spanproof knows \d+: upgrade"):
        open_store(tmp_path)
    with open_store(tmp_path.parent / f"{tmp_path.name}-fresh"):
        pass


def test_a_directory_that_is_made_is_for_its_owner_alone(tmp_path):
    with open_store(tmp_path / "new" / "store"):
        assert (tmp_path / "new" / "store").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("mysql://host/x", "unknown scheme 'mysql'"),
        ("clickhouse://host/a-b", "'a-b' is no name for a database"),
        ("clickhouse://127.0.0.1:9000/", "9000 is the port of ClickHouse's native protocol"),
        ("mysql://someone:hush@host/x", "^((?!hush).)*$"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/spanproof"),
        ("http://127.0.0.1:99999/", "no number from 1 to 65535"),
    ],
)
def test_a_wrong_location_is_reported_at_once(location, words):
    with pytest.raises(StoreError, match=words):
        open_store(location)


def test_a_directory_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used as a directory"):
        open_store(tmp_path / "file" / "store")


READ = """
import sys
from spanproof.store import open_store
with open_store(sys.argv[1], read_only=True) as store:
    print(len(store.traces()), len(list(store.scores())), store.evaluation(sys.argv[2]) is not None)
"""


def read_elsewhere(location: object, trace_id: str = f"{1:032x}") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", READ, str(location), trace_id], capture_output=True, text=True, timeout=120
    )


def test_a_shared_store_is_read_by_other_processes_while_it_is_written(tmp_path, evaluation):
    with open_store(tmp_path, share=True) as store:
        store.write([evaluation(number) for number in range(1, 4)])
        assert read_elsewhere(tmp_path).stdout == "3 15 True\n"
        store.write([evaluation(4)])
        assert read_elsewhere(tmp_path).stdout == "4 20 True\n"
    assert read_elsewhere(tmp_path).stdout == "4 20 True\n"


def test_a_store_that_is_not_shared_is_not_read_by_others(embedded, tmp_path):
    reported = read_elsewhere(tmp_path / "store")
    assert reported.returncode == 1
    assert "is held by" in reported.stderr


WRITE = """
import pickle, sys
from spanproof.store import open_store
with open_store(sys.argv[1]) as store:
    store.write(pickle.load(sys.stdin.buffer))
    print(store.exclusive, len(store.traces()))
"""


def write_elsewhere(location: object, evaluations: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", WRITE, str(location)]
    return subprocess.run(command, input=pickle.dumps(evaluations), capture_output=True, timeout=120)


def test_a_shared_store_is_written_by_other_processes_while_its_holder_writes(tmp_path, evaluation):
    verdicts = {Layer.EXECUTION: Scored(1.0, Label.PASS, "ok")}
    with open_store(tmp_path, share=True) as store:
        store.write([evaluation(number) for number in range(1, 4)])
        rescored = [evaluation(number, verdicts=verdicts) for number in range(2, 60)]
        assert write_elsewhere(tmp_path, rescored).stdout == b"False 50\n"
        assert [store.evaluation(each.trace.trace_id) for each in rescored] == rescored
        assert store.evaluation(f"{1:032x}") == evaluation(1)
        store.write([evaluation(2)])
        assert store.evaluation(f"{2:032x}") == evaluation(2)
    assert write_elsewhere(tmp_path, [evaluation(60)]).stdout == b"True 50\n"


def test_a_store_that_is_not_shared_is_not_written_by_others(embedded, tmp_path, evaluation):
    refused = write_elsewhere(tmp_path / "store", [evaluation()])
    assert refused.returncode == 1
    assert b"is held by" in refused.stderr


def test_a_second_server_of_a_directory_is_refused(tmp_path):
    serve = "import sys; from spanproof.store import open_store; open_store(sys.argv[1], share=True)"
    with open_store(tmp_path, share=True):
        refused = subprocess.run(
            [sys.executable, "-c", serve, str(tmp_path)], capture_output=True, text=True, timeout=120
        )
    assert refused.returncode == 1
    assert "stop it and try again" in refused.stderr


@pytest.mark.parametrize(
    "statement", ["DROP TABLE spanproof.scores", "SYSTEM SHUTDOWN", "CREATE TABLE spanproof.x (a UInt8)"]
)
def test_a_writer_changes_rows_and_nothing_else(tmp_path, statement):
    with open_store(tmp_path, share=True):
        url = json.loads((tmp_path / "lock").read_text())["write_url"]
        with (
            open_store(url, read_only=True) as store,
            pytest.raises(StoreUnavailable, match="READONLY"),
            store._connections.lease() as client,
        ):
            client.command(statement)


@pytest.fixture
def door(tmp_path):
    """DSN of the door of a shared store."""
    with open_store(tmp_path, share=True):
        yield json.loads((tmp_path / "lock").read_text())["read_url"]


def test_the_door_is_for_the_owner_of_the_files_alone(door, tmp_path):
    assert (tmp_path / "lock").stat().st_mode & 0o077 == 0
    assert door.startswith("http://reader:")
    assert "@127.0.0.1:" in door
    with pytest.raises(StoreError, match="wrong password"):
        open_store(re.sub(":[^:@]*@", ":guess@", door), read_only=True)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE spanproof.scores",
        "INSERT INTO spanproof.migrations (version) VALUES (7)",
        "SET readonly = 0",
        "SELECT 1 SETTINGS readonly = 0",
        "SYSTEM SHUTDOWN",
    ],
)
def test_nothing_can_be_changed_through_the_door(door, statement):
    with (
        open_store(door, read_only=True) as store,
        pytest.raises(StoreUnavailable, match="READONLY"),
        store._connections.lease() as client,
    ):
        client.command(statement)


def test_without_the_password_nothing_is_even_read(door):
    url = re.sub("//.*@", "//", door)
    assert plain_http.post(url, content="SELECT 1").status_code == 401
    assert plain_http.post(url, content="SELECT 1", headers={"Authorization": "Basic !!"}).status_code == 401
    assert plain_http.get(url).status_code == 401


@pytest.mark.parametrize("length", ["-1", "99999999999", "many"])
def test_a_request_without_bounds_is_refused(door, length):
    parts = urlsplit(door)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
    connection.putrequest("POST", "/")
    connection.putheader("Authorization", httpx.BasicAuth(parts.username, parts.password)._auth_header)
    connection.putheader("Content-Length", length)
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


def test_the_door_is_shut_with_the_store(tmp_path):
    with open_store(tmp_path, share=True):
        url = json.loads((tmp_path / "lock").read_text())["read_url"]
    assert json.loads((tmp_path / "lock").read_text())["read_url"] is None
    with pytest.raises(StoreUnavailable):
        open_store(url, read_only=True)


def test_reading_makes_no_database_where_there_is_none(server):
    with pytest.raises(StoreError, match="there is no Spanproof store in the database spanproof"):
        open_store(server, read_only=True)
