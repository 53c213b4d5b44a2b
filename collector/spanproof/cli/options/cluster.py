"""A cluster of failures, named by the start of its id."""

from __future__ import annotations

from spanproof.cli.problems import UsageProblem
from spanproof.store import FailureCluster, Store

EVER_NS = 2**63 - 1
"""An end of a window behind every failure."""


def find_cluster(store: Store, given: str, start_ns: int = 0, end_ns: int = EVER_NS) -> FailureCluster:
    """Return the cluster whose id, or the fingerprint of one of its failures, starts so.

    Counts are of the window. Raises UsageProblem where none or several clusters fit.
    """
    every = store.failure_clusters(start_ns=0, end_ns=EVER_NS)
    fitting = {
        each.id: each
        for each in every
        if given and any(name.startswith(given.lower()) for name in (each.id, *each.fingerprints))
    }
    if len(fitting) != 1:
        what = "is not one cluster of failures" if fitting else "is no cluster of failures"
        shown = ", ".join(fitting or {each.id: each for each in every[:5]})
        near = f"The ids are: {shown}." if shown else "The store has no clusters."
        raise UsageProblem(f"{given!r} {what}", f"{near} `spanproof failures list` lists them.")
    (found,) = fitting.values()
    counted = store.failure_clusters(start_ns=start_ns, end_ns=end_ns)
    return next((each for each in counted if each.id == found.id), found)
