"""`spanproof eval FILE…`: evaluate files of traces offline, without a collector and without a store.

Takes OTLP trace files (`.pb`, `.json`, `.jsonl`) and what other products export; prints a table for people
or, with `--json`, one line per trace. A file, or a part of one, that cannot be read is reported, the rest is
evaluated, and the exit code is 2 at the end. Nothing is sent and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spanproof.cli.engine import opened_engine, write_silent_evaluators
from spanproof.cli.exit_codes import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.input.trace_files import read_traces
from spanproof.cli.options.config import with_sandbox_config_options
from spanproof.cli.options.policy import policy_option
from spanproof.cli.output.console import build_progress, console, write_json, write_problem, write_warning
from spanproof.cli.output.listing import MOST_GREEN_ROWS
from spanproof.cli.output.runs_table import build_run_lines, is_green, write_green_runs, write_runs
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem, build_page_url
from spanproof.config.model import Config
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.runs.fragments import list_split_runs
from spanproof.evaluators.score_rows import build_run_row
from spanproof.trace import DEFECT_WORDS, Trace

if TYPE_CHECKING:
    from spanproof.evaluators.structure import Files


# How many ids of traces a hint names.
_MOST_IDS = 6
_JOIN_HINT = (
    f"start their spans in its context ({build_page_url('frameworks')}, One run in several traces); from a"
    " store, `spanproof session` judges them together"
)


@click.command("eval")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@policy_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
@with_sandbox_config_options
@click.option("--no-replay", is_flag=True, help="Judge what the trace records alone; run no code.")
@click.option(
    "--structure", is_flag=True, help="Measure size and complexity of the code that runs leave, as advice."
)
@click.option(
    "--before",
    type=click.Path(path_type=Path),
    help="Traces of earlier runs; --structure compares runs of the same task.",
)
def command(
    files: tuple[Path, ...],
    policy_file: Path | None,
    as_json: bool,
    config: Config,
    no_replay: bool,
    structure: bool,
    before: Path | None,
) -> int:
    """Evaluate files of traces offline.

    FILES are OTLP trace data: .pb (protobuf), .json, or .jsonl (one request a line), also as Tempo writes
    it; exports of Datadog, Jaeger, Langfuse, LangSmith, Logfire, MLflow, Phoenix, Weave or Zipkin: .json,
    .jsonl, .csv or .parquet; spans as OpenTelemetry's SDKs print them; or transcripts: messages, requests and
    responses of the APIs of models, messages of LangChain, Pydantic AI, ADK and the AI SDK, sessions of
    Claude Code, traces of Bedrock's agents, logs of inspect_ai (.eval, .json), trajectories of SWE-agent
    (.traj), events of OpenHands, the memory of smolagents, results of τ-bench.

    Exit code 2 if a file could not be read in full; the others are evaluated. Verdicts do not change the exit
    code: pass the output of --json to `spanproof gate --scores -`.

    The sections `policy`, `sandbox`, `evaluators`, `judge` and `evaluation` of the configuration apply,
    except `evaluation.sampling`: every run is evaluated.
    """
    if structure or before is not None:
        rules = config.evaluation.model_copy(update={"structure": True})
        config = config.model_copy(update={"evaluation": rules})
    earlier = _read_code(before) if before is not None else {}
    evaluations: list[TraceEvaluation] = []
    found: list[Trace] = []
    unreadable = 0
    score_names: set[str] = set()
    with (
        opened_engine(config, policy_file, replay=not no_replay, runs_before=earlier) as engine,
        build_progress(as_json=as_json) as bar,
    ):
        task = bar.add_task("evaluating", total=len(files))
        for path in files:
            traces, problems = read_traces(path)
            for problem in problems:
                write_problem(problem)
            unreadable += bool(problems)
            found += traces
            for trace in traces:
                evaluation = engine.evaluate(trace)
                score_names |= {score.name for score in evaluation.scores}
                if as_json:
                    write_json(_to_row(evaluation, path))
                else:
                    evaluations.append(evaluation)
            if not traces and not problems:
                write_warning(f"{path}: no spans in it")
            bar.advance(task)
    if evaluations:
        _write_evaluations(evaluations)
    _write_split_runs(found)
    write_silent_evaluators(config, score_names)
    return EXIT_MISUSE if unreadable else EXIT_PASS


def _write_split_runs(traces: Sequence[Trace]) -> None:
    for split in list_split_runs(traces):
        ids = ", ".join(trace_id[:8] for trace_id in split.trace_ids[:_MOST_IDS])
        more = ", …" if len(split.trace_ids) > _MOST_IDS else ""
        write_warning(
            f"traces {ids}{more} are parts of one run, conversation {split.conversation}: {_JOIN_HINT}"
        )


def _read_code(before: Path) -> dict[str, Files]:
    """Return the code that the runs of a file of traces leave, by task; see `read_code`.

    Raises:
        UsageProblem: the file cannot be read in full, or holds no run with code.
    """
    from spanproof.evaluators.structure import read_code

    traces, problems = read_traces(before)
    for problem in problems:
        raise problem
    left = read_code(traces)
    if not left:
        raise UsageProblem(
            f"{before}: no run in it leaves code", "give --before a file of traces whose runs wrote code"
        )
    return left


def _write_evaluations(evaluations: Sequence[TraceEvaluation]) -> None:
    """Print the table; below it what is wrong with the shape of a trace, and traces without a run."""
    lines = [line for evaluation in evaluations for line in build_run_lines(evaluation)]
    if len(lines) > MOST_GREEN_ROWS and all(is_green(line) for line in lines):
        write_green_runs(console, lines)
    elif lines:
        write_runs(console, lines)
    for evaluation in evaluations:
        name = f"trace {evaluation.trace.trace_id[:8]}"
        defects = "; ".join(DEFECT_WORDS[defect] for defect in sorted(evaluation.trace.defects))
        if defects:
            console.print(f"{name}: {defects}", style="yellow", soft_wrap=True)
        if not evaluation.runs:
            spans = format_count(len(evaluation.trace.spans), "span")
            console.print(f"{name} has no agent run in its {spans}", style="yellow", soft_wrap=True)


def _to_row(evaluation: TraceEvaluation, file: Path) -> dict[str, object]:
    return {
        "trace_id": evaluation.trace.trace_id,
        "state": evaluation.state.value,
        "file": str(file),
        "runs": [build_run_row(run) for run in evaluation.runs],
        "spans": len(evaluation.trace.spans),
        "code_bearing_span_ids": list(evaluation.code_bearing_span_ids),
        "defects": sorted(defect.value for defect in evaluation.trace.defects),
    }
