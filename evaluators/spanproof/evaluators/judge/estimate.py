"""What it would cost to have a judge settle an open verdict, without asking one.

In: a run and its open outcome. Out: the tokens of the prompt and the reply, as the judge's own bounds allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.judge.excerpts import MAX_CHARACTERS
from spanproof.evaluators.judge.sentences import list_open_sentences
from spanproof.trace import Layer, Run, Scored

EXAMPLE_MODEL: Final = "gpt-4.1-mini-2025-04-14"
"""Whose price an estimate takes where no judge is configured."""

# Of English prose, as the tokenizers of current models have it; of code and tables it is about 3.
_CHARACTERS_PER_TOKEN: Final = 4
# The rubric, the rules and the form of the reply.
_INSTRUCTIONS: Final = 2_400
# As measured on replies that give a reason and one quote: 60 a sentence, 150 for one score.
_TOKENS_PER_SENTENCE: Final = 60
_TOKENS_OF_A_SCORE: Final = 150


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Tokens of one prompt and of its reply."""

    tokens_in: int
    tokens_out: int


def compute_token_estimate(run: Run, layer: Layer, outcome: Scored) -> TokenEstimate:
    """Return the tokens that a judge would take for an open verdict on a layer of a run."""
    answer = run.answer.text if run.answer is not None else ""
    material = min(MAX_CHARACTERS, _count_characters(run))
    characters = _INSTRUCTIONS + len(run.task or "") + material + len(answer)
    tokens_out = _TOKENS_OF_A_SCORE
    if layer is Layer.GROUNDEDNESS:
        sentences = list_open_sentences(answer, outcome)
        characters += sum(len(sentence.text) + sum(map(len, sentence.bindings)) for sentence in sentences)
        tokens_out = _TOKENS_PER_SENTENCE * len(sentences)
    return TokenEstimate(characters // _CHARACTERS_PER_TOKEN, tokens_out)


def _count_characters(run: Run) -> int:
    """Return how long the actions and outputs of a run are."""
    total = 0
    for step in run.steps:
        total += sum(len(snippet.source) + len(snippet.logs or "") for snippet in step.snippets)
        total += sum(len(call.result.text) for call in step.calls if call.result is not None)
        total += len(step.observation or "")
    return total
