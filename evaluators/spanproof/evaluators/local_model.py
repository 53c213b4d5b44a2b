"""A local ONNX model for answers that groundedness leaves open: between its rules and the judge.

In: a directory of the user's with `model.onnx` and `tokenizer.json`. Out: for an answer that stayed open, a
verdict under the model's own name where it is sure, else nothing: the answer stays open. Nothing is
downloaded.
Two heads are read: of a pair (MiniCheck, HHEM: one row of logits) the last class is "supported"; of tokens
(LettuceDetect: one row for each token) the last class is "not supported".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from spanproof.evaluators.evaluator import Cost, Evaluator, EvaluatorError, Needs, require_replay_if_silent
from spanproof.evaluators.layers.groundedness import outputs_of
from spanproof.evaluators.model import RunEvidence
from spanproof.trace import Evidence, Judgement, Label, Layer, Run, Scored, State, get_state

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
_MISSING: Final = "{} is not installed; `pip install spanproof[groundedness-model]` gets it"


class LocalModel(Evaluator):
    """A classifier of the user's that says whether outputs support an answer.

    Attributes:
        accept, reject: at or above the one the answer passes, at or below the other it fails.
    """

    version = "1"
    layer = Layer.GROUNDEDNESS
    cost = Cost.SANDBOX

    def __init__(
        self, directory: Path, *, accept: float = 0.9, reject: float = 0.05, max_tokens: int = 4096
    ) -> None:
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (directory / name).is_file():
                raise EvaluatorError(
                    f"evaluation.groundedness_model.path: {directory} has no {name}; "
                    f"export the model to ONNX, with {MODEL_FILE} and {TOKENIZER_FILE} in one directory"
                )
        self.name = f"local-model:{directory.name}"
        self.accept = accept
        self.reject = reject
        self._directory = directory
        self._max_tokens = max_tokens

    def judge(self, evidence: RunEvidence, so_far: Sequence[Judgement]) -> list[Judgement]:
        """Settle the layer's own score where it is open and the model is sure."""
        answer = evidence.run.answer
        open_ones = [
            each
            for each in so_far
            if each.layer is self.layer
            and each.name == self.layer.value
            and get_state(each.outcome) is State.OPEN
        ]
        outputs = outputs_of(evidence)
        if not open_ones or not outputs or answer is None:
            return []
        supported = self.probability("\n".join([evidence.run.task or "", *outputs]).strip(), answer.text)
        if self.reject < supported < self.accept:
            return []
        label = Label.PASS if supported >= self.accept else Label.FAIL
        said = f"the model {self._directory.name} gives {supported:.2f} that the outputs support the answer"
        outcome = Scored(supported, label, said, (Evidence(said, evidence.run.span_id),))
        return [
            Judgement(self.layer, each.name, each.span_id, outcome, self.name, self.version)
            for each in open_ones
        ]

    def needs(self, run: Run) -> Needs:
        """Return the replay where the record is silent: the model is shown what executions returned."""
        return require_replay_if_silent(run)

    def probability(self, source: str, answer: str) -> float:
        """Return the probability that a source supports an answer."""
        encoded = self._tokenizer.encode(source, answer)
        columns = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        numpy = _import_module("numpy")
        inputs: Mapping[str, Any] = {
            each.name: numpy.array([columns[each.name]], dtype=numpy.int64)
            for each in self._session.get_inputs()
        }
        logits = self._session.run(None, inputs)[0][0].astype("float64")
        odds = numpy.exp(logits - logits.max(axis=-1, keepdims=True))
        last = (odds / odds.sum(axis=-1, keepdims=True))[..., -1]
        if last.ndim == 0:
            return float(last)
        # Of tokens, the answer's own count: it is as well supported as its worst.
        of_answer = [place for place, sequence in enumerate(encoded.sequence_ids) if sequence == 1]
        return 1.0 - float(last[of_answer].max()) if of_answer else 0.0

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = _import_module("tokenizers").Tokenizer.from_file(str(self._directory / TOKENIZER_FILE))
        tokenizer.enable_truncation(self._max_tokens, strategy="only_first", direction="left")
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        runtime = _import_module("onnxruntime")
        return runtime.InferenceSession(str(self._directory / MODEL_FILE), providers=["CPUExecutionProvider"])


def _import_module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as missing:
        raise EvaluatorError(_MISSING.format(name)) from missing
