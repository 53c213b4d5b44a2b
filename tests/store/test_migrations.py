"""A store of every earlier schema comes to the newest one, with what it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.sandbox.scanners.model import Finding, Scan, Severity, Verdict
from spanproof.store import open_store
from spanproof.store.breakdown import Fact
from spanproof.store.migrations import MIGRATIONS
from spanproof.trace import Layer

UNDONE = {
    2: ("ALTER TABLE {db}.scores DROP COLUMN IF EXISTS raw, DROP COLUMN IF EXISTS unit",),
    4: ("DROP TABLE IF EXISTS {db}.dead_letters SYNC",),
    5: tuple(
        f"DROP TABLE IF EXISTS {{db}}.alert_{name} SYNC"
        for name in ("events", "deliveries", "silences", "acknowledgements")
    ),
    6: ("DROP TABLE IF EXISTS {db}.external_scores SYNC",),
    7: ("DROP TABLE IF EXISTS {db}.failures SYNC", "DROP TABLE IF EXISTS {db}.failure_triage SYNC"),
    8: tuple(
        f"DROP TABLE IF EXISTS {{db}}.{name} SYNC"
        for name in ("verdict_hours", "verdict_days", "rollup_marks")
    ),
    10: ("ALTER TABLE {db}.traces DROP COLUMN IF EXISTS failing",),
    11: ("DROP TABLE IF EXISTS {db}.leases SYNC",),
    12: ("ALTER TABLE {db}.snippets DROP COLUMN IF EXISTS `Findings.Cwe`",),
    13: tuple(
        f"ALTER TABLE {{db}}.scores DROP COLUMN IF EXISTS {name}" for name in ("cause", "cause_detail")
    ),
}
"""What takes a store back to before each step."""


@pytest.mark.parametrize("version", range(1, MIGRATIONS[-1].version))
def test_a_store_of_every_earlier_schema_is_brought_up_to_date(tmp_path, evaluation, version):
    with open_store(tmp_path) as store:
        store.write([evaluation(number) for number in (1, 2)])
        with store._connections.lease() as client:
            for step in range(MIGRATIONS[-1].version, version, -1):
                for statement in UNDONE.get(step, ()):
                    client.command(statement.format(db=store._database))
            client.command(f"TRUNCATE TABLE {store._database}.migrations")
            client.insert(f"{store._database}.migrations", [[version]], column_names=["version"])
    with open_store(tmp_path) as store:
        store.write([evaluation(3)])
        while store.refresh_rollups():
            pass
        assert len(store.traces(failing=Layer.GROUNDEDNESS)) == 3
        assert store.fail_rate(Layer.GROUNDEDNESS, failing=0, start_ns=0, end_ns=2**62).failed == 3
        with store._connections.lease() as client:
            noted = client.query(f"SELECT max(version) FROM {store._database}.migrations").result_rows
    assert noted[0][0] == MIGRATIONS[-1].version


def test_steps_are_numbered_in_order():
    assert [migration.version for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_findings_of_an_earlier_store_have_the_weakness_of_their_rule(tmp_path, evaluation):
    whole = evaluation(1)
    (run,) = whole.runs
    found = [
        Finding(rule, Severity.ADVISORY, Verdict.ALLOW, 1, 1, 1, 2, "found", cwe=None)
        for rule in ("python.weakness.hash", "secret.assigned", "user.mine")
    ]
    run = replace(run, scans=dict.fromkeys(run.scans, Scan(Verdict.ALLOW, tuple(found))))
    with open_store(tmp_path) as store:
        store.write([replace(whole, runs=(run,))])
        with store._connections.lease() as client:
            client.command(UNDONE[12][0].format(db=store._database))
            client.command(f"TRUNCATE TABLE {store._database}.migrations")
            client.insert(f"{store._database}.migrations", [[11]], column_names=["version"])
    with open_store(tmp_path) as store:
        counts = store.break_down(Fact.CWE, start_ns=0, end_ns=2**62)
    assert {each.item for each in counts} == {"CWE-328", "CWE-798"}
