"""A backup holds everything, and comes back into any empty store."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from spanproof.store import Store, StoreError, open_store
from spanproof.store.backup import read_manifest
from spanproof.trace import Layer

from .test_erase import write_trace
from .test_store import spans_in


def everything(store: Store) -> object:
    ids = store.trace_ids(limit=100)
    return (
        store.evaluations(ids),
        sorted(store.scores(), key=lambda score: score.id),
        spans_in(store),
        sorted(letter.trace_id for letter in store.dead_letters()),
        store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=0, end_ns=2**62),
    )


def filled(store: Store, evaluation) -> object:
    for number in range(1, 8):
        write_trace(store, evaluation, number)
    store.write([evaluation(3, sub_score="compiles")])
    store.refresh_rollups()
    return everything(store)


def test_what_was_backed_up_comes_back(tmp_path, evaluation, server):
    with open_store(tmp_path / "store") as store:
        before = filled(store, evaluation)
        store.back_up(tmp_path / "backup")
    with open_store(server) as store:
        store.restore(tmp_path / "backup")
        assert everything(store) == before


def test_a_store_that_is_served_is_backed_up_by_another_process(tmp_path, evaluation):
    with open_store(tmp_path / "store", share=True) as store:
        before = filled(store, evaluation)
        command = [sys.executable, "-m", "spanproof.cli", "database", "backup", str(tmp_path / "backup")]
        subprocess.run([*command, "--store", str(tmp_path / "store")], check=True, timeout=120)
    command = [sys.executable, "-m", "spanproof.cli", "database", "restore", str(tmp_path / "backup")]
    subprocess.run([*command, "--store", str(tmp_path / "fresh")], check=True, timeout=120)
    with open_store(tmp_path / "fresh") as store:
        assert everything(store) == before


def test_a_backup_of_an_older_schema_is_brought_up_to_date(tmp_path, evaluation):
    with open_store(tmp_path / "store") as store:
        before = filled(store, evaluation)
        store.back_up(tmp_path / "backup")
    manifest = tmp_path / "backup" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["schema"] = 7
    for name in ("verdict_hours", "verdict_days", "rollup_marks"):
        del content["tables"][name]
    manifest.write_text(json.dumps(content))
    with open_store(tmp_path / "fresh") as store:
        store.restore(tmp_path / "backup")
        store.refresh_rollups()
        assert everything(store) == before


def test_nothing_is_restored_over_what_is_there(embedded, tmp_path, evaluation):
    embedded.write([evaluation()])
    embedded.back_up(tmp_path / "backup")
    with pytest.raises(StoreError, match="the store is not empty"):
        embedded.restore(tmp_path / "backup")
    with pytest.raises(StoreError, match="it is there already"):
        embedded.back_up(tmp_path / "backup")


def test_a_damaged_backup_is_refused(embedded, tmp_path, evaluation):
    embedded.write([evaluation()])
    embedded.back_up(tmp_path / "backup")
    file = tmp_path / "backup" / "scores.arrow"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreError, match=r"scores.arrow is damaged"):
        read_manifest(tmp_path / "backup")
    with pytest.raises(StoreError, match=r"no readable manifest.json"):
        read_manifest(tmp_path / "nothing")
