"""The rule for yes and no: outputs that are a truth value or a bare status, and answers that affirm or deny.

In: the `Binding`. Out: at most one claim. "Yes" and "No" are held against the last output where that is a
truth value and nothing more; without them the sentence that repeats what the task asks is, by its negation.
Where the task asks for one thing and the answer speaks of another, nothing is claimed.
"""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.words import content_words, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim

_SAYS = re.compile(
    r"^\W*(?:(?P<yes>yes|yep|yeah|correct|indeed)|(?P<no>no|nope))\b(?!\s+\w+\s+(?:was|were|found))", re.I
)
_TRUE = frozenset(("true", "yes", "y"))
_FALSE = frozenset(("false", "no", "n"))
NEGATED = re.compile(
    r"\b(?:not|never|neither|cannot|no|false|isn|aren|wasn|doesn|don|hasn)\b|n['’]t\b", re.IGNORECASE
)
_ASKS = re.compile(r"\b(?:is|are|was|were|does|do|did|has|have|can|will|check|whether|if)\b", re.IGNORECASE)
_ASKSNEGATED = re.compile(r"\bnot\b|n['’]t\b|\bun\w+able\b", re.IGNORECASE)


def polar_claims(binding: Binding) -> list[Claim]:
    """The answer's yes or no."""
    held = _truth(binding)
    if held is None or not binding.answer.sentences:
        return []
    index, true = held
    sentence = binding.answer.sentences[0]
    match = _SAYS.match(sentence.text)
    if match is not None:
        start, end = sentence.start + match.start(), sentence.start + match.end()
        said = match["yes"] is not None
    else:
        if not _repeats_the_task(binding):
            return []
        start, end = sentence.start, sentence.end
        said = NEGATED.search(sentence.text) is None
    right = said == true
    evidence = ClaimEvidence(index, binding.facts.texts[index].strip())
    reason = "an output says so" if right else f"the output is {evidence.text}"
    verdict = Verdict.GROUNDED if right else Verdict.CONTRADICTED
    return [claim(binding, start, end, ClaimKind.STATUS, verdict, reason, evidence)]


def _truth(binding: Binding) -> tuple[int, bool] | None:
    """The last output's truth value; None where it is anything else, or where outputs differ in kind."""
    texts = binding.facts.texts
    if not texts:
        return None
    index = len(texts) - 1
    word = texts[index].strip().strip("\"'.").lower()
    if word in _TRUE:
        return index, True
    return (index, False) if word in _FALSE else None


def _repeats_the_task(binding: Binding) -> bool:
    """Whether the only sentence says of the same thing what the task asks of it."""
    if (
        len(binding.answer.sentences) != 1
        or not _ASKS.search(binding.task)
        or _ASKSNEGATED.search(binding.task)
    ):
        return False
    asked = content_words(words_of(binding.task))
    said = set(content_words(binding.answer.sentences[0].words))
    return bool(asked) and asked[-1] in said
