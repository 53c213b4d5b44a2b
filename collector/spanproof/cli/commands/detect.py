"""`spanproof detect`: code in texts, for people (files) and for programs (`--jsonl`)."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.input.files import read_file
from spanproof.cli.input.jsonl import Row, check_no_files, handle_lines, read_text_field
from spanproof.cli.output.console import build_highlighted, console, select_attributes, write_json
from spanproof.cli.output.hostile import format_controls
from spanproof.cli.output.words import format_count
from spanproof.evaluators.detect.text import TextSnippet, list_text_snippets


@click.command("detect")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--jsonl", is_flag=True, help='Read {"id","text"} lines from stdin, write {"id","snippets"} lines.'
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON line per file.")
def command(files: tuple[Path, ...], jsonl: bool, as_json: bool) -> int:
    """Find code snippets in text.

    FILES are texts. `-`, or no FILES, means stdin.
    """
    if jsonl:
        check_no_files(files)
        return handle_lines(_build_row)
    # All of them first: a file that cannot be read is reported before anything is printed.
    texts = [(path, read_file(path).decode("utf-8", "replace")) for path in files or (Path("-"),)]
    for path, text in texts:
        name = "stdin" if str(path) == "-" else str(path)
        found = list_text_snippets(text)
        if as_json:
            write_json({"file": name, "snippets": [_to_row(snippet) for snippet in found]})
        else:
            _write_snippets(name, text, found)
    return EXIT_PASS


def _build_row(row: Row) -> Row:
    return {
        "id": row.get("id"),
        "snippets": [_to_row(found) for found in list_text_snippets(read_text_field(row, "text"))],
    }


def _to_row(found: TextSnippet) -> Row:
    return select_attributes(found, "language source start end")


def _write_snippets(name: str, text: str, found: list[TextSnippet]) -> None:
    console.print(Text.assemble((name, "bold"), f": {format_count(len(found), 'snippet')}"), soft_wrap=True)
    for snippet in found:
        line = text.count("\n", 0, snippet.start) + 1
        console.print(Text.assemble(("  " + snippet.language.value, "bold cyan"), f", line {line}"))
        console.print(build_highlighted(format_controls(snippet.source), snippet.language, start_line=line))
