"""`spanproof judge`: rubrics, judges held against people's labels, and preferences between two answers.

The model, its endpoint, its budget and its rubrics come from the `judge` section of the configuration.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import TextIO

import click
from rich.text import Text

from spanproof.cli.commands.judge_local import command as local_command
from spanproof.cli.commands.judge_measure import compare_command, measure_command
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.jsonl import Row, check_jsonl, handle_lines, jsonl_option, read_text_field
from spanproof.cli.options.config import with_config_options
from spanproof.cli.output.console import build_progress, console, select_attributes, write_json, write_warning
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.verdicts import write_confusion
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.config.added_evaluators import find_judge
from spanproof.config.model import Config, JudgeChoice
from spanproof.evaluators.judge import Judge, load_rubrics
from spanproof.evaluators.judge.calibration import Calibration, compute_calibration, read_labels
from spanproof.evaluators.judge.pairs import compare_answers, load_preference_rubric


@click.group()
def command() -> None:
    """Measure, compare and calibrate judges, and prefer answers with one."""


command.add_command(measure_command)
command.add_command(compare_command)
command.add_command(local_command)


@command.command()
@click.option(
    "--write",
    type=click.Path(path_type=Path, file_okay=False),
    help="Copy them into this folder, to edit them.",
)
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
    table = build_listing("rubric", "layer", "score", "passes at", "version")
    for rubric in load_rubrics().values():
        row = select_attributes(rubric, "name layer score pass_at version") | {
            "pass_at": f"{rubric.pass_at:g}"
        }
        if as_json:
            write_json(row)
        table.add_row(*row.values())
    if not as_json:
        console.print(table)
    return EXIT_PASS


@command.command(name="calibrate")
@click.argument("labels", type=click.File(encoding="utf-8"))
@with_config_options
@click.option(
    "--at-least",
    "at_least",
    type=click.FloatRange(-1, 1),
    help="Exit with 1 if the lower end of a kappa's interval is below this.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per rubric.")
def calibrate_command(labels: TextIO, config: Config, at_least: float | None, as_json: bool) -> int:
    """Compare a judge with labels of people.

    LABELS is JSON Lines: {"id"?, "rubric", "material": {title: text}, "label": "pass" or "fail", "split"?}.
    The threshold is chosen on rows of the split `threshold`, the agreement measured on those of the split
    `report`; rows without a split are divided by their content.
    """
    choice = config.judge
    judge = _open_judge(choice)
    rubrics = load_rubrics(choice.rubrics)
    rows = read_labels(labels, rubrics)
    labelled = {name: [row for row in rows if row.rubric == name] for name in rubrics}
    with build_progress(as_json=as_json) as bar:
        task = bar.add_task("calibrating", total=len(rows))
        found = [
            compute_calibration(judge, rubrics[name], some, choice.at_once, lambda: bar.advance(task))
            for name, some in labelled.items()
            if some
        ]
    if not found:
        raise UsageProblem(f"{labels.name} holds no labels", "Give one JSON object per line.")
    for item in found:
        if as_json:
            write_json(_to_row(item))
        else:
            _write_ruling(item)
    short = at_least is not None and any(not item.agreement.low >= at_least for item in found)
    return EXIT_GATE_FAILED if short else EXIT_PASS


@command.command(name="prefer")
@jsonl_option
@with_config_options
def prefer_command(jsonl: bool, config: Config) -> int:
    """Decide which of two answers is better, in both orders.

    In: {"id", "task", "first", "second"}. Out: {"id", "preference", "consistent", "reasoning"}.
    """
    check_jsonl("judge prefer", jsonl=jsonl)
    judge, rubric = _open_judge(config.judge), load_preference_rubric()

    def answer(row: Row) -> Row:
        texts = [read_text_field(row, name) for name in ("task", "first", "second")]
        return {
            "id": row.get("id"),
            **select_attributes(compare_answers(judge, rubric, *texts), "preference consistent reasoning"),
        }

    return handle_lines(answer, config.judge.at_once)


def _open_judge(choice: JudgeChoice) -> Judge:
    judge = find_judge(choice)
    if judge is None:
        raise UsageProblem("no judge is configured", "--set judge.model=gpt-4.1-mini-2025-04-14")
    if judge.warning:
        write_warning(judge.warning)
    return judge


def _to_row(found: Calibration) -> dict[str, object]:
    agreed = found.agreement
    interval = {"kappa": agreed.kappa, "kappa_low": agreed.low, "kappa_high": agreed.high}
    return {
        "rubric": found.rubric,
        "threshold": found.threshold,
        **{name: None if math.isnan(agreed.kappa) else end for name, end in interval.items()},
        **asdict(agreed.confusion),
        "errors": dict(found.errors),
    }


def _write_ruling(found: Calibration) -> None:
    agreed, confusion = found.agreement, found.agreement.confusion
    kappa = f"κ = {agreed.kappa:.2f} ({agreed.low:.2f} to {agreed.high:.2f}, 95 %)"
    if math.isnan(agreed.kappa):
        kappa = "no κ: the judge gave every row the same answer"
    measured = f"  {kappa} on {format_count(confusion.total, 'row')}, pass at {found.threshold:.2f}"
    console.print(Text.assemble((found.rubric, "bold"), measured))
    write_confusion("people", confusion)
    for row, why in found.errors.items():
        console.print(Text(f"  row {row}: {why}", style="yellow"), soft_wrap=True)
