"""An ONNX classifier over a source and an answer: probabilities of its classes, whatever head it has.

In: a directory of the user's with `model.onnx`, `tokenizer.json` and, where the model's card has a prompt,
`template.txt`. Out: for each pair of texts the probabilities of the classes, one row for the pair, or one for
each token of the answer. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from spanproof.evaluators.evaluator import EvaluatorError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
TEMPLATE_FILE: Final = "template.txt"

_MISSING: Final = "{} is not installed; `pip install spanproof[groundedness-model]` gets it"
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_PAD_TOKENS: Final = ("[PAD]", "<pad>", "<|padding|>", "<|pad|>")
# Pairs run at once; more gain little on a processor and take memory.
_BATCH: Final = 8


class Head(StrEnum):
    """What the model classifies."""

    PAIR = "pair"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class TextPair:
    """What the model reads: the source behind the task, and an answer or a sentence of one."""

    source: str
    answer: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Probabilities of the classes.

    Attributes:
        rows: one for the pair, or one for each token of the answer; each adds up to 1.
        places: the characters of the answer that each token row is of; empty for a pair.
    """

    rows: NDArray[Any]
    places: tuple[tuple[int, int], ...] = ()


class Classifier:
    """Runs the model.

    Args:
        directory: where the model's files are.
        max_tokens: most tokens of a pair; the source is cut behind them.

    Raises:
        EvaluatorError: a file or a package is missing, or the model has other inputs or outputs.
    """

    def __init__(self, directory: Path, max_tokens: int = 4096) -> None:
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (directory / name).is_file():
                raise EvaluatorError(
                    f"evaluation.groundedness_model.path: {directory} has no {name}; "
                    f"export the model to ONNX, with {MODEL_FILE} and {TOKENIZER_FILE} in one directory"
                )
        self.directory = directory
        self.max_tokens = max_tokens
        self._numpy = _import_module("numpy")
        self._template = _read_template(directory / TEMPLATE_FILE)
        self._tokenizer = _load_tokenizer(directory / TOKENIZER_FILE)
        named = self._tokenizer.truncation
        if named:
            self.max_tokens = min(self.max_tokens, int(named["max_length"]))
        # A file may pad or cut to a length of its own, which would hide what is long.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._session = _load_session(directory / MODEL_FILE)
        self._inputs = [tensor.name for tensor in self._session.get_inputs()]
        if unknown := sorted(set(self._inputs) - _INPUTS):
            raise EvaluatorError(
                f"{directory / MODEL_FILE} wants the input {unknown[0]!r}; export an encoder with a"
                f" classification head, whose inputs are {', '.join(sorted(_INPUTS))}"
            )
        shape = self._session.get_inputs()[0].shape
        is_single = len(shape) > 0 and shape[0] == 1
        # Without a mask, what pads the shorter pairs of a batch would be read as text.
        self._batch = _BATCH if "attention_mask" in self._inputs and not is_single else 1
        self._fixed_length = shape[1] if len(shape) > 1 and isinstance(shape[1], int) else None
        if self._fixed_length is not None:
            self.max_tokens = min(self.max_tokens, self._fixed_length)
        self._output = _choose_output([output.name for output in self._session.get_outputs()])

    def predict(self, pairs: Sequence[TextPair]) -> list[Prediction]:
        """Return the probabilities of each pair.

        Raises:
            EvaluatorError: the model cannot be run, or its output is no classification.
        """
        found: list[Prediction] = []
        for first in range(0, len(pairs), self._batch):
            found += self._predict_batch(pairs[first : first + self._batch])
        return found

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has, without those that mark its ends."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def iter_windows(self, pair: TextPair) -> Iterator[TextPair]:
        """Yield the pair with as much of its source as fits at once, until all of it was read.

        Neighbours share an eighth, so that what decides is not cut in two.
        """
        around = self._fill_template(TextPair("", pair.answer, pair.task))
        taken = sum(self.count_tokens(text) for text in around)
        room = max(32, self.max_tokens - taken - 8)
        offsets = self._tokenizer.encode(pair.source, add_special_tokens=False).offsets
        if len(offsets) <= room:
            yield pair
            return
        for first in range(0, len(offsets), room - room // 8):
            piece = offsets[first : first + room]
            yield TextPair(pair.source[piece[0][0] : piece[-1][1]], pair.answer, pair.task)
            if first + room >= len(offsets):
                return

    def can_read(self, tokens: int) -> bool:
        """Whether the model reads an input of so many tokens."""
        ids = [1] * tokens
        try:
            self._run_session({"input_ids": [ids], "attention_mask": [ids], "token_type_ids": [[0] * tokens]})
        except EvaluatorError:
            return False
        return True

    def _fill_template(self, pair: TextPair) -> tuple[str, ...]:
        """Return one text, or two for models that read a pair."""
        template = self._template
        if template is None:
            return "\n".join(filter(None, (pair.task, pair.source))), pair.answer
        filled = template.replace("{task}", pair.task).replace("{source}", pair.source)
        if "{answer}" in template:
            return (filled.replace("{answer}", pair.answer),)
        return filled, pair.answer

    def _predict_batch(self, pairs: Sequence[TextPair]) -> list[Prediction]:
        encoded = [self._encode(pair) for pair in pairs]
        length = self._fixed_length or max(len(encoding.ids) for encoding in encoded)
        pad = self._find_pad_id()
        columns = {
            "input_ids": [_pad(encoding.ids, length, pad) for encoding in encoded],
            "attention_mask": [_pad(encoding.attention_mask, length, 0) for encoding in encoded],
            "token_type_ids": [_pad(encoding.type_ids, length, 0) for encoding in encoded],
        }
        probabilities = self._to_probabilities(self._run_session(columns), len(pairs))
        return [
            self._build_prediction(row, encoding, pair)
            for row, encoding, pair in zip(probabilities, encoded, pairs, strict=True)
        ]

    def _encode(self, pair: TextPair) -> Any:
        texts = self._fill_template(pair)
        # The end of a prompt holds the answer, so its beginning is cut; of a pair it is the source.
        strategy = "only_first" if len(texts) == 2 else "longest_first"
        self._tokenizer.enable_truncation(self.max_tokens, strategy=strategy, direction="left")
        try:
            return self._tokenizer.encode(*texts)
        except Exception as failure:
            # The tokenizer raises a plain Exception where the answer alone is too long.
            raise EvaluatorError(f"{self.directory.name}: the text cannot be encoded: {failure}") from failure

    def _run_session(self, columns: Mapping[str, Any]) -> NDArray[Any]:
        inputs = {name: self._numpy.array(columns[name], dtype=self._numpy.int64) for name in self._inputs}
        try:
            output: NDArray[Any] = self._session.run([self._output], inputs)[0]
        except Exception as failure:
            # The runtime's exceptions have no public common class.
            raise EvaluatorError(f"{self.directory / MODEL_FILE} cannot be run: {failure}") from failure
        return output.astype("float64")

    def _to_probabilities(self, logits: NDArray[Any], count: int) -> NDArray[Any]:
        """Return probabilities for logits of one, two or three classes; one logit counts as two classes."""
        numpy = self._numpy
        if logits.ndim == 1:
            logits = logits[:, None]
        if logits.ndim not in (2, 3) or len(logits) != count or not numpy.isfinite(logits).all():
            shape = list(logits.shape)
            raise EvaluatorError(
                f"{self.directory / MODEL_FILE} gives {self._output!r} of shape {shape}, which is no"
                " classification of pairs or tokens; export it with its classification head"
            )
        if logits.shape[-1] == 1:
            logits = numpy.concatenate([numpy.zeros_like(logits), logits], axis=-1)
        odds = numpy.exp(logits - logits.max(axis=-1, keepdims=True))
        probabilities: NDArray[Any] = odds / odds.sum(axis=-1, keepdims=True)
        return probabilities

    def _build_prediction(self, row: NDArray[Any], encoded: Any, pair: TextPair) -> Prediction:
        if row.ndim == 1:
            return Prediction(row[None, :])
        start = 0
        if self._template is not None and "{answer}" in self._template:
            before, _, _ = self._template.partition("{answer}")
            start = len(before.replace("{task}", pair.task).replace("{source}", pair.source))
        places = [
            (token, (offsets[0] - start, offsets[1] - start))
            for token, (offsets, sequence) in enumerate(
                zip(encoded.offsets, encoded.sequence_ids, strict=True)
            )
            if offsets[0] < offsets[1] and self._is_of_answer(offsets, sequence, start, pair)
        ]
        if not places:
            raise EvaluatorError(f"{self.directory.name}: no token of the answer is left to classify")
        return Prediction(row[[token for token, _ in places]], tuple(offsets for _, offsets in places))

    def _is_of_answer(
        self, offsets: tuple[int, int], sequence: int | None, start: int, pair: TextPair
    ) -> bool:
        if self._template is not None and "{answer}" in self._template:
            return sequence == 0 and start <= offsets[0] and offsets[1] <= start + len(pair.answer)
        return sequence == 1

    def _find_pad_id(self) -> int:
        ids = (self._tokenizer.token_to_id(token) for token in _PAD_TOKENS)
        return next((token_id for token_id in ids if token_id is not None), 0)


def _pad(values: Sequence[int], length: int, filler: int) -> list[int]:
    return [*values, *[filler] * (length - len(values))]


def _choose_output(names: Sequence[str]) -> str:
    """Return the output with the logits."""
    return "logits" if "logits" in names else names[0]


def _read_template(file: Path) -> str | None:
    """Return the prompt of the model's card; None where the model reads plain pairs."""
    try:
        template = file.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise EvaluatorError(f"{file} cannot be read: {problem}") from problem
    if "{source}" not in template:
        raise EvaluatorError(f"{file} has no {{source}}: where the outputs belong; {{answer}} is optional")
    return template.removesuffix("\n")


def _load_tokenizer(file: Path) -> Any:
    tokenizers = _import_module("tokenizers")
    try:
        return tokenizers.Tokenizer.from_file(str(file))
    except Exception as failure:
        # The tokenizer raises a plain Exception.
        raise EvaluatorError(f"{file} is no tokenizer: {failure}") from failure


def _load_session(file: Path) -> Any:
    runtime = _import_module("onnxruntime")
    try:
        return runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except Exception as failure:
        # The runtime's exceptions have no public common class.
        raise EvaluatorError(f"{file} is no model that can be run: {failure}") from failure


def _import_module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as missing:
        raise EvaluatorError(_MISSING.format(name)) from missing
