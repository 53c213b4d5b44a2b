from __future__ import annotations

import pytest

from spanproof.failures import ClusterState
from spanproof.store import FailureCluster, Store, StoreError, TriageAction
from spanproof.trace import Label, Layer, Scored

from .conftest import DIRECT, START_NS

FAILED = {Layer.EXECUTION: Scored(0.0, Label.FAIL, "it failed")}
DAY = 86_400 * 10**9


# What is counted, and how: the ways to reach a store are those of test_store.
pytestmark = pytest.mark.parametrize("shared_store", DIRECT, indirect=True, scope="module")


@pytest.fixture
def store(emptied: Store) -> Store:
    return emptied


def clusters(
    store: Store, start: int = START_NS - DAY, end: int = START_NS + DAY, **cohort: str
) -> list[FailureCluster]:
    return store.failure_clusters(start_ns=start, end_ns=end, cohort=cohort)


def test_many_failures_are_few_clusters_the_commonest_first(store, failing):
    store.write([failing(n, f"order {n} is locked by 'user {n}'") for n in range(1, 6)])
    store.write([failing(n, "list index out of range", "IndexError") for n in range(6, 9)])
    found = clusters(store)
    assert [(each.name, each.runs) for each in found] == [
        ("ShopError: order <value> is locked by <value>", 5), ("Index beyond the end", 3),
    ]  # fmt: skip


def test_a_run_that_passes_leaves_no_failure(store, failing, evaluation):
    store.write([failing(1, "no stock")])
    store.write([evaluation(1, verdicts={Layer.EXECUTION: Scored(1.0, Label.PASS, "ok")})])
    assert clusters(store) == []


def test_writing_twice_counts_once(store, failing):
    for _ in range(3):
        store.write([failing(1, "no stock")])
    (found,) = clusters(store)
    assert found.runs == 1


def test_the_id_stays_while_the_store_grows(store, failing):
    store.write([failing(1, "the refund window of order 3 closed 12 days ago")])
    (before,) = clusters(store)
    later = [
        failing(n, f"the refund window of order {n} was closed 1 day ago", at=START_NS + n) for n in (2, 3)
    ]
    store.write([*later, failing(4, "bank holiday", at=START_NS + 9)])
    found = clusters(store)
    assert found[0].id == before.id
    assert found[0].runs == 3
    assert len(found[0].fingerprints) == 2


def test_the_window_before_is_counted_apart(store, failing):
    store.write([failing(1, "no stock", at=START_NS), failing(2, "no stock", at=START_NS - 2 * DAY)])
    (found,) = clusters(store)
    assert (found.runs, found.runs_before) == (1, 1)
    assert (found.first_seen_ns, found.last_seen_ns) == (START_NS + 1_000 - 2 * DAY, START_NS + 1_000)


def test_only_a_cohort_is_counted_under_the_same_id(store, failing):
    store.write([failing(1, "no stock"), failing(2, "no stock", agent="buyer")])
    (every,) = clusters(store)
    (of_agent,) = clusters(store, agent="buyer")
    assert (every.runs, of_agent.runs) == (2, 1)
    assert of_agent.id == every.id
    assert clusters(store, agent="none") == []
    with pytest.raises(StoreError, match="unknown dimension"):
        clusters(store, colour="red")


def test_a_cluster_is_new_since_the_release_that_began_before_it(store, failing):
    store.write(
        [failing(1, "no stock", release="1.0"), failing(2, "no stock", release="1.1", at=START_NS + DAY // 2)]
    )
    store.write([failing(3, "bank holiday", release="1.1", at=START_NS + DAY // 2)])
    assert {each.name: each.new_since for each in clusters(store)} == {
        "ShopError: no stock": "", "ShopError: bank holiday": "1.1",
    }  # fmt: skip


def test_merged_clusters_are_counted_together_and_split_again(store, failing):
    store.write([failing(1, "no stock"), failing(2, "bank holiday", at=START_NS + 5)])
    stock, holiday = sorted(clusters(store), key=lambda each: each.first_seen_ns)
    store.triage(holiday.id, TriageAction.MOVE, stock.id)
    (merged,) = clusters(store)
    assert (merged.id, merged.runs, merged.fingerprints) == (stock.id, 2, (stock.id, holiday.id))
    store.triage(holiday.id, TriageAction.MOVE, holiday.id)
    assert {each.id for each in clusters(store)} == {stock.id, holiday.id}


def test_a_resolved_cluster_that_occurs_again_has_regressed(store, failing, monkeypatch):
    store.write([failing(1, "no stock")])
    (found,) = clusters(store)
    assert found.state is ClusterState.OPEN
    monkeypatch.setattr("spanproof.store.failures.time.time_ns", lambda: START_NS + DAY // 4)
    store.triage(found.id, TriageAction.STATE, ClusterState.RESOLVED, "fixed in 1.2")
    (resolved,) = clusters(store)
    assert (resolved.state, resolved.note) == (ClusterState.RESOLVED, "fixed in 1.2")
    store.write([failing(2, "no stock", at=START_NS + DAY // 2)])
    (again,) = clusters(store)
    assert again.state is ClusterState.REGRESSED


def test_names_and_links_are_kept(store, failing):
    store.write([failing(1, "no stock")])
    (found,) = clusters(store)
    store.triage(found.id, TriageAction.NAME, "Warehouse is closed")
    store.triage(found.id, TriageAction.LINK, "https://tracker.example/7")
    (named,) = clusters(store)
    assert (named.name, named.link) == ("Warehouse is closed", "https://tracker.example/7")


def test_shares_are_of_all_runs_of_a_cohort(store, failing, evaluation):
    store.write([failing(1, "no stock"), failing(2, "no stock", agent="buyer")])
    passing = {Layer.EXECUTION: Scored(1.0, Label.PASS, "ok")}
    store.write([evaluation(n, verdicts=passing) for n in range(3, 6)])
    (found,) = clusters(store)
    shares = store.failure_shares(found, "agent", start_ns=START_NS - DAY, end_ns=START_NS + DAY)
    assert {(each.value, each.failing, each.runs) for each in shares} == {("pricer", 1, 4), ("buyer", 1, 1)}
    with pytest.raises(StoreError, match="unknown dimension"):
        store.failure_shares(found, "colour", start_ns=0, end_ns=1)


def test_runs_that_represent_a_cluster_are_of_different_cohorts(store, failing):
    store.write([failing(n, "no stock", at=START_NS + n) for n in range(1, 5)])
    store.write([failing(9, "no stock", agent="buyer", at=START_NS - 5)])
    (found,) = clusters(store)
    runs = store.failing_runs(found, limit=2)
    assert [(run.agent, run.trace_id) for run in runs] == [("pricer", f"{4:032x}"), ("buyer", f"{9:032x}")]
    assert runs[0].sample == "ShopError: no stock"
    assert len(store.failing_runs(found, limit=100)) == 5
