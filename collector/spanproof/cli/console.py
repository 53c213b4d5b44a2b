"""What every command prints with: the consoles, one error form, JSON for machines.

Results go to stdout, everything about the work (progress, warnings, errors) to stderr. rich honours
`NO_COLOR` and drops colour when the output is no terminal.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from spanproof.cli.hostile import visible


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: rich would exit with 1, which here means that a gate failed."""
        raise


console = _Console(highlight=False)
error_console = _Console(stderr=True, highlight=False)


class UsageProblem(Exception):  # noqa: N818 - names what the user sees
    """Something the user can mend.

    Attributes:
        what: the input and what is wrong with it.
        remedy: what to do.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def show(self) -> None:
        """Print the problem to stderr in two lines."""
        error_console.print(Text.assemble(("spanproof: ", "bold red"), visible(self.what)), soft_wrap=True)
        if self.remedy:
            error_console.print(Text.assemble(("  remedy: ", "bold"), visible(self.remedy)), soft_wrap=True)


def json_line(value: object) -> bytes:
    """One line of JSON, newline included; lone surrogates become U+FFFD, which JSON in UTF-8 needs."""
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


def progress(*, as_json: bool) -> Progress:
    """A progress bar on stderr, shown on a terminal only, and not among lines of JSON."""
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
    """As orjson would have it: NaN and infinity are null."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
