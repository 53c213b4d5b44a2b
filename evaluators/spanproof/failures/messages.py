"""Exceptions read from text, and their messages with the values masked.

In: stderr, a traceback, or an error as a trace has it. Out: the exception's type, its message, and the
package whose code raised it. `mask` replaces what changes from one occurrence to the next (names in quotes,
numbers, paths, hosts, identifiers of the code) by placeholders, and keeps what names the cause: types,
`[Errno 2]`, the status of an HTTP response. The text is bounded before any pattern is tried.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass

from spanproof.reading.error_causes import without_wrappers
from spanproof.reading.tracebacks import find_python_error, find_thrown_error

MAX_MESSAGE_CHARS = 400
"""So much of a message is looked at: long ones quote data."""

MAX_TOKENS = 32
"""So many words of a masked message are kept."""

_BUILTIN = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {"NoneType", "function"}
_PREFIX = re.compile(r"(?:[A-Za-z_]\w*\.)*(?P<type>[A-Z]\w*): (?P<message>.*)", re.DOTALL)
# smolagents' interpreter, around an exception that a subscript raised.
_INDEXED = re.compile(r"Could not index .{0,300}? with .{0,100}?: (?P<cause>[A-Z]\w*: .*)", re.DOTALL)

_FRAME = re.compile(r'^\s*File "(?P<path>[^"\n]{1,500})", line \d+', re.MULTILINE)
_INSTALLED = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|lib/python\d+\.\d+)/(?P<package>[A-Za-z_]\w*)(?=[/.])"
)
_HINT = re.compile(r"[.;,]? (?:Did you mean|Maybe you meant|Perhaps you forgot|Hint:).*", re.DOTALL)

VALUE = "<value>"
"""What a masked message has in place of a value."""

_OWNER = re.compile(r"(?<!\w)'(?P<owner>[A-Za-z_][\w.]*)'(?= object\b)")
# Addresses, quotations, lists and mappings, mail, ids, dates, paths, dotted names, in this order.
_VALUES = (
    re.compile(r"\b[a-zA-Z][\w+.-]{1,20}://[^\s'\")>\]]+"),
    re.compile(r"(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)\"[^\"\n]*\"(?!\w)|`[^`\n]*`"),
    re.compile(r"\[(?!Errno)[^\[\]\n]*\]|\{[^{}\n]*\}"),
    re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+"),
    re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b"),
    re.compile(r"\b\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d[\d:.+Z-]*)?"),
    re.compile(r"(?<![\w<>/])(?:[A-Za-z]:)?[\w.-]*(?:[/\\][\w.@~+=%?&-]+)+[/\\]?"),
    re.compile(r"\b(?:[\w-]+\.)+[A-Za-z][\w-]*\b(?!\()"),
)

_CALLED = re.compile(r"(?P<path>(?:\b\w+|<value>)(?:\.\w+|\.<value>)*)\(\)")
_NUMBER = re.compile(
    r"(?P<kept>\[Errno -?\d+\]|\b(?:status(?:[ _]code)?|HTTP|HTTP Error|code|error code)[ :=]*[1-5]\d\d\b"
    r"|^[1-5]\d\d (?=[A-Z]))|(?<![\w<-])[+-]?\d[\d.,:_]*(?:e[+-]?\d+)?%?(?![\w-])"
)
_IDENTIFIER = re.compile(
    r"(?<![<\w-])(?:[A-Za-z]\w*_\w*|_\w+|(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Za-z])[\w-]+)(?![\w>-])"
)
# Names within a sentence: a capital after a word in lower case.
_PROPER = re.compile(r"(?<=[a-z] )[A-Z][\w.]*(?: [A-Z][\w.]*)*")

# The words of HTTP's statuses (RFC 9110, section 15), by which a number is a status and no value.
_STATUS_PHRASE = (
    r"[1-5]\d\d (?:Client Error|Server Error|Unauthorized|Payment Required|Forbidden|Not Found|Gone"
    r"|Request Time-?out|Conflict|Precondition Failed|Unprocessable (?:Entity|Content)|Too Many Requests"
    r"|Internal Server Error|Bad Request|Bad Gateway|Service Unavailable|Gateway Time-?out"
    r"|Proxy Authentication Required)"
)
# A status in quotes, as httpx writes it: `Client error '403 Forbidden' for url`.
_QUOTED_STATUS = re.compile(rf"['\"](?P<status>{_STATUS_PHRASE})['\"]")
_STATUS_WORDS = re.compile(rf"\b{_STATUS_PHRASE}")
# Codes of errors that are written as identifiers: `insufficient_quota`, `RATE_LIMIT_EXCEEDED`.
_CODE_WORDS = re.compile(
    r"(?i)(?:error|denied|refused|limit|quota|time(?:d_)?_?out|invalid|not_?found|exceeded|unavailable|forbidden"
    r"|unauthori[sz]ed|expired|failed|reset|conflict|unreachable|locked|missing|exhausted|unsupported)"
)

_REPEATED = re.compile(r"<value>(?:[ ,]*<value>)+")
_TOKEN = re.compile(r"<\w+>|\[Errno -?\d+\]|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as read from a text; all empty where the text names none."""

    error_type: str = ""
    message: str = ""
    package: str = ""


