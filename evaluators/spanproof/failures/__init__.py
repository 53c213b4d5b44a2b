"""The few causes behind many failures: signatures, clusters, causes and fixes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanproof.failures.causes import Explanation, build_explanation, build_signature
    from spanproof.failures.clusters import group_signatures
    from spanproof.failures.messages import Raised, format_masked, read_raised
    from spanproof.failures.model import ClusterState, Failure, Signature
    from spanproof.failures.taxonomy import Kind, Rating, list_ratings, load_kinds

__all__ = [
    "ClusterState",
    "Explanation",
    "Failure",
    "Kind",
    "Raised",
    "Rating",
    "Signature",
    "build_explanation",
    "build_signature",
    "format_masked",
    "group_signatures",
    "list_ratings",
    "load_kinds",
    "read_raised",
]

_MODULES = {
    "ClusterState": "model",
    "Explanation": "causes",
    "Failure": "model",
    "Kind": "taxonomy",
    "Raised": "messages",
    "Rating": "taxonomy",
    "Signature": "model",
    "group_signatures": "clusters",
    "build_explanation": "causes",
    "load_kinds": "taxonomy",
    "format_masked": "messages",
    "list_ratings": "taxonomy",
    "read_raised": "messages",
    "build_signature": "causes",
}


def __getattr__(name: str) -> Any:
    """Return a public name: the client needs the states of clusters alone, and no YAML."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
