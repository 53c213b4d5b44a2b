"""Programs and what they do with their operands, from `data/shell.txt`; options and operands of their lines.

In: the expanded fields after a program's name. Out: its operands, its options and their values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from spanproof.sandbox.catalogue import build_word_index, split_entry
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.pieces import ENTRY
from spanproof.sandbox.scanners.shell.state import OWN_JOB, Words, find_known_text

_KNOWLEDGE: Final = read_sections("shell")
_GROUPS: Final = _KNOWLEDGE["groups"]

OPERANDS: Final = build_word_index(_KNOWLEDGE["operands"])
VALUED: Final = _KNOWLEDGE["valued"]
DENIED: Final = build_word_index(_KNOWLEDGE["denied"])
QUERIES: Final = _KNOWLEDGE["queries"]
INSTALLERS: Final = _KNOWLEDGE["installers"]
NETWORK: Final = split_entry(_GROUPS, "network")
NETWORK_KINDS: Final = build_word_index(_KNOWLEDGE["network"])
FETCH_OPTIONS: Final = build_word_index(_KNOWLEDGE["fetch-options"])
SHELLS: Final = split_entry(_GROUPS, "shells")
INTERPRETERS: Final = split_entry(_GROUPS, "interpreters")
WRAPPERS: Final = split_entry(_GROUPS, "wrappers")
WRAPPER_VALUED: Final = _KNOWLEDGE["wrapper-valued"]
COMMAND_OPTIONS: Final = {
    program: frozenset(options.split()) for program, options in _KNOWLEDGE["command-options"].items()
}
"""Options whose value is a command line; those of git's commands under `git-` and their name."""
TEXT_OPTIONS: Final = {
    program: frozenset(options.split()) for program, options in _KNOWLEDGE["text-options"].items()
}
"""Options whose value is a text and no path."""

COMMAND_VARIABLES: Final = split_entry(_KNOWLEDGE["variables"], "commands")
LOADING_VARIABLES: Final = split_entry(_KNOWLEDGE["variables"], "loading")
SET_BY_SHELL: Final = split_entry(_KNOWLEDGE["variables"], "set")
SECRET_NAME: Final = re.compile(r"(?i)secret|token|passw|api_?key|access_?key|private_?key|credential|_key$")
"""Names of variables that hold a secret."""
PREDEFINED: Final = {
    **_KNOWLEDGE["predefined"],
    "IFS": " ",
    "#": "1",
    "!": OWN_JOB,
    "$": OWN_JOB,
    "COPROC_PID": OWN_JOB,
    "BASHPID": OWN_JOB,
    "_": ENTRY,
    "-": "",
}
PROJECT_FILES: Final = _KNOWLEDGE["project-files"]
KEEPING: Final = split_entry(_GROUPS, "keeping")
UNPACKING: Final = split_entry(_GROUPS, "unpacking")
PLAIN: Final = split_entry(_GROUPS, "plain")
HARMLESS: Final = split_entry(_GROUPS, "harmless")
PROJECT_TOOLS: Final = split_entry(_GROUPS, "projecttools")

WRAPPER_OPERANDS: Final = {"timeout": 1, "flock": 1}
"""Operands of a wrapper before the program it runs."""


def split_options(arguments: Sequence[Words], valued: str) -> tuple[list[Words], list[str]]:
    """Return operands and options of a command; `valued` are the short options that take a value."""
    operands: list[Words] = []
    options: list[str] = []
    only_operands = False
    skip = False
    for argument in arguments:
        text = find_known_text(argument)
        if skip:
            skip = False
            continue
        if only_operands or text is None or not text.startswith("-") or text == "-":
            if text != "-":
                operands.append(argument)
        elif text == "--":
            only_operands = True
        else:
            options.append(text)
            skip = (
                not text.startswith("--") and text[-1] in valued and (len(text) == 2 or text[1:-1].isalpha())
            )
    return operands, options


def without_text_options(program: str, arguments: list[Words]) -> list[Words]:
    """Return the arguments without the options whose value is a text: `-d /`, `-t/`, `--delimiter=/`."""
    if program not in TEXT_OPTIONS:
        return arguments
    kept: list[Words] = []
    rest = iter(arguments)
    for argument in rest:
        # A word that may be one of several is judged as it is.
        option = (argument[0][0] or "") if len(argument) == 1 else ""
        value_follows = _find_if_value_follows(program, option)
        if value_follows is None:
            kept.append(argument)
        elif value_follows and len(argument[0]) == 1:
            next(rest, None)
        if option == "--":
            break
    return [*kept, *rest]


def _find_if_value_follows(program: str, option: str) -> bool | None:
    """Return whether the next argument is the value of a text option; None for any other option."""
    if option in TEXT_OPTIONS[program]:
        return True
    if option.startswith("--"):
        name, has_value, _value = option.partition("=")
        return not has_value if name in TEXT_OPTIONS[program] else None
    if not option.startswith("-"):
        return None
    for index, letter in enumerate(option[1:], 2):
        if f"-{letter}" in TEXT_OPTIONS[program]:
            return index == len(option)
        if letter in VALUED.get(program, ""):
            return None
    return None


def list_after_options(arguments: list[Words], valued: str) -> list[Words]:
    """Return what follows the options of a wrapper: the command it runs."""
    index = 0
    while index < len(arguments):
        text = find_known_text(arguments[index])
        if text is None or not text.startswith("-") or text == "-":
            break
        index += 2 if len(text) == 2 and text[1] in valued else 1
        if text == "--":
            break
    return arguments[index:]