def read_raised(text: str, error_type: str | None = None) -> Raised:
    """Return the exception that a text reports.

    Args:
        text: stderr, a traceback, `Type: message`, or the message alone.
        error_type: the exception's name, where it is known apart from the text.
    """
    traceback = find_python_error(text)
    if traceback is not None:
        line, name = traceback
        return Raised(name, _parse_message(line, name), _parse_package(text))
    thrown = find_thrown_error(text)
    if thrown is not None:
        line, thrown_type = thrown
        return Raised(thrown_type or error_type or "", _parse_message(line, thrown_type or ""))
    bare = without_wrappers(text)
    own_type = (error_type or "").rpartition(".")[2]
    if inner := _find_indexed(bare, own_type):
        bare, own_type = inner["cause"], ""
    prefixed = _PREFIX.match(bare)
    if prefixed is not None and (not own_type or prefixed["type"] == own_type or bare != text.strip()):
        return Raised(prefixed["type"], _get_first_line(prefixed["message"]))
    return Raised(own_type, _get_first_line(bare))


def _find_indexed(message: str, error_type: str) -> re.Match[str] | None:
    """Return what a subscript raised in smolagents' interpreter, with or without a type before it."""
    after_type = message.partition(": ")[2]
    if error_type and message.startswith(error_type):
        return _INDEXED.match(after_type)
    found = _INDEXED.match(message)
    if found is None and ": Could not index " in message[:200]:
        return _INDEXED.match(after_type)
    return found


def format_masked(message: str) -> str:
    """Return a message with its values replaced by placeholders: equal for every occurrence of one cause."""
    text = _QUOTED_STATUS.sub(r"\g<status>", _HINT.sub("", message[:MAX_MESSAGE_CHARS]))
    text = _OWNER.sub(r"\g<owner>", _format_types(text))
    for pattern in _VALUES:
        text = pattern.sub(VALUE, text)
    text = _CALLED.sub(lambda found: found[0] if found["path"] in _BUILTIN else VALUE, text)
    # The words of a status are no names: `403 Forbidden`.
    text = _STATUS_WORDS.sub(lambda found: f"status {found[0].lower()}", text)
    text = _NUMBER.sub(lambda found: found["kept"] or VALUE, text)
    text = _IDENTIFIER.sub(lambda found: found[0] if _CODE_WORDS.search(found[0]) else VALUE, text)
    text = _PROPER.sub(lambda found: found[0] if _CODE_WORDS.search(found[0]) else VALUE, text)
    return " ".join(_TOKEN.findall(_REPEATED.sub(VALUE, text))[:MAX_TOKENS])


def _format_types(text: str) -> str:
    """Take the quotes off names of built-in types: `'int' and 'str'` is the cause, not a value."""
    return re.sub(
        r"(?<!\w)(?P<quote>['\"])(?P<name>[A-Za-z]+)(?P=quote)(?!\w)",
        lambda found: found["name"] if found["name"] in _BUILTIN else found[0],
        text,
    )


def _parse_message(line: str, name: str) -> str:
    _, colon, message = line.partition(": ")
    if colon and name in line.partition(": ")[0]:
        return message.strip()
    if line.endswith(name):
        return ""
    return line


def _get_first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:MAX_MESSAGE_CHARS]


def _parse_package(traceback: str) -> str:
    """Return the package that the innermost frame of a traceback is in."""
    frames = _FRAME.findall(traceback[-20_000:])
    found = _INSTALLED.search(frames[-1]) if frames else None
    return found["package"] if found is not None else ""
