"""`spanproof report drift`: code that ended in another failure class in another executor.

Comes in: a store. Goes out: per piece of code its endings, each with what ran it (the image by its digest),
when, and on which trace; a table, or JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

import click
from rich.table import Table
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.store import (
    limit_option,
    opened_store,
    project_option,
    since_ns,
    since_option,
    store_option,
)
from spanproof.cli.output.console import console, inform, pick, print_json, progress
from spanproof.cli.output.hostile import plain
from spanproof.evaluators.drift import Drift, drifts
from spanproof.evaluators.layers.common import place_of
from spanproof.evaluators.redact import mask_formats
from spanproof.sandbox import FailureClass
from spanproof.store import Store
from spanproof.trace import Run

_BATCH = 32
"""Traces read at once: whole documents, and the bar moves with each batch."""


@click.command("drift")
@store_option
@since_option
@project_option
@limit_option(100, "Pieces of code compared, the newest ones.")
@click.option("--check", is_flag=True, help="Exit 1 where there is any.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def drift(
    location: str, since: str | None, project: str | None, limit: int, check: bool, as_json: bool
) -> int:
    """Show code whose outcome changed with its executor.

    For the same code, after the same earlier code and with the same results of its tools, the recorded
    failure class changed with the executor: its type, its version, or its image by digest.
    """
    with opened_store(location) as store, progress(as_json=as_json) as bar:
        task = bar.add_task("looking for changed code", total=None)
        ids = store.traces_of_changed_code(project=project, since_ns=since_ns(since), limit=limit)
        bar.update(task, description="reading traces", total=len(ids))
        found = drifts(_runs_of(store, ids, lambda: bar.advance(task)))
    if as_json:
        print_json({"drifts": [_row(each) for each in found]})
    elif found:
        for each in found:
            _show(each)
    else:
        inform("no code ended otherwise where another executor ran it")
    return EXIT_GATE_FAILED if check and found else EXIT_PASS


def _runs_of(store: Store, ids: Sequence[str], read: Callable[[], None]) -> Iterator[Run]:
    for first in range(0, len(ids), _BATCH):
        for evaluation in store.evaluations(ids[first : first + _BATCH]):
            yield from (run.run for run in evaluation.runs)
            read()


def _row(found: Drift) -> dict[str, object]:
    return {
        "code_sha256": found.code_sha256,
        "language": found.language.value,
        "source": mask_formats(found.source),
        "endings": [
            {
                "failure_class": ending.failure_class.value,
                "executor": ending.executor.type,
                "executor_version": ending.executor.version,
                **pick(ending.executor, "image_name image_digest"),
                "time": _time(ending.time_ns),
                **pick(ending, "trace_id span_id"),
            }
            for ending in found.endings
        ],
    }


def _show(found: Drift) -> None:
    console.print(
        Text.assemble(
            (f"{found.language} ", "bold"), plain(found.source, 100), (f"  {found.code_sha256[:12]}", "dim")
        )
    )
    table = Table(box=None, pad_edge=False, show_header=False)
    for ending in found.endings:
        well = ending.failure_class is FailureClass.OK
        table.add_row(
            Text(f"  {ending.failure_class}", style="green" if well else "red"),
            plain(place_of(ending.executor)),
            Text(_time(ending.time_ns)[:19], style="dim"),
            Text(f"trace {ending.trace_id[:8]}", style="dim"),
        )
    console.print(table)


def _time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat()
