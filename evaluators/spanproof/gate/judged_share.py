"""The least judged share: a gate or an experiment over verdicts that are mostly missing decides nothing.

The share is of what could be judged: a run without code has no correctness to judge, and does not count; a
run whose content was hidden does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.gate.open_policy import describe_gravest_cause
from spanproof.trace import LEFT_UNJUDGED, Cause

LEAST_JUDGED_SHARE: Final = 0.8
"""The default of `--least-judged`."""


def is_left_unjudged(cause: Cause | None) -> bool:
    """Whether a verdict was skipped for this cause although there was something to judge."""
    return cause in LEFT_UNJUDGED


def describe_shortfall(
    noun: str, judged: int, unjudged: Sequence[Cause | None], least: float, reason: str = ""
) -> str:
    """Return, as a sentence, that too little was judged; empty where enough was.

    Args:
        noun: of what is counted, in the plural.
        judged: how many have a verdict.
        unjudged: the cause of each that could have one and has none.
        least: the share that must have one, from 0 to 1.
        reason: of those without one, where no cause is known.
    """
    total = judged + len(unjudged)
    if not total or judged >= least * total:
        return ""
    why = describe_gravest_cause(unjudged) or reason
    shown = f"{judged} of {total} {noun} were judged ({judged / total:.1%}), and {least:.0%} must be"
    return f"{shown}: {why}" if why else shown
