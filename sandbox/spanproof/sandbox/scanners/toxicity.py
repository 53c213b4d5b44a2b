"""Insults and abuse in English prose, by the classifier of `alt-profanity-check` (the extra `toxicity`).

In: a text. Out: advisory findings `text.toxic`, one for each sentence that scores high. Runs in the process
of the user's scanners, as code of others does, and only with `toxicity: true` in the policy. The classifier
knows words, not meanings: it misses polite threats and finds quoted insults, so it changes no verdict.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.scanner import Scanner
from spanproof.sandbox.scanners.source import Source

_SENTENCE: Final = re.compile(r"[^\s.!?][^.!?\n]{0,999}[.!?]*")
_MOST: Final = 500
"""Sentences of a text that are judged."""

_LEAST: Final = 0.9
"""What a sentence scores at least. Of twelve hostile and fifteen harmless ones, nine and two reach it."""


def toxicity_scanner() -> Scanner:
    """The scanner.

    Raises:
        PolicyError: the classifier is not installed.
    """
    try:
        from profanity_check import predict_prob  # type: ignore[import-untyped]
    except ImportError as missing:
        raise PolicyError(
            f"policy: key 'toxicity' needs the package {missing.name!r};"
            " pip install 'spanproof[toxicity]', or leave it out"
        ) from missing

    def scan(context: Context, source: Source) -> None:
        sentences = list(islice(_SENTENCE.finditer(source.text), _MOST))
        if not sentences:
            return
        for sentence, score in zip(sentences, predict_prob([one[0] for one in sentences]), strict=True):
            if score >= _LEAST:
                place = source.place(*sentence.span())
                context.add("text.toxic", place, f"reads like an insult or abuse (score {score:.2f})")

    return Scanner("toxicity", frozenset({"text", "markdown"}), scan)
