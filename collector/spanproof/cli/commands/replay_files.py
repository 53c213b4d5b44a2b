"""Replays of the runs in OTLP files, step by step beside their record: a table for people, or a line per run.

Takes files and a backend; runs nothing outside of the sandbox, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.table import Table
from rich.text import Text

from spanproof.cli.engine import opened_engine
from spanproof.cli.exit_codes import EXIT_MISUSE, EXIT_PASS
from spanproof.cli.input.otlp_files import read_traces
from spanproof.cli.output.console import console, pick, print_json, show_problem
from spanproof.cli.output.hostile import plain
from spanproof.cli.output.run_page import describe_divergence
from spanproof.config.model import Config
from spanproof.evaluators.layers.common import first_to_leave, number_in
from spanproof.evaluators.model import NoReplay, RunEvaluation
from spanproof.evaluators.replay.record import class_beside, record_of
from spanproof.trace import Layer, Snippet, Trace

_AGREES = {
    True: Text("yes", style="green"),
    False: Text("NO", style="bold red"),
    None: Text("–", style="dim"),
}


def replay_files(files: Sequence[Path], config: Config, workers: int, *, as_json: bool) -> int:
    """Replay every run of these files, shown in their order; the exit code.

    Args:
        files: OTLP trace data.
        config: fixtures and sandbox.
        workers: traces at once.
        as_json: a line per run, for programs.
    """
    found: list[tuple[Path, Trace]] = []
    unreadable = False
    for path in files:
        traces, problems = read_traces(path)
        for problem in problems:
            show_problem(problem)
        unreadable = unreadable or bool(problems)
        found += [(path, trace) for trace in traces]
    with opened_engine(_replaying(config), workers=workers) as engine, ThreadPoolExecutor(workers) as pool:
        evaluations = pool.map(lambda each: engine.evaluate(each[1]), found)
        for (path, _), evaluation in zip(found, evaluations, strict=True):
            for run in evaluation.runs:
                if as_json:
                    print_json(_row(run, path))
                else:
                    _show(run)
    return EXIT_MISUSE if unreadable else EXIT_PASS


def _replaying(config: Config) -> Config:
    """Return the configuration with the one layer that needs a replay and nothing else."""
    evaluation = config.evaluation.model_copy(update={"layers": [Layer.EXECUTION], "replay": True})
    return config.model_copy(update={"evaluation": evaluation, "evaluators": []})


def _show(run: RunEvaluation) -> None:
    title = Text.assemble(plain(run.run.name, 40, "bold"), (f"  trace {run.run.trace_id[:8]}", "dim"))
    console.print(title)
    if isinstance(run.replay, NoReplay):
        console.print(plain(f"  not replayed: {run.replay.reason}", 400))
        return
    snippets = [snippet for snippet in run.run.snippets if snippet.executed]
    if not snippets:
        console.print("  no code that ran is on the trace")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("  step", "recorded", "replayed", "agrees", ""):
        table.add_column(column)
    for snippet in snippets:
        table.add_row(*_cells(run, snippet))
    console.print(table)
    left = describe_divergence(run)
    console.print(plain(f"  left the record first at {left}" if left else "  kept to the record", 400))


def _cells(run: RunEvaluation, snippet: Snippet) -> list[Text]:
    number = Text(f"  {number_in(run.run, snippet)}")
    recorded = Text(record_of(snippet).failure_class or "not on the trace")
    assert not isinstance(run.replay, NoReplay)
    step = run.replay.step(snippet.id)
    if step is None:
        reason = run.replay.unreplayed.get(snippet.id, "it was not reached")
        return [
            number,
            recorded,
            Text("–", style="dim"),
            _AGREES[None],
            plain(f"not replayed: {reason}", 300),
        ]
    return [
        number,
        recorded,
        Text(class_beside(record_of(step.snippet), step.execution)),
        _AGREES[step.agrees],
        plain(step.difference or "", 300),
    ]


def _row(run: RunEvaluation, path: Path) -> dict[str, object]:
    first = first_to_leave(run.run, run.replay)
    steps = [] if isinstance(run.replay, NoReplay) else run.replay.steps
    return {
        "trace_id": run.run.trace_id,
        "span_id": run.run.span_id,
        "name": run.run.name,
        "file": str(path),
        "not_replayed": run.replay.reason if isinstance(run.replay, NoReplay) else None,
        "first_divergence": None if first is None else first[0],
        "steps": [
            {
                "step": number_in(run.run, step.snippet),
                "span_id": step.snippet.span_id,
                "recorded": record_of(step.snippet).failure_class,
                "replayed": class_beside(record_of(step.snippet), step.execution).value,
                "agrees": step.agrees,
                "difference": step.difference,
                "divergences": [pick(call, "tool reason") for call in step.divergences],
            }
            for step in steps
        ],
        "unreplayed": [
            {"step": number_in(run.run, snippet), "span_id": snippet.span_id, "reason": reason}
            for snippet in run.run.snippets
            if not isinstance(run.replay, NoReplay)
            and (reason := run.replay.unreplayed.get(snippet.id)) is not None
        ],
    }
