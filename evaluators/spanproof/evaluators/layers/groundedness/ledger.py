"""The ledger of an answer: what each sentence asserts, and what the sources say of it.

Values only; nothing here reads text. A sentence is checked where all that it asserts is bound to sources. An
answer is grounded only where every asserting sentence is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spanproof.evaluators.layers.groundedness.model import Claim, Verdict


class SentenceVerdict(StrEnum):
    """What the sources say of a sentence."""

    CHECKED = "checked"
    CONTRADICTED = "contradicted"
    OPEN = "open"
    NO_ASSERTION = "no assertion"


@dataclass(frozen=True, slots=True)
class Part:
    """Words of the answer that were not read or not found; `text` is `answer[start:end]`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer with its verdict.

    Attributes:
        text: the characters `answer[start:end]`, with the marks of Markdown in them.
        claims: what it asserts, in order of place.
        unread: its words that no claim covers, in order; a sentence with such words is open.
    """

    text: str
    start: int
    end: int
    verdict: SentenceVerdict
    claims: tuple[Claim, ...] = ()
    unread: tuple[Part, ...] = ()

    @property
    def is_asserting(self) -> bool:
        """Return whether the sentence states something that can be true or false."""
        return self.verdict is not SentenceVerdict.NO_ASSERTION


@dataclass(frozen=True, slots=True)
class Ledger:
    """All sentences of an answer, in order."""

    sentences: tuple[Sentence, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of all sentences, in order of place."""
        return tuple(claim for sentence in self.sentences for claim in sentence.claims)

    @property
    def asserting(self) -> tuple[Sentence, ...]:
        """Return the sentences that state something."""
        return tuple(sentence for sentence in self.sentences if sentence.is_asserting)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the answer."""
        verdicts = {sentence.verdict for sentence in self.asserting}
        if SentenceVerdict.CONTRADICTED in verdicts:
            return Verdict.CONTRADICTED
        is_all_checked = verdicts == {SentenceVerdict.CHECKED}
        if is_all_checked and any(map(_is_bound_to_output, self.claims)):
            return Verdict.GROUNDED
        return Verdict.UNCERTAIN

    @property
    def facts(self) -> tuple[int, int]:
        """Return how many claims agree with their source, and how many are bound to one."""
        agreeing = sum(claim.verdict is Verdict.GROUNDED for claim in self.claims)
        against = sum(claim.verdict is Verdict.CONTRADICTED for claim in self.claims)
        return agreeing, agreeing + against

    @property
    def read(self) -> tuple[int, int]:
        """Return how many asserting sentences are bound as a whole, and how many there are."""
        bound = [sentence for sentence in self.asserting if sentence.verdict is not SentenceVerdict.OPEN]
        return len(bound), len(self.asserting)


def _is_bound_to_output(claim: Claim) -> bool:
    agrees = claim.verdict is Verdict.GROUNDED
    return agrees and claim.evidence is not None and claim.evidence.output is not None
