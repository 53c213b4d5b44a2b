"""Clusters: which failures are one cause.

In: signatures in the order in which they were first seen, and what people decided. Out: the cluster of each
fingerprint. A failure that a rule explains is a cluster with its own fingerprint. The rest are compared: a
signature joins the first earlier one of its family whose masked message is nearly the same. As later ones
never change where earlier ones belong, ids are stable while a store grows. What a person merged or split
comes before both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from spanproof.failures.messages import VALUE
from spanproof.failures.model import Signature

ALIKE = 0.7
"""Share of the words of two messages, in order, from which they are one cause.

Chosen on one half of the kinds of tests/bench/failures_kinds.yaml, reported on the other.
"""


# Parts of a masked message that name a cause: two messages in which they differ are never one.
_ANCHOR = re.compile(
    r"\[Errno -?\d+\]|\b[1-5]\d\d\b|\b(?:int|float|complex|str|bytes|list|dict|set|tuple|bool|NoneType)\b"
    r"|\w+(?= object\b)"
)

_WORD = re.compile(r"[^\W_]+")
_Family: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


def group_signatures(
    signatures: Mapping[str, Signature], moved: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the id of the cluster of each fingerprint.

    Args:
        signatures: by fingerprint, in the order in which they were first seen.
        moved: the cluster that a person gave to a fingerprint, or to a whole cluster.
    """
    leaders: dict[_Family, list[tuple[str, list[str]]]] = {}
    found: dict[str, str] = {}
    decided = moved or {}
    for own, signature in signatures.items():
        found[own] = own
        if signature.cause or not signature.message:
            continue
        words = _split_words(signature.message)
        anchors = tuple(sorted(_ANCHOR.findall(signature.message)))
        earlier = leaders.setdefault((signature.family, anchors), [])
        alike = next((leader for leader, text in earlier if compute_similarity(words, text) >= ALIKE), None)
        if alike is None:
            earlier.append((own, words))
        elif own not in decided:
            found[own] = alike
    return {own: _get_final_cluster(leader, decided) for own, leader in found.items()}


def _split_words(message: str) -> list[str]:
    """Return the words of a masked message without values, in one form: `Days` is `day`."""
    return [word.lower().removesuffix("s") for word in _WORD.findall(message.replace(VALUE, " "))]


def compute_similarity(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the share of words that two messages have in common, in order: from 0 to 1."""
    if not words or not others:
        return float(list(words) == list(others))
    row = [0] * (len(others) + 1)
    for word in words:
        before = 0
        for at, other in enumerate(others, start=1):
            before, row[at] = row[at], before + 1 if word == other else max(row[at], row[at - 1])
    return 2 * row[-1] / (len(words) + len(others))


def _get_final_cluster(cluster_id: str, moved: Mapping[str, str]) -> str:
    """Return where a cluster ends after every move; moves in a circle end where they began."""
    seen = set()
    while cluster_id in moved and cluster_id not in seen:
        seen.add(cluster_id)
        cluster_id = moved[cluster_id]
    return cluster_id
