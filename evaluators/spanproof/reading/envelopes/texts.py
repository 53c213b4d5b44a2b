"""Texts: the words in which a result says that it failed.

A form counts by its place and by what gave the text: the word "error" alone says nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from spanproof.reading.envelopes.forms import load_text_forms
from spanproof.reading.envelopes.model import MAX_CHARS, Envelope, EnvelopeForm, EnvelopeStatus
from spanproof.reading.log_lines import is_log_line, is_record_list, without_time
from spanproof.reading.shell_commands import find_own_message, read_command
from spanproof.reading.tool_kinds import ToolKind
from spanproof.reading.tracebacks import find_python_error, find_thrown_error

MAX_MESSAGE_CHARS: Final = 400
# An error message at the start of a longer text is a heading or a quotation.
_MAX_MESSAGE_LINES: Final = 12
# A shell whose program only fails says so in few lines.
_MAX_SHELL_LINES: Final = 6
_NAME = (
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exists|NotFound|Timeout|Interrupt|Exit|Warning"
    r"|Expired|Refused|Denied|Failure|Fault)"
)
# An exception's name: by how it ends, or by the module that defines it.
_RAISED = rf"(?:{_NAME}|(?:Base)?Exception(?:Group)?|(?:[a-z_]\w*\.)+(?:exceptions?|errors?)\.[A-Z]\w*)"
_EXCEPTION_LINE = re.compile(rf"(?P<type>{_RAISED})(?:: ?(?P<message>.*))?\Z", re.DOTALL)
_EXCEPTION_REPR = re.compile(
    rf"(?:(?P<type>{_RAISED})\((?P<message>.*)\)|<(?P<other>{_RAISED})\b(?P<rest>[^<>]*)>)\Z", re.DOTALL
)
_EXCEPTION_NAME = re.compile(_NAME)
_OWN_ERROR = re.compile(r"(?:[Ee]rror|ERROR|[Ff]atal|FATAL)(?:\[\w+\])?: \S")
_EXIT_WORD = re.compile(r"exit|\breturn|\b(?:process|command|program|script)\b", re.IGNORECASE)
_BEFORE_DATABASE = re.compile(r"\A(?:Error|ERROR|error|Query failed|SQL error)[: ]+\s*(?=\S)")
# A count or a measure: `Errors: 4`, `Mean absolute error: 3.1`.
_FIGURE = re.compile(
    r"[^:\n]{0,60}(?:[Ee]rrors?|[Ff]ailed|[Ff]ailures?)\b[^:\n]{0,30}: ?(?:-?[\d.,]+ ?%?|(?:null|none|nil"
    r"|undefined|false|NaN)\b,?)"
    r"(?:,? (?:on|of|in|per|at|passed|failed|and|warnings?|to|from|minutes?|s|ms)\b[^\n]{0,80}"
    r"|[,;][^\n]{0,80})?\s*(?:\n|\Z)"
)
_SUCCESS_TAIL = re.compile(r"\b(?:0 errors?|no errors?|without errors?|errors?: (?:0|none)\b)", re.IGNORECASE)
_TABLE_RULE = re.compile(r"^\s*(?:[|+│┌┏╭]|[^|\n]*\|[^|\n]*\|)", re.MULTILINE)
_DECORATION = re.compile(
    r"(?:[^\w\s\[({<'\"`/\\.-]+\s*|\*\*|</?(?:tool_)?error>|\[(?:ERROR|Error|error)\]\s*)+"
)
# What precedes the details of a message: `Lookup failed: …`.
_MESSAGE_HEAD = re.compile(
    r"(?P<head>[A-Za-z][\w' -]{0,70}?)(?: \([^()\n]{1,80}\))?(?P<end>\*{0,2}: ?\*{0,2}|\. (?:Reason|Cause"
    r"|Error|Details?): | - )\S"
)
_FAILING_END = re.compile(
    r"(?:\b(?:error|failed|failure|exception|exception raised|error occurred|due to|went wrong[\w ]*|because)"
    r"|\b(?:failed|error|exception)(?: while| when| with| to| during| in| from| raised)\b[\w' -]*)\Z",
    re.IGNORECASE,
)
_FAILING_WORD = re.compile(
    r"\b(?:error|failed|failure|exception|unable|could ?n[o']t|cannot|can't|went wrong)\b", re.IGNORECASE
)
# Words that make a head the name of a measure or of a field: `Last error: …`.
_MEASURE_WORD = re.compile(
    r"\b(?:last|latest|previous|known|common|recent|first|standard|mean|absolute|squared|relative"
    r"|rounding|type|root|total|max|maximum|average|median|prediction|test|training|validation|margin"
    r"|of error)\b",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"(?:Sorry, )?(?:[Cc]ould not|[Cc]annot|[Cc]ouldn't"
    r"|[Uu]nable to) [\w' -]{1,60}\((?=[^()\n]*[A-Za-z])[^\n]*\)\.?\Z"
    r"|error=\w+ |(?:err|error_type)=\w*(?:Error|Exception)\b"
)
# What goes on in sentences explains an HTTP status; a page that could not be had has an address or nothing.
_EXPLAINED = re.compile(r"[a-z]\. [A-Z]|[.!?]\Z")


def find_text_failure(whole: str, kind: ToolKind, command: str) -> Envelope | None:
    """Return the failure that a text reports, None where it reports none."""
    lines = [line.strip() for line in whole[-MAX_CHARS:].splitlines() if line.strip()]
    head = whole[:MAX_CHARS]
    status, other_lines = _split_exit_status(lines)
    if status == 0:
        return None
    if status is not None:
        return Envelope(EnvelopeStatus.FAILED, EnvelopeForm.EXIT_STATUS, other_lines[-1])
    framework = _find_failure("framework", head, lines[0])
    if framework is not None:
        return framework
    if kind is ToolKind.DOCUMENTS:
        return _find_failure_of_documents(head, lines[0])
    if command and kind in (ToolKind.SHELL, ToolKind.OTHER):
        facts = read_command(command)
        line = find_own_message(facts, lines)
        if line is not None:
            return _build_text_failure(line)
        if facts.shows:
            return None
    if is_log_line(lines[0]) or is_log_line(lines[-1]) or is_record_list(lines):
        return None
    return (
        _find_traceback(whole[-MAX_CHARS:], kind)
        or _find_message_of_tool(head, lines, kind)
        or _find_short_message(head, lines[0], kind)
    )


def _build_text_failure(quote: str, error_type: str | None = None, producer: str = "") -> Envelope:
    return Envelope(EnvelopeStatus.FAILED, EnvelopeForm.TEXT, quote, error_type, producer)


def _find_failure(section: str, text: str, quote: str) -> Envelope | None:
    """Return the failure that a row of a section finds at the start of a text."""
    form = load_text_forms()[section]
    found = form.find_match(text)
    if found:
        return _build_text_failure(quote, _find_exception_name(text), form.get_producer(found))
    return None


def _split_exit_status(lines: list[str]) -> tuple[int | None, list[str]]:
    """Return an exit status on a line of its own, first or last, and the other lines; all if it is alone."""
    for line in (lines[0], lines[-1]):
        if len(line) >= MAX_MESSAGE_CHARS or _EXIT_WORD.search(line) is None:
            continue
        found = load_text_forms()["exit"].find_match(line)
        if found is not None:
            code = found["code"] or found["code2"] or found["code3"]
            own_line = found["code3"] is not None
            return int(code), [other for other in lines if own_line or other is not line] or lines
    return None, lines


def _find_failure_of_documents(head: str, first: str) -> Envelope | None:
    """Return the failure of a tool that gives documents: it fails in few words, or not at all."""
    if "\n" in head.strip() or len(head) > MAX_MESSAGE_CHARS:
        return _find_page_failure(head)
    http = load_text_forms()["http"].find_match(head)
    if http is not None and not _EXPLAINED.search(head[http.end() :]):
        return _find_failure("http", head, first)
    return _find_failure("document", head, first)


def _find_page_failure(head: str) -> Envelope | None:
    page = load_text_forms()["page"].find_match(head)
    if page:
        return _build_text_failure(f"HTTP {page['status']}", None, "web servers")
    return None


def _find_traceback(tail: str, kind: ToolKind) -> Envelope | None:
    """Return an uncaught exception at the end of the text."""
    raised = find_python_error(tail)
    if raised is not None:
        return _build_text_failure(*raised, "Python")
    if kind not in (ToolKind.JAVASCRIPT, ToolKind.SHELL, ToolKind.OTHER):
        return None
    thrown = find_thrown_error(tail)
    if thrown is not None:
        return _build_text_failure(*thrown, "Node.js")
    return None


def _find_message_of_tool(head: str, lines: list[str], kind: ToolKind) -> Envelope | None:
    if kind in (ToolKind.SQL, ToolKind.OTHER, ToolKind.PYTHON):
        for text in dict.fromkeys((head, _BEFORE_DATABASE.sub("", head))):
            found = _find_failure("database", text, lines[0])
            if found is not None:
                return found
    ends = lines[:1]
    if kind is ToolKind.SHELL:
        ends = [lines[0], lines[-1]]
        line = next(filter(_OWN_ERROR.match, ends), None)
        if line is not None and len(lines) <= _MAX_SHELL_LINES and not _FIGURE.match(lines[-1]):
            return _build_text_failure(line)
    elif kind not in (ToolKind.JAVASCRIPT, ToolKind.OTHER) or len(lines) > _MAX_MESSAGE_LINES:
        return None
    for section, candidates in (("shell", ends), ("build", lines[:_MAX_MESSAGE_LINES])):
        for line in candidates:
            found = _find_failure(section, line, line)
            if found is not None:
                return replace(found, error_type=None)
    return None


def _find_short_message(head: str, first: str, kind: ToolKind) -> Envelope | None:
    """Return an error message that is the whole of a short text."""
    if head.count("\n") >= _MAX_MESSAGE_LINES or _TABLE_RULE.search(head) or _SUCCESS_TAIL.search(first):
        return None
    raised = _EXCEPTION_LINE.match(first) or _EXCEPTION_REPR.match(head)
    if raised is not None:
        groups = raised.groupdict()
        if groups.get("message") is None or groups["message"].strip():
            return _build_text_failure(first, _get_short_name(groups["type"] or groups["other"]), "Python")
    page = _find_page_failure(head)
    if page is not None:
        return page
    http = _find_failure("http", head, first) if kind is not ToolKind.SHELL else None
    if http is not None:
        return replace(http, error_type=None)
    if _FIGURE.match(head):
        return None
    message = _find_failure("message", head, first)
    if message is not None:
        return replace(message, error_type=_find_exception_name(first))
    if _names_failure(first):
        return _build_text_failure(first, _find_exception_name(first))
    return None


def _names_failure(first: str) -> bool:
    """Whether a message first names a failure, then gives its details: `Sorry, the lookup failed: …`."""
    if _DECORATION.match(first):
        plain = _DECORATION.sub("", first, count=1)
    else:
        plain = first
    if _GIVEN_UP.match(plain):
        return True
    if plain != first and _EXCEPTION_LINE.match(plain):
        return True
    head = _MESSAGE_HEAD.match(plain)
    if head is None or _MEASURE_WORD.search(head["head"]):
        return False
    return _FAILING_END.search(head["head"]) is not None and _FAILING_WORD.search(head["head"]) is not None


def _find_exception_name(text: str) -> str | None:
    found = _EXCEPTION_NAME.search(text[:2_000])
    return _get_short_name(found[0]) if found else None


def _get_short_name(name: str) -> str:
    return name.rpartition(".")[2]


def find_refusal(text: str) -> Envelope | None:
    """Return the refusal that an operation got: `Rejected: …`, `Not allowed.`; None where it got none."""
    whole = without_time(text.strip())
    return _find_failure("refusal", whole, whole[:MAX_MESSAGE_CHARS])
