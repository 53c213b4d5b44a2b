"""`spanproof retry`: evaluate dead letters again, the traces that no attempt could evaluate."""

from __future__ import annotations

from collections.abc import Sequence

import click

from spanproof.cli.engine import opened_engine
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.config import with_config_options
from spanproof.cli.options.store import opened_store, store_option
from spanproof.cli.output.console import (
    build_progress,
    console,
    select_attributes,
    write_json,
    write_remark,
    write_warning,
)
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count, format_time
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.store import DeadLetter, Store
from spanproof.trace.dialects import build_extended_trace
from spanproof.trace.otlp import decode_protobuf


@click.command("retry")
@click.argument("traces", nargs=-1)
@click.option(
    "--list", "only_list", is_flag=True, help="List the dead letters with their errors, and evaluate none."
)
@store_option
@with_config_options
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(traces: tuple[str, ...], only_list: bool, location: str, config: Config, as_json: bool) -> int:
    """Evaluate again what no attempt could evaluate.

    TRACES are ids. Without them the command takes every dead letter. What succeeds now is stored, and its
    letter is removed. Exit code 1 if one fails again.
    """
    with opened_store(location, writing=not only_list) as store:
        letters = store.dead_letters(traces)
        if missing := sorted(set(traces) - {letter.trace_id for letter in letters}):
            raise UsageProblem(
                f"{missing[0]!r} is no dead letter of {store.name}", "`spanproof retry --list` lists them."
            )
        if only_list:
            _write_dead_letters(letters, as_json=as_json)
            return EXIT_PASS
        if not letters:
            write_remark(f"{store.name} has no dead letter")
            return EXIT_PASS
        failed = 0
        with opened_engine(config) as engine, build_progress(as_json=as_json) as bar:
            for letter in bar.track(letters, description="evaluating"):
                error = _run_retry(letter, engine, store)
                failed += error is not None
                if as_json:
                    write_json({"trace_id": letter.trace_id, "error": error})
                elif error is not None:
                    write_warning(f"trace {letter.trace_id} failed again: {error}")
    if not as_json:
        done = len(letters) - failed
        console.print(f"{format_count(done, 'trace')} evaluated, {failed} failed again")
    return EXIT_GATE_FAILED if failed else EXIT_PASS


def _run_retry(letter: DeadLetter, engine: Engine, store: Store) -> str | None:
    """Evaluate a dead letter and store the result; returns the error where that fails.

    The letter may be of a trace whose other spans were evaluated before: they belong to it.
    """
    try:
        stored = store.evaluation(letter.trace_id, letter.project)
        former = stored.trace.spans if stored is not None else ()
        trace = build_extended_trace(letter.trace_id, former, [decode_protobuf(letter.body)])
        evaluation = engine.evaluate(trace)
    except Exception as failure:  # noqa: BLE001 - what failed before may fail again, in any way
        return f"{type(failure).__name__}: {failure}"
    store.write([evaluation])
    store.remove_dead_letters([letter])
    return None


def _write_dead_letters(letters: Sequence[DeadLetter], *, as_json: bool) -> None:
    if as_json:
        for letter in letters:
            row = select_attributes(letter, "trace_id stage error_type error attempts") | {
                "failed_unix_ns": letter.failed_ns
            }
            write_json(row)
        return
    if not letters:
        write_remark("there is no dead letter")
        return
    table = build_listing("trace", "failed (UTC)", "stage", "attempts", "error")
    for letter in letters:
        error = format_line(f"{letter.error_type}: {letter.error}")
        table.add_row(
            letter.trace_id[:12], format_time(letter.failed_ns), letter.stage, str(letter.attempts), error
        )
    console.print(table)
