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
_BEYOND_THE = re.compile(r"\b(?:above|below|over|under|than|exceed(?:s|ed|ing)?)\s+the\s+$", re.IGNORECASE)
_NEEDED = re.compile(
    r"\s+(?P<word>needed|required|recommended|allowed|rated|advised|permitted|necessary|minimum|maximum|limit)\b",
    re.IGNORECASE,
)
"""What makes a bound somebody's rule: "above the $2,000 needed to …"."""
_STEM = 6
"""Letters by which an output is taken to speak of the norm itself."""


def names_a_norm(asked: Asked) -> bool:
    """Whether the number is one that holds elsewhere, by no word of the outputs or of the task."""
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    text = asked.binding.answer.text
    found = _NORM.search(text, *sentence.piece_at(asked.quantity.start))
    if found is None and _BEYOND_THE.search(asked.before):
        found = _NEEDED.match(text, asked.quantity.end)
        return found is not None and not asked.binding.is_spoken_of(found["word"].lower()[:_STEM])
    if found is None:
        return False
    stem = (found["word"] or found["whose"] or found["who"]).lower()[:_STEM]
    return not asked.binding.is_spoken_of(stem)
