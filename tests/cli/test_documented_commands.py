"""Every command line of the documentation names commands and options that exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from spanproof.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^([ \t]*)```(?:sh|console|bash)?\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4,}(spanproof .*)$", re.MULTILINE)
INLINE = re.compile(r"`(spanproof [^`\n]+)`")
_END = {"|", "||", "&&", ";", ">", ">>", "2>", "&"}


def command_lines(page: Path) -> Iterator[list[str]]:
    """Yield the words of each command line after `spanproof`, up to a pipe or a redirection."""
    text = page.read_text(encoding="utf-8")
    blocks = "\n".join(match[2] for match in BLOCK.finditer(text)).replace("\\\n", " ")
    lines = [line for line in blocks.splitlines() if not line.lstrip().startswith("#")]
    lines += INDENTED.findall(text.replace("\\\n", " ")) + INLINE.findall(text)
    for line in lines:
        try:
            words = shlex.split(line.removeprefix("$ "), comments=True)
        except ValueError:
            continue
        while words and re.match(r"[A-Z_0-9]+=", words[0]):
            words = words[1:]
        if words and Path(words[0]).name == "spanproof":
            yield words[1 : next((end for end, each in enumerate(words) if each in _END), len(words))]


def find_mistakes(words: list[str]) -> Iterator[str]:
    """Yield each command and option that the command line does not have."""
    command: click.Command = app
    context = click.Context(app)
    for word in words:
        if word.startswith("--"):
            known = {"--help", "--version"}
            known.update(name for each in command.params for name in (*each.opts, *each.secondary_opts))
            if word.partition("=")[0] not in known:
                yield f"{command.name} {word}"
        elif isinstance(command, click.Group) and re.fullmatch(r"[a-z][a-z-]*", word):
            found = command.get_command(context, word)
            if found is None:
                yield f"{command.name} {word}"
                return
            command = found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documented_commands_exist(page):
    wrong = {mistake for words in command_lines(page) for mistake in find_mistakes(words)}
    assert not wrong


def test_command_lines_are_found():
    found = sum(1 for page in PAGES for _ in command_lines(page))
    assert found > 100
    assert list(find_mistakes(["traces", "--colour"])) == ["traces --colour"]
    assert list(find_mistakes(["suite", "rum", "x"])) == ["suite rum"]
