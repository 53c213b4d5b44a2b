"""One schema for an embedded store, a server and a cluster."""

from __future__ import annotations

import pytest
import sqlglot

from spanproof.store import StoreError, open_store
from spanproof.store.layout import Layout
from spanproof.store.schema import TABLES, VERDICT_HOURS


def test_every_statement_of_a_cluster_is_one_the_engine_can_read(embedded):
    """The engine parses it; that there is no such cluster here is known only when a statement is run."""
    with embedded._connections.lease() as client:
        for statement in Layout("agents", "prod", quorum="auto").list_statements():
            assert client.command(f"EXPLAIN AST {statement}")


def test_every_table_of_a_cluster_is_a_replicated_one_under_a_distributed_one():
    layout = Layout("agents", "prod")
    for table in TABLES:
        local, distributed = layout.build_create_table(table)
        assert f"agents.{table.name}_local ON CLUSTER 'prod' (" in local
        assert "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/agents/" in local
        assert f"AS agents.{table.name}_local ENGINE = Distributed('prod', 'agents'," in distributed
        parsed = sqlglot.parse_one(distributed, dialect="clickhouse")
        assert parsed.args["kind"] == "TABLE"


def test_rows_of_one_key_are_on_one_shard():
    names = {"migrations": "1"}
    for table in TABLES:
        assert names.get(table.name, table.shard) == table.shard
        assert table.shard in (*table.key, "1"), f"{table.name}: {table.shard} is no part of the key"


def test_changes_of_columns_go_to_both_tables_and_changes_of_rows_to_the_one_that_has_them():
    layout = Layout("agents", "prod")
    assert layout.build_alter_table("scores", "ADD COLUMN x Int8") == (
        "ALTER TABLE agents.scores_local ON CLUSTER 'prod' ADD COLUMN x Int8",
        "ALTER TABLE agents.scores ON CLUSTER 'prod' ADD COLUMN x Int8",
    )
    assert layout.build_mutation("scores", "DELETE WHERE 1") == (
        "ALTER TABLE agents.scores_local ON CLUSTER 'prod' DELETE WHERE 1"
    )


def test_written_means_written_on_as_many_replicas_as_are_wanted():
    options = {"cluster": "prod", "quorum": "2", "async_insert": "1"}
    assert Layout.from_options("agents", options).settings == {
        "async_insert": 1,
        "wait_for_async_insert": 1,
        "distributed_foreground_insert": 1,
        "distributed_product_mode": "global",
        "load_balancing": "in_order",
        "insert_quorum": "2",
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("cluster=a'b", "no name of a cluster"),
        ("cluster=c&quorum=most", "give a number of replicas, or auto"),
        ("quorum=2", "one server has no replicas"),
        ("async_insert=yes", "give 0 or 1"),
    ],
)
def test_a_wrong_option_of_the_dsn_is_named(options, words):
    with pytest.raises(StoreError, match=words):
        open_store(f"clickhouse://127.0.0.1:1/agents?{options}")


def test_settings_are_known_to_the_engine(embedded):
    settings = Layout("agents", "prod", quorum="auto", async_insert=True).settings
    with embedded._connections.lease() as client:
        known = {row[0] for row in client.query("SELECT name FROM system.settings").result_rows}
    assert set(settings) - known == set()


def test_a_rollup_is_on_the_shard_of_its_time():
    assert VERDICT_HOURS.shard == "hour"
