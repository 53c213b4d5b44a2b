"""Words for states, by families whose members exclude each other, with their synonyms.

In: a word or a value. Out: which state of which family it names. The table is the whole of what is known
about states but for a user's own synonyms, which `state_words` adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from spanproof.evaluators.layers.groundedness.language.words import said_in

FAMILIES: tuple[dict[str, str], ...] = (
    {
        "pending": (
            "pending|in progress|in-progress|in_progress|processing|being processed|awaiting"
            "|queued|waiting|under review|in review|ongoing|scheduled|not yet processed|in transit"
            "|in_transit|running|started|submitted|on hold|on_hold|initiated"
            "|out for delivery|on its way|on the way|en route"
        ),
        "completed": (
            "completed|complete|done|finished|processed|succeeded|successful|success"
            "|resolved|fulfilled|settled|issued|delivered|went through|ok|passed|executed"
            "|successfully|arrived"
        ),
        "failed": (
            "failed|failure|unsuccessful|error|errored|crashed|aborted|did not go through|timed"
            " out|timeout"
        ),
        "skipped": "skipped|never run|not run|was not executed",
        "cancelled": "cancelled|canceled|voided|withdrawn",
        "rejected": "rejected|declined|denied|refused|disapproved",
        "approved": "approved|accepted|authorized|authorised|granted|confirmed",
        "shipped": (
            "shipped|dispatched|sent|on its way|on the way|in transit|in_transit|out for delivery|under way"
            "|en route"
        ),
        "expired": "expired|lapsed|overdue",
        "refunded": "refunded|reimbursed|returned",
        "paid": "paid|charged",
    },
    {"active": "active|enabled|switched on|turned on|live|online|up and running",
     "inactive": "inactive|disabled|deactivated|switched off|turned off|offline|suspended"},
    {"open": "open|opened|reopened", "closed": "closed|shut"},
    {"available": "available|in stock|in_stock",
     "unavailable": "unavailable|out of stock|out_of_stock|sold out|backordered|not available"},
    {"valid": "valid", "invalid": "invalid"},
    {"healthy": "healthy", "unhealthy": "unhealthy|degraded|down"},
    {"verified": "verified", "unverified": "unverified"},
    {"eligible": "eligible|qualifies", "ineligible": "ineligible|not eligible"},
    {"linear": "linear", "nonlinear": "nonlinear|non-linear"},
    {"positive": "positive|positively", "negative": "negative|negatively"},
    {"significant": "significant|statistically significant",
     "insignificant": "insignificant|not significant|non-significant"},
    {"high": "high", "medium": "medium|moderate", "low": "low"},
    {"public": "public", "private": "private"},
    {"paid": "paid", "unpaid": "unpaid|outstanding"},
    {"applied": "applied|deployed|rolled out|installed|merged|in effect",
     "reverted": "rolled back|rolled_back|reverted|undone|backed out"},
    {"delivered": "delivered|handed over",
     "returned": ("returned to sender|returned to the sender|return to sender|undeliverable|undelivered"
                  "|not delivered|delivery failed|lost")},
    {"ready": "ready", "not ready": "not ready|notready|not_ready"},
    {"on time": "on time|on schedule|punctual", "delayed": "delayed|late|behind schedule"},
    {"passing": "passing", "failing": "failing"},
    {"published": "published", "draft": "draft|unpublished"},
    {"locked": "locked", "unlocked": "unlocked"},
    {"connected": "connected", "disconnected": "disconnected"},
    {"compatible": "compatible", "incompatible": "incompatible"},
    {"reachable": "reachable", "unreachable": "unreachable"},
    {"stationary": "stationary", "non-stationary": "non-stationary|nonstationary|not stationary"},
    {"signed": "signed", "unsigned": "unsigned"},
    {"resolved": "resolved|solved", "unresolved": "unresolved|unsolved|investigating"},
)  # fmt: skip
Meanings: TypeAlias = tuple[tuple[int, str], ...]
"""The states a form may name: number of the family, and the state's usual name."""


@dataclass(frozen=True, slots=True)
class StateWords:
    """Families with the forms their states go by.

    Attributes:
        families: the usual names of each family's states.
        forms: what each form may name, in lower case.
        pattern: finds a form in a text, the longest first.
        cues: of each form a word; a text that says none of them holds no form.
    """

    families: tuple[tuple[str, ...], ...]
    forms: Mapping[str, Meanings]
    pattern: re.Pattern[str]
    cues: frozenset[str]

    def forms_in(self, text: str) -> Iterator[re.Match[str]]:
        """Where a text says a state."""
        return (
            self.pattern.finditer(text)
            if "" in self.cues or not self.cues.isdisjoint(said_in(text))
            else iter(())
        )

    def meanings(self, value: str) -> Meanings:
        """What a whole value names; `in_transit` and `in-transit` as `in transit`."""
        lowered = value.strip().lower()
        for form in (lowered, lowered.replace("_", " "), lowered.replace("-", " ")):
            if form in self.forms:
                return self.forms[form]
        return ()


def state_words(synonyms: Mapping[str, Sequence[str]]) -> StateWords:
    """The table with a user's own words: forms by the state they name.

    A state the table does not know joins a family of the user's own, whose states exclude each other.
    """
    return _built(tuple(sorted((state, tuple(words)) for state, words in synonyms.items())))


@lru_cache(maxsize=64)
def _built(synonyms: tuple[tuple[str, tuple[str, ...]], ...]) -> StateWords:
    families = [{head: spelled.split("|") for head, spelled in family.items()} for family in FAMILIES]
    own: dict[str, list[str]] = {}
    for state, words in synonyms:
        name = state.strip().lower()
        named = [family[head] for family in families for head in family if name in family[head]]
        forms = [form.strip().lower() for form in words if form.strip()]
        for spelled in named or [own.setdefault(name, [name])]:
            spelled += forms
    families.append(own)
    found: dict[str, list[tuple[int, str]]] = {}
    for number, family in enumerate(families):
        for head, spelled in family.items():
            for form in spelled:
                found.setdefault(form, []).append((number, head))
    longest_first = "|".join(re.escape(form) for form in sorted(found, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w-])({longest_first})(?![\w-])", re.IGNORECASE)
    return StateWords(
        tuple(tuple(family) for family in families),
        {form: tuple(dict.fromkeys(meanings)) for form, meanings in found.items()},
        pattern,
        frozenset(max(said_in(form), key=len, default="") for form in found),
    )


COMPATIBLE = frozenset(
    frozenset(pair)
    for pair in (
        ("approved", "refunded"), ("completed", "refunded"), ("completed", "paid"), ("refunded", "paid"),
        ("shipped", "completed"), ("approved", "paid"), ("approved", "completed"), ("shipped", "paid"),
    )
)  # fmt: skip
"""States of one family that may hold at once, so that one does not contradict the other."""


def is_status(value: str) -> bool:
    """Whether a value is a state, rather than a name."""
    return bool(state_words({}).meanings(value))
