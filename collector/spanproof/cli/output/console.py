"""Printing: the two consoles, problems and warnings, JSON lines, progress.

Results go to stdout, everything about the work (progress, warnings, errors) to stderr. rich honours
`NO_COLOR` and drops colour when the output is no terminal.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

import orjson
from rich.console import Console
from rich.text import Text

from spanproof.cli.output.hostile import visible
from spanproof.cli.problems import UsageProblem

if TYPE_CHECKING:
    from rich.progress import Progress


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise it: rich would exit with 1, which here means that a gate failed."""
        raise


console = _Console(highlight=False)
error_console = _Console(stderr=True, highlight=False)


def show_problem(problem: UsageProblem) -> None:
    """Print a problem and its remedy to stderr, a line each."""
    error_console.print(Text.assemble(("spanproof: ", "bold red"), visible(problem.what)), soft_wrap=True)
    if problem.remedy:
        error_console.print(Text.assemble(("  remedy: ", "bold"), visible(problem.remedy)), soft_wrap=True)


def warn(message: str) -> None:
    """Print one warning to stderr."""
    error_console.print(Text(f"spanproof: {visible(message)}", style="yellow"), soft_wrap=True)


def inform(message: str) -> None:
    """Print one remark about the work to stderr."""
    error_console.print(Text(visible(message)), soft_wrap=True)


def json_line(value: object) -> bytes:
    """Return one line of JSON, newline included; lone surrogates become U+FFFD, which JSON in UTF-8 needs."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # A lone surrogate, or an integer of more than 64 bits, which only the standard encoder writes.
        text = json.dumps(_encodable(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode() + b"\n"


def print_json(value: object) -> None:
    """Write one JSON line to stdout and flush it."""
    sys.stdout.buffer.write(json_line(value))
    sys.stdout.buffer.flush()


def pick(value: object, names: str) -> dict[str, Any]:
    """Return the named attributes of a value as JSON data; an enum gives its value."""
    found = {name: getattr(value, name) for name in names.split()}
    return {name: item.value if isinstance(item, Enum) else item for name, item in found.items()}


def progress(*, as_json: bool) -> Progress:
    """Return a progress bar on stderr, shown on a terminal only, and not among lines of JSON."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=error_console,
        transient=True,
        disable=as_json or not error_console.is_terminal,
    )


def _encodable(value: object) -> object:
    """Return the value as orjson would write it: NaN and infinity are null."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
