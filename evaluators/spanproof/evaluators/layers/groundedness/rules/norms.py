"""Norms that nobody gave: "above the 82 % that is usual", "the vendor promises 75,000".

In: an `Asked`. Out: whether its number is said to be what holds elsewhere (usual, of the industry, promised
by somebody), of which neither the outputs nor the task hold a word: it is the model's own knowledge, and made
up as far as the run goes.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.rules.asked import Asked

_NORM = re.compile(
    r"\b(?:(?P<word>usual|typical|customary|competitors?|advertised|recommended|benchmark)"
    r"|(?P<whose>industry|market|sector|nationwide|national)\s+(?:average|mean|median|standard|norm)"
    r"|(?P<who>vendor|manufacturer|supplier|maker)\s+(?:promises|claims|states|guarantees|recommends))\b",
    re.IGNORECASE,
)
_STEM = 6
"""Letters by which an output is taken to speak of the norm itself."""


def names_a_norm(asked: Asked) -> bool:
    """Whether the number is one that holds elsewhere, by no word of the outputs or of the task."""
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    found = _NORM.search(asked.binding.answer.text, *sentence.piece_at(asked.quantity.start))
    if found is None:
        return False
    stem = (found["word"] or found["whose"] or found["who"]).lower()[:_STEM]
    return not asked.binding.is_spoken_of(stem)
