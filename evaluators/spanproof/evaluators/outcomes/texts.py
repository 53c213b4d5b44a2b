"""Failures reported as text: the fixed forms in which tools, shells, databases and frameworks report them.

In: a text, and what gave it. Out: what it says of failure, or None. A form counts by its place, at the start
or the end of the text, and by what gave the text: the word "error" alone says nothing, and in a document, a
log or a search result even an error message is content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.outcomes.commands import own_message, read_command
from spanproof.evaluators.outcomes.model import KnownBy
from spanproof.evaluators.outcomes.places import Giver
from spanproof.evaluators.outcomes.structured import find_exit_status, join_text_parts, read_structured
from spanproof.evaluators.outcomes.tracebacks import parse_python_traceback, parse_thrown_error
from spanproof.reading.log_lines import is_log_line, is_record_list
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

MAX_CHARS: Final = 20_000
"""Of a longer text the beginning and the end are read."""

MAX_MESSAGE_CHARS: Final = 400

# An error message at the start of a longer text is a heading or a quotation.
_MAX_LINES = 12


@dataclass(frozen=True, slots=True)
class TextFailure:
    """A failure that a text reports."""

    known_by: KnownBy
    quote: str
    error_type: str | None = None
    exit_status: int | None = None


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

_FRAMEWORKS = re.compile(
    r"(?:Error executing tool '[^'\n]*'"
    r"|Error executing tool [\w.-]+:"
    r"|Error in tool call execution:|Error in code parsing:|Code execution failed at line"
    r"|Code parsing failed on line"
    r"|Error invoking tool '|Error invoking tool `"
    r"|Error: [\w.-]+ is not a valid tool, try one of \["
    r"|[\w.-]+ is not a valid tool, try one of \["
    r"|An error occurred while running the tool\b|Error running tool|Error calling tool '"
    r"|Executing code yielded an error:|Tool execution failed|Tool call failed"
    r"|Error: .*\n ?Please fix your mistakes\.\s*\Z"
    r"|MCP error -?\d+|Unknown tool: |Tool [\w'.-]+ not found\b|Could not parse tool input"
    r"|<tool_use_error>|ToolException\("
    r"|Arguments? [\w.'-]+ (?:is|are) not in the tool's input schema|Argument [\w.'-]+ has type '"
    r"|Error: [\w.]+\(.*\)\n ?Please fix your mistakes\."
    r"|Tool '[^'\n]*' timed out after |\d+ validation errors? for \w+)",
)
_DATABASES = re.compile(
    r"(?:Error: )?(?:\((?:\w+\.)*\w*(?:Error|Exception)\) |\((?:\w+\.)+[A-Z]\w+\) "
    r"|(?:sqlite3|psycopg2?|psycopg\.errors|psycopg2\.errors|pymysql|MySQLdb|asyncpg|duckdb|sqlalchemy"
    r"|oracledb|pyodbc)[\w.]*\.\w+: "
    r"|no such (?:table|column|function|index|savepoint|module|collation|trigger|view)\b"
    r"|near \".{0,80}\": syntax error|ambiguous column name: "
    r"|(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY|PRIMARY KEY) constraint failed\b|unrecognized token: \""
    r"|incomplete input\Z"
    r"|(?:table|view|index|there is already a\w*|relation|database|type|schema|column|role|constraint) "
    r"\"?[\w.]+\"? (?:already exists|of relation \"?[\w.]+\"? does not exist)\b"
    r"|duplicate (?:column name: |key value violates )|table \S+ has (?:no column named |\d+ columns but )"
    r"|datatype mismatch\Z|database (?:table )?is locked\b|attempt to write a readonly database"
    r"|misuse of aggregate\b"
    r"|unable to open database file|file is not a database|wrong number of arguments to function"
    r"|(?:syntax error at (?:or near|end of)|unterminated (?:quoted|dollar-quoted) )"
    r"|null value in column |column reference \"|missing FROM-clause entry|invalid input (?:syntax"
    r"|value) for "
    r"|value too long for type |(?:insert or update on|update or delete on) table |new row for relation "
    r"|permission denied for (?:table|relation|schema|database|sequence|view)\b|canceling statement due to "
    r"|deadlock detected\Z|current transaction is aborted|operator does not exist: |division by zero\Z"
    r"|Duplicate entry '|Unknown database '|Data too long for column |Column count doesn't match "
    r"|(?:Parse|Runtime) error(?: near line \d+)?: |in prepare, "
    r"|(?:Catalog|Binder|Parser|Conversion|Constraint|Invalid Input|Out of Range|IO|Permission"
    r"|Transaction|Type|Not implemented"
    r"|INTERNAL|Dependency|HTTP|Serialization|Out of Memory) Error: "
    r"|ERROR \d{3,5} \([0-9A-Z]{5}\)(?: at line \d+)?: |\(\d{4}, ['\"]"
    r"|(?:psql:.{0,200}: )?(?:ERROR|FATAL|PANIC):  ?\S|(?:psql: )?error: connection to server"
    r"|ORA-\d{5}: |Msg \d+, Level \d+, "
    r"|Code: \d+\. DB::(?:Net)?Exception|Received exception from server"
    r"|table_names \{.*\} not found in database|(?:relation|column|table"
    r"|function) \"?[\w.]+\"? does not exist\b"
    r"|Unknown column '|Table '[\w.`]+' doesn't exist|You have an error in your SQL syntax"
    r"|Unrecognized name: "
    r"|SQL compilation error|(?:Access denied for user|Can't connect to .{0,20}MySQL"
    r"|Lost connection to MySQL))"
    r"|[^\n]{4,300}\n+(?:LINE \d+: .*\n\s*\^|DETAIL:  |HINT:  |\[SQL: )",
    re.DOTALL,
)
_SHELL = re.compile(
    r"(?:(?:[\w./-]*/)?(?:ba|z|da|k)?sh: (?!warning|no job control|cannot set terminal)\S.*"
    r"|[\w./-]+: command not found"
    r"|(?:[\w./-]+): +(?:cannot |can't |unable to |you must |missing operand|missing argument|invalid "
    r"|unrecognized option"
    r"|unknown |no such |not enough |too (?:few|many) |bad |could not |expected "
    r"|illegal option|failed to ).*"
    r"|(?:[\w./-]+): [^:\n]{1,200}: (?:No such file or directory|Permission denied|Is a directory"
    r"|Not a directory|Operation not permitted"
    r"|No such process|Connection refused|Name or service not known|File exists|Directory not empty"
    r"|No space left on device)"
    r"|[\w./-]+: error: .*"
    r"|Segmentation fault.*|Killed|Terminated|Bus error.*|Aborted.*|Illegal instruction.*"
    r"|curl: \(\d+\) .*|wget: .*|ssh: .*|E: (?:Unable|Could not|Package|Failed).*"
    r"|make(?:\[\d+\])?: \*\*\* .*"
    r"|\S+\.(?:go|rs|c|cc|cpp|h|java|kt|swift):\d+:\d+: .*|fatal: .*"
    r"|error: (?:pathspec|failed to|could not|cannot|Your local|src refspec|unknown).*"
    r"|CONFLICT \(.*"
    r"|ERROR: (?:Could not|No matching|Failed|Cannot|pip's|Exception|Invalid|Package|failed to|Ignored).*"
    r"|error: (?:externally-managed|subprocess-exited|metadata-generation|legacy-install).*"
    r"|npm (?:ERR!|error) .*|yarn error.*|error Command failed.*|ERR_PNPM\w+.*"
    r"|Error response from daemon: .*|Error from server .*|Error: (?:Cannot find module|No such"
    r"|Unknown|Failed|Process|Command)\b.*"
    r"|error(?:\[E\d+\])?: (?:aborting|cannot|expected|mismatched|linking|unresolved|could not).*"
    r"|[\w./-]+:\d+:(?:\d+:)? (?:fatal )?error: .*|panic: .*|Exception in thread \".*"
    r"|Unhandled exception.*)"
    r"\Z",
)
_EXIT_LINE = re.compile(
    r"[\[(<]?(?:(?:the )?(?:process|command|program|script)(?: exited| finished| failed| terminated"
    r"| returned)?)?"
    r"(?:exited|finished|failed|terminated|returned)?(?: with)?"
    r" ?(?:non-zero )?(?:exit|return|status)?[ _-]?(?:code|status)?\s*[:=>]?\s*(?P<status>-?\d{1,3})"
    r"(?:</[\w-]+>|[)\]]?\.?)\Z",
    re.IGNORECASE,
)
_EXIT_WORD = re.compile(r"exit|\breturn|\b(?:process|command|program|script)\b", re.IGNORECASE)
_RAN_BADLY = re.compile(r".*returned non-zero exit status (?P<status>\d{1,3})\.?\Z")
_HTTP = re.compile(
    r"(?:HTTP(?:/\d(?:\.\d)?)? ?(?:[Ee]rror:?|status:?|code:?)?:? ?(?P<status>[45]\d\d)\b"
    r"|(?P<second>[45]\d\d) (?:Client|Server) Error\b|(?:Client|Server) error '(?P<quoted>[45]\d\d) "
    r"|(?:Error:? )?(?:Request|API request|API call|Fetch|GET|POST) ?(?:\S+ )?(?:failed"
    r"|returned)(?: with)?(?: error)? ?(?:an? )?(?:HTTP )?(?:status)?(?: code)?:? ?(?P<third>[45]\d\d)\b"
    r"|(?:Error|ERROR|Status|API error|API Error)(?: code)?:? \(?(?P<fourth>[45]\d\d)\b"
    r"|(?P<fifth>[45]\d\d)(?::|\s+-)? (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found"
    r"|Method Not Allowed|Conflict|Gone"
    r"|Unprocessable (?:Entity|Content)|Too Many Requests|Internal Server Error|Not Implemented"
    r"|Bad Gateway|Service Unavailable|Gateway Time-?out)\b)"
)
_OWN_ERROR = re.compile(r"(?:[Ee]rror|ERROR|[Ff]atal|FATAL)(?:\[\w+\])?: \S")
_MAX_OWN_LINES = 6
# Messages that build tools write between their other output.
_BUILD = re.compile(
    r"(?:npm (?:ERR!|error) .*|ERROR: (?:Could not|No matching|Cannot|Invalid|Failed)\b.*"
    r"|(?:[\w./-]+: )?[\w./-]+\.\w{1,5}:\d+(?::\d+)?: (?:fatal )?error: .*|vet: \S+:\d+:\d+: .*"
    r"|All (?:[\w-]+ ){1,4}(?:have )?failed\b.*"
    r"|\S+: fatal error: .*|Execution of \S+ aborted due to compilation errors\..*|CONFLICT \(.*)\Z"
)

_ERROR_PAGE = re.compile(
    r"\s*(?:<!DOCTYPE[^>]*>\s*)?<html[^>]*>\s*<head[^>]*>\s*(?:<[^>]*>\s*)*?<title>\s*(?P<status>[45]\d\d)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?:(?:An )?(?:unexpected |unknown |internal )?error (?:has )?occurred\b|\(error\) \S"
    r"|(?:Sorry, |Oops[,!] )?[Ss]omething went wrong\b|Internal (?:server )?error\b"
    r"|Error in \S+\(.{0,80}\) ?: "
    r"|(?:\w+ ){0,3}(?:service|server|database|API|host|system|backend)"
    r" (?:is|was) (?:currently |temporarily )*"
    r"(?:unavailable|down|unreachable|not available|offline|not responding)\b"
    r"|(?:Not authori[sz]ed|Unauthori[sz]ed|Forbidden|Authentication (?:failed|required|error))\b"
    r"|Invalid (?![^:\n]*\b(?:were|was|are|is|has|have)\b)[\w ]{1,30}: \S"
    r"|Missing (?:required )?(?:parameter|argument|field|key|value|column|input|credential)s?\b"
    r"|Unknown (?:column|table|field|key|parameter|argument|option|command|function|tool|user|database)s?\b"
    r"|[A-Z][\w' -]{0,40} (?:not found|does not exist)(?:: .{1,120}|\.)?\s*\Z"
    r"|\W{0,3}(?:ERROR|Error|error|FAILED|Failed|Failure|Exception|Fatal error"
    r"|FATAL)\b(?: \([^)\n]*\))?(?: \[[^\]\n]*\])?:\s*\S"
    r"|(?:[A-Z][\w-]*|SQL|API)(?: [\w-]+){0,3} (?:error|failed|failure|exception"
    r"|timed out)(?: \([^)\n]*\))?(?: with [\w ]{1,40})?: ?\S"
    r"|(?:Error|Failed|Failure|Unable|Could not|Cannot|Can't|Couldn't) (?:while |when |to |in |during "
    r"|at |on )?"
    r"(?:connect|execute|run|load|open|read|fetch|reach|find|retrieve|get|process|parse|query|access"
    r"|complete|create|resolve|locate|call|authenticate|establish|write|save|update|delete|download"
    r"|connecting|executing|running|loading|opening|reading|fetching|reaching|retrieving|getting"
    r"|processing|parsing"
    r"|querying|accessing|completing|creating|resolving|calling|authenticating|writing|saving|updating"
    r"|deleting"
    r"|downloading|searching|invoking|sending|validating)\b(?! (?:is|was|are|were|has|can|may)\b)"
    r"|(?:Connection|Request|Query|Operation|Execution|Read|Statement|Command|Call|Task"
    r"|Tool)(?: \w+)? (?:refused|timed out|failed|aborted|was cancelled|was canceled)\b"
    r"|(?:Timeout|Timed out)\b(?! (?:is|was|set|of|=))|Rate limit(?:ed)? (?:exceeded|reached)\b"
    r"|(?:Access|Permission) denied\b"
    r"|Too many requests\b"
    r"|(?:Database|Service|Server|API|Host|The (?:database|service|server"
    r"|API)) (?:is )?(?:currently )?(?:temporarily )?(?:unavailable|down|unreachable|not available"
    r"|offline)\b"
    r"|Invalid (?:API key|credentials|token|query|SQL|argument|arguments|input|request|parameters?)\b"
    r"|(?:\[Errno -?\d+\]|Errno -?\d+|<urlopen error )"
    r"|(?:Name or service not known|Temporary failure in name resolution|Network is unreachable"
    r"|Connection (?:refused|reset by peer|closed|aborted)|All connection attempts failed"
    r"|Max retries exceeded"
    r"|(?:Server|Peer) (?:disconnected|closed connection) without|Request URL (?:has|is missing) an? )"
    r"|The connection to the server \S+ was refused|Cannot connect to the Docker daemon"
    r"|[\u274c\u2717\u2718\u26d4]\ufe0f? ?\S[^\n]*\Z|<(?P<tag>(?:tool_)?error|fault)\b[^>]*>.*</(?P=tag)>\Z"
    r"|\[(?:ERROR|FAILED|error)\] \S)"
)
# A count or a measure: `Errors: 4`, `Mean absolute error: 3.1`.
_FIGURE = re.compile(
    r"[^:\n]{0,60}(?:[Ee]rrors?|[Ff]ailed|[Ff]ailures?)\b[^:\n]{0,30}: ?(?:-?[\d.,]+ ?%?|(?:null|none|nil"
    r"|undefined|false|NaN)\b,?)"
    r"(?:,? (?:on|of|in|per|at|passed|failed|and|warnings?|to|from|minutes?|s|ms)\b[^\n]{0,80}"
    r"|[,;][^\n]{0,80})?\s*(?:\n|\Z)"
)

_SUCCESS_TAIL = re.compile(r"\b(?:0 errors?|no errors?|without errors?|errors?: (?:0|none)\b)", re.IGNORECASE)
_DOCUMENT_FAILURE = re.compile(
    r"(?:\[Errno \d+\] |(?:FileNotFoundError|PermissionError|IsADirectoryError|ConnectionError"
    r"|TimeoutError|HTTPError)\b"
    r"|(?:Error|Failed|Unable|Could not|Cannot|Couldn't) (?:while |when |to )?(?:read(?:ing)?"
    r"|open(?:ing)?|load(?:ing)?|fetch(?:ing)?|search(?:ing)?|access(?:ing)?"
    r"|retriev(?:e|ing)|reach(?:ing)?|find(?:ing)?|connect(?:ing)?)\b.{0,200}"
    r"|(?:Search|Request|Fetch|Lookup|Query|Retrieval) (?:failed|timed out)\b.{0,200}"
    r"|(?:Error: )?(?:File|Document|Page|Path|URL|No such file)\b[^\n]{0,120}\b(?:not found"
    r"|does not exist|could not be (?:found|read|opened)|or directory)\b.{0,80})\Z",
    re.DOTALL,
)
_CELL_RULE = re.compile(r"^\s*(?:[|+│┌┏╭]|[^|\n]*\|[^|\n]*\|)", re.MULTILINE)
_DECORATION = re.compile(
    r"(?:[^\w\s\[({<'\"`/\\.-]+\s*|\*\*|</?(?:tool_)?error>|\[(?:ERROR|Error|error)\]\s*)+"
)
# What precedes the details of a message: `Lookup failed: …`.
_HEAD = re.compile(
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
_REPORTING = re.compile(
    r"\b(?:last|latest|previous|known|common|recent|first|standard|mean|absolute|squared|relative"
    r"|rounding|type"
    r"|root|total|max|maximum|average|median|prediction|test|training|validation|margin|of error)\b",
    re.IGNORECASE,
)

_GIVEN_UP = re.compile(
    r"(?:Sorry, )?(?:[Cc]ould not|[Cc]annot|[Cc]ouldn't"
    r"|[Uu]nable to) [\w' -]{1,60}\((?=[^()\n]*[A-Za-z])[^\n]*\)\.?\Z"
    r"|error=\w+ |(?:err|error_type)=\w*(?:Error|Exception)\b"
)


_REFUSAL = re.compile(
    r"(?:(?:Request|Order|Booking|Payment|Your \w+|The \w+) (?:was |has been |is )?)?"
    r"(?:Rejected|Denied|Declined|Refused"
    r"|Not (?:accepted|allowed|permitted|possible|offered|available))\b\s*(?:[:.,!-]|\Z)",
    re.IGNORECASE,
)


def read_failure(text: str, giver: Giver, value: JsonValue = None, command: str = "") -> TextFailure | None:
    """Return the failure this result reports, None where it reports none.

    Args:
        text: the result as text.
        giver: what gave it.
        value: the decoded result where it was JSON.
        command: the source of the shell command that printed it, where known.
    """
    whole = text.strip()
    if not whole:
        return None
    document = value if isinstance(value, dict | list) else _decode_document(whole)
    if document is not None:
        return _read_document(document, giver, command)
    lines = [line.strip() for line in whole[-MAX_CHARS:].splitlines() if line.strip()]
    status, words = _split_exit_status(lines)
    if status is not None:
        quote = words[-1] if words else lines[-1]
        return TextFailure(KnownBy.EXIT_STATUS, quote, exit_status=status) if status else None
    head = whole[:MAX_CHARS]
    if _FRAMEWORKS.match(head):
        return TextFailure(KnownBy.ERROR_TEXT, lines[0], _find_type(head))
    if giver is Giver.CONTENT:
        return _read_content(head, lines[0])
    if command and giver in (Giver.SHELL, Giver.OTHER):
        known = read_command(command)
        line = own_message(known, lines)
        if line is not None or known.shows:
            return TextFailure(KnownBy.ERROR_TEXT, line) if line is not None else None
    if _is_document(lines):
        return None
    return (
        _read_traceback(whole[-MAX_CHARS:], giver)
        or _read_tool_message(head, lines, giver)
        or _read_message(head, lines[0], giver)
    )


def read_refusal(text: str) -> TextFailure | None:
    """Return the refusal that an operation got: `Rejected: …`, `Not allowed.`; None where it got none."""
    return (
        TextFailure(KnownBy.ERROR_TEXT, text.strip()[:MAX_MESSAGE_CHARS])
        if _REFUSAL.match(text.strip())
        else None
    )


def _decode_document(text: str) -> JsonValue:
    if text[0] not in "{[" or len(text) > MAX_CHARS * 10:
        return None
    found = decode_document(text)  # JSON, or how Python prints a dictionary
    return found if isinstance(found, dict | list) else None


def _read_document(document: JsonValue, giver: Giver, command: str) -> TextFailure | None:
    parts = join_text_parts(document)
    if parts is not None:
        return read_failure(parts, giver, command=command)
    found = read_structured(document)
    if found is not None:
        known = KnownBy.EXIT_STATUS if found.exit_status is not None else KnownBy.STRUCTURED_RESULT
        return TextFailure(known, found.quote, found.error_type, found.exit_status)
    if find_exit_status(document) == 0 or not isinstance(document, dict):
        return None
    inner = next(
        (document[name] for name in ("stderr", "result", "output", "text") if document.get(name)), None
    )
    # A wrapper with one text in it is that text.
    if isinstance(inner, str) and sum(bool(item) for item in document.values()) == 1:
        return read_failure(inner, giver, command=command)
    return None


def _read_content(head: str, first: str) -> TextFailure | None:
    """Read the failure of a tool that gives documents: it fails in few words, or not at all."""
    if "\n" in head.strip() or len(head) > MAX_MESSAGE_CHARS:
        page = _ERROR_PAGE.match(head)
        return TextFailure(KnownBy.ERROR_TEXT, f"HTTP {page['status']}") if page else None
    http = _HTTP.match(head)
    # What goes on in sentences explains a status; a page that could not be had has an address or nothing.
    bare_http = http is not None and not re.search(r"[a-z]\. [A-Z]|[.!?]\Z", head[http.end() :])
    if _DOCUMENT_FAILURE.match(head) or bare_http:
        return TextFailure(KnownBy.ERROR_TEXT, first, _find_type(head))
    return None


def _is_document(lines: list[str]) -> bool:
    """Whether these are lines of a log, or fields of several records."""
    return any(map(is_log_line, (lines[0], lines[-1]))) or is_record_list(lines)


def _split_exit_status(lines: list[str]) -> tuple[int | None, list[str]]:
    """Return an exit status on a line of its own, first or last, and the other lines."""
    for line in (lines[0], lines[-1]):
        found = _EXIT_LINE.match(line) if len(line) < 200 and _EXIT_WORD.search(line) else None
        found = found or (_RAN_BADLY.match(line) if len(line) < MAX_MESSAGE_CHARS else None)
        if found:
            return int(found["status"]), [each for each in lines if each is not line]
    return None, lines


def _read_traceback(tail: str, giver: Giver) -> TextFailure | None:
    """Return an uncaught exception at the end of the text."""
    raised = parse_python_traceback(tail)
    if raised is not None:
        return TextFailure(KnownBy.ERROR_TEXT, *raised)
    if giver not in (Giver.JAVASCRIPT, Giver.SHELL, Giver.OTHER):
        return None
    thrown = parse_thrown_error(tail)
    return TextFailure(KnownBy.ERROR_TEXT, *thrown) if thrown is not None else None


def _read_tool_message(head: str, lines: list[str], giver: Giver) -> TextFailure | None:
    if giver in (Giver.SQL, Giver.OTHER, Giver.PYTHON):
        bare = re.sub(r"\A(?:Error|ERROR|error|Query failed|SQL error)[: ]+\s*(?=\S)", "", head)
        if _DATABASES.match(head) or (bare != head and _DATABASES.match(bare)):
            return TextFailure(KnownBy.ERROR_TEXT, lines[0], _find_type(head))
    if giver is Giver.SHELL and len(lines) <= _MAX_OWN_LINES and not _FIGURE.match(lines[-1]):
        line = next(filter(_OWN_ERROR.match, (lines[0], lines[-1])), None)
        if line is not None:
            return TextFailure(KnownBy.ERROR_TEXT, line)
    if giver in (Giver.SHELL, Giver.JAVASCRIPT, Giver.OTHER) and (
        giver is Giver.SHELL or len(lines) <= _MAX_LINES
    ):
        ends = (lines[0], lines[-1]) if giver is Giver.SHELL else lines[:1]
        line = next(filter(_SHELL.match, ends), None) or next(filter(_BUILD.match, lines[:_MAX_LINES]), None)
        return TextFailure(KnownBy.ERROR_TEXT, line) if line is not None else None
    return None


def _read_message(head: str, first: str, giver: Giver) -> TextFailure | None:
    """Return an error message that is the whole of a short text."""
    if len(head.splitlines()) > _MAX_LINES or _CELL_RULE.search(head) or _SUCCESS_TAIL.search(first):
        return None
    raised = _EXCEPTION_LINE.match(first) or _EXCEPTION_REPR.match(head)
    if raised is not None:
        given = raised.groupdict()
        if given.get("message") is None or given["message"].strip():
            return TextFailure(KnownBy.ERROR_TEXT, first, _shorten_name(given["type"] or given["other"]))
    http = _HTTP.match(head)
    page = _ERROR_PAGE.match(head)
    if page is not None or (http is not None and giver is not Giver.SHELL):
        return TextFailure(KnownBy.ERROR_TEXT, first if page is None else f"HTTP {page['status']}")
    if _FIGURE.match(head):
        return None
    if _PLAIN.match(head) or _names_failure(first):
        return TextFailure(KnownBy.ERROR_TEXT, first, _find_type(first))
    return None


def _names_failure(first: str) -> bool:
    """Whether a message first names a failure, then gives its details: `Sorry, the lookup failed: …`."""
    plain = _DECORATION.sub("", first, count=1) if _DECORATION.match(first) else first
    if _GIVEN_UP.match(plain):
        return True
    if plain != first and _EXCEPTION_LINE.match(plain):
        return True
    head = _HEAD.match(plain)
    if head is None or _REPORTING.search(head["head"]):
        return False
    return _FAILING_END.search(head["head"]) is not None and _FAILING_WORD.search(head["head"]) is not None


def _find_type(text: str) -> str | None:
    found = re.search(_NAME, text[:2_000])
    return _shorten_name(found[0]) if found else None


def _shorten_name(name: str) -> str:
    return name.rpartition(".")[2]
