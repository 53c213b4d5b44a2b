"""The probe of a local model: 60 labelled pairs that say how its output is read, and whether it is of use.

In: a classifier. Out: its head, the class that means "supported", the length that it reads and the
calibration of its probabilities; or an error that says what to do, where it does not separate supported
answers from others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import yaml

from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.evaluators.local_model.classifier import Classifier, Head, Prediction, TextPair

LEAST_AREA: Final = 0.75
"""Least area under the ROC curve. By chance 60 pairs give .50 ± .075, so .75 is no accident."""

_LENGTHS: Final = (8192, 4096, 2048, 1024, 512, 384, 256, 128)
_MAX_LOGIT: Final = 12.0
_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt scaling: the probability is the logistic function of `slope * logit + offset`."""

    slope: float
    offset: float

    def compute_probability(self, probability: float) -> float:
        """Return the probability that the answer is supported."""
        return _compute_logistic(self.slope * _compute_logit(probability) + self.offset)


@dataclass(frozen=True, slots=True)
class Probed:
    """What the probe found.

    Attributes:
        classes: how many the head has; one logit counts as two.
        supported: index of the class that means "supported".
        area: under the ROC curve, on the pairs of the probe.
        max_tokens: the longest input that the model reads.
    """

    head: Head
    classes: int
    supported: int
    area: float
    max_tokens: int
    calibration: Calibration


@cache
def load_probe_pairs() -> tuple[tuple[TextPair, bool], ...]:
    """Return the shipped pairs, each with whether its source supports its answer."""
    text = (resources.files(__package__) / "probe_pairs.yaml").read_text("utf-8")
    found: list[tuple[TextPair, bool]] = []
    for entry in yaml.safe_load(text):
        found.append((TextPair(entry["source"], entry["supported"]), True))
        found.append((TextPair(entry["source"], entry["unsupported"]), False))
    return tuple(found)


def evaluate_model(classifier: Classifier) -> Probed:
    """Return how the model is read.

    Raises:
        EvaluatorError: it cannot be run, or does not separate the pairs; the message says what to do.
    """
    pairs = load_probe_pairs()
    labels = [is_supported for _, is_supported in pairs]
    predictions = classifier.compute_predictions([pair for pair, _ in pairs])
    classes = predictions[0].rows.shape[-1]
    # Of two classes the areas add up to 1, so the last class comes first among equals.
    supported = max(
        reversed(range(classes)),
        key=lambda index: compute_area(read_support(predictions, index), labels),
    )
    support = read_support(predictions, supported)
    area = compute_area(support, labels)
    if area < LEAST_AREA:
        raise EvaluatorError(_describe_refusal(classifier, area))
    head = Head.TOKENS if predictions[0].places else Head.PAIR
    calibration = compute_calibration(support, labels)
    return Probed(head, classes, supported, area, _compute_max_tokens(classifier), calibration)


def read_support(predictions: Sequence[Prediction], supported: int) -> list[float]:
    """Return the probability of the class "supported"; of tokens the lowest, as one wrong word is wrong."""
    return [float(prediction.rows[:, supported].min()) for prediction in predictions]


def compute_area(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the area under the ROC curve: how often a positive has a higher score than a negative."""
    positive = [score for score, label in zip(scores, labels, strict=True) if label]
    negative = [score for score, label in zip(scores, labels, strict=True) if not label]
    won = sum((one > other) + (one == other) / 2 for one in positive for other in negative)
    return won / (len(positive) * len(negative))


def compute_calibration(probabilities: Sequence[float], labels: Sequence[bool]) -> Calibration:
    """Return the Platt scaling of probabilities, fitted by Newton's method.

    The targets are Platt's (Advances in Large Margin Classifiers, 1999): (n + 1) / (n + 2) for n positives,
    1 / (n + 2) for n negatives, so that a model which separates all pairs is not taken to be certain.
    """
    logits = [_compute_logit(probability) for probability in probabilities]
    positives = sum(labels)
    high = (positives + 1) / (positives + 2)
    low = 1 / (len(labels) - positives + 2)
    targets = [high if label else low for label in labels]
    slope, offset = 0.0, 0.0
    loss = _compute_loss(logits, targets, slope, offset)
    for _ in range(_STEPS):
        step = _compute_newton_step(logits, targets, slope, offset)
        size = 1.0
        # Newton's method overshoots where the logits are far apart: the step is halved until it helps.
        while size > 1e-6:
            tried = slope - size * step[0], offset - size * step[1]
            tried_loss = _compute_loss(logits, targets, *tried)
            if tried_loss < loss:
                break
            size /= 2
        else:
            break
        (slope, offset), loss = tried, tried_loss
    return Calibration(slope, offset)


def _compute_newton_step(
    logits: Sequence[float], targets: Sequence[float], slope: float, offset: float
) -> tuple[float, float]:
    """Return the inverse of the Hessian times the gradient of the cross entropy."""
    fitted = [_compute_logistic(slope * logit + offset) for logit in logits]
    gradient_slope = sum((p - t) * x for p, t, x in zip(fitted, targets, logits, strict=True))
    gradient_offset = sum(p - t for p, t in zip(fitted, targets, strict=True))
    # A little is added to the diagonal, so that it can be inverted where all logits are alike.
    ss = sum(p * (1 - p) * x * x for p, x in zip(fitted, logits, strict=True)) + 1e-9
    so = sum(p * (1 - p) * x for p, x in zip(fitted, logits, strict=True))
    oo = sum(p * (1 - p) for p in fitted) + 1e-9
    determinant = ss * oo - so * so
    return (
        (oo * gradient_slope - so * gradient_offset) / determinant,
        (ss * gradient_offset - so * gradient_slope) / determinant,
    )


def _compute_loss(logits: Sequence[float], targets: Sequence[float], slope: float, offset: float) -> float:
    """Return the cross entropy."""
    fitted = [_compute_logistic(slope * logit + offset) for logit in logits]
    return -sum(
        t * math.log(max(p, 1e-12)) + (1 - t) * math.log(max(1 - p, 1e-12))
        for p, t in zip(fitted, targets, strict=True)
    )


def _compute_logit(probability: float) -> float:
    least = _compute_logistic(-_MAX_LOGIT)
    bounded = min(max(probability, least), 1 - least)
    return math.log(bounded / (1 - bounded))


def _compute_logistic(logit: float) -> float:
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    return math.exp(logit) / (1 + math.exp(logit))


def _compute_max_tokens(classifier: Classifier) -> int:
    """Return the longest input that the model reads; models with learned positions fail behind theirs."""
    wanted = classifier.max_tokens
    readable = 0
    for tokens in sorted({*(length for length in _LENGTHS if length < wanted), wanted}):
        if not classifier.can_read(tokens):
            break
        readable = tokens
    if not readable:
        raise EvaluatorError(
            f"{classifier.directory.name} reads no input of {_LENGTHS[-1]} tokens; export it with a sequence"
            " axis of any length"
        )
    return readable


def _describe_refusal(classifier: Classifier, area: float) -> str:
    return (
        f"{classifier.directory.name} does not separate supported answers from others: on the probe's"
        f" {len(load_probe_pairs())} pairs the area under the ROC curve is {area:.2f}, and {LEAST_AREA} is"
        " needed (chance is 0.5). Check that it is trained to find hallucinations or contradictions and is no"
        " base model, that tokenizer.json is its own, and that template.txt has the prompt of its card where"
        " there is one; see docs/judge.md"
    )
