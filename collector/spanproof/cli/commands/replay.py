"""`spanproof replay`: replay runs from OTLP files or, with `--jsonl`, from JSON Lines without a trace.

Of files, each run is shown step by step beside its record. A line has a run's steps in order, its tools with
their parameters, and the tape of recorded calls; the answer has the outcome of each step. The steps of a run
share one sandboxed session. Nothing runs outside it, and nothing is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
from rich.text import Text

from spanproof.cli.engine import opened_engine
from spanproof.cli.exit_codes import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.input.jsonl import BadRow, Row, handle_lines
from spanproof.cli.input.trace_files import read_traces
from spanproof.cli.options.backend import open_backend, workers_option
from spanproof.cli.options.config import with_sandbox_config_options
from spanproof.cli.output.console import console, select_attributes, write_json, write_problem
from spanproof.cli.output.divergence import find_divergence
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.evaluators.layers.common import find_first_divergence, get_step_number
from spanproof.evaluators.model import NoReplay, ReplayedStep, RunEvaluation
from spanproof.evaluators.replay import ReplayedSource, replay_sources
from spanproof.evaluators.replay.record import classify_execution, read_record
from spanproof.sandbox import Sandbox
from spanproof.trace import Layer, Payload, RecordedCall, Run, Snippet, SpanError, Trace

_AGREES = {
    True: Text("yes", style="green"),
    False: Text("NO", style="bold red"),
    None: Text("–", style="dim"),
}


@click.command("replay")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--jsonl",
    "--json",
    "jsonl",
    is_flag=True,
    help="Read runs as JSON Lines from stdin, write an answer per line; with FILES, write a line per run.",
)
@with_sandbox_config_options
@workers_option
def command(files: tuple[Path, ...], jsonl: bool, config: Config, workers: int) -> int:
    """Replay the runs of OTLP files, or of JSON Lines.

    The steps of a run share one session; recorded results answer its tool calls. FILES are OTLP trace data;
    each run is shown step by step, replay beside record, with the first step that left the record. Fixtures
    and sandbox are those of the configuration. Exit code 2 where a file could not be read in full.
    """
    if files:
        return _run_files(files, config, workers, as_json=jsonl)
    if not jsonl:
        raise UsageProblem(
            "replay needs OTLP files, or runs as JSON Lines",
            "spanproof replay trace.json, or spanproof replay --jsonl < runs.jsonl",
        )
    with open_backend(config.sandbox.backend, config.sandbox.settings, workers) as sandbox:
        for missing in sandbox.availability().missing[:1]:
            reason = missing.detail or missing.name
            raise UsageProblem(f"the backend {sandbox.name!r} cannot run here: {reason}", missing.remedy)
        return handle_lines(lambda row: _build_row(row, sandbox), workers)


def _run_files(files: Sequence[Path], config: Config, workers: int, *, as_json: bool) -> int:
    """Replay every run of these files, shown in their order, and return the exit code."""
    found: list[tuple[Path, Trace]] = []
    unreadable = False
    for path in files:
        traces, problems = read_traces(path)
        for problem in problems:
            write_problem(problem)
        unreadable = unreadable or bool(problems)
        found += [(path, trace) for trace in traces]
    # The one layer that needs a replay and nothing else.
    evaluation = config.evaluation.model_copy(update={"layers": [Layer.EXECUTION], "replay": True})
    config = config.model_copy(update={"evaluation": evaluation, "evaluators": []})
    with opened_engine(config, workers=workers) as engine, ThreadPoolExecutor(workers) as pool:
        evaluations = pool.map(lambda pair: engine.evaluate(pair[1]), found)
        for (path, _), evaluated in zip(found, evaluations, strict=True):
            for run in evaluated.runs:
                if as_json:
                    write_json(_to_run_row(run, path))
                else:
                    _write_run(run)
    return EXIT_MISUSE if unreadable else EXIT_PASS


def _write_run(run: RunEvaluation) -> None:
    title = Text.assemble(format_line(run.run.name, style="bold"), (f"  trace {run.run.trace_id[:8]}", "dim"))
    console.print(title)
    if isinstance(run.replay, NoReplay):
        console.print(format_line(f"  not replayed: {run.replay.reason}"))
        return
    snippets = [snippet for snippet in run.run.snippets if snippet.executed]
    if not snippets:
        console.print("  no code that ran is on the trace")
        return
    table = build_listing("  step", "recorded", "replayed", "agrees", "", header_style="dim")
    for snippet in snippets:
        table.add_row(*_build_cells(run, snippet))
    console.print(table)
    left = find_divergence(run)
    console.print(
        format_line(f"  first difference from the record: {left}" if left else "  agrees with the record")
    )


def _build_cells(run: RunEvaluation, snippet: Snippet) -> list[Text]:
    assert not isinstance(run.replay, NoReplay)
    step = run.replay.step(snippet.id)
    if step is None:
        reason = run.replay.unreplayed.get(snippet.id, "it was not reached")
        replayed, agrees, why = Text("–", style="dim"), None, f"not replayed: {reason}"
    else:
        replayed = Text(classify_execution(read_record(snippet), step.execution))
        agrees, why = step.agrees, step.difference or ""
    number = Text(f"  {get_step_number(run.run, snippet)}")
    recorded = Text(read_record(snippet).failure_class or "not on the trace")
    return [number, recorded, replayed, _AGREES[agrees], format_line(why)]


def _to_run_row(run: RunEvaluation, path: Path) -> dict[str, object]:
    first = find_first_divergence(run.run, run.replay)
    steps: list[dict[str, object]] = []
    unreplayed: list[dict[str, object]] = []
    if not isinstance(run.replay, NoReplay):
        steps = [_to_replayed_row(run.run, step) for step in run.replay.steps]
        for snippet in run.run.snippets:
            reason = run.replay.unreplayed.get(snippet.id)
            if reason is not None:
                number = get_step_number(run.run, snippet)
                unreplayed.append({"step": number, "span_id": snippet.span_id, "reason": reason})
    return {
        **select_attributes(run.run, "trace_id span_id name"),
        "file": str(path),
        "not_replayed": run.replay.reason if isinstance(run.replay, NoReplay) else None,
        "first_divergence": None if first is None else first[0],
        "steps": steps,
        "unreplayed": unreplayed,
    }


def _to_replayed_row(run: Run, step: ReplayedStep) -> dict[str, object]:
    record = read_record(step.snippet)
    return {
        "step": get_step_number(run, step.snippet),
        "span_id": step.snippet.span_id,
        "recorded": record.failure_class,
        "replayed": classify_execution(record, step.execution).value,
        **select_attributes(step, "agrees difference"),
        "divergences": [select_attributes(call, "tool reason") for call in step.divergences],
    }


def _build_row(row: Row, sandbox: Sandbox) -> Row:
    replayed = replay_sources(_parse_steps(row), _parse_tape(row), _parse_tools(row), sandbox)
    return {"id": row.get("id"), "steps": [_to_step_row(step) for step in replayed]}


def _to_step_row(step: ReplayedSource) -> Row:
    execution = step.execution
    rarely = {
        "stdout_cut": execution.stdout_cut,
        **select_attributes(step, "result_characters ended_interpreter lost_steps"),
    }
    return {
        **select_attributes(execution, "failure_class stdout"),
        "result": step.result,
        "exception": select_attributes(execution.raised, "type message")
        if execution.raised is not None
        else None,
        "divergences": [
            select_attributes(divergence, "tool args kwargs reason") for divergence in step.divergences
        ],
        **{key: value for key, value in rarely.items() if value},
    }


def _parse_steps(row: Row) -> list[str]:
    steps = row.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise BadRow("field 'steps' must be an array of strings")
    return steps


def _parse_tools(row: Row) -> Mapping[str, tuple[str, ...]]:
    tools = {} if row.get("tools") is None else row["tools"]
    if not isinstance(tools, dict):
        raise BadRow("field 'tools' must be an object of tool name to array of parameter names")
    for name, parameters in tools.items():
        if not isinstance(parameters, list) or not all(
            isinstance(parameter, str) for parameter in parameters
        ):
            raise BadRow(f"field 'tools.{name}' must be an array of strings")
    return {name: tuple(parameters) for name, parameters in tools.items()}


def _parse_tape(row: Row) -> list[RecordedCall]:
    tape = [] if row.get("tape") is None else row["tape"]
    if not isinstance(tape, list):
        raise BadRow("field 'tape' must be an array of objects")
    return [_parse_call(entry, f"tape[{at}]") for at, entry in enumerate(tape)]


def _parse_call(entry: object, position: str) -> RecordedCall:
    if not isinstance(entry, dict) or not isinstance(entry.get("tool"), str):
        raise BadRow(f"field '{position}' must be an object with a string 'tool'")
    args = [] if entry.get("args") is None else entry["args"]
    kwargs = {} if entry.get("kwargs") is None else entry["kwargs"]
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise BadRow(f"field '{position}': 'args' must be an array and 'kwargs' an object")
    raised, result = entry.get("error"), None
    if "result" in entry:
        result = Payload(text=str(entry["result"]), value=entry["result"], typed=True)
    elif raised is None:
        raise BadRow(
            f"field '{position}' must have a 'result' (null where the tool gave nothing) or an 'error'"
        )
    error = None
    if raised is not None:
        if not isinstance(raised, dict) or not isinstance(raised.get("type"), str):
            raise BadRow(f"field '{position}.error' must be an object with a string 'type'")
        error = SpanError(type=raised["type"], message=str(raised.get("message", "")))
    return RecordedCall(entry["tool"], args=tuple(args), kwargs=kwargs, result=result, error=error)
