"""How the scanners' verdicts become one: any, majority, all or weighted.

In: the vote of each scanner. Out: one verdict. A scanner that does not read the language has
no vote, and one that reads every language votes only when it finds something: that
it finds nothing in Python is no vote on Python. The verdict of a scanner that failed holds under every rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanproof.sandbox.policy import Aggregation
from spanproof.sandbox.scanners.model import Verdict


@dataclass(frozen=True, slots=True)
class Vote:
    """The verdict of one scanner; `failed` when it could not judge, which no other vote outweighs."""

    scanner: str
    verdict: Verdict
    failed: bool = False


def compute_verdict(votes: Sequence[Vote], how: Aggregation, weights: Mapping[str, float]) -> Verdict:
    """Return the verdict of all scanners together.

    `majority` needs more than half of the votes, `all` every vote, `weighted` at least half of the
    weight (1 where none is given). Votes to deny count as votes to review too.
    """
    if all(vote.verdict is Verdict.ALLOW for vote in votes):
        return Verdict.ALLOW
    failed = [vote.verdict for vote in votes if vote.failed]
    return max([_compute_vote(votes, how, weights), *failed], key=_get_rank)


def _compute_vote(votes: Sequence[Vote], how: Aggregation, weights: Mapping[str, float]) -> Verdict:
    verdicts = {vote.verdict for vote in votes}
    for verdict in (Verdict.DENY, Verdict.REVIEW):
        agreeing = [vote for vote in votes if _get_rank(vote.verdict) >= _get_rank(verdict)]
        if how is Aggregation.ANY:
            reached = verdict in verdicts
        elif how is Aggregation.ALL:
            reached = bool(votes) and len(agreeing) == len(votes)
        elif how is Aggregation.MAJORITY:
            reached = 2 * len(agreeing) > len(votes)
        else:
            total = sum(weights.get(vote.scanner, 1.0) for vote in votes)
            reached = total > 0 and 2 * sum(weights.get(vote.scanner, 1.0) for vote in agreeing) >= total
        if reached:
            return verdict
    return Verdict.ALLOW


def _get_rank(verdict: Verdict) -> int:
    return (Verdict.ALLOW, Verdict.REVIEW, Verdict.DENY).index(verdict)
