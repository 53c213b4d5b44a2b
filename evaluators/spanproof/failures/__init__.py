"""The few causes behind many failures: signatures, clusters, what is known about them."""

from spanproof.failures.causes import Explanation, explain, sign
from spanproof.failures.clusters import cluster
from spanproof.failures.messages import Raised, mask, read_raised
from spanproof.failures.model import ClusterState, Failure, Signature
from spanproof.failures.taxonomy import Kind, Rating, kinds, rate_run

__all__ = [
    "ClusterState",
    "Explanation",
    "Failure",
    "Kind",
    "Raised",
    "Rating",
    "Signature",
    "cluster",
    "explain",
    "kinds",
    "mask",
    "rate_run",
    "read_raised",
    "sign",
]
