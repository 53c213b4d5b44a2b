"""Groundedness: what each sentence of an answer asserts, bound to what execution returned.

`ground` reads sources into a `World` and an answer into passages; `reader` finds values, names and clauses;
`bind`, `derive`, `states`, `relations`, `doings`, `absence` and `prose` bind what a passage asserts;
`alarms` contradict; `unread` has the words that nothing covers; the `Ledger` holds the verdicts.
"""

from spanproof.evaluators.layers.groundedness.doings import Doing
from spanproof.evaluators.layers.groundedness.explain import describe_claim
from spanproof.evaluators.layers.groundedness.ground import build_ledger
from spanproof.evaluators.layers.groundedness.layer import evaluate_groundedness
from spanproof.evaluators.layers.groundedness.ledger import Ledger, Part, Sentence, SentenceVerdict
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence, ClaimKind, Verdict

__all__ = [
    "Cause",
    "Claim",
    "ClaimEvidence",
    "ClaimKind",
    "Doing",
    "Ledger",
    "Part",
    "Sentence",
    "SentenceVerdict",
    "Verdict",
    "build_ledger",
    "describe_claim",
    "evaluate_groundedness",
]
