"""A prompt about the sentences of one answer: all of them in one call, a ruling for each.

The material is bounded: the actions and outputs that share words with the sentences come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spanproof.evaluators.judge.errors import JudgeFailed
from spanproof.evaluators.judge.excerpts import extract_words, select_excerpts
from spanproof.evaluators.judge.prompt import UNTRUSTED_RULES, Part, Prompt
from spanproof.evaluators.judge.reply import check_quotes, parse_json_object
from spanproof.evaluators.judge.rubric import Rubric
from spanproof.evaluators.judge.sentences import AnswerSentence, SentenceRuling
from spanproof.trace import Ruling

MAX_SENTENCES: Final = 60
"""Sentences of one call; an answer with more open ones stays open."""

_FORM: Final = """
Reply with JSON of this form and nothing else, with one entry for each numbered sentence:
{"sentences": [{"number": 1, "verdict": "true" | "false" | "unknown", "reason": "<one sentence>",
"quotes": ["<exact words of the material that decide>"]}, …]}
"""

_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "sentences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "verdict": {"type": "string", "enum": [ruling.value for ruling in Ruling]},
                    "reason": {"type": "string"},
                    "quotes": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["number", "verdict", "reason", "quotes"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["sentences"],
    "additionalProperties": False,
}
_ENTRY_KEYS: Final = frozenset({"number", "verdict", "reason", "quotes"})

_MAX_REASON: Final = 500
_MAX_QUOTES: Final = 5
# A reason of 30 words and a quote take about 100 tokens.
_TOKENS_PER_SENTENCE: Final = 120
_TOKENS_BESIDE: Final = 200
_MAX_ANSWER: Final = 12_000
_MAX_TASK: Final = 4_000


class SentencePrompt(Prompt[tuple[SentenceRuling, ...]]):
    """The numbered sentences of an answer, with the run's actions and outputs."""

    def __init__(
        self,
        rubric: Rubric,
        task: str,
        steps: Sequence[Part],
        answer: str,
        sentences: Sequence[AnswerSentence],
    ) -> None:
        """Choose the excerpts of the steps that matter for these sentences."""
        self._rubric = rubric
        self._count = len(sentences)
        numbered = "\n".join(
            _format_sentence(number, sentence) for number, sentence in enumerate(sentences, 1)
        )
        wanted = extract_words(" ".join((numbered, task)))
        shown = [
            Part("task", task[:_MAX_TASK]),
            *select_excerpts(steps, wanted),
            Part("answer", answer[:_MAX_ANSWER]),
            Part("sentences", numbered),
        ]
        self._parts = tuple(part for part in shown if part.text.strip())

    @property
    def instructions(self) -> str:
        """The rubric, how material is marked, and the form of the reply."""
        return f"{self._rubric.instructions}\n{UNTRUSTED_RULES}{_FORM}"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The task, the excerpts, the answer and its numbered sentences."""
        return self._parts

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Prompt.schema`."""
        return _SCHEMA

    @property
    def max_reply_tokens(self) -> int:
        """See `Prompt.max_reply_tokens`."""
        return _TOKENS_BESIDE + _TOKENS_PER_SENTENCE * self._count

    def parse_reply(self, text: str) -> tuple[SentenceRuling, ...]:
        """Return a ruling for each sentence, in their order.

        Raises:
            JudgeFailed: no JSON of this form, a sentence without an entry or with two (`malformed`), or words
                in quotes that the material does not hold (`misquoted`).
        """
        entries = parse_json_object(text, ("sentences",))["sentences"]
        if not isinstance(entries, list):
            raise JudgeFailed("malformed", f"'sentences' is no array: {text[:200]!r}")
        by_number: dict[int, SentenceRuling] = {}
        for entry in entries:
            number, ruling = _parse_entry(entry)
            if number in by_number:
                raise JudgeFailed("malformed", f"sentence {number} has two entries")
            by_number[number] = ruling
        wanted = range(1, self._count + 1)
        if by_number.keys() != set(wanted):
            got = ", ".join(map(str, sorted(by_number))) or "none"
            raise JudgeFailed("malformed", f"entries are needed for sentences 1 to {self._count}, got {got}")
        for ruling in by_number.values():
            check_quotes(ruling.quotes, self.holds)
        return tuple(by_number[number] for number in wanted)


def _parse_entry(entry: object) -> tuple[int, SentenceRuling]:
    if not isinstance(entry, dict) or entry.keys() != _ENTRY_KEYS:
        raise JudgeFailed("malformed", f"an entry is not of the required form: {str(entry)[:200]}")
    number, verdict, reason, quotes = (entry[key] for key in ("number", "verdict", "reason", "quotes"))
    if isinstance(number, bool) or not isinstance(number, int):
        raise JudgeFailed("malformed", f"the number of a sentence is no integer: {number!r}")
    if not isinstance(verdict, str) or verdict not in list(Ruling):
        rulings = ", ".join(Ruling)
        raise JudgeFailed(
            "malformed", f"sentence {number}: verdict {str(verdict)[:50]!r} is none of {rulings}"
        )
    is_text = isinstance(reason, str) and isinstance(quotes, list) and all(isinstance(q, str) for q in quotes)
    if not is_text:
        raise JudgeFailed("malformed", f"sentence {number}: reason and quotes must be texts")
    quoted = tuple(quote for quote in quotes[:_MAX_QUOTES] if quote.strip())
    return number, SentenceRuling(Ruling(verdict), reason[:_MAX_REASON], quoted)


def _format_sentence(number: int, sentence: AnswerSentence) -> str:
    lines = [f"{number}. {' '.join(sentence.text.split())}"]
    lines += [f"   {binding}" for binding in sentence.bindings]
    return "\n".join(lines)
