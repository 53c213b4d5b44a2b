"""A classifier of the user's own as the cheapest judge: it rules on what groundedness leaves open.

`classifier` runs the ONNX model, `probe` finds out how its output is read and refuses one that does not
separate supported answers from others, `evaluator` rules on the sentences of an answer.
"""

from spanproof.evaluators.local_model.classifier import Classifier
from spanproof.evaluators.local_model.evaluator import LocalModel
from spanproof.evaluators.local_model.probe import Probed, evaluate_model

__all__ = ["Classifier", "LocalModel", "Probed", "evaluate_model"]
