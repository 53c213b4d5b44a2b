"""A table with a row per run: `traces`, `eval` and `demo` list runs with it.

A row begins with the state of the run; the cells of layers have their values where there is room. Below 100
columns the names of the layers are short; from 120 on a row has the time, from 150 on the reason, which has a
line of its own before. Totals follow, of two runs and more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.verdicts import (
    build_own_evaluator_lines,
    format_layer_verdict,
    format_reason,
    format_state,
    iter_totals,
)
from spanproof.cli.output.words import format_time
from spanproof.evaluators.model import TraceEvaluation
from spanproof.trace import Layer, Outcome, Scored, State, fold_outcomes

_FULL_NAMES, _WITH_TIME, _WITH_REASON = 100, 120, 150
# Whether layers have their values, and the columns between two cells: the first with room for the name.
_LAYOUTS = ((True, 2), (False, 2), (False, 1))
# Column of the run's name.
_NAME = 1
# Characters of it that are always shown, and those for which values of layers make room.
_LEAST_OF_NAME, _ENOUGH_OF_NAME = 8, 12
# Columns that a name has at most; it is folded beyond.
_MOST_OF_NAME = 40
SHORT_NAMES = {
    Layer.CORRECTNESS: "correct", Layer.BOUNDARY: "bound", Layer.EXECUTION: "exec",
    Layer.GROUNDEDNESS: "ground", Layer.TRAJECTORY: "traj",
}  # fmt: skip
"""The layers' names where there is little room."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """What the table shows of one run.

    Attributes:
        start_ns: Unix time in nanoseconds.
        layers: each layer's outcome, as `RunEvaluation.layers` has them.
        feedback: what users said of it, in few words.
        remarks: lines below the run, beside the reason.
    """

    name: str
    trace_id: str
    start_ns: int
    layers: Mapping[Layer, Outcome]
    feedback: str = ""
    remarks: Sequence[Text] = ()


def build_run_lines(evaluation: TraceEvaluation, title: str | None = None) -> list[RunLine]:
    """Return a line for each run of an evaluated trace; `title` replaces the runs' own names."""
    return [
        RunLine(
            title or run.run.name,
            run.run.trace_id,
            run.run.start_ns,
            run.layers,
            remarks=build_own_evaluator_lines(run.scores),
        )
        for run in evaluation.runs
    ]


def write_runs(console: Console, lines: Sequence[RunLine]) -> None:
    """Print the table, as wide as the console is, and the totals."""
    with_reason = console.width >= _WITH_REASON
    with_feedback = any(line.feedback for line in lines)
    header = _build_header(console.width, with_feedback=with_feedback)
    rows, widths, gap = _build_layout(header, lines, console.width, with_feedback=with_feedback)
    console.print(_build_row(header, widths, gap, [Text("why", style="bold")] if with_reason else []))
    for line, row in zip(lines, rows, strict=True):
        reason = format_reason(line.layers)
        console.print(_build_row(row, widths, gap, [reason] if with_reason else []))
        below = [reason] if reason and not with_reason else []
        for remark in (*below, *line.remarks):
            console.print(Padding(remark, (0, 0, 0, 4)))
    if len(lines) > 1:
        for total in iter_totals([line.layers for line in lines]):
            console.print(total)


def _build_layout(
    header: Sequence[Text], lines: Sequence[RunLine], width: int, *, with_feedback: bool
) -> tuple[list[list[Text]], list[int], int]:
    """Return the cells of each line, the widths of the columns and the gap between them."""
    for with_values, gap in _LAYOUTS:
        rows = [_build_cells(line, width, with_values, with_feedback=with_feedback) for line in lines]
        widths = [max(cell.cell_len for cell in column) for column in zip(header, *rows, strict=True)]
        widths[_NAME] = min(widths[_NAME], _MOST_OF_NAME)
        room = width - sum(widths) + widths[_NAME] - gap * (len(widths) - 1)
        if room >= min(widths[_NAME], _ENOUGH_OF_NAME):
            break
    # The name is cut where there is little room; the reason takes what is left.
    widths[_NAME] = min(widths[_NAME], max(_LEAST_OF_NAME, room))
    return rows, widths, gap


def is_green(line: RunLine) -> bool:
    """Return whether a run passes and there is nothing to add to it."""
    return fold_outcomes(line.layers.values()) is State.PASS and not line.remarks and not line.feedback


def write_green_runs(console: Console, lines: Sequence[RunLine]) -> None:
    """Print runs that all pass in three lines: their number, each layer's lowest value, how to list them."""
    for total in iter_totals([line.layers for line in lines]):
        console.print(total)
    values: dict[Layer, list[float]] = {}
    for line in lines:
        for layer, outcome in line.layers.items():
            if isinstance(outcome, Scored):
                values.setdefault(layer, []).append(outcome.value)
    lowest = ", ".join(f"{layer} {min(values[layer]):.2f}" for layer in Layer if layer in values)
    console.print(f"lowest values: {lowest}", soft_wrap=True)
    console.print("--json writes a line for each", style="dim")


def _build_row(cells: Sequence[Text], widths: Sequence[int], gap: int, last: Sequence[Text]) -> Table:
    """Return one row as a table of its own, as lines of full width follow it."""
    row = Table.grid(padding=(0, gap, 0, 0), expand=bool(last))
    for width in widths:
        row.add_column(width=width, overflow="fold")
    if last:
        row.add_column(ratio=1, overflow="fold")
    row.add_row(*cells, *last)
    return row


def _build_header(width: int, *, with_feedback: bool) -> list[Text]:
    titles = ["", "run", "trace", *(["started (UTC)"] if width >= _WITH_TIME else [])]
    titles += [layer.value if width >= _FULL_NAMES else SHORT_NAMES[layer] for layer in Layer]
    return [Text(title, style="bold") for title in (*titles, *(["feedback"] if with_feedback else []))]


def _build_cells(line: RunLine, width: int, with_values: bool, *, with_feedback: bool) -> list[Text]:
    trace_id = line.trace_id[: 12 if width >= _WITH_TIME else 8]
    cells = [format_state(fold_outcomes(line.layers.values())), format_line(line.name)]
    cells.append(Text(trace_id, style="dim"))
    if width >= _WITH_TIME:
        cells.append(Text(format_time(line.start_ns, "%m-%d %H:%M:%S"), style="dim"))
    cells += [format_layer_verdict(line.layers.get(layer), with_value=with_values) for layer in Layer]
    if with_feedback:
        return [*cells, format_line(line.feedback)]
    return cells
