"""A local ONNX model rules on what groundedness leaves open, once the probe found how it is read.

The models are made here: a tokenizer takes each text as one token, and a table gives its logits. So a model
says of each probe pair, and of each answer of a test, what the test wants, whatever head it has.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest
import tokenizers

from spanproof.cli.app import run
from spanproof.config.engine import build_evaluators
from spanproof.config.model import load_config
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.evaluators.judge.excerpts import list_words
from spanproof.evaluators.judge.sentences import AnswerSentence, find_ruling
from spanproof.evaluators.judge_bounds import JudgeBounds, MeasuredFails, write_bounds
from spanproof.evaluators.local_model import Classifier, LocalModel, evaluate_model
from spanproof.evaluators.local_model.classifier import Head, TextPair
from spanproof.evaluators.local_model.probe import compute_area, compute_calibration, load_probe_pairs
from spanproof.trace import (
    OPEN_VALUE,
    Cause,
    Evidence,
    Judgement,
    Label,
    Layer,
    Payload,
    Ruling,
    Scored,
    SentenceMark,
    SentenceState,
    State,
    get_state,
)

SURE = 6.0
CALM, BUSY, MAYBE = "The harbour is calm.", "The harbour is busy.", "The harbour is old."
OF_TESTS = {CALM: True, BUSY: False}


def write_tokenizer(directory, texts):
    words = {"[UNK]": 0, "[PAD]": 1} | {text: number for number, text in enumerate(texts, 2)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split("|", "removed")
    (directory / "tokenizer.json").write_text(tokenizer.to_str())


def write_model(directory, table, head, *, positions=None, names=("input_ids",), squeeze=False):
    """Write a model that looks its logits up by token: of a pair the last token's are given."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    classes = len(table[0])
    values = [numpy_helper.from_array(numpy.array(table, dtype=numpy.float32), "table")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["by_token"], axis=0)]
    last = "by_token"
    if positions is not None:
        # As of a model with learned positions: behind the last one there is nothing to look up.
        values += [
            numpy_helper.from_array(numpy.zeros((positions, classes), dtype=numpy.float32), "positions"),
            numpy_helper.from_array(numpy.array(1, dtype=numpy.int64), "one"),
            numpy_helper.from_array(numpy.array(0, dtype=numpy.int64), "zero"),
        ]
        nodes += [
            helper.make_node("Shape", ["input_ids"], ["shape"]),
            helper.make_node("Gather", ["shape", "one"], ["length"], axis=0),
            helper.make_node("Range", ["zero", "length", "one"], ["places"]),
            helper.make_node("Gather", ["positions", "places"], ["by_place"], axis=0),
            helper.make_node("Add", ["by_token", "by_place"], ["placed"]),
        ]
        last = "placed"
    if head is Head.TOKENS:
        nodes.append(helper.make_node("Identity", [last], ["logits"]))
        shape = ["batch", None, classes]
    else:
        values.append(numpy_helper.from_array(numpy.array(-1, dtype=numpy.int64), "end"))
        nodes.append(helper.make_node("Gather", [last, "end"], ["of_pair"], axis=1))
        if squeeze:
            values.append(numpy_helper.from_array(numpy.array([1], dtype=numpy.int64), "axis"))
            nodes.append(helper.make_node("Squeeze", ["of_pair", "axis"], ["logits"]))
        else:
            nodes.append(helper.make_node("Identity", ["of_pair"], ["logits"]))
        shape = ["batch"] if squeeze else ["batch", classes]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", None]) for name in names],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, shape)],
        values,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(directory / "model.onnx"))


def write(directory, head=Head.PAIR, supported=(-SURE, SURE), other=None, template=None, known=OF_TESTS, **options):  # fmt: skip  # noqa: E501
    """Write a model that gives supported answers these logits and the others those, and to the rest none."""
    other = tuple(reversed(supported)) if other is None else other
    labels = {pair.answer: label for pair, label in load_probe_pairs()} | known
    if template is not None:
        sources = [(pair.source, pair.answer) for pair, _ in load_probe_pairs()]
        fill = lambda source, answer: template.replace("{source}", source).replace("{answer}", answer)  # noqa: E731
        labels = {fill(source, answer).replace("{task}", ""): labels[answer] for source, answer in sources}
        (directory / "template.txt").write_text(template)
    write_tokenizer(directory, list(labels))
    rows = [(0.0,) * len(supported)] * 2 + [supported if label else other for label in labels.values()]
    write_model(directory, rows, head, **options)
    return directory


