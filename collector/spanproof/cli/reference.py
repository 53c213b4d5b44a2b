"""The reference of the command line, made from the commands.

In: the command tree. Out: Markdown with every command, its arguments and its options, which
`python -m spanproof.cli.reference docs/cli.md` writes into the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from spanproof.cli.app import app

MARK = "<!-- Generated from here on by spanproof.cli.reference: change the commands instead -->\n"


def build_reference(page: str) -> str:
    """Return the page with the sections of all commands, as they are now, below its mark."""
    root = click.Context(app, info_name="spanproof")
    return "\n".join([page.partition(MARK)[0] + MARK, *_iter_sections(root)])


def _iter_sections(context: click.Context) -> Iterator[str]:
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _iter_sections(below)
        else:
            yield _format_section(below)


def _format_section(context: click.Context) -> str:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    rows = [
        f"| `{_format_spelling(option, context)}` | {_format_default(option, context)}"
        f" | {option.help or ''} |"
        for option in command.params
        if isinstance(option, click.Option)
    ]
    table = "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])
    title = context.command_path.removeprefix("spanproof ")
    return f"## `{title}`\n\n{cleandoc(command.help or '')}\n\n```sh\n{usage}\n```\n\n{table}\n"


def _format_spelling(option: click.Option, context: click.Context) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return names
    return f"{names} {option.make_metavar(context)}".replace("|", "\\|")


def _format_default(option: click.Option, context: click.Context) -> str:
    if option.required:
        return "required"
    defaults = [f"`{option.envvar}`"] if option.envvar else []
    if option.show_default and not option.is_flag:
        defaults.append(f"`{option.get_default(context, call=False)}`")
    return ", else ".join(defaults)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(build_reference(path.read_text(encoding="utf-8")), encoding="utf-8")
