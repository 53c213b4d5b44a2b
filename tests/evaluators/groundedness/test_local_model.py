"""A local ONNX model of the user's settles what groundedness leaves open, under its own name."""

from __future__ import annotations

import json

import numpy
import onnx
import pytest
import tokenizers

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.evaluators.local_model import LocalModel
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Label,
    Layer,
    Payload,
    Span,
    SpanKind,
    State,
    ToolCall,
    get_state,
    trace_of,
)

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
AGENT = "a" * 16
WORDS = ("[UNK]", "the", "harbour", "is", "calm", "busy")
SUPPORTED, WRONG = 4.0, -4.0


def write_tokenizer(directory):
    words = tokenizers.models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    (directory / "tokenizer.json").write_text(tokenizer.to_str())


def write_model(directory, logits, per_token):
    """Write a model whose logits are looked up by token; of a pair the last token's are given."""
    helper = onnx.helper
    table = onnx.numpy_helper.from_array(numpy.array(logits, dtype=numpy.float32), "table")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up"], axis=0)]
    if per_token:
        nodes.append(helper.make_node("Identity", ["looked_up"], ["logits"]))
        shape = [1, None, 2]
    else:
        last = onnx.numpy_helper.from_array(numpy.array(-1, dtype=numpy.int64), "last")
        nodes.append(helper.make_node("Gather", ["looked_up", "last"], ["logits"], axis=1))
        shape = [1, 2]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, [1, None])],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, shape)],
        [table] if per_token else [table, last],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(directory / "model.onnx"))


def groundedness_of(answer, directory):
    """Return the layer's own score of a run whose tool returned prose."""
    spans = [
        Span(TRACE_ID, AGENT, None, "agent", SpanKind.AGENT, 0, 900, output=Payload(answer, answer)),
        Span(
            TRACE_ID, "b" * 16, AGENT, "look", SpanKind.TOOL, 10, 20,
            tool=ToolCall("look", {}), output=Payload("calm seas at the harbour", "calm seas at the harbour"),
        ),
    ]  # fmt: skip
    engine = Engine(
        pipeline=Pipeline(), sandbox=None, layers=[Layer.GROUNDEDNESS], evaluators=[LocalModel(directory)]
    )
    scores = engine.evaluate(trace_of(spans)).runs[0].scores
    return next(each for each in scores if each.name == "groundedness")


@pytest.mark.parametrize("per_token", [False, True], ids=["pair", "tokens"])
def test_the_model_settles_what_is_open_and_says_its_name(tmp_path, per_token):
    write_tokenizer(tmp_path)
    right, wrong = ([SUPPORTED, WRONG], [WRONG, SUPPORTED]) if per_token else ([WRONG, SUPPORTED], [SUPPORTED, WRONG])  # fmt: skip  # noqa: E501
    write_model(tmp_path, [wrong if word == "busy" else right for word in WORDS], per_token)
    passed, failed = groundedness_of("the harbour is calm", tmp_path), groundedness_of("the harbour is busy", tmp_path)  # fmt: skip  # noqa: E501
    assert (passed.outcome.label, failed.outcome.label) == (Label.PASS, Label.FAIL)
    assert passed.evaluator == f"local-model:{tmp_path.name}"


def test_what_the_model_is_not_sure_of_stays_open(tmp_path):
    write_tokenizer(tmp_path)
    write_model(tmp_path, [[0.0, 0.5]] * len(WORDS), per_token=False)
    score = groundedness_of("the harbour is calm", tmp_path)
    assert get_state(score.outcome) is State.OPEN
    assert score.evaluator != f"local-model:{tmp_path.name}"


def test_a_directory_without_a_model_is_refused(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps({}))
    with pytest.raises(EvaluatorError, match=r"has no model\.onnx; export the model to ONNX"):
        LocalModel(tmp_path)
