"""docs/cli.md is what the commands say of themselves, and every option says something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from spanproof.cli.app import app
from spanproof.cli.reference import build_reference

ROOT = Path(__file__).resolve().parents[2]


def commands(group: click.Group = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands())


def test_the_page_is_the_commands_own_words() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == build_reference(page), "run: python -m spanproof.cli.reference docs/cli.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_explains_each_option(name: str) -> None:
    options = [each for each in COMMANDS[name].params if isinstance(each, click.Option)]
    speaks_json = name == "mcp"  # on both streams, and nothing else
    assert speaks_json or "--json" in {spelling for option in options for spelling in option.opts}
    assert [option.opts for option in options if not option.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_sentence_of_a_command_fits_a_list(name: str) -> None:
    assert not COMMANDS[name].get_short_help_str(75).endswith("...")