def test_the_probe_has_as_many_supported_pairs_as_others_and_no_giveaway_of_form():
    pairs = load_probe_pairs()
    labels = [label for _, label in pairs]
    assert (len(pairs), sum(labels)) == (60, 30)
    assert len({pair.answer for pair, _ in pairs}) == 60
    shared = [
        len(list_words(pair.answer) & list_words(pair.source)) / len(list_words(pair.answer))
        for pair, _ in pairs
    ]
    assert compute_area(shared, labels) < 0.65
    assert 0.4 < compute_area([len(pair.answer) for pair, _ in pairs], labels) < 0.6


@pytest.mark.parametrize("head", list(Head))
@pytest.mark.parametrize(
    ("supported", "other", "classes", "index"),
    [
        ((-SURE, SURE), (SURE, -SURE), 2, 1),
        ((SURE, -SURE), (-SURE, SURE), 2, 0),
        ((SURE,), (-SURE,), 2, 1),
        ((-SURE,), (SURE,), 2, 0),
        ((0.0, 1.0, SURE), (SURE, 1.0, 0.0), 3, 2),
        ((SURE, 1.0, 0.0), (0.0, SURE, 1.0), 3, 0),
        ((0.0, SURE, 1.0), (SURE, 0.0, 1.0), 3, 1),
    ],
    ids=["two", "two turned", "one", "one turned", "three", "three turned", "three, in the middle"],
)
def test_the_probe_finds_head_and_class_order(tmp_path, head, supported, other, classes, index):
    probed = evaluate_model(Classifier(write(tmp_path, head, supported, other)))
    assert (probed.head, probed.classes, probed.supported) == (head, classes, index)
    assert probed.area == 1.0


def test_one_logit_without_an_axis_of_classes_is_read(tmp_path):
    # As of cross-encoders: Squeeze leaves [batch].
    probed = evaluate_model(Classifier(write(tmp_path, supported=(SURE,), other=(-SURE,), squeeze=True)))
    assert (probed.head, probed.classes) == (Head.PAIR, 2)


@pytest.mark.parametrize("positions", [128, 512, 1024, None])
def test_the_probe_finds_the_length_that_the_model_reads(tmp_path, positions):
    classifier = Classifier(write(tmp_path, positions=positions), max_tokens=2048)
    assert evaluate_model(classifier).max_tokens == (positions or 2048)


def test_a_length_that_the_tokenizer_names_is_not_exceeded(tmp_path):
    write(tmp_path)
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    (tmp_path / "tokenizer.json").write_text(tokenizer.to_str())
    assert evaluate_model(Classifier(tmp_path, max_tokens=2048)).max_tokens == 256


def test_the_probe_calibrates_probabilities_that_are_too_sure_or_turned_low():
    labels = [True, False] * 30
    # A model that is right in 4 of 5 and always says .999 or .001.
    said = [0.999 if (number % 5 == 0) != label else 0.001 for number, label in enumerate(labels)]
    calibration = compute_calibration(said, labels)
    assert 0.7 < calibration.compute_probability(0.999) < 0.9
    # A model that separates all, at .3: the middle of its probabilities is one half.
    low = compute_calibration([0.35 if label else 0.25 for label in labels], labels)
    assert low.compute_probability(0.35) > 0.9
    assert low.compute_probability(0.25) < 0.1


@pytest.mark.parametrize("other", [(-SURE, SURE), (SURE / 2, SURE / 2)], ids=["all alike", "a third"])
def test_a_model_that_does_not_separate_the_pairs_is_refused_with_what_to_do(tmp_path, other):
    # Of the second, a third of the supported ones are called so.
    known = {pair.answer: label for number, (pair, label) in enumerate(load_probe_pairs()) if number % 6 == 0}
    labels = dict.fromkeys((pair.answer for pair, _ in load_probe_pairs()), False) | known
    write(tmp_path, supported=(-SURE, SURE), other=other, known=labels)
    with pytest.raises(EvaluatorError, match=r"area under the ROC curve is 0\.\d\d, and 0\.75 is needed") as refused:  # fmt: skip  # noqa: E501
        LocalModel(tmp_path)
    assert "trained to find hallucinations" in str(refused.value)
    assert "template.txt" in str(refused.value)


