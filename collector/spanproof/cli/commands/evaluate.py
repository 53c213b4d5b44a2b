"""`spanproof eval FILE…`: evaluate OTLP files offline, without a collector and without a store.

Takes OTLP trace files (`.pb`, `.json`, `.jsonl`); prints a table for people or, with `--json`, one line per
trace. A file, or a line of one, that cannot be read is reported, the rest is evaluated, and the exit code is
2 at the end. Nothing is sent and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

<<<<<<< HEAD
from spanproof.cli import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.backends import configured_backend_options, in_backend, opened
from spanproof.cli.commands.config import config_option, read_config
from spanproof.cli.console import UsageProblem, console, error_console, print_json, progress
from spanproof.cli.hostile import visible
from spanproof.cli.policy import pipeline_in, policy_option
from spanproof.cli.report import runs_table
from spanproof.config.engine import engine_of
from spanproof.config.model import Config
from spanproof.evaluators.custom import EvaluatorError
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.judge import JudgeError
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.score_rows import run_row
from spanproof.sandbox import BadFixture, Sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Span, Trace, trace_of
from spanproof.trace.dialects import normalise
from spanproof.trace.otlp import MalformedOtlp, read_what_is_good
=======
from spanproof.cli.engine import opened_engine, warn_of_silent_evaluators
from spanproof.cli.exit_codes import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.input.otlp_files import read_traces
from spanproof.cli.options.backend import configured_backend_options, override_backend
from spanproof.cli.options.config import config_option, read_config
from spanproof.cli.options.policy import policy_option
from spanproof.cli.output.console import console, pick, print_json, progress, show_problem, warn
from spanproof.cli.output.runs_table import lines_of, print_runs
from spanproof.cli.output.words import format_count, outcome_row
from spanproof.evaluators.model import TraceEvaluation
from spanproof.trace import Score, Scored
>>>>>>> a5b4fe3 (cli: group helpers into output, options and input; verdict-first show)


@click.command("eval")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@policy_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
@configured_backend_options
@click.option("--no-replay", is_flag=True, help="Evaluate the record alone; run nothing.")
@config_option
def command(
    files: tuple[Path, ...],
    policy_file: Path | None,
    as_json: bool,
    backend: str | None,
    settings: dict[str, str],
    no_replay: bool,
    file: Path | None,
) -> int:
    """Evaluate OTLP files offline.

    FILES are OTLP trace data: .pb (protobuf), .json, or .jsonl (one request a line). Exit code 2 where one of
    them could not be read in full; the others are evaluated all the same.

    The sections `policy`, `sandbox`, `evaluators`, `judge` and `evaluation` of the configuration apply, but
    for `evaluation.sampling`: every run is evaluated.
    """
    evaluations: list[TraceEvaluation] = []
    unreadable = 0
    given: set[str] = set()
    config = override_backend(read_config(file, ()), backend, settings)
    with opened_engine(config, policy_file, replay=not no_replay) as engine, progress(as_json=as_json) as bar:
        task = bar.add_task("evaluating", total=len(files))
        for path in files:
            traces, problems = read_traces(path)
            for problem in problems:
                show_problem(problem)
            unreadable += bool(problems)
            for trace in traces:
                evaluation = engine.evaluate(trace)
                given |= {score.name for score in evaluation.scores}
                if as_json:
                    print_json(_evaluation_row(evaluation, path))
                else:
                    evaluations.append(evaluation)
            if not traces and not problems:
                warn(f"{path}: no spans in it")
            bar.advance(task)
    if evaluations:
        _print(evaluations)
    warn_of_silent_evaluators(config, given)
    return EXIT_MISUSE if unreadable else EXIT_PASS


def _print(evaluations: Sequence[TraceEvaluation]) -> None:
    """Print the table; below it what is wrong with the shape of a trace, and traces without a run."""
    lines = [line for evaluation in evaluations for line in lines_of(evaluation)]
    if lines:
        print_runs(console, lines)
    for evaluation in evaluations:
        name = f"trace {evaluation.trace.trace_id[:8]}"
        defects = ", ".join(defect.value.replace("_", " ") for defect in sorted(evaluation.trace.defects))
        if defects:
            console.print(f"{name} is marked: {defects}", style="yellow", soft_wrap=True)
        if not evaluation.runs:
            spans = format_count(len(evaluation.trace.spans), "span")
            console.print(f"{name} has no agent run in its {spans}", style="yellow", soft_wrap=True)


def _evaluation_row(evaluation: TraceEvaluation, file: Path) -> dict[str, object]:
    return {
        "trace_id": evaluation.trace.trace_id,
<<<<<<< HEAD
        "file": str(file) if file is not None else None,
        "runs": [run_row(run) for run in evaluation.runs],
=======
        "file": str(file),
        "runs": [
            {
                "span_id": run.run.span_id,
                "name": run.run.name,
                "scores": [_score_row(score) for score in run.scores],
            }
            for run in evaluation.runs
        ],
>>>>>>> a5b4fe3 (cli: group helpers into output, options and input; verdict-first show)
        "spans": len(evaluation.trace.spans),
        "code_bearing_span_ids": list(evaluation.code_bearing_span_ids),
        "defects": sorted(defect.value for defect in evaluation.trace.defects),
    }
<<<<<<< HEAD
=======


def _score_row(score: Score) -> dict[str, object]:
    of_score = {"layer": score.layer.value, "name": score.name, "span_id": score.span_id}
    unset = dict.fromkeys(("outcome", "value", "raw", "unit", "label", "explanation", "reason"))
    measured = score.outcome if isinstance(score.outcome, Scored) and score.outcome.raw is not None else None
    raw = pick(measured, "raw unit") if measured else {}
    return of_score | unset | outcome_row(score.outcome) | raw
>>>>>>> a5b4fe3 (cli: group helpers into output, options and input; verdict-first show)
