"""What raised: an error's text without what frameworks write around it.

In: an error as the trace has it, `Type: message`. Out: the innermost exception as one line for people, and
a signature under which the same cause is known again. Only the fixed forms of the frameworks' own messages
are taken off; where none fits, the last line is taken, as in a traceback.
"""

from __future__ import annotations

import re

MAX_LINE_CHARS = 160
MAX_WRAPPED_CHARS = 4_000
"""Of a longer error the last line is quoted: the forms below are searched for more than once."""

_VOLATILE = re.compile(r"0x[0-9a-fA-F]+|\"[^\"\n]*\"|'[^'\n]*'|(?:/[\w.-]+)+|\d+(?:\.\d+)?")
# What precedes a message whose own type is further in: no type at all, or frameworks' wrappers.
_NAMELESS = re.compile(
    r"\A(?:(?:error|Agent\w*Error): (?=\S)"
    r"|[A-Za-z_][\w.]{0,80}: (?=Code execution failed at line '|Error executing tool '"
    r"|Error running tool \())"
)

# smolagents, around what the code raised.
_INTERPRETER = re.compile(r"\ACode execution failed at line '(?P<line>.*?)' due to: (?P<cause>.+)", re.DOTALL)

# smolagents, around what a tool raised.
_TOOL = re.compile(
    r"\AError executing tool '[^'\n]*' with arguments .*?: (?P<cause>[A-Za-z_][\w.]*: .*?)"
    r"(?:\nPlease try again or use another tool.*)?\Z",
    re.DOTALL,
)

# The OpenAI Agents SDK, around what a function tool raised, with its data or with the message alone.
_FUNCTION = re.compile(
    r"\AError running tool \(non-fatal\): (?:\{.*'error': (?P<quote>['\"])(?P<inner>.+)(?P=quote)\}"
    r"|(?P<cause>.+))\Z",
    re.DOTALL,
)

_FORMS = (_INTERPRETER, _TOOL, _FUNCTION)


def without_wrappers(text: str) -> str:
    """Return an error's text without what frameworks write around it."""
    bare = _without_wrapper_type(text)
    wrapped = len(bare) <= MAX_WRAPPED_CHARS
    if wrapped:
        found = next(filter(None, (form.match(bare) for form in _FORMS)), None)
    else:
        found = None
    if found is not None:
        return found.groupdict().get("inner") or found["cause"]
    return bare


def get_cause(text: str) -> str:
    """Return the last line of what raised; `no message` for nothing."""
    bare = without_wrappers(text)
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def describe_cause(text: str) -> str:
    """Describe the cause for people, bounded, with the line that the framework quotes."""
    bare = _without_wrapper_type(text)
    quoted = _INTERPRETER.match(bare) if len(bare) <= MAX_WRAPPED_CHARS else None
    line = quoted["line"].strip().partition("\n")[0] if quoted else ""
    return _format_short(get_cause(text)) + (f", at `{_format_short(line)}`" if line else "")


def compute_signature(text: str) -> str:
    """Return the cause with numbers, quoted names, paths and addresses masked: equal for equal causes."""
    return _VOLATILE.sub("?", get_cause(text))[:200]


def _without_wrapper_type(text: str) -> str:
    return _NAMELESS.sub("", text.strip())


def _format_short(line: str) -> str:
    if len(line) <= MAX_LINE_CHARS:
        return line
    return line[: MAX_LINE_CHARS - 1] + "…"
