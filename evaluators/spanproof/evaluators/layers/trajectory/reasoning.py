"""Reasoning quality, as far as rules reach: are there words, do they speak of what is done, are errors read.

In: the actions of a run with the model's own words. Out: one advisory outcome. It says nothing about whether
the reasoning is right: a well-worded wrong plan scores 1. Where the trace holds none of the model's words
(tool calls often come without any) it is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanproof.evaluators.actions import Action
from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.layers.trajectory.weights import REASONING
from spanproof.evaluators.outcomes.failing import is_passing
from spanproof.trace import Cause, Evidence, Outcome, Scored, Skipped

_WORD = re.compile(r"[A-Za-z]{3,}")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the and for with this that will now let use from then you your are have has can need first next step"
        " code print thought final answer def return import none true false",
    )
)
# So many first letters identify two forms of a word: `average`, `averaging`.
_PREFIX = 5


def evaluate_reasoning_quality(actions: Sequence[Action]) -> Outcome:
    """Score words before actions, words that fit them, errors read before the next try; advisory."""
    if not actions:
        return Skipped("the run took no action", Cause.NO_ACTION)
    if not any(action.thought for action in actions):
        return Skipped("the trace holds none of the model's own words, only its actions", Cause.NOT_RECORDED)
    parts: dict[str, tuple[int, int]] = {
        "stated": _count_stated(actions),
        "consistent": _count_consistent(actions),
        "errors_read": _count_errors_read(actions),
    }
    measured = {name: good / total for name, (good, total) in parts.items() if total}
    weight = sum(REASONING[name] for name in measured)
    value = sum(REASONING[name] * share for name, share in measured.items()) / weight
    sentence = "; ".join(_format_part(name, *parts[name]) for name in measured)
    unread = [action for action in actions if action.error is not None and not _is_read(action, actions)]
    evidence = tuple(
        Evidence(
            f"step {action.step} failed, and the next try does not show that the error was read",
            action.span_id,
        )
        for action in unread[:10]
    )
    return Scored(value, None, sentence, evidence)


def _format_part(name: str, good: int, total: int) -> str:
    """Return what one part found: how many of how many."""
    if name == "stated":
        return f"{good} of {format_count(total, 'action')} came with words"
    if name == "consistent":
        return f"{good or 'none'} of them {'speak' if good > 1 else 'speaks'} of what was done"
    verb = "was" if 1 in (good, total) else "were"
    return f"{good} of {format_count(total, 'error')} {verb} read before the next try"


def _count_stated(actions: Sequence[Action]) -> tuple[int, int]:
    return sum(bool(action.thought) for action in actions), len(actions)


def _count_consistent(actions: Sequence[Action]) -> tuple[int, int]:
    stated = [action for action in actions if action.thought]
    return sum(
        not _list_prefixes(a.thought or "").isdisjoint(_list_prefixes(f"{a.name} {a.text}")) for a in stated
    ), len(stated)


def _count_errors_read(actions: Sequence[Action]) -> tuple[int, int]:
    followed = [
        action for action in actions if action.error is not None and _find_next(action, actions) is not None
    ]
    return sum(_is_read(action, actions) for action in followed), len(followed)


def _is_read(failure: Action, actions: Sequence[Action]) -> bool:
    """Whether what comes next speaks of the error, or is changed; the same only after a passing error."""
    after = _find_next(failure, actions)
    if after is None:
        return True
    if after.exact != failure.exact:
        return True
    spoken = not _list_prefixes(after.thought or "").isdisjoint(_list_prefixes(failure.error_text))
    return spoken and is_passing(failure.error_text)


def _find_next(failure: Action, actions: Sequence[Action]) -> Action | None:
    return next((action for action in actions if action.step > failure.step), None)


def _list_prefixes(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text.replace("_", " ")[:50_000]))
    return frozenset(word[:_PREFIX] for word in words if word not in _EMPTY)
