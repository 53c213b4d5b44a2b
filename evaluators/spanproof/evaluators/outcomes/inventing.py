"""Which data of code is invented: the values that a run should have looked up and wrote down instead.

In: a `ValueRoot` and the `RunContext`: its task, the tools it was offered, what failed. Out: whether the mark
is an invention. It takes a sign: an earlier look-up that failed or came back empty, a tool for it that the
agent did not use, code that calls its own values made up, or a matter that no model knows by heart.
"""

from __future__ import annotations

from spanproof.evaluators.outcomes.context import RunContext
from spanproof.evaluators.outcomes.flow import Roots
from spanproof.evaluators.outcomes.literals import FROM_SOURCE, Role, ValueRoot
from spanproof.evaluators.outcomes.model import OriginKind
from spanproof.reading.answer_words import PRIVATE

# Numbers that no source holds and that say something from which data is the code's own.
_FEWEST = 2


def is_invented(mark: ValueRoot, context: RunContext) -> bool:
    """Whether a mark is an invention, where a value rests on nothing else."""
    if mark.kind is OriginKind.SOURCE or context.allows_invention:
        return False
    is_admitted = mark.made_up and mark.role is not Role.CLOCK
    if context.was_without_data(mark.step) or is_admitted:
        return mark.role is not Role.TEXT or mark.specific > 0
    if mark.role is Role.TEXT:
        return False
    if mark.kind is OriginKind.DEFAULT:
        return mark.specific > 0
    if mark.role is Role.SCALAR and replaces_source(mark, context):
        return True
    return mark.role is not Role.CLOCK and _needs_look_up(mark, context)


def _needs_look_up(mark: ValueRoot, context: RunContext) -> bool:
    """Whether a run should have looked this data up, by its role in the code."""
    is_named = bool(mark.words & (context.task_topics | context.offered_topics))
    names_private = context.is_private and is_named
    has_several = mark.specific >= _FEWEST
    match mark.role:
        case Role.DRAW:
            return context.was_offered or is_named
        case Role.DRAWS:
            return context.was_offered or names_private
        case Role.SCALAR:
            return context.has_tool_for_task and bool(mark.words & context.task_topics & PRIVATE)
        case Role.SERIES:
            return has_several and (context.has_tool_for_task or names_private)
    is_private = names_private or (context.is_private and has_several)
    return mark.has_own_values and (context.has_tool_for_task or is_private)


def replaces_source(mark: ValueRoot, context: RunContext) -> bool:
    """Whether a mark is an invention even next to a source: it takes the place of what a tool gives."""
    if mark.kind is OriginKind.SOURCE or context.allows_invention or mark.role in {Role.TEXT, Role.CLOCK}:
        return False
    if mark.instead:
        return mark.specific > 0 and not context.answer_reports_failure
    if mark.made_up and mark.role in {Role.TABLE, Role.SCALAR}:
        return mark.specific > 0
    if mark.role is Role.SCALAR and mark.specific == 0:
        return False
    return bool(mark.words & (context.failed_topics | (context.offered_topics - context.answered_topics)))


def is_made_up(roots: Roots, context: RunContext) -> bool:
    """Whether a value with these roots is invented."""
    if any(replaces_source(mark, context) for mark in roots):
        return True
    return FROM_SOURCE not in roots and any(is_invented(mark, context) for mark in roots)
