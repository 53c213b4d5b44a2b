"""Words for states, by families whose members exclude each other, with their synonyms.

In: a word or a value. Out: which state of which family it names. The table is the whole of what is known
about states; a user's own synonyms can be added to `FAMILIES` before the forms are built.
"""

from __future__ import annotations

import re

FAMILIES: tuple[dict[str, str], ...] = (
    {
        "pending": (
            "pending|in progress|in-progress|in_progress|processing|being processed|awaiting"
            "|queued|waiting|under review|in review|ongoing|scheduled|not yet processed|in transit"
            "|in_transit|running|started|submitted|on hold|on_hold|initiated"
        ),
        "completed": (
            "completed|complete|done|finished|processed|succeeded|successful|success"
            "|resolved|fulfilled|settled|issued|delivered|went through|ok|passed"
        ),
        "failed": (
            "failed|failure|unsuccessful|error|errored|crashed|aborted|did not go through|timed"
            " out|timeout"
        ),
        "cancelled": "cancelled|canceled|voided|withdrawn",
        "rejected": "rejected|declined|denied|refused|disapproved",
        "approved": "approved|accepted|authorized|authorised|granted|confirmed",
        "shipped": "shipped|dispatched|sent|on its way|out for delivery",
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
)  # fmt: skip
FORMS: dict[str, list[tuple[int, str]]] = {}
for _number, _family in enumerate(FAMILIES):
    for _head, _spellings in _family.items():
        for _form in _spellings.split("|"):
            FORMS.setdefault(_form, []).append((_number, _head))
STATUS = re.compile(
    r"(?<![\w-])("
    + "|".join(re.escape(form) for form in sorted(FORMS, key=len, reverse=True))
    + r")(?![\w-])",
    re.IGNORECASE,
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
    lowered = value.strip().lower()
    return lowered in FORMS or lowered.replace("_", " ") in FORMS or lowered.replace("-", " ") in FORMS
