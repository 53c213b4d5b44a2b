"""The few causes behind many failures: signatures, clusters, what is known about them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "ClusterState": "model",
    "Explanation": "causes",
    "Failure": "model",
    "Kind": "taxonomy",
    "Raised": "messages",
    "Rating": "taxonomy",
    "Signature": "model",
    "cluster": "clusters",
    "explain": "causes",
    "kinds": "taxonomy",
    "mask": "messages",
    "rate_run": "taxonomy",
    "read_raised": "messages",
    "sign": "causes",
}


def __getattr__(name: str) -> Any:
    """Return a public name: the client needs the states of clusters alone, and no YAML."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