def test_a_model_with_other_inputs_is_refused(tmp_path):
    write(tmp_path, names=("input_ids", "decoder_input_ids"))
    with pytest.raises(EvaluatorError, match="wants the input 'decoder_input_ids'; export an encoder"):
        LocalModel(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_directory_without_a_file_is_refused(tmp_path, name):
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(EvaluatorError, match=rf"has no {name}; export the model to ONNX"):
        LocalModel(tmp_path)


@pytest.mark.parametrize(("name", "says"), [("model.onnx", "no model"), ("tokenizer.json", "no tokenizer")])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name, says):
    write(tmp_path)
    (tmp_path / name).write_text("{}")
    with pytest.raises(EvaluatorError, match=says):
        LocalModel(tmp_path)


PAGE = (Path(__file__).parents[3] / "docs" / "judge.md").read_text(encoding="utf-8")
MINICHECK = "{source}</s>{answer}"
HHEM = (
    "<pad> Determine if the hypothesis is true given the premise?\n\n"
    "Premise: {source}\n\nHypothesis: {answer}"
)
LETTUCE = (
    "Briefly answer the following question:\n{task}\nBear in mind that your response should be strictly based"
    " on the following passages:\n{source}\nIn case the passages do not contain the necessary information to"
    ' answer the question, please reply with: "Unable to answer based on given passages."\noutput:'
)


@pytest.mark.parametrize(
    ("template", "head", "supported"),
    [
        (MINICHECK, Head.PAIR, (-SURE, SURE)),
        (HHEM, Head.PAIR, (-SURE, SURE)),
        (HHEM, Head.PAIR, (SURE,)),
    ],
    ids=["MiniCheck", "HHEM, two classes", "HHEM, one score"],
)
def test_models_that_read_one_prompt_have_it_in_a_template(tmp_path, template, head, supported):
    write(tmp_path, head, supported, tuple(-each for each in supported), template=template)
    probed = evaluate_model(Classifier(tmp_path))
    assert (probed.head, probed.area) == (head, 1.0)


def test_a_token_model_reads_its_prompt_and_the_answer_as_a_pair(tmp_path):
    # LettuceDetect: class 1 is "hallucinated".
    write(tmp_path, Head.TOKENS, supported=(SURE, -SURE))
    (tmp_path / "template.txt").write_text(LETTUCE)
    probed = evaluate_model(Classifier(tmp_path))
    assert (probed.head, probed.supported) == (Head.TOKENS, 0)


def test_a_template_without_a_source_is_refused(tmp_path):
    write(tmp_path)
    (tmp_path / "template.txt").write_text("Is this true? {answer}")
    with pytest.raises(EvaluatorError, match=r"has no \{source\}"):
        LocalModel(tmp_path)


@pytest.mark.parametrize("head", list(Head))
def test_each_sentence_of_an_answer_has_its_own_support(tmp_path, head):
    model = LocalModel(write(tmp_path, head))
    answer = f"{CALM}|{BUSY}|{MAYBE}"
    sentences = [
        AnswerSentence(text, answer.index(text), answer.index(text) + len(text)) for text in answer.split("|")
    ]
    calm, busy, maybe = model.compute_support("", "calm seas", answer, sentences)
    assert calm > 0.9
    assert busy < 0.05
    assert 0.2 < maybe < 0.8


def test_a_long_source_is_read_in_windows_and_the_best_counts(tmp_path):
    write(tmp_path, positions=128)
    classifier = Classifier(tmp_path, max_tokens=128)
    source = "|".join(f"line {number}" for number in range(400))
    windows = list(classifier.iter_windows(TextPair(source, CALM)))
    assert len(windows) > 3
    assert all(classifier.count_tokens(each.source) <= 128 for each in windows)
    read = {line for each in windows for line in each.source.split("|")}
    assert read == set(source.split("|"))
    assert windows[0].source.split("|")[-1] in windows[1].source


def test_pairs_of_different_length_give_the_same_in_a_batch_as_alone(tmp_path):
    write(tmp_path, Head.TOKENS, names=("input_ids", "attention_mask"))
    classifier = Classifier(tmp_path)
    pairs = [TextPair("a", CALM), TextPair("a|b|c", f"{BUSY}|{CALM}")]
    together = classifier.compute_predictions(pairs)
    alone = [classifier.compute_predictions([pair])[0] for pair in pairs]
    for one, other in zip(together, alone, strict=True):
        assert one.places == other.places
        assert numpy.allclose(one.rows, other.rows)


def evidence_of(build, answer):
    """Return the evidence of a run that printed something and answered so."""
    snippet = build.snippet("print(look())", logs="calm seas\n")
    return build.evidence(replace(build.run([snippet]), answer=Payload(answer, answer)))


