"""`spanproof judge local`: what the probe finds of a local model, and the model over a batch of answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.input.jsonl import BadRow, Row, handle_lines, jsonl_option, read_text_field
from spanproof.cli.options.config import with_config_options
from spanproof.cli.output.console import console
from spanproof.config.added_evaluators import build_local_model
from spanproof.config.model import Config
from spanproof.evaluators.judge.sentences import AnswerSentence
from spanproof.evaluators.local_model import LocalModel, Probed
from spanproof.trace import Ruling


@click.command("local")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@jsonl_option
@with_config_options
def command(directory: Path, jsonl: bool, config: Config) -> int:
    """Probe a local model, or run it over answers.

    DIRECTORY has `model.onnx`, `tokenizer.json` and, where the model's card has a prompt, `template.txt`. A
    model that does not separate supported answers from others is refused, with what to do.

    With --jsonl, in: {"id"?, "task"?, "outputs": [text], "answer": text, "sentences"?: [text]}. Out: {"id",
    "support": [probability], "rulings": ["true", "false" or "unknown"]}, one for each sentence; without
    "sentences" the answer is one.
    """
    model = build_local_model(config, directory)
    if jsonl:
        return handle_lines(lambda row: _build_row(model, row))
    _write_probe(directory, model.probed)
    return EXIT_PASS


def _build_row(model: LocalModel, row: Row) -> Row:
    answer = read_text_field(row, "answer")
    outputs = _read_texts(row, "outputs")
    if row.get("sentences") is not None:
        chosen = _read_texts(row, "sentences")
    else:
        chosen = [answer]
    task = read_text_field(row, "task") if row.get("task") is not None else ""
    sentences = [_get_sentence(answer, text) for text in chosen]
    support = model.compute_support(task, "\n".join(outputs), answer, sentences)
    rulings: list[Ruling] = [model.build_ruling(item).ruling for item in support]
    return {
        "id": row.get("id"),
        "support": [round(item, 4) for item in support],
        "rulings": [ruling.value for ruling in rulings],
    }


def _get_sentence(answer: str, text: str) -> AnswerSentence:
    start = answer.find(text)
    if start < 0 or not text:
        raise BadRow(f"field 'sentences': {text[:50]!r} is not in the answer")
    return AnswerSentence(text, start, start + len(text))


def _read_texts(row: Row, name: str) -> list[str]:
    value: Any = row.get(name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadRow(f"field {name!r} must be an array of strings")
    return value


def _write_probe(directory: Path, probed: Probed) -> None:
    if probed.head == "tokens":
        what = "each token of the answer"
    else:
        what = "the pair of outputs and answer"
    calibration = probed.calibration
    lines = (
        f"it classifies    {what}",
        f"classes          {probed.classes}, of which {probed.supported} (from 0) is supported",
        f"probe            area under the ROC curve {probed.area:.2f} on 60 pairs",
        f"longest input    {probed.max_tokens} tokens",
        f"calibration      {calibration.slope:.2f} × logit {calibration.offset:+.2f}",
    )
    console.print(Text(f"{directory.name} can be used", style="green"))
    for line in lines:
        console.print(Text(f"  {line}"))
