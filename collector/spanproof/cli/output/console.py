"""Printing: the two consoles, problems and warnings, JSON lines, progress.

Results go to stdout, everything about the work (progress, warnings, errors) to stderr. rich honours
`NO_COLOR` and drops colour when the output is no terminal.
"""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from spanproof.cli.output.hostile import format_controls
from spanproof.cli.problems import UsageProblem
from spanproof.trace import Language

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.status import Status
    from rich.syntax import Syntax


SCAN_STYLES = {"allow": "green", "review": "yellow", "deny": "bold red"}
"""Style by a scan's verdict."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise it: rich would exit with 1, which here means that a gate failed."""
        raise


@dataclass(frozen=True, slots=True)
class _Trimmed:
    """A table without the blanks that fill its lines."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in Segment.split_lines(console.render(self.table, options)):
            yield Segment("".join(part.text for part in line).rstrip())
            yield Segment.line()


class _TrimBlanks(RenderHook):
    """Trims tables for a file or a pipe, which have no colours: `diff` and editors show blanks at an end."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        if console.is_terminal:
            return renderables
        return [_Trimmed(item) if isinstance(item, Table) else item for item in renderables]


console = _Console(highlight=False)
console.push_render_hook(_TrimBlanks())
error_console = _Console(stderr=True, highlight=False)


def write_problem(problem: UsageProblem) -> None:
    """Print a problem and its remedy to stderr, a line each."""
    error_console.print(
        Text.assemble(("spanproof: ", "bold red"), format_controls(problem.what)), soft_wrap=True
    )
    if problem.remedy:
        error_console.print(
            Text.assemble(("  remedy: ", "bold"), format_controls(problem.remedy)), soft_wrap=True
        )


def write_warning(message: str) -> None:
    """Print one warning to stderr."""
    error_console.print(Text(f"spanproof: {format_controls(message)}", style="yellow"), soft_wrap=True)


def write_remark(message: str) -> None:
    """Print one remark about the work to stderr."""
    error_console.print(Text(format_controls(message)), soft_wrap=True)


def build_highlighted(source: str, language: Language, start_line: int = 1) -> Syntax:
    """Return source code with its line numbers, highlighted on a terminal."""
    from rich.syntax import Syntax  # loads Pygments

    lexer = "text" if language is Language.OTHER else language.value
    return Syntax(
        source, lexer, start_line=start_line, line_numbers=True, word_wrap=True, background_color="default"
    )


def encode_json_line(value: object) -> bytes:
    """Return one line of JSON, newline included; lone surrogates become U+FFFD, which JSON in UTF-8 needs."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # A lone surrogate, or an integer of more than 64 bits, which only the standard encoder writes.
        text = json.dumps(_to_encodable(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode() + b"\n"


def write_json(value: object) -> None:
    """Write one JSON line to stdout and flush it."""
    sys.stdout.buffer.write(encode_json_line(value))
    sys.stdout.buffer.flush()


def write_json_list(head: Mapping[str, object], name: str, items: Iterable[object]) -> None:
    """Write one JSON line whose last member is a list, item by item: the list is never whole in memory."""
    out = sys.stdout.buffer
    out.write(encode_json_line(head).removesuffix(b"}\n") + f',"{name}":['.encode())
    for position, item in enumerate(items):
        out.write((b"," if position else b"") + encode_json_line(item).rstrip(b"\n"))
    out.write(b"]}\n")
    out.flush()


def write_report(path: Path, text: str) -> None:
    """Write a file of results, with the folders above it, and say so on stderr."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    write_remark(f"wrote {path}")


def select_attributes(value: object, names: str) -> dict[str, Any]:
    """Return the named attributes of a value as JSON data; an enum gives its value."""
    found = {name: getattr(value, name) for name in names.split()}
    return {name: item.value if isinstance(item, Enum) else item for name, item in found.items()}


def build_progress(*, as_json: bool) -> Progress:
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


def start_build_log() -> None:
    """Print the steps of an environment's build on stderr from now on."""
    logger = logging.getLogger("spanproof.sandbox.environments")
    if not any(isinstance(handler, _BuildSteps) for handler in logger.handlers):
        logger.addHandler(_BuildSteps())
        logger.setLevel(logging.INFO)
        logger.propagate = False


class _BuildSteps(logging.Handler):
    """Steps of a build: one changing line on a terminal, a line for each elsewhere."""

    _status: Status | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = format_controls(record.getMessage())
        if not error_console.is_terminal:
            error_console.print(f"spanproof: {text}", markup=False, soft_wrap=True)
        elif getattr(record, "done", False):
            if self._status is not None:
                self._status.stop()
            self._status = None
        elif self._status is None:
            self._status = error_console.status(Text(text))
            self._status.start()
        else:
            self._status.update(Text(text))


def _to_encodable(value: object) -> object:
    """Return the value as orjson would write it: NaN and infinity are null."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_to_encodable(key): _to_encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_encodable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
