"""Which data of code is invented: the values that a run should have looked up and wrote down instead.

In: a `ValueRoot` and the `RunContext`: its task, the tools it was offered, what failed. Out: whether the mark
is an invention. It takes a sign: a look-up that failed or brought nothing before, a tool for it that the
agent did not use, code that calls its own values made up, or a matter that no model knows by heart.
"""

from __future__ import annotations

from spanproof.evaluators.outcomes.context import RunContext
from spanproof.evaluators.outcomes.flow import Roots
from spanproof.evaluators.outcomes.literals import FROM_SOURCE, Role, ValueRoot
from spanproof.evaluators.outcomes.model import OriginKind
from spanproof.reading.answer_words import PRIVATE

# Numbers that no source holds from which a table is the code's own.
_FEWEST = 2


def is_invented(mark: ValueRoot, context: RunContext) -> bool:
    """Whether a mark is an invention, where a value rests on nothing else."""
    if mark.kind is OriginKind.SOURCE or context.allows_invention:
        return False
    if context.lacked_data(mark.step) or (mark.made_up and mark.role is not Role.CLOCK):
        return mark.role is not Role.TEXT or mark.specific > 0
    if mark.kind is OriginKind.DEFAULT and mark.role is not Role.TEXT:
        return mark.specific > 0
    named = bool(mark.words & (context.task_topics | context.offered_topics))
    needed = context.was_offered or (context.is_private and context.has_data_tools)
    match mark.role:
        case Role.TABLE:
            own = mark.specific > 0 or len(mark.numbers) >= _FEWEST or len(mark.cells) >= _FEWEST
            return own and (needed or (context.is_private and (named or mark.specific >= _FEWEST)))
        case Role.SERIES:
            return mark.specific >= _FEWEST and (needed or (named and context.is_private))
        case Role.SCALAR:
            return replaces_source(mark, context) or (
                named and needed and bool(mark.words & context.task_topics & PRIVATE)
            )
        case Role.DRAW:
            return context.was_offered or named
        case Role.DRAWS:
            return context.was_offered or (named and context.is_private)
    return False


def replaces_source(mark: ValueRoot, context: RunContext) -> bool:
    """Whether a mark is an invention even beside a source: it takes the place of what a tool gives."""
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
