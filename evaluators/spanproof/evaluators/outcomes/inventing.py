"""Which data of code is invented: the values that a run should have looked up and wrote down instead.

In: a `Mark` and the `Situation` of the run: its task, the tools it was offered, what failed. Out: whether the
mark is an invention. It takes a sign: a look-up that failed or brought nothing before, a tool for it that the
agent did not use, code that calls its own values made up, or a matter that no model knows by heart. Without
a sign it is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanproof.evaluators.outcomes.flow import Roots
from spanproof.evaluators.outcomes.literals import FROM_SOURCE, Mark, Role
from spanproof.evaluators.outcomes.model import OriginKind
from spanproof.evaluators.outcomes.topics import PRIVATE

# Numbers that no source holds from which a table is the code's own.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Situation:
    """What a run was to do, and what it had for it.

    Attributes:
        task: topics of the task.
        offered: topics of the names of the tools that the agent had.
        has_tools: it had a tool that brings data.
        lost: topics of the tools whose failure nothing recovered.
        looked_up: topics of the tools that gave something.
        lacking_since: the first step whose failure was not recovered, or that brought nothing.
        sees_prompt: what the model was given is on the trace.
        gives_leave: the task wants values to be made up.
        in_words: the task itself gives the numbers to work with.
        admits: the answer says that something failed.
        is_ours: the task speaks of what is ours.
    """

    task: frozenset[str] = frozenset()
    offered: frozenset[str] = frozenset()
    has_tools: bool = False
    lost: frozenset[str] = frozenset()
    looked_up: frozenset[str] = frozenset()
    lacking_since: int | None = None
    sees_prompt: bool = True
    gives_leave: bool = False
    in_words: bool = False
    admits: bool = False
    is_ours: bool = False

    @property
    def is_private(self) -> bool:
        """Whether the task is about what no model knows, and does not give it."""
        return (self.is_ours or bool(self.task & PRIVATE)) and not self.in_words and self.sees_prompt

    @property
    def was_offered(self) -> bool:
        """Whether there was a tool for what the task is about, and it gave nothing."""
        return bool(self.task & (self.offered - self.looked_up)) and not self.in_words

    def lacked(self, step: int) -> bool:
        """Whether, at this step, the run had failed to get its data."""
        return self.lacking_since is not None and step > self.lacking_since

    def invents(self, mark: Mark) -> bool:
        """Whether a mark is an invention, where a value rests on nothing else."""
        if mark.kind is OriginKind.SOURCE or self.gives_leave:
            return False
        if self.lacked(mark.step) or (mark.made_up and mark.role is not Role.CLOCK):
            return mark.role is not Role.TEXT or mark.specific > 0
        if mark.kind is OriginKind.DEFAULT and mark.role is not Role.TEXT:
            return mark.specific > 0
        named = bool(mark.words & (self.task | self.offered))
        needed = self.was_offered or (self.is_private and self.has_tools)
        match mark.role:
            case Role.TABLE:
                own = mark.specific > 0 or len(mark.numbers) >= _FEWEST or len(mark.cells) >= _FEWEST
                return own and (needed or (self.is_private and (named or mark.specific >= _FEWEST)))
            case Role.SERIES:
                return mark.specific >= _FEWEST and (needed or (named and self.is_private))
            case Role.SCALAR:
                return self.spoils(mark) or (named and needed and bool(mark.words & self.task & PRIVATE))
            case Role.DRAW:
                return self.was_offered or named
            case Role.DRAWS:
                return self.was_offered or (named and self.is_private)
        return False

    def spoils(self, mark: Mark) -> bool:
        """Whether a mark is an invention even beside a source: it takes the place of what a tool gives."""
        if mark.kind is OriginKind.SOURCE or self.gives_leave or mark.role in {Role.TEXT, Role.CLOCK}:
            return False
        if mark.instead:
            return mark.specific > 0 and not self.admits
        if mark.made_up and mark.role in {Role.TABLE, Role.SCALAR}:
            return mark.specific > 0
        if mark.role is Role.SCALAR and mark.specific == 0:
            return False
        return bool(mark.words & (self.lost | (self.offered - self.looked_up)))

    def is_made_up(self, roots: Roots) -> bool:
        """Whether a value with these roots is invented."""
        if any(map(self.spoils, roots)):
            return True
        return FROM_SOURCE not in roots and any(map(self.invents, roots))