def open_judgement(run, answer):
    marks = [
        Evidence(
            "open",
            sentence=SentenceMark(answer.index(text), answer.index(text) + len(text), SentenceState.OPEN),
        )
        for text in answer.split("|")
    ]
    outcome = Scored(OPEN_VALUE, None, "0 facts agree", tuple(marks), cause=Cause.VALUE_NOT_CERTAIN)
    return Judgement(Layer.GROUNDEDNESS, "groundedness", run.span_id, outcome, "rules")


def rule_on(build, model, answer):
    evidence = evidence_of(build, answer)
    return model.judge(evidence, [open_judgement(evidence.run, answer)])


def test_the_model_settles_what_it_is_sure_of_and_says_its_name(tmp_path, build):
    model = LocalModel(write(tmp_path))
    (passed,) = rule_on(build, model, CALM)
    (failed,) = rule_on(build, model, f"{CALM}|{BUSY}")
    assert (passed.outcome.label, failed.outcome.label) == (Label.PASS, Label.FAIL)
    assert passed.evaluator == f"local-model:{tmp_path.name}"
    assert f"the local model {tmp_path.name} calls '{BUSY}' false" in failed.outcome.explanation


def test_what_it_is_not_sure_of_is_left_for_the_next_judge(tmp_path, build):
    model = LocalModel(write(tmp_path))
    assert rule_on(build, model, MAYBE) == []
    (partly,) = rule_on(build, model, f"{CALM}|{MAYBE}")
    assert get_state(partly.outcome) is State.OPEN
    states = {mark.start: mark.verdict for fact in partly.outcome.evidence if (mark := fact.sentence)}
    assert states == {0: SentenceState.CHECKED, len(CALM) + 1: SentenceState.OPEN}


def test_a_model_below_its_bound_fails_nothing(tmp_path, build):
    name = f"local-model:{tmp_path.name}"
    file = tmp_path / "measured.json"
    write_bounds(file, [MeasuredFails(name, Layer.GROUNDEDNESS, fails=60, right_fails=30)])
    model = LocalModel(write(tmp_path), bounds=JudgeBounds(file, 0.7))
    (left,) = rule_on(build, model, BUSY)
    assert get_state(left.outcome) is State.OPEN
    assert find_ruling(left.outcome, name) is Ruling.FALSE


def test_the_command_shows_what_the_probe_finds(tmp_path, capfd):
    assert run(["judge", "local", str(write(tmp_path, Head.TOKENS))]) == 0
    shown = capfd.readouterr().out
    assert "each token of the answer" in shown
    assert "area under the ROC curve 1.00 on 60 pairs" in shown


def test_the_command_refuses_a_model_that_is_of_no_use(tmp_path, capfd):
    write(tmp_path, supported=(0.0, 0.0))
    assert run(["judge", "local", str(tmp_path)]) == 2
    assert "0.75 is needed" in capfd.readouterr().err


def test_the_command_runs_a_batch_of_answers(tmp_path, capfdbinary, monkeypatch):
    write(tmp_path)
    rows = [
        {"id": 1, "outputs": ["calm seas"], "answer": f"{CALM}|{BUSY}", "sentences": [CALM, BUSY]},
        {"id": 2, "outputs": ["calm seas"], "answer": CALM},
        {"id": 3, "outputs": "calm seas", "answer": CALM},
        {"id": 4, "outputs": ["calm seas"], "answer": CALM, "sentences": [BUSY]},
    ]
    lines = "\n".join(map(json.dumps, rows)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert run(["judge", "local", str(tmp_path), "--jsonl"]) == 0
    both, one, bad, absent = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert (both["id"], both["rulings"]) == (1, ["true", "false"])
    assert (one["rulings"], one["support"][0] > 0.9) == (["true"], True)
    assert "array of strings" in bad["error"]
    assert "is not in the answer" in absent["error"]


def test_a_model_that_is_refused_stops_the_start_with_what_to_do(tmp_path):
    write(tmp_path, supported=(0.0, 0.0))
    config = load_config(None, {}, {"evaluation.groundedness_model.path": str(tmp_path)})
    with pytest.raises(EvaluatorError, match="does not separate supported answers from others"):
        build_evaluators(config, None)


def test_recipes_of_the_page_are_those_that_are_tested():
    minicheck, hhem, lettuce = ("{source}</s>{answer}", HHEM, LETTUCE)
    assert all(template in PAGE for template in (minicheck, hhem, lettuce))
