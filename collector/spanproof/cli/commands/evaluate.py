"""`spanproof eval FILE…`: evaluate OTLP files offline, without a collector and without a store.

Takes OTLP trace files (`.pb`, `.json`, `.jsonl`); prints a table for people or, with `--json`, one line per
trace. A file that cannot be read, or a line of one, is told by itself, the rest is evaluated, and the exit
code is 2 at the end. Nothing is sent and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.text import Text

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


@click.command("eval")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@policy_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
@configured_backend_options
@click.option("--no-replay", is_flag=True, help="Judge by the record alone; run nothing.")
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

    Of the configuration hold `policy`, `sandbox`, `evaluators`, `judge` and `evaluation`, but for
    `evaluation.sampling`: every run is judged.
    """
    evaluations: list[TraceEvaluation] = []
    unreadable = 0
    given: set[str] = set()
    config = in_backend(read_config(file, ()), backend, settings)
    with opened_engine(config, policy_file, replay=not no_replay) as engine, progress(as_json=as_json) as bar:
        task = bar.add_task("evaluating", total=len(files))
        for path in files:
            traces, problems = traces_in(path)
            for problem in problems:
                problem.show()
            unreadable += bool(problems)
            for trace in traces:
                evaluation = engine.evaluate(trace)
                given |= {score.name for score in evaluation.scores}
                if as_json:
                    print_json(evaluation_row(evaluation, path))
                else:
                    evaluations.append(evaluation)
            if not traces and not problems:
                error_console.print(
                    Text(f"spanproof: {visible(str(path))}: no spans in it", style="yellow"), soft_wrap=True
                )
            bar.advance(task)
    if not as_json and evaluations:
        console.print(runs_table(evaluations))
        _show_defects(evaluations)
    if given:
        tell_silent(config, given)
    return EXIT_MISUSE if unreadable else EXIT_PASS


def tell_silent(config: Config, given: Collection[str]) -> None:
    """Say which of the user's functions gave no score, where scores were given: a rule may be misspelt."""
    for each in config.evaluators:
        if each.name in given:
            continue
        rule = each.attach.model_dump(mode="json", exclude_unset=True) or {"kind": each.attach.kind}
        words = ", ".join(f"{key}: {value}" for key, value in rule.items())
        why = f"nothing here fits `attach` ({words})"
        if each.layer not in config.evaluation.layers:
            why = f"its layer, {each.layer}, is not judged (evaluation.layers)"
        told = f"spanproof: the evaluator {each.name!r} gave no score: {why}"
        error_console.print(Text(visible(told), style="yellow"), soft_wrap=True)


def _show_defects(evaluations: Sequence[TraceEvaluation]) -> None:
    """Below the table: what is wrong with the shape of a trace, and traces without a run."""
    for evaluation in evaluations:
        words = [defect.value.replace("_", " ") for defect in sorted(evaluation.trace.defects)]
        if words:
            told = f"trace {evaluation.trace.trace_id[:8]} is marked: {', '.join(words)}"
            console.print(Text(told, style="yellow"), soft_wrap=True)
        if not evaluation.runs:
            told = f"trace {evaluation.trace.trace_id[:8]}: no run in its {len(evaluation.trace.spans)} spans"
            console.print(Text(told, style="yellow"), soft_wrap=True)


@contextmanager
def opened_engine(
    config: Config,
    policy_file: Path | None = None,
    *,
    replay: bool = True,
    workers: int = 1,
    probe: bool = True,
) -> Iterator[Engine]:
    """An engine that judges every run, with its sandbox, which is closed afterwards.

    Where the backend cannot run on this machine, the engine judges by the record alone, and stderr says why.

    Args:
        config: what it is built by.
        policy_file: in place of the configuration's.
        replay: whether code may run again at all.
        workers: programs run at once.
        probe: whether to see now that the backend can run here; else it is seen when code first has to run.

    Raises:
        UsageProblem: the policy, an evaluator, the judge or the backend's name is wrong.
    """
    pipeline = pipeline_in(policy_file or config.policy)
    if not (replay and config.evaluation.replay):
        yield _engine(config, pipeline, None, "replay is switched off")
        return
    backend = config.sandbox.backend
    with opened(backend, config.sandbox.settings, workers) as sandbox:
        missing = sandbox.availability().missing if probe else ()
        if not missing:
            yield _engine(config, pipeline, sandbox)
            return
        reason = f"the backend {backend!r} cannot run here: {missing[0].detail or missing[0].name}"
        error_console.print(Text(f"spanproof: no replay: {reason}", style="yellow"), soft_wrap=True)
        if missing[0].remedy:
            error_console.print(Text(f"  remedy: {missing[0].remedy}"), soft_wrap=True)
        yield _engine(config, pipeline, None, reason)


def _engine(config: Config, pipeline: Pipeline, sandbox: Sandbox | None, no_replay: str = "") -> Engine:
    every_run = config.evaluation.model_copy(update={"sampling": ()})
    try:
        return engine_of(config.model_copy(update={"evaluation": every_run}), pipeline, sandbox, no_replay)
    except (EvaluatorError, JudgeError) as problem:
        remedy = "mend or remove it; docs/evaluators.md and docs/judge.md show the form"
        raise UsageProblem(str(problem), remedy) from problem
    except BadFixture as problem:
        raise UsageProblem(str(problem), "see docs/replay.md") from problem


def traces_in(file: Path) -> tuple[list[Trace], list[UsageProblem]]:
    """The traces of one OTLP file, in the order of their first span, and what could not be read of it."""
    spans: dict[str, list[Span]] = {}
    try:
        requests, malformed = read_what_is_good(file)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        return [], [UsageProblem(f"{file} cannot be read: {reason}", "Give the path of an OTLP file.")]
    except MalformedOtlp as failure:
        requests, malformed = [], [failure]
    for request in requests:
        for span in normalise(request):
            spans.setdefault(span.trace_id, []).append(span)
    remedy = "Give OTLP trace data: .pb (protobuf), .json, or .jsonl (one request a line)."
    return [trace_of(of_trace) for of_trace in spans.values()], [
        UsageProblem(str(each), remedy) for each in malformed
    ]


def evaluation_row(evaluation: TraceEvaluation, file: Path | None) -> dict[str, object]:
    """One trace as the line that `--json` prints."""
    return {
        "trace_id": evaluation.trace.trace_id,
        "file": str(file) if file is not None else None,
        "runs": [run_row(run) for run in evaluation.runs],
        "spans": len(evaluation.trace.spans),
        "code_bearing_span_ids": list(evaluation.code_bearing_span_ids),
        "defects": sorted(defect.value for defect in evaluation.trace.defects),
    }
