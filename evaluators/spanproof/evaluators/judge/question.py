"""A question to a judge: a rubric over parts of a run, answered by one score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from spanproof.evaluators.judge.prompt import UNTRUSTED_RULES, Part, Prompt
from spanproof.evaluators.judge.reply import SCHEMA, Reply, parse_score_reply
from spanproof.evaluators.judge.rubric import Rubric

_FORM: Final = """
Reply with JSON of this form and nothing else:
{"reasoning": "<at most three sentences>", "quotes": ["<exact words of the material>", …], "score": <0 to 1>}
"""

# Reasoning of three sentences, some quotes, a number.
_MAX_REPLY_TOKENS: Final = 700


class Question(Prompt[Reply]):
    """A question for the judge: a rubric and the material it is applied to."""

    def __init__(self, rubric: Rubric, parts: tuple[Part, ...]) -> None:
        self.rubric = rubric
        self._parts = parts

    @property
    def instructions(self) -> str:
        """The rubric, how material is marked, and the form of the reply."""
        return f"{self.rubric.instructions}\n{UNTRUSTED_RULES}{_FORM}"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The material."""
        return self._parts

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Prompt.schema`."""
        return SCHEMA

    @property
    def max_reply_tokens(self) -> int:
        """See `Prompt.max_reply_tokens`."""
        return _MAX_REPLY_TOKENS

    def parse_reply(self, text: str) -> Reply:
        """Return the checked reply; see `parse_score_reply`."""
        return parse_score_reply(text, self.holds)


def build_question(rubric: Rubric, parts: Iterable[tuple[str, str]]) -> Question:
    """Build a question over parts given as title and text; empty ones are left out."""
    return Question(rubric, tuple(Part(title, text) for title, text in parts if text.strip()))
