"""A judge's reply, checked before it counts: its form, its range, and that what it quotes is there."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Final

from spanproof.evaluators.judge.errors import JudgeFailed
from spanproof.evaluators.judge.question import Question

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "quotes": {"type": "array", "items": {"type": "string"}},
        "score": {"type": "number"},
    },
    "required": ["reasoning", "quotes", "score"],
    "additionalProperties": False,
}
"""JSON schema of a reply, as the model is held to it where the server can."""

_MAX_REASONING = 1_000
_MAX_QUOTES = 20


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge said; `score` from 0 to 1, every quote found in the material."""

    reasoning: str
    quotes: tuple[str, ...]
    score: float


def parse_reply(text: str, question: Question) -> Reply:
    """Read a reply.

    Raises:
        JudgeFailed: no JSON of this form (`malformed`), a score that is none (`out_of_range`), or words in
            quotes that the material does not hold (`misquoted`).
    """
    try:
        said = json.loads(text)
    except ValueError as problem:
        raise JudgeFailed("malformed", f"the reply is no JSON: {text[:200]!r}") from problem
    if not isinstance(said, dict) or said.keys() != SCHEMA["properties"].keys():
        raise JudgeFailed("malformed", f"the reply is not of the required form: {text[:200]!r}")
    reasoning, quotes, score = said["reasoning"], said["quotes"], said["score"]
    if not isinstance(reasoning, str) or not isinstance(quotes, list):
        raise JudgeFailed("malformed", f"the reply is not of the required form: {text[:200]!r}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise JudgeFailed("malformed", f"the score is no number: {score!r}")
    if not 0 <= score <= 1:
        raise JudgeFailed("out_of_range", f"the score must be from 0 to 1, got {score!r}")
    quoted = tuple(quote for quote in quotes[:_MAX_QUOTES] if isinstance(quote, str))
    if len(quoted) < len(quotes[:_MAX_QUOTES]):
        raise JudgeFailed("malformed", "a quote is no text")
    missing = next((quote for quote in quoted if not question.holds(quote)), None)
    if missing is not None:
        raise JudgeFailed("misquoted", f"the material does not hold the words quoted: {missing[:200]!r}")
    return Reply(reasoning[:_MAX_REASONING], quoted, float(score))
