"""Bind what an answer says of a run that gave nothing: "I could not reach it", "there are none".

In: a reading and the world. Out: a claim that the whole sentence makes. It agrees where every output of the
run is a failure or holds nothing, where the sentence denies or owns up to a failure, and where each of its
words is one of the task, of a call, or of what the failure says. A sentence that there is none is borne out
by an empty result only, never by a failure.
"""

from __future__ import annotations

from typing import Final

from spanproof.evaluators.layers.groundedness.bind import build_claim
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.reader import Reading
from spanproof.evaluators.layers.groundedness.world import HOLDING_NOTHING, World
from spanproof.reading.answer_words import reports_failure
from spanproof.reading.envelopes.emptiness import is_empty
from spanproof.reading.envelopes.read import find_failure
from spanproof.reading.lexicon import is_of
from spanproof.reading.sentences import Word
from spanproof.reading.tool_kinds import ToolKind
from spanproof.reading.words import STOP, base_form, base_forms_of

_LONGEST_SHOWN: Final = 160


class AbsenceBinder:
    """Finds sentences that only say that a run gave nothing; one for an answer."""

    def __init__(
        self, world: World, task_words: frozenset[str], errors: tuple[str, ...], calls: tuple[str, ...] = ()
    ) -> None:
        texts = world.base.texts[: world.outputs]
        failed: list[int] = []
        empty: list[int] = []
        for source, text in enumerate(texts):
            if find_failure(text, ToolKind.OTHER) is not None:
                failed.append(source)
            elif is_empty(text) or text.strip() in HOLDING_NOTHING:
                empty.append(source)
            else:
                # One output that holds something is enough: nothing of the others is needed.
                break
        self._gave_nothing = len(failed) + len(empty) == len(texts) and bool(texts or errors)
        self._is_empty = bool(empty) and not failed and not errors
        self._source = next(reversed(failed or empty), None)
        self._text = texts[self._source] if self._source is not None else " ".join(errors)
        self._known = task_words
        if self._gave_nothing:
            self._known = task_words.union(
                *(base_forms_of(text) for text in (*texts, *errors, *calls)),
                *(world.words_about(source) for source in range(world.outputs)),
            )

    def bind(self, reading: Reading) -> Claim | None:
        """Return the claim of a sentence that says only that nothing was given; it covers all words."""
        if not self._gave_nothing or not any(is_of(word, "negation") for word in reading.words):
            return None
        if not self._is_empty and not self._reports_failure(reading):
            return None
        if not all(self._is_known(word) for word in reading.words):
            return None
        reading.cover(*range(len(reading.words)))
        shown = " ".join(self._text.split())[:_LONGEST_SHOWN]
        evidence = ClaimEvidence(self._source, shown or "nothing", end=len(self._text), value=self._text)
        whole = (0, len(reading.text))
        return build_claim(reading, *whole, ClaimKind.NEGATION, Verdict.GROUNDED, Cause.STATED, evidence)

    def _reports_failure(self, reading: Reading) -> bool:
        """Return whether a sentence says that something failed, or what the failure says."""
        own = base_forms_of(self._text)
        content = {word.form for word in reading.words if word.part in ("NOUN", "PROPN", "VERB", "ADJ")}
        return reports_failure(reading.text) or content - STOP <= own

    def _is_known(self, word: Word) -> bool:
        if not word.text[:1].isalnum() or word.form in STOP or word.lemma in STOP:
            return True
        forms = base_forms_of(word.text) | {word.form, base_form(word.lemma)}
        if any(character.isdigit() for character in word.text):
            return not forms.isdisjoint(self._known)
        is_word = any(is_of(word, kind) for kind in ("negation", "carrier", "absence", "cause"))
        return is_word or not forms.isdisjoint(self._known)
