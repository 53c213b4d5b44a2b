"""`spanproof wal`: check a write-ahead log, and save what can be read of a damaged one."""

from __future__ import annotations

import os
from io import BufferedWriter
from pathlib import Path

import click

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.output.console import console, write_json, write_remark, write_warning
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.collector.receive.body import decode_record
from spanproof.collector.receive.refused import Refused
from spanproof.collector.wal.check import SegmentReport, iter_records, list_reports
from spanproof.collector.wal.file import open_private
from spanproof.trace.otlp import encode_json

_DIRECTORY = click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))


@click.group("wal")
def command() -> None:
    """Check a write-ahead log, and save what can be read of a damaged one."""


@command.command("check")
@_DIRECTORY
@click.option("--json", "as_json", is_flag=True, help="One JSON line per segment on stdout.")
def check(directory: Path, as_json: bool) -> int:
    """Report what the log in DIRECTORY holds, and whether all of it can be read.

    Changes nothing. What a crash cut off in the middle of a write was not acknowledged and is no damage. Exit
    code 1 when something that was acknowledged cannot be read.
    """
    reports = list_reports(directory)
    sound = all(report.sound for report in reports)
    if as_json:
        for report in reports:
            write_json(_as_row(report))
        return EXIT_PASS if sound else EXIT_GATE_FAILED
    if not reports:
        write_remark(f"{directory} holds no segment: everything that was acknowledged is stored")
        return EXIT_PASS
    table = build_listing("segment", "records", "not done", "torn bytes", "damaged bytes")
    for report in reports:
        damaged = ", ".join(f"{start}-{end}" for start, end in report.damaged)
        damaged += f" and {report.skipped} records before it" if report.skipped else ""
        cells = (str(report.records), str(report.undone), str(report.torn_bytes), damaged.strip())
        table.add_row(report.path.name, *cells)
    console.print(table)
    if not sound:
        write_warning(f"the log is damaged; `spanproof wal salvage {directory} FILE` saves what can be read")
    return EXIT_PASS if sound else EXIT_GATE_FAILED


@command.command("salvage")
@_DIRECTORY
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Write what is already stored, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def salvage(directory: Path, file: Path, everything: bool, as_json: bool) -> int:
    """Write what can be read of the log in DIRECTORY to FILE.

    A request is a line of OTLP JSON: `spanproof eval FILE` evaluates them, a running collector takes each at
    `/v1/traces`. The log stays as it is. Copies of damaged segments are below `damaged` in its directory.
    """
    if file.exists():
        raise UsageProblem(f"{file} exists", "Name a file that does not.")
    count = unreadable = 0
    # As the log itself: what is in it is its owner's.
    with BufferedWriter(open_private(file, os.O_EXCL)) as lines:
        for record in iter_records(directory, undone_only=not everything):
            try:
                lines.write(encode_json(decode_record(record)) + b"\n")
                count += 1
            except Refused:
                unreadable += 1
    if as_json:
        write_json({"file": str(file), "requests": count, "unreadable": unreadable})
        return EXIT_PASS
    if unreadable:
        write_warning(f"{format_count(unreadable, 'record')} can be read and hold no request")
    console.print(f"{format_count(count, 'request')} written to {file}")
    return EXIT_PASS


def _as_row(report: SegmentReport) -> dict[str, object]:
    return {
        "segment": str(report.path),
        "first": report.first,
        "last": report.last,
        "records": report.records,
        "undone": report.undone,
        "torn_bytes": report.torn_bytes,
        "damaged": [list(item) for item in report.damaged],
        "skipped": report.skipped,
        "sound": report.sound,
    }
