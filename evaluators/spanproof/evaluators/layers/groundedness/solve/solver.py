"""Solve an answer: every claim with its bindings, before anything is chosen.

In: sources and an answer. Out: `Solved`: the base, the claims and for each what it was bound to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, read_frames
from spanproof.evaluators.layers.groundedness.claims.relations import (
    Direction,
    find_directions,
    find_period_relations,
    find_relations,
)
from spanproof.evaluators.layers.groundedness.claims.states import States, find_states
from spanproof.evaluators.layers.groundedness.solve.bind import Binder, Binding
from spanproof.evaluators.layers.groundedness.solve.derive import Derivation, derive
from spanproof.evaluators.layers.groundedness.solve.names import (
    settle_flags,
    settle_listed,
    settle_names,
    settle_states,
)
from spanproof.evaluators.layers.groundedness.solve.printed import Printed, find_printed
from spanproof.evaluators.layers.groundedness.solve.relations import (
    Settled,
    Tables,
    settle_periods,
    settle_quantifiers,
    settle_relations,
)
from spanproof.evaluators.layers.groundedness.solve.requested import find_requested
from spanproof.evaluators.layers.groundedness.solve.states import StateBinder, StateBinding, find_denials
from spanproof.evaluators.layers.groundedness.sources.model import Source, SourceKind
from spanproof.reading.documents.read import read_facts
from spanproof.reading.records import FactBase
from spanproof.reading.values import NUMERIC


@dataclass(slots=True)
class Solved:
    """An answer with what its claims were bound to."""

    base: FactBase
    sources: Sequence[Source]
    read: AnswerFrames
    values: list[tuple[Binding, Derivation]] = field(default_factory=list)
    states: list[StateBinding] = field(default_factory=list)
    directions: list[Direction] = field(default_factory=list)
    denials: list[tuple[int, int]] = field(default_factory=list)
    relations: list[Settled] = field(default_factory=list)
    printed: Printed | None = None


def solve(
    sources: Sequence[Source],
    answer: str,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    today: date | None = None,
) -> Solved:
    """Return an answer's claims with their bindings."""
    about = next((source.text for source in sources if source.kind is SourceKind.TASK), "")
    base = read_facts([source.text for source in sources], about if len(about) < 300 else "")
    outputs = sum(source.kind in (SourceKind.OUTPUT, SourceKind.ERROR) for source in sources)
    question = about.strip().rpartition("\n")[2]
    read = read_frames(answer, base, today, question if len(question) < 300 else "")
    prompts = [place for place, source in enumerate(sources) if source.kind is SourceKind.SYSTEM]
    binder = Binder(base, outputs, prompts)
    solved = Solved(base, sources, read)
    for frame in read.frames:
        binding = binder.bind(frame)
        derivation = Derivation((), (), 0.0)
        if frame.mention.value.kind in NUMERIC and (
            find_requested(frame, read) or not _is_plainly_said(binding)
        ):
            derivation = derive(binding, read, binder, binder.scopes(frame))
        solved.values.append((binding, derivation))
    states = States(base, synonyms or {})
    holder = StateBinder(binder, states, read)
    stated = find_states(read, states)
    solved.states = [binding for binding in map(holder.bind, stated) if binding.is_stated]
    tables = Tables(base, outputs)
    solved.relations = [
        *settle_relations(find_relations(read), tables),
        *settle_periods(find_period_relations(read), tables),
        *settle_quantifiers(stated, read, holder, tables),
        *settle_names(read, base, outputs),
        *settle_listed(read, base, outputs),
        *settle_states(stated, holder, outputs),
        *settle_flags(read, base, outputs),
    ]
    solved.denials = find_denials(read, base, outputs)
    solved.directions = list(find_directions(read))
    solved.printed = find_printed(read, base, sources)
    return solved


def _is_plainly_said(binding: Binding) -> bool:
    """Whether a fact that gives the stated value fits better than any that gives another."""
    if not binding.equal:
        return False
    best = binding.equal[0]
    rival = binding.other[0].total if binding.other else 0.0
    return best.match.value >= 0.9 and best.total >= rival and best.total >= 1.0
