"""A cluster of failures, named by the start of its id."""

from __future__ import annotations

from spanproof.cli.problems import UsageProblem
from spanproof.store import FailureCluster, Store

EVER_NS = 2**63 - 1
"""An end of a window behind every failure."""


def get_cluster(store: Store, id_start: str, start_ns: int = 0, end_ns: int = EVER_NS) -> FailureCluster:
    """Return the cluster whose id, or the fingerprint of one of its failures, starts so.

    Counts are of the window. Raises UsageProblem where none or several clusters fit.
    """
    every = store.failure_clusters(start_ns=0, end_ns=EVER_NS)
    fitting = {
        cluster.id: cluster
        for cluster in every
        if id_start and any(name.startswith(id_start.lower()) for name in (cluster.id, *cluster.fingerprints))
    }
    if len(fitting) != 1:
        if fitting:
            what = "is not one cluster of failures"
        else:
            what = "is no cluster of failures"
        shown = ", ".join(fitting or {cluster.id: cluster for cluster in every[:5]})
        near = f"The ids are: {shown}." if shown else "The store has no clusters."
        raise UsageProblem(f"{id_start!r} {what}", f"{near} `spanproof failures list` lists them.")
    (found,) = fitting.values()
    counted = store.failure_clusters(start_ns=start_ns, end_ns=end_ns)
    return next((cluster for cluster in counted if cluster.id == found.id), found)
