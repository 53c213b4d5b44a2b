"""A lease is held by one process at a time, and by the next once that one is gone."""

from __future__ import annotations

import threading

from spanproof.store import Store
from spanproof.store.leases import LEASE_S, Lease


def age(store: Store, seconds: float) -> None:
    """Make all claims older, as if so much time had passed."""
    with store._connections.lease() as client:
        client.command(
            f"INSERT INTO {store._database}.leases SELECT * REPLACE (expires_ns - {int(seconds * 1e9)} AS"
            f" expires_ns, evaluated_ns + 1 AS evaluated_ns) FROM {store._database}.leases FINAL"
        )


def lease_of(store: Store) -> Lease:
    return Lease(store._connections, "alerts", pause=lambda _: None)


def test_the_first_holds_it_and_gives_it_on(store):
    first, second = lease_of(store), lease_of(store)
    assert first.held()
    assert not second.held()
    assert first.held()
    first.release()
    assert second.held()
    assert not first.held()


def test_one_that_does_not_renew_is_followed(store):
    dead, next_one = lease_of(store), lease_of(store)
    assert dead.held()
    age(store, LEASE_S + 1)
    assert next_one.held()
    dead._checked_s = float("-inf")
    assert not dead.held()


def test_of_many_that_claim_at_once_one_holds_it(store):
    barrier = threading.Barrier(6)
    leases = [Lease(store._connections, "alerts", pause=lambda _: barrier.wait(60)) for _ in range(6)]
    # Each saw no claim, and made its own, before any looks again.
    for lease in leases:
        lease._find_first_holder = lambda: None  # type: ignore[method-assign]
    held: list[bool] = []

    def claim(lease: Lease) -> None:
        def look_again(_: float) -> None:
            barrier.wait(60)
            del lease._find_first_holder

        lease._pause = look_again
        held.append(lease.held())

    threads = [threading.Thread(target=claim, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held) == [False] * 5 + [True]
