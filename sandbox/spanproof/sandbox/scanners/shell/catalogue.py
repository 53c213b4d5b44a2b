"""Programs and what they do with their operands, from `data/shell.txt`."""

from __future__ import annotations

from typing import Final

from spanproof.sandbox.catalogue import by_word, words_of
from spanproof.sandbox.scanners.catalogue import read_sections

_KNOWLEDGE: Final = read_sections("shell")
_GROUPS: Final = _KNOWLEDGE["groups"]

OPERANDS: Final = by_word(_KNOWLEDGE["operands"])
VALUED: Final = _KNOWLEDGE["valued"]
DENIED: Final = by_word(_KNOWLEDGE["denied"])
INSTALLERS: Final = _KNOWLEDGE["installers"]
NETWORK: Final = words_of(_GROUPS, "network")
NETWORK_KINDS: Final = by_word(_KNOWLEDGE["network"])
FETCH_OPTIONS: Final = by_word(_KNOWLEDGE["fetch-options"])
SHELLS: Final = words_of(_GROUPS, "shells")
INTERPRETERS: Final = words_of(_GROUPS, "interpreters")
WRAPPERS: Final = words_of(_GROUPS, "wrappers")
WRAPPER_VALUED: Final = _KNOWLEDGE["wrapper-valued"]
COMMAND_OPTIONS: Final = {
    program: frozenset(options.split()) for program, options in _KNOWLEDGE["command-options"].items()
}
"""Options whose value is a command line; those of git's commands under `git-` and their name."""

COMMAND_VARIABLES: Final = words_of(_KNOWLEDGE["variables"], "commands")
LOADING_VARIABLES: Final = words_of(_KNOWLEDGE["variables"], "loading")
HARMLESS: Final = words_of(_GROUPS, "harmless")
PROJECT_TOOLS: Final = words_of(_GROUPS, "projecttools")

WRAPPER_OPERANDS: Final = {"timeout": 1, "flock": 1}
"""Operands of a wrapper before the program it runs."""
