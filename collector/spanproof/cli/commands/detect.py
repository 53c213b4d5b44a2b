"""`spanproof detect`: code in texts, for people (files) and for programs (`--jsonl`)."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.syntax import Syntax
from rich.text import Text

from spanproof.cli import EXIT_PASS
from spanproof.cli.console import UsageProblem, console, print_json
from spanproof.cli.hostile import visible
from spanproof.cli.jsonl import Row, answer_lines, text_field
from spanproof.evaluators.detect.text import TextSnippet, snippets_in
from spanproof.trace import Language

_LEXERS = {Language.OTHER: "text"}
"""Names of highlighters where they are not the language's own."""


@click.command("detect")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--jsonl", is_flag=True, help='Read {"id","text"} lines from stdin, write {"id","snippets"} lines.'
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON line per file.")
def command(files: tuple[Path, ...], jsonl: bool, as_json: bool) -> int:
    """Find code snippets in text.

    FILES are texts, `-` is stdin, as it is where there are none.
    """
    if jsonl:
        if files:
            raise UsageProblem("--jsonl reads stdin, and files were named too", "leave out one of them")
        return answer_lines(_answer)
    for name, text in _texts(files):
        found = snippets_in(text)
        if as_json:
            print_json({"file": name, "snippets": [_row(snippet) for snippet in found]})
        else:
            _show(name, text, found)
    return EXIT_PASS


def _answer(row: Row) -> Row:
    return {"id": row.get("id"), "snippets": [_row(found) for found in snippets_in(text_field(row, "text"))]}


def _row(found: TextSnippet) -> Row:
    return {
        "language": found.language.value,
        "source": found.source,
        "start": found.start,
        "end": found.end,
    }


def _texts(files: tuple[Path, ...]) -> list[tuple[str, str]]:
    return [_text(path) for path in files or (Path("-"),)]


def _text(path: Path) -> tuple[str, str]:
    if str(path) == "-":
        return "stdin", sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return str(path), path.read_bytes().decode("utf-8", "replace")
    except OSError as refused:
        raise UsageProblem(
            f"{path} cannot be read: {refused.strerror or refused}", "name a text file, or pipe the text in"
        ) from refused


def _show(name: str, text: str, found: list[TextSnippet]) -> None:
    count = f"{len(found)} snippet{'' if len(found) == 1 else 's'}"
    console.print(Text.assemble((name, "bold"), f": {count}"))
    for snippet in found:
        line = text.count("\n", 0, snippet.start) + 1
        console.print(Text.assemble(("  " + snippet.language.value, "bold cyan"), f", line {line}"))
        lexer = _LEXERS.get(snippet.language, snippet.language.value)
        console.print(
            Syntax(
                visible(snippet.source),
                lexer,
                start_line=line,
                line_numbers=True,
                background_color="default",
            )
        )
