"""Uncaught exceptions at the end of an output: tracebacks of Python and of JavaScript.

In: a text. Out: the line that names the exception, or None. A traceback counts where it is the end of the
text: what goes on behind it, or is in a log, is content.
"""

from __future__ import annotations

import re

from spanproof.reading.log_lines import is_log_line

_MARK = re.compile(r"(?m)^\s*(?:\+ Exception Group )?Traceback \(most recent call last\):")
_RAISED = re.compile(r"(?:\s*\| )?(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?P<rest>: .*|:?\Z)")
_SYNTAX = re.compile(
    r"(?m)^\s*File \"[^\"\n]*\", line \d+\n(?:.*\n){1,3}?(?P<line>(?P<type>SyntaxError|IndentationError"
    r"|TabError): .*)\Z"
)
_THROWN = re.compile(r"(?:\s+at \S.*|Node\.js v\d.*|node:internal/.*|\S*\[?eval\]?\S*:\d+(?::\d+)?)\Z")
_NAMED = re.compile(r"(?m)^(?:Uncaught )?(?P<type>\w*Error)(?: \[\w+\])?:.*$")
_NODE_VERSION = re.compile(r"(?m)^Node\.js v\d+\.\d+\.\d+\s*\Z")
_MAX_CHARS = 4_000


def find_python_error(text: str) -> tuple[str, str] | None:
    """Return the line that names the exception a text ends with, and its type."""
    text = text.rstrip()
    syntax = _SYNTAX.search(text[-_MAX_CHARS:])
    if syntax is not None:
        return syntax["line"].strip(), syntax["type"]
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    lines = text[marks[-1].end() :].splitlines()
    for at, line in enumerate(lines):
        bare = line.removeprefix("  | ")
        if not bare.strip() or bare.startswith((" ", "\t")):
            continue
        found = _RAISED.match(line)
        if found is None or any(is_log_line(other) for other in lines[at + 1 :]):
            return None
        return bare.strip(), found["type"].rpartition(".")[2]
    return None


def find_thrown_error(text: str) -> tuple[str, str | None] | None:
    """Return the line that names what JavaScript threw at the end of a text, and its type."""
    tail = text.rstrip()[-_MAX_CHARS:]
    lines = [line for line in tail.splitlines() if line.strip()]
    if not lines or not any(_THROWN.match(line) for line in lines[-12:]):
        return None
    named = _NAMED.search(tail)
    if named is not None:
        return named[0].strip(), named["type"]
    return (lines[-1], None) if _NODE_VERSION.search(tail) else None
