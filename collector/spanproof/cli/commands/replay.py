"""`spanproof replay`: replay runs from OTLP files or, with `--jsonl`, from JSON Lines without a trace.

A line has a run's steps in order, its tools with their parameters, and the tape of recorded calls; the
answer has the outcome of each step. The steps share one sandboxed session. Nothing runs outside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from spanproof.cli.commands.replay_files import replay_files
from spanproof.cli.input.jsonl import BadRow, Row, answer_lines
from spanproof.cli.options.backend import (
    configured_backend_options,
    open_backend,
    override_backend,
    workers_option,
)
from spanproof.cli.options.config import config_option, read_config
from spanproof.cli.output.console import pick
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.model import Divergence
from spanproof.evaluators.replay import ReplayedSource, replay_sources
from spanproof.sandbox import Sandbox
from spanproof.trace import Payload, RecordedCall, SpanError


@click.command("replay")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--jsonl",
    "--json",
    "jsonl",
    is_flag=True,
    help="Runs as JSON Lines on stdin, answers on stdout; with FILES, one line per run.",
)
@configured_backend_options
@workers_option
@config_option
def command(
    files: tuple[Path, ...],
    jsonl: bool,
    backend: str | None,
    settings: dict[str, str],
    workers: int,
    file: Path | None,
) -> int:
    """Replay the runs of OTLP files, or of JSON Lines.

    The steps of a run share one session; recorded results answer its tool calls. FILES are OTLP trace data;
    each run is shown step by step, replay beside record, with the first step that left the record. Fixtures
    and sandbox are those of the configuration. Exit code 2 where a file could not be read in full.
    """
    config = override_backend(read_config(file, ()), backend, settings)
    if files:
        return replay_files(files, config, workers, as_json=jsonl)
    if not jsonl:
        raise UsageProblem(
            "replay needs OTLP files, or runs as JSON Lines",
            "spanproof replay trace.json, or spanproof replay --jsonl < runs.jsonl",
        )
    with open_backend(config.sandbox.backend, config.sandbox.settings, workers) as sandbox:
        for missing in sandbox.availability().missing[:1]:
            reason = missing.detail or missing.name
            raise UsageProblem(f"the backend {sandbox.name!r} cannot run here: {reason}", missing.remedy)
        return answer_lines(lambda row: _answer(row, sandbox), workers)


def _answer(row: Row, sandbox: Sandbox) -> Row:
    replayed = replay_sources(_steps(row), _tape(row), _tools(row), sandbox)
    return {"id": row.get("id"), "steps": [_step_row(step) for step in replayed]}


def _step_row(step: ReplayedSource) -> Row:
    execution = step.execution
    raised = execution.raised
    row: Row = {
        "failure_class": execution.failure_class.value,
        "stdout": execution.stdout,
        "result": step.result,
        "exception": pick(raised, "type message") if raised is not None else None,
        "divergences": [_divergence_row(divergence) for divergence in step.divergences],
    }
    rarely = {
        "stdout_cut": execution.stdout_cut,
        "result_characters": step.result_characters,
        "ended_interpreter": step.ended_interpreter,
        "lost_steps": step.lost_steps,
    }
    return row | {key: value for key, value in rarely.items() if value}


def _divergence_row(divergence: Divergence) -> Row:
    return pick(divergence, "tool args kwargs reason")


def _steps(row: Row) -> list[str]:
    steps = row.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise BadRow("field 'steps' must be an array of strings")
    return steps


def _tools(row: Row) -> Mapping[str, tuple[str, ...]]:
    tools = {} if row.get("tools") is None else row["tools"]
    if not isinstance(tools, dict):
        raise BadRow("field 'tools' must be an object of tool name to array of parameter names")
    for name, parameters in tools.items():
        if not isinstance(parameters, list) or not all(isinstance(each, str) for each in parameters):
            raise BadRow(f"field 'tools.{name}' must be an array of strings")
    return {name: tuple(parameters) for name, parameters in tools.items()}


def _tape(row: Row) -> list[RecordedCall]:
    tape = [] if row.get("tape") is None else row["tape"]
    if not isinstance(tape, list):
        raise BadRow("field 'tape' must be an array of objects")
    return [_call(entry, f"tape[{at}]") for at, entry in enumerate(tape)]


def _call(entry: object, place: str) -> RecordedCall:
    if not isinstance(entry, dict) or not isinstance(entry.get("tool"), str):
        raise BadRow(f"field '{place}' must be an object with a string 'tool'")
    args = [] if entry.get("args") is None else entry["args"]
    kwargs = {} if entry.get("kwargs") is None else entry["kwargs"]
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise BadRow(f"field '{place}': 'args' must be an array and 'kwargs' an object")
    if "result" not in entry and entry.get("error") is None:
        raise BadRow(f"field '{place}' must have a 'result' (null where the tool gave nothing) or an 'error'")
    return RecordedCall(
        tool=entry["tool"],
        args=tuple(args),
        kwargs=kwargs,
        result=_result(entry),
        error=_error(entry.get("error"), place),
    )


def _result(entry: dict[str, Any]) -> Payload | None:
    if "result" not in entry:
        return None
    return Payload(text=str(entry["result"]), value=entry["result"], typed=True)


def _error(error: object, place: str) -> SpanError | None:
    if error is None:
        return None
    if not isinstance(error, dict) or not isinstance(error.get("type"), str):
        raise BadRow(f"field '{place}.error' must be an object with a string 'type'")
    return SpanError(type=error["type"], message=str(error.get("message", "")))
