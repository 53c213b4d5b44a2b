"""`spanproof report bisect SCORE`: which of image, packages, model and prompt changed where a rate fell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import click
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.cohort import with_where_option
from spanproof.cli.options.store import StoreQuery, opened_store, with_limit_option, with_store_query_options
from spanproof.cli.output.console import build_progress, console, select_attributes, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.bisect_drop import (
    Bisection,
    Change,
    Contrast,
    Dimension,
    Finding,
    Observation,
    Rate,
    build_observation,
    compute_bisection,
)
from spanproof.evaluators.intervals import Interval
from spanproof.evaluators.model import RunEvaluation
from spanproof.gate import ScoreRef, parse_score
from spanproof.store import Store
from spanproof.trace import State, fold_outcomes, get_state

_BATCH = 32
_WORDS = {
    Finding.CAUSE: "cause",
    Finding.TOGETHER: "changed together",
    Finding.NO_EFFECT: "changed, no effect shown",
    Finding.UNCHANGED: "unchanged",
    Finding.UNKNOWN: "not on the traces",
}
_REMEDIES = {
    Dimension.IMAGE: "set SPANPROOF_IMAGE in the agent's process, or container.image.* on its resource",
    Dimension.PACKAGES: "Spanproof's instrumentors record them",
    Dimension.MODEL: "the instrumentor does not name it",
    Dimension.PROMPT: "give register() or the context a prompt version",
}


@click.command("bisect")
@click.argument("score", default="execution.score")
@with_where_option
@with_store_query_options
@with_limit_option(1_000, "Read at most this many traces, the newest ones.")
@click.option("--check", is_flag=True, help="Exit with 1 if the rate fell.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    score: str, query: StoreQuery, cohort: dict[str, str], limit: int, check: bool, as_json: bool
) -> int:
    """Find what changed where the rate of a score fell.

    SCORE is one with a verdict, such as execution.score. Looks for the largest drop in the share of runs that
    pass it, and for what changed there: the image first, then packages, model and prompt. A dimension is the
    cause where runs that are alike in all others that changed still differ; all intervals are of 95 %.
    """
    wanted = parse_score(score)
    if wanted.spec is not None and (wanted.spec.advisory or wanted.is_raw):
        raise UsageProblem(
            f"{score} has no verdict, so that no run passes it", "Name a score that passes or fails."
        )
    with opened_store(query.location) as store, build_progress(as_json=as_json) as bar:
        rows = store.traces(project=query.project, since_ns=query.since_ns, cohort=cohort, limit=limit)
        task = bar.add_task("reading traces", total=len(rows))
        ids = [row.trace_id for row in rows]
        read = _Read([], [])
        for first in range(0, len(ids), _BATCH):
            _add_runs(store, ids[first : first + _BATCH], wanted, cohort, read)
            bar.advance(task, _BATCH)
        found = compute_bisection(read.observations)
    if as_json:
        write_json({"score": score, **_to_row(found), "open": read.count_open(found)})
    else:
        _write_drops(score, found)
        _write_open(read.count_open(found))
    has_fallen = found.drop is not None and found.drop.is_certain
    if check and has_fallen:
        return EXIT_GATE_FAILED
    return EXIT_PASS


@dataclass(frozen=True, slots=True)
class _Read:
    """The runs that were read: those with a verdict, and when the open ones began (Unix nanoseconds)."""

    observations: list[Observation]
    open_times_ns: list[int]

    def count_open(self, found: Bisection) -> dict[str, int | None]:
        """Return how many runs are open, and how many of them before the drop and after it."""
        total = len(self.open_times_ns)
        if found.drop is None:
            return {"total": total, "before": None, "after": None}
        before = sum(time_ns < found.drop.time_ns for time_ns in self.open_times_ns)
        return {"total": total, "before": before, "after": total - before}


def _add_runs(store: Store, ids: list[str], wanted: ScoreRef, cohort: dict[str, str], read: _Read) -> None:
    for evaluation in store.evaluations(ids, cohort.get("project")):
        for run in evaluation.runs:
            fits = all(getattr(run.run.cohort, name, value) == value for name, value in cohort.items())
            state = _get_state(run, wanted)
            if fits and state.is_judged:
                passed = state is State.PASS
                read.observations.append(build_observation(evaluation.trace, run.run, passed=passed))
            elif fits and state is State.OPEN:
                read.open_times_ns.append(run.run.start_ns)


def _get_state(evaluation: RunEvaluation, wanted: ScoreRef) -> State:
    """Return the state of a run by one score; a person's verdict settles a layer's own value."""
    if wanted.is_own_value:
        return get_state(evaluation.layers.get(wanted.layer))
    name = (wanted.layer, wanted.row_name)
    outcomes = (score.outcome for score in evaluation.scores if (score.layer, score.name) == name)
    return fold_outcomes(outcomes)


def _write_open(counted: dict[str, int | None]) -> None:
    if not counted["total"]:
        return
    if counted["before"] is None:
        split = ""
    else:
        split = f": {counted['before']} before, {counted['after']} after"
    runs = format_count(counted["total"], "run")
    write_remark(f"{runs} {'is' if counted['total'] == 1 else 'are'} open and not in these rates{split}")


def _to_row(found: Bisection) -> dict[str, Any]:
    drop = found.drop
    return {
        "runs": found.runs,
        "drop": None
        if drop is None
        else {
            "time": _format_time(drop.time_ns),
            "certain": drop.is_certain,
            "p_value": drop.p_value,
            "before": _to_rate_row(drop.before),
            "after": _to_rate_row(drop.after),
            "difference": _to_interval_row(drop.difference),
        },
        "suspect": found.suspect.dimension.value if found.suspect else None,
        "dimensions": [_to_change_row(change) for change in found.changes],
    }


def _to_change_row(change: Change) -> dict[str, Any]:
    return {
        **select_attributes(change, "dimension finding before after"),
        "values": [{"value": value, **_to_rate_row(rate)} for value, rate in change.rates.items()],
        "contrast": _to_contrast_row(change.contrast),
        "together_with": [item.value for item in change.together_with],
    }


def _to_contrast_row(contrast: Contrast | None) -> dict[str, Any] | None:
    if contrast is None:
        return None
    return {
        "old": _to_rate_row(contrast.old),
        "new": _to_rate_row(contrast.new),
        "difference": _to_interval_row(contrast.difference),
        "alike_in": {name.value: value for name, value in contrast.alike_in.items()},
    }


def _to_rate_row(rate: Rate) -> dict[str, Any]:
    interval = rate.interval
    return {
        **select_attributes(rate, "passed total share"),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def _to_interval_row(interval: Interval) -> dict[str, float]:
    return {"low": interval.low, "high": interval.high}


def _write_drops(score: str, found: Bisection) -> None:
    drop = found.drop
    if drop is None:
        write_remark(f"{score} does not fall over {format_count(found.runs, 'run')} with a verdict")
        return
    console.print(
        f"{score} falls from {_describe_drop(drop.before)} to {_describe_drop(drop.after)}"
        f" at {_format_time(drop.time_ns)}:"
        f" {drop.after.share - drop.before.share:+.1%}, {drop.difference}, p {drop.p_value:.3f}",
        soft_wrap=True,
    )
    if not drop.is_certain:
        write_remark("as large a drop is common in runs in random order: it may be chance")
    for change in found.changes:
        _write_change(change, is_suspect=change is found.suspect)


def _write_change(change: Change, *, is_suspect: bool) -> None:
    words = _WORDS[change.finding]
    if change.together_with:
        words += f" with {', '.join(change.together_with)}"
    line = Text(f"{change.dimension.value:<10}{words}", style="bold red" if is_suspect else "")
    if change.finding is Finding.UNKNOWN:
        line.append(f": {_REMEDIES[change.dimension]}", style="dim")
    console.print(line, soft_wrap=True)
    if change.before != change.after:
        console.print(
            Text.assemble(" " * 10, format_line(change.before), " → ", format_line(change.after)),
            soft_wrap=True,
        )
    if change.contrast is not None:
        console.print(f"{' ' * 10}{_describe_contrast(change.contrast)}", soft_wrap=True)


def _describe_contrast(contrast: Contrast) -> str:
    change = contrast.new.share - contrast.old.share
    counts = f"{contrast.old.total} and {format_count(contrast.new.total, 'run')}"
    alike = f" alike in {', '.join(contrast.alike_in)}" if contrast.alike_in else ""
    return f"{change:+.1%}, {contrast.difference}, of {counts}{alike}"


def _describe_drop(rate: Rate) -> str:
    return f"{rate.share:.1%} ({rate.passed} of {rate.total})"


def _format_time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat()
