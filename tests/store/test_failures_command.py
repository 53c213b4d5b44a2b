from __future__ import annotations

import io
import json
import shutil
import time

import pytest

from spanproof.cli.app import run
from spanproof.failures import ClusterState
from spanproof.store import Store, TriageAction, open_store
from spanproof.store.connection import _open_server
from spanproof.store.hold import read_holder

MINUTE = 60 * 10**9


@pytest.fixture(scope="module")
def filled(tmp_path_factory, failing):
    """Four runs that fail in two ways within the last hour, the rarer way by another agent as well."""
    now = time.time_ns()
    runs = [
        failing((0xA00 + n) << 100, f"order {n} is locked", at=now - 30 * MINUTE + n, release="1.0")
        for n in range(3)
    ]
    runs.append(
        failing(0xB00 << 100, "list index out of range", "IndexError", at=now - 10 * MINUTE, release="1.1")
    )
    directory = tmp_path_factory.mktemp("failures") / "store"
    with open_store(directory) as store:
        store.write(runs)
    return directory


@pytest.fixture
def location(filled, tmp_path):
    """A copy for each test: what people decide is written."""
    return str(shutil.copytree(filled, tmp_path / "store", symlinks=True))


@pytest.fixture
def listed(location, capfd):
    def read(*arguments: str) -> list[dict]:
        capfd.readouterr()
        assert run(["failures", "list", "--store", location, "--json", *arguments]) == 0
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]

    return read


def test_tickets_without_a_tracker_are_refused(location, capfd):
    assert run(["failures", "tickets", "--store", location]) == 2
    assert "no tracker is configured" in capfd.readouterr().err


def test_a_tracker_that_does_not_answer_fails_the_command(location, tmp_path, capfd):
    tracker = "{kind: github, repository: a/b, token: t, url: 'http://127.0.0.1:9', timeout_s: 1}"
    config = tmp_path / "spanproof.yaml"
    config.write_text(f"tickets: {{notify: [{tracker}]}}")
    assert run(["failures", "tickets", "--store", location, "--config", str(config), "--json"]) == 1
    (row,) = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert row["status"] == "firing"
    assert row["summary"].startswith("3 runs in the last 30 d, 0 before.")
    assert row["error"].startswith("github 127.0.0.1:9: Connect")


def test_clusters_are_listed_the_commonest_first(listed):
    first, second = listed()
    assert (first["name"], first["runs"], first["state"]) == ("ShopError: order <value> is locked", 3, "open")
    assert (second["name"], second["kind"], second["new_since"]) == (
        "Index beyond the end",
        "misread_output",
        "1.1",
    )
    assert second["cause"]
    assert second["fix"]
    assert [row["id"] for row in listed("--new")] == [second["id"]]
    assert [row["runs"] for row in listed("--where", "release=1.0")] == [3]
    assert listed("--since", "5m") == []


