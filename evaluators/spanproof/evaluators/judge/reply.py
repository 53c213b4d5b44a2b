"""A judge's reply, checked before it counts: its form, its range, and that what it quotes is there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from spanproof.evaluators.judge.errors import JudgeFailed

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
"""JSON schema of a reply with one score, as the model is held to it where the server can."""

_MAX_REASONING: Final = 1_000
_MAX_QUOTES: Final = 20
# Models that reason aloud write so before their reply, and many models fence JSON.
_THINKING: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_FENCE: Final = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge said; `score` from 0 to 1, every quote found in the material."""

    reasoning: str
    quotes: tuple[str, ...]
    score: float


def parse_json_object(text: str, keys: Collection[str]) -> dict[str, Any]:
    """Return the JSON object that a reply is, which has just these keys.

    It may be fenced as Markdown, and follow reasoning between `<think>` marks or in words.

    Raises:
        JudgeFailed: there is no such object.
    """
    body = _THINKING.sub("", text)
    fenced = _FENCE.findall(body)
    for candidate in (body, *reversed(fenced)):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.keys() == set(keys):
            return found
        raise JudgeFailed("malformed", f"the reply is not of the required form: {text[:200]!r}")
    raise JudgeFailed("malformed", f"the reply is no JSON: {text[:200]!r}")


def parse_score_reply(text: str, holds: Callable[[str], bool]) -> Reply:
    """Return the reply with one score.

    Args:
        text: as the model wrote it.
        holds: whether the material holds a quote.

    Raises:
        JudgeFailed: no JSON of this form (`malformed`), a score that is none (`out_of_range`), or words in
            quotes that the material does not hold (`misquoted`).
    """
    found = parse_json_object(text, SCHEMA["properties"])
    reasoning, quotes, score = found["reasoning"], found["quotes"], found["score"]
    if not isinstance(reasoning, str) or not isinstance(quotes, list):
        raise JudgeFailed("malformed", f"the reply is not of the required form: {text[:200]!r}")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise JudgeFailed("malformed", f"the score is no number: {score!r}")
    if not 0 <= score <= 1:
        raise JudgeFailed("out_of_range", f"the score must be from 0 to 1, got {score!r}")
    quoted = tuple(quote for quote in quotes[:_MAX_QUOTES] if isinstance(quote, str))
    if len(quoted) < len(quotes[:_MAX_QUOTES]):
        raise JudgeFailed("malformed", "a quote is no text")
    check_quotes(quoted, holds)
    return Reply(reasoning[:_MAX_REASONING], quoted, float(score))


def check_quotes(quotes: Collection[str], holds: Callable[[str], bool]) -> None:
    """Check that the material holds what is quoted.

    Raises:
        JudgeFailed: it does not hold one of the quotes (`misquoted`).
    """
    missing = next((quote for quote in quotes if not holds(quote)), None)
    if missing is not None:
        raise JudgeFailed("misquoted", f"the material does not hold the words quoted: {missing[:200]!r}")
