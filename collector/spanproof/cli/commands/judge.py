"""`spanproof judge`: list the rubrics, calibrate a judge against labels of people, compare two answers.

The model, its budget and its rubrics come from the `judge` section of the configuration; `OPENAI_BASE_URL`
and `OPENAI_API_KEY` say where it is.
"""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path
from typing import TextIO

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.jsonl import Row, answer_lines, text_field
from spanproof.cli.options.config import config_option, read_config, set_option
from spanproof.cli.output.console import console, print_json, progress, warn
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.config.engine import judge_of
from spanproof.config.model import JudgeChoice
from spanproof.evaluators.judge import Judge, load_rubrics
from spanproof.evaluators.judge.calibration import Calibration, calibrate, labels_in
from spanproof.evaluators.judge.pairs import compare, preference_rubric


@click.group()
def command() -> None:
    """Calibrate an LLM judge, and compare answers with it."""


@command.command()
@click.option("--write", type=click.Path(path_type=Path, file_okay=False), help="Copy them here, to edit.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per rubric.")
def rubrics(write: Path | None, as_json: bool) -> int:
    """List the shipped rubrics."""
    if write is not None:
        write.mkdir(parents=True, exist_ok=True)
        for entry in (resources.files("spanproof.evaluators.judge") / "rubrics").iterdir():
            target = write / entry.name
            if target.exists():
                raise UsageProblem(f"{target} exists already", "Name another folder, or remove it first.")
            target.write_text(entry.read_text("utf-8"), "utf-8")
    table = Table("rubric", "layer", "score", "passes at", "version", box=None, pad_edge=False)
    for rubric in load_rubrics().values():
        row = (rubric.name, rubric.layer.value, rubric.score, f"{rubric.pass_at:g}", rubric.version)
        if as_json:
            print_json(dict(zip(("name", "layer", "score", "pass_at", "version"), row, strict=True)))
        table.add_row(*row)
    if not as_json:
        console.print(table)
    return EXIT_PASS


@command.command(name="calibrate")
@click.argument("labels", type=click.File(encoding="utf-8"))
@config_option
@set_option
@click.option(
    "--at-least",
    "at_least",
    type=click.FloatRange(-1, 1),
    help="Exit code 1 where the lower end of a kappa's interval is below this.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per rubric.")
def calibrate_command(
    labels: TextIO,
    file: Path | None,
    settings: tuple[str, ...],
    at_least: float | None,
    as_json: bool,
) -> int:
    """Compare a judge with labels of people.

    LABELS is JSON Lines: {"id"?, "rubric", "material": {title: text}, "label": "pass" or "fail", "split"?}.
    The threshold is chosen on rows of the split `threshold`, the agreement measured on those of the split
    `report`; rows without a split are divided by their content.
    """
    choice = read_config(file, settings).judge
    judge = _judge(choice)
    known = load_rubrics(choice.rubrics)
    rows = labels_in(labels, known)
    labelled = {name: [row for row in rows if row.rubric == name] for name in known}
    with progress(as_json=as_json) as bar:
        task = bar.add_task("calibrating", total=len(rows))
        found = [
            calibrate(judge, known[name], of_rubric, choice.at_once, lambda: bar.advance(task))
            for name, of_rubric in labelled.items()
            if of_rubric
        ]
    if not found:
        raise UsageProblem(f"{labels.name} holds no labels", "Give one JSON object per line.")
    for each in found:
        if as_json:
            print_json(_calibration_row(each))
        else:
            _show(each)
    short = at_least is not None and any(not each.agreement.low >= at_least for each in found)
    return EXIT_GATE_FAILED if short else EXIT_PASS


@command.command(name="compare")
@click.option(
    "--jsonl", "--json", "jsonl", is_flag=True, help="Read JSON Lines from stdin, write one line per line."
)
@config_option
@set_option
def compare_command(jsonl: bool, file: Path | None, settings: tuple[str, ...]) -> int:
    """Decide which of two answers is better, in both orders.

    In: {"id", "task", "first", "second"}. Out: {"id", "preference", "consistent", "reasoning"}.
    """
    if not jsonl:
        raise UsageProblem("judge compare reads JSON Lines", "spanproof judge compare --jsonl < pairs.jsonl")
    choice = read_config(file, settings).judge
    judge, rubric = _judge(choice), preference_rubric()

    def answer(row: Row) -> Row:
        texts = [text_field(row, name) for name in ("task", "first", "second")]
        found = compare(judge, rubric, *texts)
        return {
            "id": row.get("id"),
            "preference": found.preference.value,
            "consistent": found.consistent,
            "reasoning": found.reasoning,
        }

    return answer_lines(answer, choice.at_once)


def _judge(choice: JudgeChoice) -> Judge:
    judge = judge_of(choice)
    if judge is None:
        raise UsageProblem("no judge is configured", "--set judge.model=gpt-4.1-mini-2025-04-14")
    if judge.warning:
        warn(judge.warning)
    return judge


def _calibration_row(found: Calibration) -> dict[str, object]:
    agreed = found.agreement
    return {
        "rubric": found.rubric,
        "threshold": found.threshold,
        "kappa": None if math.isnan(agreed.kappa) else agreed.kappa,
        "kappa_low": None if math.isnan(agreed.kappa) else agreed.low,
        "kappa_high": None if math.isnan(agreed.kappa) else agreed.high,
        "both_pass": agreed.confusion.both_pass,
        "only_people_pass": agreed.confusion.only_people_pass,
        "only_judge_passes": agreed.confusion.only_judge_passes,
        "both_fail": agreed.confusion.both_fail,
        "errors": dict(found.errors),
    }


def _show(found: Calibration) -> None:
    agreed, confusion = found.agreement, found.agreement.confusion
    kappa = f"κ = {agreed.kappa:.2f} ({agreed.low:.2f} to {agreed.high:.2f}, 95 %)"
    if math.isnan(agreed.kappa):
        kappa = "no κ: the judge gave every row the same answer"
    console.print(
        Text.assemble(
            (found.rubric, "bold"),
            f"  {kappa} on {format_count(confusion.total, 'row')}, pass at {found.threshold:.2f}",
        )
    )
    table = Table("", "judge: pass", "judge: fail", box=None, pad_edge=False)
    table.add_row("people: pass", str(confusion.both_pass), str(confusion.only_people_pass))
    table.add_row("people: fail", str(confusion.only_judge_passes), str(confusion.both_fail))
    console.print(table)
    for row, why in found.errors.items():
        console.print(Text(f"  row {row}: {why}", style="yellow"), soft_wrap=True)
