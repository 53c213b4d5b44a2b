"""The security score of a snippet, from the weaknesses found.

In: findings. Out: a number from 0 to 1. A snippet's score is the product over its distinct weaknesses of `1
- impact`, so that one grave weakness weighs more than several slight ones and a repeated one counts
once. What crosses the boundary has verdicts instead and is not in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from spanproof.sandbox.scanners.model import Finding

_RUNS_CODE: Final = 0.4
_READS_OR_CHANGES_DATA: Final = 0.3
_WEAKENS_PROTECTION: Final = 0.2
_OTHER: Final = 0.1

IMPACT: Final = {
    **dict.fromkeys((78, 94, 502), _RUNS_CODE),
    **dict.fromkeys((22, 79, 89, 611, 798), _READS_OR_CHANGES_DATA),
    **dict.fromkeys((295, 327, 328, 330, 338, 732), _WEAKENS_PROTECTION),
}
"""What a weakness costs, by its CWE number; others cost 0.1."""


def compute_security_score(findings: Iterable[Finding]) -> float:
    """Return the score of one snippet: 1 without a weakness, towards 0 with many."""
    weaknesses = {finding.cwe for finding in findings if finding.cwe is not None}
    return math.prod(1 - IMPACT.get(number, _OTHER) for number in sorted(weaknesses))
