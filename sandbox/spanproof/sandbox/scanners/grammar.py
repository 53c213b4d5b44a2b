"""Parsing with the tree-sitter grammars under a hard limit of time.

In: a language and bytes. Out: the tree, or None where parsing takes longer than its time. The grammars
recover from errors in time that grows with the square of the length, and nothing can interrupt them in this
process. So a long text is parsed in a process of its own first, which the kernel ends when its processor time
is spent; only what it parses in time is parsed here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from typing import Final

import tree_sitter

LONG: Final = 8_192
"""Bytes from which a text is tried in another process; the worst shorter one found takes 0.3 s of bash."""

_SECONDS: Final = 2
"""Processor time of a trial; a plain script of a million characters takes 0.8 s, the start 0.2 s."""

_WALL: Final = 30
"""Times as long on the clock, for busy machines."""

_TRIAL: Final = "from spanproof.sandbox.scanners.grammar import try_stdin; try_stdin()"


def parse(language: str, data: bytes) -> tree_sitter.Tree | None:
    """Parse a text; None where that takes longer than its time."""
    if len(data) > LONG and not _is_parsed_in_time(language, data):
        return None
    return tree_sitter.Parser(_language(language)).parse(data)


def try_stdin() -> None:
    """Parse standard input in the language of the first argument; the kernel ends the process in time."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    tree_sitter.Parser(_language(sys.argv[1])).parse(sys.stdin.buffer.read())


def _is_parsed_in_time(language: str, data: bytes) -> bool:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TRIAL, language],
            input=data,
            env=environment,
            capture_output=True,
            timeout=_SECONDS * _WALL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@lru_cache(maxsize=4)
def _language(name: str) -> tree_sitter.Language:
    if name == "bash":
        import tree_sitter_bash

        return tree_sitter.Language(tree_sitter_bash.language())
    if name == "typescript":
        import tree_sitter_typescript

        return tree_sitter.Language(tree_sitter_typescript.language_typescript())
    import tree_sitter_javascript

    return tree_sitter.Language(tree_sitter_javascript.language())
