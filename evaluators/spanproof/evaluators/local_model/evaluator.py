"""The local model as a judge: it rules on the open sentences of an answer, before any model that costs.

In: the layer's outcome, whose evidence marks the sentences. Out: the outcome with a ruling on each sentence
that the model is sure of; the others stay open for the next judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spanproof.evaluators.evaluator import Cost, Evaluator, Needs, require_replay_if_silent
from spanproof.evaluators.judge.excerpts import extract_words
from spanproof.evaluators.judge.sentence_judge import find_layer_judgement
from spanproof.evaluators.judge.sentences import (
    AnswerSentence,
    JudgeName,
    SentenceRuling,
    apply_rulings,
    list_asserting_sentences,
    list_open_sentences,
)
from spanproof.evaluators.judge_bounds import JudgeBounds
from spanproof.evaluators.local_model.classifier import Classifier, Head, Prediction, TextPair
from spanproof.evaluators.local_model.probe import Probed, probe_model
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.returned import collect_outputs
from spanproof.evaluators.scores import is_open
from spanproof.trace import Judgement, Label, Layer, Ruling, Run, Scored

MAX_WINDOWS: Final = 8
"""Pieces of the outputs that the model reads for a sentence, those first that share most words with it."""


class LocalModel(Evaluator):
    """A classifier of the user's that says whether outputs support a sentence.

    Args:
        directory: of the model; see `Classifier`.
        accept: from this probability on a sentence is true.
        reject: up to this one it is false.
        max_tokens: most tokens that are read at once; fewer where the model reads fewer.
        bounds: whether it may fail an answer.
        verify_passed: whether it rules on the sentences of answers that passed, too.

    Raises:
        EvaluatorError: a file or a package is missing, or the probe refuses the model.
    """

    version = "2"
    layer = Layer.GROUNDEDNESS
    cost = Cost.SANDBOX

    def __init__(
        self,
        directory: Path,
        *,
        accept: float = 0.9,
        reject: float = 0.05,
        max_tokens: int = 4096,
        bounds: JudgeBounds | None = None,
        verify_passed: bool = False,
    ) -> None:
        self.name = f"local-model:{directory.name}"
        self.accept = accept
        self.reject = reject
        self._verify_passed = verify_passed
        self._title = f"the local model {directory.name}"
        self._bounds = bounds or JudgeBounds()
        self._classifier = Classifier(directory, max_tokens)
        self.probed: Probed = probe_model(self._classifier)
        self._classifier.max_tokens = self.probed.max_tokens

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Rule on the open sentences that the model is sure of."""
        own = find_layer_judgement(so_far)
        answer = evidence.run.answer
        outputs = [output.text for output in collect_outputs(evidence).outputs]
        if own is None or answer is None or not outputs or not isinstance(own.outcome, Scored):
            return []
        if is_open(own):
            sentences = list_open_sentences(answer.text, own.outcome)
        elif own.outcome.label is Label.PASS and self._verify_passed:
            sentences = list_asserting_sentences(answer.text, own.outcome)
        else:
            return []
        support = self.compute_support(evidence.run.task or "", "\n".join(outputs), answer.text, sentences)
        rulings = [self.rule_on_support(probability) for probability in support]
        if all(ruling.ruling is Ruling.UNKNOWN for ruling in rulings):
            return []
        may_fail = self._bounds.may_fail(self.name, self.layer)
        judge = JudgeName(self.name, self._title)
        outcome = apply_rulings(own.outcome, sentences, rulings, judge, may_fail=may_fail)
        return [Judgement(self.layer, own.name, own.span_id, outcome, self.name, self.version)]

    def needs(self, run: Run) -> Needs:
        """Return the replay where the record is silent: the model is shown what executions returned."""
        return require_replay_if_silent(run)

    def rule_on_support(self, support: float) -> SentenceRuling:
        """Return the ruling on a sentence that is supported with this probability."""
        reason = f"it gives {support:.2f} that the outputs support it"
        if support >= self.accept:
            return SentenceRuling(Ruling.TRUE, reason)
        return SentenceRuling(Ruling.FALSE if support <= self.reject else Ruling.UNKNOWN, reason)

    def compute_support(
        self, task: str, source: str, answer: str, sentences: Sequence[AnswerSentence]
    ) -> list[float]:
        """Return the calibrated probability that a source supports each sentence of an answer."""
        room = self._classifier.max_tokens // 2
        is_read_whole = self.probed.head is Head.TOKENS and self._classifier.count_tokens(answer) <= room
        if is_read_whole:
            # A model over tokens reads a sentence with those around it, to which its pronouns refer.
            raw = self._read_tokens(TextPair(source, answer, task), sentences)
        else:
            raw = [self._read_best(TextPair(source, sentence.text, task)) for sentence in sentences]
        return [self.probed.calibration.calibrate(probability) for probability in raw]

    def _read_best(self, pair: TextPair) -> float:
        """Return the support in the window of the source that supports a sentence most."""
        predictions = self._classifier.predict(self._select_windows(pair))
        index = self.probed.supported
        return max(float(prediction.rows[:, index].min()) for prediction in predictions)

    def _read_tokens(self, pair: TextPair, sentences: Sequence[AnswerSentence]) -> list[float]:
        """Return each sentence's least supported token, of each token the window that supports it most."""
        predictions = self._classifier.predict(self._select_windows(pair))
        best: dict[tuple[int, int], float] = {}
        for prediction in predictions:
            for offsets, support in self._iter_tokens(prediction):
                best[offsets] = max(support, best.get(offsets, 0.0))
        found = []
        for sentence in sentences:
            own = [
                support
                for (start, end), support in best.items()
                if start < sentence.end and sentence.start < end
            ]
            found.append(min(own, default=0.5))
        return found

    def _iter_tokens(self, prediction: Prediction) -> list[tuple[tuple[int, int], float]]:
        support = prediction.rows[:, self.probed.supported]
        return [
            (offsets, float(probability))
            for offsets, probability in zip(prediction.places, support, strict=True)
        ]

    def _select_windows(self, pair: TextPair) -> list[TextPair]:
        windows = list(self._classifier.iter_windows(pair))
        words = extract_words(pair.answer)
        windows.sort(key=lambda window: len(words & extract_words(window.source)), reverse=True)
        return windows[:MAX_WINDOWS]