def test_the_list_reads_on_a_terminal(location, capfd):
    assert run(["failures", "list", "--store", location]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "ShopError: order <value> is locked" in out
    assert "Index beyond the end new in 1.1" in out


def test_one_cluster_is_shown_with_cause_fix_shares_and_runs(location, listed, capfd):
    _, second = listed()
    assert run(["failures", "show", second["id"][:8], "--store", location]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "suspected cause" in out
    assert second["fix"][:30] in out
    assert "by release 1.1: 1 of 1 run, 100.0%" in out
    assert "IndexError: list index out of range" in out
    assert run(["failures", "show", second["id"], "--store", location, "--by", "agent", "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row["shares"]["agent"][0]["runs"] == 4
    assert [each["release"] for each in row["runs_shown"]] == ["1.1"]


def test_states_names_and_links_are_written(location, listed, capfd):
    first, second = listed()
    assert run(["failures", "ack", first["id"], "--note", "Ada looks", "--store", location]) == 0
    assert run(["failures", "resolve", second["id"][:6], "--store", location]) == 0
    assert run(["failures", "name", first["id"], "Locks of orders", "--store", location]) == 0
    assert run(["failures", "link", first["id"], "https://tracker.example/1", "--store", location]) == 0
    assert f"{first['id']}  acknowledged  Locks of orders" in capfd.readouterr().out
    (seen,) = listed()
    assert (seen["state"], seen["note"], seen["name"]) == ("acknowledged", "Ada looks", "Locks of orders")
    assert seen["link"] == "https://tracker.example/1"
    assert [row["state"] for row in listed("--all")] == ["acknowledged", "resolved"]
    assert [row["id"] for row in listed("--state", "resolved")] == [second["id"]]
    assert run(["failures", "reopen", second["id"], "--store", location, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["state"] == "open"
    assert len(listed()) == 2


def test_clusters_are_merged_and_split(location, listed):
    first, second = listed()
    assert run(["failures", "merge", second["id"], "--into", first["id"], "--store", location]) == 0
    (merged,) = listed()
    assert (merged["id"], merged["runs"]) == (first["id"], 4)
    assert run(["failures", "split", second["id"], "--store", location]) == 0
    assert len(listed()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "ffffffffffff"], "is no cluster of failures"),
        (["show", ""], "is no cluster of failures"),
        (["ack", "zz"], "is no cluster of failures"),
        (["link", "FIRST", "javascript:alert(1)"], "is no address of a page"),
        (["merge", "FIRST", "--into", "FIRST"], "is the cluster of --into"),
        (["split", "FIRST"], "is no part of a larger cluster"),
        (["list", "--all", "--state", "open"], "--state is given with --all"),
        (["list", "--where", "colour=red"], "unknown dimension 'colour'"),
    ],
)
def test_misuse_is_reported_with_a_remedy(location, listed, capfd, arguments, message):
    first = listed()[0]["id"]
    given = [first if each == "FIRST" else each for each in arguments]
    assert run(["failures", *given, "--store", location]) == 2
    err = capfd.readouterr().err
    assert message in err
    assert "remedy:" in err


def test_a_store_without_failures_says_so(tmp_path, capfd):
    with open_store(tmp_path / "store"):
        pass
    assert run(["failures", "list", "--store", str(tmp_path / "store")]) == 0
    assert "no cluster of failures in the last 7d" in capfd.readouterr().err


def test_runs_of_a_cluster_are_promoted(location, listed, tmp_path, capfd):
    first, _ = listed()
    suite = tmp_path / "suite"
    arguments = ["promote", "--cluster", first["id"], "--suite", str(suite), "--store", location]
    assert run([*arguments, "--limit", "2", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(rows) == 2
    assert all((suite / "cases" / row["id"] / "case.yaml").exists() for row in rows)
    assert run([*arguments, "aaaa"]) == 2
    assert "--cluster is given with traces" in capfd.readouterr().err


def test_a_run_is_rated_in_four_dimensions(location, capfd):
    trace = f"{0xB00 << 100:032x}"
    assert run(["failures", "rate", trace, "--store", location, "--json"]) == 0
    rating = json.loads(capfd.readouterr().out)
    assert list(rating) == [
        "factual_grounding",
        "privacy_and_safety",
        "instruction_adherence",
        "optimal_plan",
    ]
    assert rating["optimal_plan"] == {"value": 1.0, "rests_on": {"execution.score": 0.0}, "capped_by": []}
    assert rating["factual_grounding"]["value"] is None
    assert run(["failures", "rate", trace, "--store", location]) == 0
    assert "no score is known" in capfd.readouterr().out


def test_errors_are_clustered_without_a_store(monkeypatch, capfdbinary):
    rows = [
        {"id": 1, "stderr": "Traceback (most recent call last):\n  File \"x\", line 1\nKeyError: 'a'"},
        {"id": 2, "error_type": "KeyError", "message": "'b'"},
        {"id": 3, "error_type": "ShopError", "message": "no order 17", "tool": "orders"},
        {"id": 4},
    ]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert run(["failures", "cluster", "--jsonl"]) == 0
    first, second, third, bad = map(json.loads, capfdbinary.readouterr().out.splitlines())
    assert first["cluster"] == second["cluster"] != third["cluster"]
    assert third["name"] == "ShopError: no order <value> (tool orders)"
    assert "expected an error's text" in bad["error"]


def test_a_decision_is_written_through_the_process_that_shares_its_store(failing, tmp_path):
    with open_store(tmp_path / "store", share=True) as holder:
        holder.write([failing(1, "no stock")])
        (found,) = holder.failure_clusters(start_ns=0, end_ns=2**63 - 1)
        url = read_holder((tmp_path / "store").resolve()).write_url
        assert url is not None
        writer = Store(_open_server(url, "http"))
        writer.triage(
            found.id, TriageAction.STATE, ClusterState.ACKNOWLEDGED, "it's {ours}; DROP TABLE scores"
        )
        (seen,) = holder.failure_clusters(start_ns=0, end_ns=2**63 - 1)
        assert (seen.state, seen.note) == (ClusterState.ACKNOWLEDGED, "it's {ours}; DROP TABLE scores")
        writer.close()
