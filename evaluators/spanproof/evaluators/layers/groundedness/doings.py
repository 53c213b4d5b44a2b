"""Bind what an answer says that the agent did to the calls of the run.

In: a reading and the calls. Out: claims. A doing agrees where a call whose tool is named by the verb
succeeded; it is contradicted where each such call failed, or where nothing in the run has the verb at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.bind import build_claim, build_contradiction
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.reader import Reading
from spanproof.evaluators.layers.groundedness.world import World
from spanproof.reading.lexicon import load_doings
from spanproof.reading.statements import has_own_subject, is_denied, is_done, is_of_answer
from spanproof.reading.words import base_forms_of

# Words of tools that may have done what an answer says, whatever it calls that.
_GENERIC: Final = base_forms_of(
    "update set modify edit change patch put post execute perform do click press action api request http"
    " workflow record item status resource entity ticket row object field data"
)


@dataclass(frozen=True, slots=True)
class Doing:
    """A call of the run with its arguments as text; `succeeded` is None where that is not known."""

    tool: str
    arguments: str
    succeeded: bool | None
    output: int | None = None
    result: str = ""


class DoingBinder:
    """Finds what an answer says was done; one for an answer."""

    def __init__(self, world: World, doings: Sequence[Doing], texts: Sequence[str]) -> None:
        self.world = world
        self.doings = [(doing, base_forms_of(doing.tool)) for doing in doings]
        self.texts = texts
        self.has_calls = bool(doings)

    @cached_property
    def _words(self) -> frozenset[str]:
        """Return the words of all calls and all code of the run."""
        calls = (f"{doing.tool} {doing.arguments} {doing.result}" for doing, _ in self.doings)
        return frozenset[str]().union(*map(base_forms_of, (*calls, *self.texts)))

    @cached_property
    def _has_generic_tool(self) -> bool:
        """Return whether a tool of the run may have done anything."""
        return any(names <= _GENERIC for _, names in self.doings)

    def _is_mentioned(self, words: frozenset[str]) -> bool:
        """Return whether a call, the code or an output of the run has one of some words."""
        return not self._words.isdisjoint(words) or any(map(self.world.has_word, words))

    def bind(self, reading: Reading) -> Iterator[Claim]:
        """Yield the claims of a passage about what was done."""
        for at, word in enumerate(reading.words):
            if at in reading.covered or word.tag not in ("VBD", "VBN") or not is_done(reading.words, at):
                continue
            claim = self._judge(reading, at)
            if claim is not None:
                yield claim

    def _judge(self, reading: Reading, at: int) -> Claim | None:
        if is_denied(reading.words, at):
            return None
        word = reading.words[at]
        forms = base_forms_of(word.lemma) | {word.form}
        calls = [doing for doing, names in self.doings if not names.isdisjoint(forms)]
        if any(doing.succeeded for doing in calls):
            return self._find_confirmation(reading, at, calls)
        if not self.has_calls or not has_own_subject(reading.words, at):
            return None
        have_failed = bool(calls) and all(doing.succeeded is False for doing in calls)
        if have_failed and word.lemma in load_doings():
            evidence = ClaimEvidence(calls[-1].output, f"{calls[-1].tool} failed", source="output")
            return self._build_contradiction(reading, at, Cause.OTHER_STATE, evidence)
        alike = load_doings().get(word.lemma)
        if (
            alike is None
            or self._has_generic_tool
            or self._is_mentioned(alike)
            or is_of_answer(reading.words, at)
        ):
            return None
        return self._build_contradiction(reading, at, Cause.NOT_FOUND, None)

    def _find_confirmation(self, reading: Reading, at: int, calls: Sequence[Doing]) -> Claim | None:
        """Return the claim that the last call with a sentence's names bears out; None where some failed."""
        confirming = [call for call in calls if call.succeeded and self._covers_names(call, reading)]
        if not confirming or any(call.succeeded is False for call in calls):
            return None
        doing, word = confirming[-1], reading.words[at]
        reading.cover(at)
        evidence = ClaimEvidence(doing.output, f"{doing.tool}({doing.arguments[:120]})", source="output")
        span = (word.start, word.end)
        return build_claim(reading, *span, ClaimKind.DOING, Verdict.GROUNDED, Cause.STATED, evidence)

    def _build_contradiction(
        self, reading: Reading, at: int, cause: Cause, evidence: ClaimEvidence | None
    ) -> Claim:
        word = reading.words[at]
        span, rule = (word.start, word.end), GroundednessRule.DOING
        return build_contradiction(reading, span, ClaimKind.DOING, cause, evidence, rule)

    def _covers_names(self, doing: Doing, reading: Reading) -> bool:
        """Return whether each name in a sentence is of the call: in its arguments or its result."""
        forms = base_forms_of(f"{doing.arguments} {doing.result}")
        return all(
            forms.issuperset(
                reading.words[index].form for index in name.words if reading.words[index].text.isalnum()
            )
            for name in reading.names
        )
