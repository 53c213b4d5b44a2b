"""Fixes of a judge for clusters of failures that no rule explains: one call a cluster.

In: the clusters of a window. Out: what the judge suggests, in the store under the cluster's id, so that no
process queries it about the cluster again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.judge import Judge, JudgeFailed, JudgeUnavailable, OverBudget, Payer
from spanproof.failures import ClusterState
from spanproof.failures.advice_prompt import AdvicePrompt
from spanproof.store import FailureCluster, Store, StoreError, TriageAction
from spanproof.trace import Layer

log = logging.getLogger(__name__)

ADVICE_EVERY_S: Final = 900.0
"""As often as tickets are brought up to date, which show the advice."""

MIN_RUNS: Final = 3
"""Runs of a cluster that a judge is queried about: as many as make a ticket by default."""

_WINDOW_NS: Final = 7 * 86_400 * 10**9
_SHOWN_RUNS: Final = 3
# A thousand new kinds of failure at once are one outage: the commonest are enough to see it.
_MOST_CALLS: Final = 20


@dataclass(frozen=True, slots=True)
class JudgeAdvice:
    """What a judge suggests for a cluster; `fix` is empty where it has none, or `error` says why."""

    cluster: str
    name: str
    fix: str
    error: str = ""


class ClusterAdvising:
    """Queries a judge about the clusters that no rule explains.

    Args:
        store: with the clusters; what the judge suggests is written there.
        judge: that is queried, under its budget.
    """

    def __init__(self, store: Store, judge: Judge) -> None:
        self._store = store
        self._judge = judge
        # A judge that gave no usable reply gives none the next time: it is queried again after a restart.
        self._failed: set[str] = set()

    def run(self) -> None:
        """Query the judge about what is new, and log what it gave no reply for."""
        now_ns = time.time_ns()
        try:
            clusters = self._store.failure_clusters(start_ns=now_ns - _WINDOW_NS, end_ns=now_ns + 1)
            for advice in self.iter_advice(clusters):
                if advice.error:
                    log.warning("no advice of the judge for cluster %s: %s", advice.cluster, advice.error)
        except (OverBudget, JudgeUnavailable, StoreError) as problem:
            log.warning("the judge advises on no further cluster of failures: %s", problem)

    def iter_advice(self, clusters: Iterable[FailureCluster]) -> Iterator[JudgeAdvice]:
        """Query the judge about each cluster that has no advice yet, and yield what it suggests.

        Raises:
            OverBudget: the next call would cost more than allowed.
            JudgeUnavailable: the judge cannot be called here.
            StoreError: the store cannot be read or written.
        """
        calls = 0
        for cluster in clusters:
            if calls == _MOST_CALLS:
                return
            if is_without_advice(cluster) and cluster.id not in self._failed:
                calls += 1
                yield self._fetch_advice(cluster)

    def _fetch_advice(self, cluster: FailureCluster) -> JudgeAdvice:
        runs = self._store.failing_runs(cluster, limit=_SHOWN_RUNS)
        prompt = AdvicePrompt(cluster.signature, [run.sample for run in runs])
        cohort = f"{runs[0].project}/{runs[0].agent}" if runs else ""
        try:
            fix = self._judge.fetch_answer(prompt, Payer(cohort)).reply
        except JudgeFailed as failure:
            self._failed.add(cluster.id)
            return JudgeAdvice(cluster.id, cluster.name, "", str(failure))
        self._store.triage(cluster.id, TriageAction.ADVICE, fix, self._judge.model)
        return JudgeAdvice(cluster.id, cluster.name, fix)


def is_without_advice(cluster: FailureCluster) -> bool:
    """Whether a judge is to be queried about a cluster.

    Not about the boundary: what the policy stopped has advice of rules alone, which never widens it.
    """
    is_active = cluster.state is not ClusterState.RESOLVED and cluster.runs >= MIN_RUNS
    is_unexplained = not cluster.explanation.fix and not cluster.judge_model
    return is_active and is_unexplained and cluster.signature.layer is not Layer.BOUNDARY
