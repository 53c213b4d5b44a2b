"""Tables for other programs: CSV, Parquet and Arrow files."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spanproof.cli.output.console import write_remark
from spanproof.cli.problems import UsageProblem


def write_csv(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV to stdout; a cell that a spreadsheet would take for a formula begins with a quote."""
    writer = csv.DictWriter(sys.stdout, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _build_cell(value) for name, value in row.items()} for row in rows)


def write_columns(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows to a Parquet file, or an Arrow file by its suffix.

    Raises:
        UsageProblem: the suffix is neither, or a column mixes kinds of values.
    """
    import pyarrow as pa  # loads much: only where a file needs it
    from pyarrow import feather, parquet

    if path.suffix not in (".parquet", ".arrow", ".feather"):
        raise UsageProblem(f"{path} is no name of a table", "End it in .parquet or .arrow.")
    try:
        table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    except pa.ArrowInvalid as problem:
        raise UsageProblem(f"{path}: {problem}", "Cast the column to one type.") from problem
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    write_remark(f"wrote {path}")


def _build_cell(value: object) -> object:
    formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if formula else value
